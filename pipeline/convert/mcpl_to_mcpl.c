/*
 * mcpl_to_mcpl.c - joins MCPL files into one MCPL file; records are copied unchanged.
 *
 * The header precedes the records and contains their number and the sums of stat:sum comments. So
 * all headers are read and joined first, and a second pass over the files copies the records.
 */
#include "pipeline/convert/mcpl_to_mcpl.h"

#include <string.h>

#include "pipeline/convert/common/mcpl_writer.h"
#include "stages/formats/common/gzip_stored.h"
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_stream.h"

static enum sl_status join_head(
	struct sl_conversion *c, const char *path, const void *file, size_t bytes, void *ctx)
{
	struct sl_mcpl_head *sum = (struct sl_mcpl_head *)ctx, more;
	bool recovered;

	SL_TRY(sl_mcpl_head_read(file, bytes, &more, &recovered));
	if (recovered)
		sl_convert_note_recovered(c, path, more.fixed.particles);
	if (!sum->bytes) {
		*sum = more;
		return SL_OK;
	}
	enum sl_status s = sl_mcpl_head_join(sum, &more);

	sl_mcpl_head_free(&more);
	return s;
}

/* Copies as many records as the header of the stream states. */
static enum sl_status copy_records(struct sl_conversion *c, const char *path,
	struct sl_mcpl_stream *s, struct sl_mcpl_writer *w)
{
	const uint8_t *records;
	bool more;
	size_t n;

	SL_TRY(sl_mcpl_skip_head(s));
	for (;;) {
		SL_TRY(sl_mcpl_raw(s, &records, &n));
		if (n == 0)
			break;
		SL_TRY(sl_mcpl_writer_add(w, records, n * s->header.record_bytes));
		c->particles += n;
	}
	SL_TRY(sl_mcpl_end(s, &more));
	if (more && !s->recovered)
		sl_convert_note_trailing(c, path);
	return SL_OK;
}

static enum sl_status copy_list(
	struct sl_conversion *c, const char *path, const void *file, size_t bytes, void *ctx)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = copy_records(c, path, &s, (struct sl_mcpl_writer *)ctx);
	sl_mcpl_close(&s);
	c->files++;
	return status;
}

/* Calls each for every input in order, with the file mapped into memory. */
static enum sl_status for_each(struct sl_conversion *c,
	enum sl_status (*each)(struct sl_conversion *c, const char *path, const void *file,
		size_t bytes, void *ctx),
	void *ctx)
{
	struct sl_convert_cursor at = {0};

	while (sl_convert_next(c, &at)) {
		struct sl_map file;
		enum sl_status s;

		SL_TRY(sl_convert_check_stop(c));
		SL_TRY(sl_map_file(at.path, &file));
		s = sl_add_context(each(c, at.path, file.at, file.bytes, ctx), "%s", at.path);
		SL_TRY(sl_convert_done(&at, &file, s));
	}
	return sl_convert_pass(c, &at);
}

enum sl_status sl_convert_mcpl(struct sl_conversion *c)
{
	struct sl_mcpl_head head = {0};
	struct sl_mcpl_writer w = {.file = {.fd = -1}};
	enum sl_status s = for_each(c, join_head, &head);

	if (s == SL_OK) {
		sl_mcpl_head_finish(&head);
		s = sl_mcpl_writer_begin(&w, c, head.bytes, head.size, head.fixed.record_bytes);
	}
	if (s == SL_OK)
		s = for_each(c, copy_list, &w);
	/* a time of modification has the grain of a clock tick, so it does not show every change */
	if (s == SL_OK && c->particles != head.fixed.particles)
		s = sl_convert_changed("an input");
	if (s == SL_OK)
		s = sl_mcpl_writer_end(&w);
	sl_mcpl_writer_drop(&w);
	sl_mcpl_head_free(&head);
	return s;
}
