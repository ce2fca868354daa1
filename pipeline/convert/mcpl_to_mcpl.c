/*
 * mcpl_to_mcpl.c - joins MCPL files into one MCPL file; records are copied unchanged.
 *
 * The header precedes the records and contains their number and the sums of stat:sum comments. So
 * all headers are read and joined first, and a second pass over the files copies the records.
 */
#include "pipeline/convert/convert.h"

#include <string.h>

#include "pipeline/convert/common/common.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* The sum of the headers, and the text on merged runs that replaces the run of each; NULL: none. */
struct header_sum {
	struct sl_mcpl_head head;
	const char *merged;
};

/* First pass: merges the header of an input into the sum, a struct header_sum. */
static enum sl_status join_head(
	struct sl_conversion *c, const char *path, const struct sl_map *file, void *sum_memory)
{
	struct header_sum *sum = (struct header_sum *)sum_memory;
	struct sl_mcpl_head more;
	bool recovered;
	enum sl_status s;

	SL_TRY(sl_add_context(
		sl_mcpl_head_read(file->at, file->bytes, &more, &recovered), "%s", path));
	if (recovered)
		sl_convert_note_recovered(c, path, more.fixed.particles);
	s = sum->merged ? sl_mcpl_head_set_origin(
				  &more, sum->merged, sum->head.bytes ? &sum->head : NULL)
	                : SL_OK;
	if (s == SL_OK)
		return sl_add_context(sl_mcpl_head_join(&sum->head, &more), "%s", path);
	sl_mcpl_head_free(&more);
	return s;
}

/* Copies as many records as the header of the stream states. */
static enum sl_status copy_records(struct sl_conversion *c, const char *path,
	struct sl_mcpl_stream *s, struct sl_record_output *o)
{
	const uint8_t *records;
	bool more;
	size_t n;

	SL_TRY(sl_mcpl_skip_head(s));
	for (;;) {
		SL_TRY(sl_mcpl_raw(s, &records, &n));
		if (n == 0)
			break;
		SL_TRY(sl_record_output_add_all(o, records, n));
		c->particles += n;
	}
	SL_TRY(sl_mcpl_end(s, &more));
	if (more && !s->recovered)
		sl_convert_note_trailing(c, path);
	return SL_OK;
}

/* Second pass: copies the records of an input to the output, a struct sl_record_output. */
static enum sl_status copy_list(
	struct sl_conversion *c, const char *path, const struct sl_map *file, void *output)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	SL_TRY(sl_add_context(sl_mcpl_open(&s, file->at, file->bytes), "%s", path));
	status = sl_add_context(
		copy_records(c, path, &s, (struct sl_record_output *)output), "%s", path);
	sl_mcpl_close(&s);
	c->files++;
	return status;
}

/*
 * The header of the output states the number of records, so a different number means a changed
 * file.
 */
enum sl_status sl_convert_mcpl(struct sl_conversion *c, const struct sl_runs *runs)
{
	struct header_sum sum = {.merged = runs->merged ? runs->json : NULL};
	struct sl_record_output o = {.block = NULL};
	enum sl_status s = sl_convert_for_each(c, join_head, &sum);

	if (s == SL_OK) {
		sl_mcpl_head_finish(&sum.head);
		s = sl_convert_begin_list(c, sum.head.bytes, sum.head.size, &sum.head.fixed, &o);
	}
	if (s == SL_OK)
		s = sl_convert_for_each(c, copy_list, &o);
	s = sl_convert_end_list(c, s, &o);
	sl_mcpl_head_free(&sum.head);
	return s;
}
