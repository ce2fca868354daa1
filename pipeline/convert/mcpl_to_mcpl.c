/*
 * mcpl_to_mcpl.c - joins MCPL files into one MCPL file; records are copied unchanged.
 *
 * The header precedes the records and contains their number and the sums of stat:sum comments. So
 * all headers are read and joined first, and a second pass over the files copies the records.
 */
#include "pipeline/convert/convert.h"

#include <string.h>

#include "primitives/device/device.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/*
 * The header of runs of this program that are merged: replaces the comment on the first run by one
 * with the text on all of them (struct sl_file_facts).
 */
static enum sl_status set_runs(struct sl_mcpl_head *h, const char *merged)
{
	const uint8_t *at = h->bytes + sl_mcpl_put_fixed(NULL, &h->fixed);
	const size_t bytes = strlen(SL_MCPL_MERGED) + strlen(merged);
	struct sl_mcpl_string run = {at, 0}, comment;
	struct sl_mcpl_buffer w = {NULL, 0};

	sl_mcpl_next_string(&at);
	for (uint32_t i = 0; i < h->fixed.comments; i++) {
		comment = sl_mcpl_next_string(&at);
		if (sl_mcpl_begins_with(&comment, SL_MCPL_RUN))
			run = comment;
	}
	if (run.length == 0)
		return SL_OK;
	SL_TRY(sl_host_get(h->size + bytes, 1, &w.at));
	at = run.at - sizeof(run.length);
	sl_mcpl_write(&w, h->bytes, (size_t)(at - h->bytes));
	sl_mcpl_write_u32(&w, (uint32_t)bytes);
	sl_mcpl_write(&w, SL_MCPL_MERGED, strlen(SL_MCPL_MERGED));
	sl_mcpl_write(&w, merged, strlen(merged));
	at = run.at + run.length;
	sl_mcpl_write(&w, at, (size_t)(h->bytes + h->size - at));
	sl_memory_give(SL_HOST, h->bytes);
	h->bytes = w.at;
	h->size = w.used;
	return SL_OK;
}

/* First pass: merges the header of an input into that of the output. */
static enum sl_status join_head(
	struct sl_conversion *c, const char *path, const struct sl_map *file)
{
	struct sl_mcpl_head more;
	bool recovered;

	SL_TRY(sl_add_context(
		sl_mcpl_head_read(file->at, file->bytes, &more, &recovered), "%s", path));
	if (recovered)
		sl_convert_note_recovered(c, path, more.fixed.particles);
	return sl_add_context(sl_mcpl_head_join(&c->head, &more, c->runs.merged), "%s", path);
}

/* Copies as many records as the header of the stream states. */
static enum sl_status copy_records(
	struct sl_conversion *c, const char *path, struct sl_mcpl_stream *s)
{
	const uint8_t *records;
	bool more;
	size_t n;

	SL_TRY(sl_mcpl_skip_head(s));
	for (;;) {
		SL_TRY(sl_mcpl_raw(s, SL_MCPL_RAW_BYTES, &records, &n));
		if (n == 0)
			break;
		SL_TRY(sl_record_output_add_all(&c->records, records, n));
		c->particles += n;
	}
	SL_TRY(sl_mcpl_end(s, &more));
	if (more && !s->recovered)
		sl_convert_note_trailing(c, path);
	return SL_OK;
}

/* Second pass: copies the records of an input to the output. */
static enum sl_status copy_list(
	struct sl_conversion *c, const char *path, const struct sl_map *file)
{
	SL_CLOSED_BY(sl_mcpl_close) struct sl_mcpl_stream s = {.gzipped = false};

	c->files++;
	SL_TRY(sl_add_context(sl_mcpl_open(&s, file->at, file->bytes), "%s", path));
	return sl_add_context(copy_records(c, path, &s), "%s", path);
}

/*
 * The header of the output states the number of records, so a different number means a changed
 * file.
 */
enum sl_status sl_convert_mcpl(struct sl_conversion *c)
{
	SL_TRY(sl_convert_for_each(c, join_head));
	if (c->runs.merged)
		SL_TRY(set_runs(&c->head, c->runs.json));
	sl_mcpl_head_finish(&c->head);
	SL_TRY(sl_convert_begin_list(c, c->head.bytes, c->head.size, &c->head.fixed));
	SL_TRY(sl_convert_for_each(c, copy_list));
	return sl_convert_end(c);
}
