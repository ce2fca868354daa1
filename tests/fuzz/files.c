/*
 * files.c - libFuzzer target: reads arbitrary bytes as files of survivors in each format, and as MCPL
 * files of any program.
 *
 * Nothing may crash, leak, or read beyond the end. (HDF5 files are left out: they begin with a
 * checksum, which random bytes never match.)
 *
 *	scripts/fuzz.sh files -max_total_time=600
 */
#include <stdlib.h>
#include <string.h>

#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_metadata.h"
#include "stages/inputs/mcpl_survey.h"
#include "stages/formats/mcpl/mcpl_read.h"
#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* DEFLATE expands at most about a thousand times; tables that claim more bytes are not read. */
enum { MOST = 1 << 26 };

static void check(enum sl_status s)
{
	if (s != SL_OK && s != SL_BAD_INPUT)
		abort();
}

/* The type of sl_format.read. */
typedef enum sl_status (*reader)(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

static void read_table(reader read, const uint8_t *data, size_t size)
{
	struct sl_arena a = {0};
	struct sl_table t;
	enum sl_status s = read(data, size, &a, &t);

	check(s);
	if (s != SL_OK || a.used > MOST)
		return;
	a.size = sl_round_up(a.used + 1, SL_ALIGN);
	a.base = aligned_alloc(SL_ALIGN, a.size);
	a.used = 0;
	if (a.base)
		check(read(data, size, &a, &t));
	free(a.base);
}

static enum sl_status read_list(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct sl_mcpl_lost lost;

	return sl_mcpl_table(file, bytes, a, t, &lost);
}

/* A valid header can be joined to itself. */
static void read_head(const uint8_t *data, size_t size)
{
	struct sl_mcpl_head h, more;
	bool recovered;

	if (sl_mcpl_head_read(data, size, &h, &recovered) != SL_OK)
		return;
	if (sl_mcpl_head_read(data, size, &more, &recovered) != SL_OK ||
		sl_mcpl_head_join(&h, &more) != SL_OK)
		abort();
	sl_mcpl_head_finish(&h);
	sl_mcpl_head_free(&h);
	sl_mcpl_head_free(&more);
}

/* Adds up the metadata of two equal lists; a part of the sums must not exceed the whole. */
static void add_metadata(const uint8_t *data, size_t size)
{
	const struct sl_mcpl_part parts[] = {{.file = data, .bytes = size, .particles = 3},
		{.file = data, .bytes = size, .first = 3, .particles = 2}};
	struct sl_mcpl_metadata *c;
	enum sl_status s = sl_mcpl_metadata_add(parts, 2, &c);

	check(s);
	for (uint32_t k = 0; s == SL_OK && k < c->sums.n; k++) {
		double all = sl_mcpl_metadata_sum(c, k, 0, 5);

		if (all < 0 ? all != -1 : sl_mcpl_metadata_sum(c, k, 0, 4) > all)
			abort();
	}
	sl_mcpl_metadata_free(c);
}

static enum sl_status read_particles(struct sl_mcpl_stream *s)
{
	struct sl_mcpl_particle p;
	char text[64];
	uint32_t length;
	bool has_more;

	for (uint64_t i = 0; i < 1 + (uint64_t)s->header.comments + 2 * (uint64_t)s->header.blobs;
		i++)
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	SL_TRY(sl_mcpl_begin(s));
	for (uint64_t i = 0; i < s->header.particles; i++)
		SL_TRY(sl_mcpl_next(s, &p));
	return sl_mcpl_end(s, &has_more);
}

/* Reads the file again as raw records, in the memory of the first reading. */
static enum sl_status survey(struct sl_mcpl_stream *s, const uint8_t *data, size_t size)
{
	double weights = 0;

	SL_TRY(sl_mcpl_rewind(s, data, size));
	SL_TRY(sl_mcpl_skip_head(s));
	SL_TRY(sl_check_mcpl_particles(s, &weights));
	if (!(weights >= 0))
		abort();
	return SL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_mcpl_stream s;
	enum sl_status opened = sl_mcpl_open(&s, data, size);

	check(opened);
	if (opened == SL_OK) {
		check(read_particles(&s));
		check(survey(&s, data, size));
		sl_mcpl_close(&s);
	}
	read_head(data, size);
	add_metadata(data, size);
	read_table(sl_format_csv_gz.read, data, size);
	read_table(sl_format_npz.read, data, size);
	read_table(sl_format_mcpl.read, data, size);
	read_table(read_list, data, size);
	return 0;
}
