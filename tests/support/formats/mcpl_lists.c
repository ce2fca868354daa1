/* mcpl_lists.c - see mcpl_lists.h. */
#include "tests/support/formats/mcpl_lists.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/files/files.h"
#include "stages/formats/common/common.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/program.h"

enum { LIST_BYTES = 1 << 24 };

const char *reference_path(const char *name)
{
	static char path[CONFIG_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/tests/stages/formats/mcpl/reference/%s", source_root(),
		name);
	return path;
}

char *reference_list(const char *name, size_t *bytes)
{
	char *file, *copy;

	assert_ok(sl_path_read(reference_path(name), SIZE_MAX, &file, bytes));
	copy = (char *)malloc(*bytes);
	assert_non_null(copy);
	memcpy(copy, file, *bytes);
	sl_memory_give(SL_HOST, file);
	return copy;
}

void copy_reference_list(const struct folder *f, const char *name)
{
	size_t bytes;
	char *file = reference_list(name, &bytes);

	folder_write(f, name, file, bytes);
	free(file);
}

/* --- writing files ---------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *at, const void *from, size_t bytes)
{
	memcpy(at, from, bytes);
	return at + bytes;
}

static uint8_t *put_string(uint8_t *at, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);

	return put(put(at, &length, sizeof(length)), text, length);
}

static uint8_t *put_particle(
	uint8_t *at, const struct sl_mcpl_header *h, const struct sl_mcpl_particle *p)
{
	double number[11] = {p->polarisation[0], p->polarisation[1], p->polarisation[2],
		p->position[0], p->position[1], p->position[2], 0, 0, 0, p->time, p->weight};

	sl_mcpl_pack(p->direction, &number[6]);
	number[8] = copysign(p->energy, number[8]);
	for (int i = h->polarised ? 0 : 3; i < 10 + (h->weight == 0); i++) {
		const float narrow = (float)number[i];

		at = h->single ? put(at, &narrow, sizeof(narrow))
		               : put(at, &number[i], sizeof(number[i]));
	}
	at = put(at, &p->pdg, h->pdg == 0 ? sizeof(p->pdg) : 0);
	return put(at, &p->flags, h->flags ? sizeof(p->flags) : 0);
}

void make_list(const struct folder *f, const char *name, const struct sl_mcpl_header *h,
	const char *const *strings, const struct sl_mcpl_particle *p)
{
	static uint8_t file[LIST_BYTES], packed[LIST_BYTES + (LIST_BYTES >> 4)];
	struct sl_mcpl_header header = *h;
	uint8_t *at = file;
	size_t bytes;

	header.record_bytes = sl_mcpl_record_bytes(h);
	assert_true(h->particles * header.record_bytes < sizeof(file) / 2);
	at = put_string(at + sl_mcpl_put_fixed(at, &header), "a test");
	for (uint32_t i = 0; i < h->comments + 2 * h->blobs; i++)
		at = put_string(at, strings[i]);
	for (uint64_t i = 0; i < h->particles; i++)
		at = put_particle(at, h, &p[i]);
	bytes = (size_t)(at - file);
	if (strstr(name, ".gz"))
		folder_write(f, name, packed, sl_gzip_store(file, bytes, packed));
	else
		folder_write(f, name, file, bytes);
}

double next_random(uint32_t *at)
{
	*at = *at * 1664525 + 1013904223; /* the generator ranqd1 of Numerical Recipes */
	return (double)(*at >> 8) * 0x1p-24;
}

void any_direction(struct rnd *g, double d[3])
{
	double square = 0;

	for (int k = 0; k < 3; k++) {
		d[k] = rnd_between(g, -1, 1);
		d[k] *= rnd_one_in(g, 5) ? exp2(-(double)rnd_below(g, 128)) : 1;
		d[k] *= rnd_one_in(g, 8) ? 0 : 1;
		square += d[k] * d[k];
	}
	if (square == 0)
		square = d[0] = 1;
	for (int k = 0; k < 3; k++)
		d[k] /= sqrt(square);
}

/* --- reading files ---------------------------------------------------------------------------- */

void expect_record(const struct sl_mcpl_header *h, const struct sl_mcpl_particle *found,
	const struct sl_mcpl_particle *expected)
{
	double is[12], should[12]; /* polarisation, position, direction, energy, time, weight */

	memcpy(is, found, sizeof(is));
	memcpy(should, expected, sizeof(should));
	for (int i = 0; i < 12; i++) {
		const double want = h->single && (i < 11 || h->weight == 0)
		                            ? (double)(float)should[i]
		                            : should[i];

		if (i >= 6 && i < 9 ? !(fabs(is[i] - should[i]) <= 1.3e-7)
				    : is[i] != want && !(isnan(is[i]) && isnan(want)))
			fail_msg("number %d is %.17g, expected %.17g", i, is[i], want);
	}
	assert_int_equal(found->pdg, expected->pdg);
	assert_int_equal(found->flags, expected->flags);
}

struct sl_mcpl_particle *particles_of(
	const struct folder *f, const char *name, struct sl_mcpl_header *h)
{
	size_t bytes;
	char *file = folder_read(f, name, &bytes);
	struct sl_mcpl_particle *p;
	struct sl_mcpl_stream s;

	assert_ok(sl_mcpl_open(&s, file, bytes));
	assert_ok(sl_mcpl_skip_head(&s));
	*h = s.header;
	p = (struct sl_mcpl_particle *)calloc(h->particles + 1, sizeof(*p));
	assert_non_null(p);
	for (uint64_t i = 0; i < h->particles; i++)
		assert_ok(sl_mcpl_next(&s, &p[i]));
	sl_mcpl_close(&s);
	free(file);
	return p;
}
