/* mcpl_lists.c - see mcpl_lists.h. */
#include "tests/support/formats/mcpl_lists.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/files/read.h"
#include "stages/formats/common/gzip_stored.h"
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

static uint8_t *put_numbers(
	uint8_t *at, const struct sl_mcpl_header *h, const double *number, int n)
{
	for (int i = 0; i < n; i++) {
		float narrow = (float)number[i];

		at = h->single ? put(at, &narrow, sizeof(narrow))
		               : put(at, &number[i], sizeof(number[i]));
	}
	return at;
}

static uint8_t *put_particle(
	uint8_t *at, const struct sl_mcpl_header *h, const struct sl_mcpl_particle *p)
{
	double packed[3];

	sl_mcpl_pack(p->direction, packed);
	packed[2] = copysign(p->energy, packed[2]);
	at = put_numbers(at, h, p->polarisation, h->polarised ? 3 : 0);
	at = put_numbers(at, h, p->position, 3);
	at = put_numbers(at, h, packed, 3);
	at = put_numbers(at, h, &p->time, 1);
	at = put_numbers(at, h, &p->weight, h->weight == 0);
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

/* --- configurations that read files ----------------------------------------------------------- */

void write_list_config(const struct folder *f, const char *files, const char *run, const char *keep,
	const char *more)
{
	char text[4096];

	snprintf(text, sizeof(text),
		"run: {name: t, device: cpu%s}\nmodel: {list: {files: [%s]}}\nkeep: %s\n%s", run,
		files, keep, more);
	write_text(f, "c.yaml", text);
}

void expect_list_refused(const struct folder *f, const char *files, int code, const char *text)
{
	write_list_config(f, files, "", "listed", "");
	expect(f, code, text, WORDS("plan", "c.yaml"));
	expect(f, code, text, WORDS("run", "c.yaml", "--out", "refused", "--quiet"));
	assert_false(folder_has(f, "refused"));
}

/* --- reading files ---------------------------------------------------------------------------- */

struct sl_mcpl_particle *particles_of(
	const struct folder *f, const char *name, struct sl_mcpl_header *h)
{
	size_t bytes;
	char *file = folder_read(f, name, &bytes), text[64];
	struct sl_mcpl_particle *p;
	struct sl_mcpl_stream s;
	uint32_t length;

	assert_ok(sl_mcpl_open(&s, file, bytes));
	for (uint32_t i = 0; i < 1 + s.header.comments + 2 * s.header.blobs; i++)
		assert_ok(sl_mcpl_text(&s, text, sizeof(text), &length));
	assert_ok(sl_mcpl_begin(&s));
	*h = s.header;
	p = (struct sl_mcpl_particle *)calloc(h->particles + 1, sizeof(*p));
	assert_non_null(p);
	for (uint64_t i = 0; i < h->particles; i++)
		assert_ok(sl_mcpl_next(&s, &p[i]));
	sl_mcpl_close(&s);
	free(file);
	return p;
}
