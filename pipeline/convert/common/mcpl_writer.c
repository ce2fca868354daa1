/*
 * mcpl_writer.c - writes an MCPL file; for .mcpl.gz, collects records into gzip members.
 *
 * The header becomes a stored (uncompressed) member. Records fill members of SL_MCPL_MEMBER_BYTES,
 * rounded down to whole records. A plain file needs no buffer.
 */
#include "pipeline/convert/common/mcpl_writer.h"

#include <string.h>

#include "stages/formats/common/gzip_stored.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_head.h"

/* Counts all bytes of the output file, for the line that convert prints at the end. */
static enum sl_status add(struct sl_mcpl_writer *w, const void *bytes, size_t size)
{
	w->c->bytes += size;
	return sl_file_add(&w->file, bytes, size);
}

/* Allocates the buffers: records of a member, the compressed member, scratch of deflate. */
static enum sl_status get_members(struct sl_mcpl_writer *w, size_t header_bytes)
{
	size_t most = header_bytes > SL_MCPL_MEMBER_BYTES ? header_bytes : SL_MCPL_MEMBER_BYTES;
	struct sl_arena a = {0};

	for (int i = 0; i < 2; i++) {
		w->member = (uint8_t *)sl_cut(&a, SL_MCPL_MEMBER_BYTES);
		w->packed = (uint8_t *)sl_cut(
			&a, sl_deflate_most(most, 0, 1)); /* a stored header, too */
		w->x = (struct sl_exec){.space = SL_HOST};
		w->x.scratch.size = sl_mcpl_member_scratch(&w->c->facts);
		w->x.scratch.base = sl_cut(&a, w->x.scratch.size);
		if (i == 0) {
			SL_TRY(sl_memory_get(SL_HOST, a.used, &w->block));
			a = (struct sl_arena){w->block, 0, a.used};
		}
	}
	return SL_OK;
}

/* Members hold whole records, like those in the files of a run (mcpl.h). */
enum sl_status sl_mcpl_writer_begin(struct sl_mcpl_writer *w, struct sl_conversion *c,
	const void *header, size_t bytes, uint32_t record_bytes)
{
	enum sl_status s;

	*w = (struct sl_mcpl_writer){.c = c,
		.file = {.fd = -1},
		.record_bytes = record_bytes,
		.written = {.columns = 1}};
	w->most = SL_MCPL_MEMBER_BYTES / record_bytes * record_bytes;
	if (c->format == &sl_format_mcpl_gz)
		SL_TRY(get_members(w, bytes));
	s = sl_file_begin(&c->dir, c->name, &w->file);
	if (s == SL_OK && w->block)
		s = add(w, w->packed, sl_gzip_store(header, bytes, w->packed));
	else if (s == SL_OK)
		s = add(w, header, bytes);
	if (s != SL_OK)
		sl_mcpl_writer_drop(w);
	return s;
}

/* Appends bytes that are so many bytes of records. */
static enum sl_status add_written(
	struct sl_mcpl_writer *w, const void *bytes, size_t size, size_t record_bytes)
{
	w->written.values += record_bytes / w->record_bytes;
	return add(w, bytes, size);
}

/* Compresses the records collected so far to one member. */
static enum sl_status flush(struct sl_mcpl_writer *w)
{
	size_t used, records = w->used;

	SL_TRY(sl_format_deflate(
		&w->x, &w->c->facts, SL_GZIP, w->member, records, w->packed, &used));
	w->used = 0;
	return add_written(w, w->packed, used, records);
}

/* Appends records to the member; compresses and writes each full member. */
static enum sl_status add_packed(struct sl_mcpl_writer *w, const uint8_t *records, size_t bytes)
{
	while (bytes > 0) {
		size_t room = w->most - w->used, n = bytes < room ? bytes : room;

		memcpy(w->member + w->used, records, n);
		w->used += n;
		records += n;
		bytes -= n;
		if (w->used == w->most)
			SL_TRY(flush(w));
	}
	return SL_OK;
}

/* A failure removes the file at once, so the caller can return the status without further calls. */
enum sl_status sl_mcpl_writer_add(struct sl_mcpl_writer *w, const void *records, size_t bytes)
{
	enum sl_status s = sl_convert_check_stop(w->c);

	if (s == SL_OK)
		s = w->block ? add_packed(w, (const uint8_t *)records, bytes)
		             : add_written(w, records, bytes, bytes);
	if (s != SL_OK)
		sl_mcpl_writer_drop(w);
	return s;
}

/*
 * The last member can be shorter than the others. Without records there is only the header. A time
 * of modification has the grain of a clock tick, so it does not show every change of an input.
 */
enum sl_status sl_mcpl_writer_end(struct sl_mcpl_writer *w, uint64_t particles)
{
	enum sl_status s = w->used > 0 ? flush(w) : SL_OK;

	if (s == SL_OK && w->c->particles != particles)
		s = sl_convert_changed("an input");
	if (s == SL_OK)
		s = sl_format_check_written(&w->written, particles);
	if (s == SL_OK)
		s = sl_file_end(&w->file, w->c->job->force);
	sl_mcpl_writer_drop(w);
	return s;
}

/* Removes an unfinished file; after sl_mcpl_writer_end() it only frees the memory. */
void sl_mcpl_writer_drop(struct sl_mcpl_writer *w)
{
	sl_file_drop(&w->file);
	sl_memory_give(SL_HOST, w->block);
	w->block = NULL;
}
