/* mcpl_writer.c - see common.h. */
#include "pipeline/convert/common/common.h"

#include "stages/formats/mcpl/mcpl.h"

/* Counts all bytes of the output file, for the line that convert prints at the end. */
static enum sl_status write_bytes(void *writer, const void *bytes, size_t size)
{
	struct sl_mcpl_writer *w = (struct sl_mcpl_writer *)writer;

	w->c->bytes += size;
	return sl_file_add(&w->file, bytes, size);
}

enum sl_status sl_mcpl_writer_begin(struct sl_mcpl_writer *w, struct sl_conversion *c,
	const void *header, size_t bytes, const struct sl_mcpl_header *h)
{
	const struct sl_list_target to = {
		write_bytes, w, &c->facts, c->format == &sl_format_mcpl_gz};
	enum sl_status s;

	*w = (struct sl_mcpl_writer){.c = c, .file = {.fd = -1}};
	sl_job_pool_open(&w->pool, 0);
	s = sl_record_output_begin(&w->records, &to, &w->pool, h->record_bytes, h->particles);
	if (s == SL_OK)
		s = sl_file_begin(&c->dir, c->name, &w->file);
	if (s == SL_OK)
		s = sl_list_header_send(&to, header, bytes);
	if (s != SL_OK)
		sl_mcpl_writer_drop(w);
	return s;
}

/* A failure removes the file at once, so the caller can return the status without further calls. */
enum sl_status sl_mcpl_writer_add(struct sl_mcpl_writer *w, const void *records, size_t bytes)
{
	const uint8_t *at = (const uint8_t *)records, *end = at + bytes;
	enum sl_status s = sl_convert_check_stop(w->c);

	for (; s == SL_OK && at < end; at += w->records.bytes)
		s = sl_record_output_add(&w->records, at);
	if (s != SL_OK)
		sl_mcpl_writer_drop(w);
	return s;
}

/*
 * A time of modification has the grain of a clock tick, so it does not show every change of an
 * input, but the number of particles may.
 */
enum sl_status sl_mcpl_writer_end(struct sl_mcpl_writer *w)
{
	enum sl_status s =
		w->c->particles == w->records.all ? SL_OK : sl_convert_changed("an input");

	if (s == SL_OK)
		s = sl_record_output_flush(&w->records);
	if (s == SL_OK)
		s = sl_file_end(&w->file, w->c->job->force);
	sl_mcpl_writer_drop(w);
	return s;
}

/* Removes an unfinished file; after sl_mcpl_writer_end() it only frees the memory. */
void sl_mcpl_writer_drop(struct sl_mcpl_writer *w)
{
	sl_file_drop(&w->file);
	if (!w->records.block)
		return;
	sl_record_output_end(&w->records);
	sl_job_pool_close(&w->pool);
}
