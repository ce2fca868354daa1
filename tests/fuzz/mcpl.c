/*
 * mcpl.c - fuzz target: reads arbitrary bytes as an MCPL file, plain or in gzip, in all ways in
 * which the program reads one: particle by particle, as raw records, as a table, its header merged
 * with itself, and its metadata.
 */
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_stream.h"
#include "stages/inputs/inputs.h"
#include "tests/fuzz/fuzz.h"

static enum sl_status read_list(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct sl_mcpl_reading lost = {0};

	t->list = &lost;
	return sl_mcpl_read(file, bytes, a, t);
}

/*
 * Merges the header with itself, as for the joined file of a run. A header that is valid once is
 * valid again.
 */
static void merge(const uint8_t *data, size_t size)
{
	struct sl_mcpl_head sum = {.bytes = NULL}, head;
	bool recovered;

	if (fuzz_check(sl_mcpl_head_read(data, size, &head, &recovered))) {
		fuzz_expect(sl_mcpl_head_join(&sum, &head, false) == SL_OK);
		fuzz_expect(sl_mcpl_head_read(data, size, &head, &recovered) == SL_OK);
		fuzz_expect(sl_mcpl_head_join(&sum, &head, false) == SL_OK);
		sl_mcpl_head_finish(&sum);
		fuzz_check(sl_mcpl_head_check(sum.bytes, sum.size));
	}
	sl_mcpl_head_free(&sum);
}

/* Adds up the metadata of two equal lists; a part of the sums must not exceed the whole. */
static void add_metadata(const uint8_t *data, size_t size)
{
	const struct sl_mcpl_part parts[] = {{.file = data, .bytes = size, .particles = 3},
		{.file = data, .bytes = size, .first = 3, .particles = 2}};
	struct sl_mcpl_metadata *c;
	const bool valid = fuzz_check(sl_mcpl_metadata_add(parts, 2, true, &c));

	for (uint32_t k = 0; valid && k < c->sums.n; k++) {
		double all = sl_mcpl_metadata_sum(c, k, 0, 5);

		fuzz_expect(all < 0 ? all == -1 : !(sl_mcpl_metadata_sum(c, k, 0, 4) > all));
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
	struct sl_mcpl_pass pass = {.summed = data};

	SL_TRY(sl_mcpl_rewind(s, data, size));
	SL_TRY(sl_mcpl_skip_head(s));
	SL_TRY(sl_check_mcpl_weight(&s->header, &pass.weights));
	SL_TRY(sl_check_mcpl_records(s, &pass));
	fuzz_expect(pass.weights >= 0);
	return SL_OK;
}

FUZZ(mcpl)
{
	struct sl_mcpl_stream s;

	if (fuzz_check(sl_mcpl_open(&s, data, size))) {
		fuzz_check(read_particles(&s));
		fuzz_check(survey(&s, data, size));
		sl_mcpl_close(&s);
	}
	merge(data, size);
	add_metadata(data, size);
	fuzz_read_table(sl_mcpl_read, data, size);
	fuzz_read_table(read_list, data, size);
}
