/* mcpl_to_mcpl.c - lists of particles become one list; how a list is written. */
#include <string.h>

#include "pipeline/convert/convert.h"
#include "primitives/files/map.h"
#include "stages/formats/common/gzip_stored.h"
#include "stages/formats/mcpl/mcpl_join.h"

/* --- writing ---------------------------------------------------------------------------------- */

static enum sl_status add(struct sl_list_writer *w, const void *bytes, size_t size)
{
	w->c->bytes += size;
	return sl_file_add(&w->file, bytes, size);
}

/* Memory of members: records, what they become, and what deflate asks for. */
static enum sl_status get_members(struct sl_list_writer *w, size_t header_bytes)
{
	size_t most = header_bytes > SL_MCPL_MEMBER_BYTES ? header_bytes : SL_MCPL_MEMBER_BYTES;
	struct sl_arena a = {0};

	for (int i = 0; i < 2; i++) {
		w->member = (uint8_t *)sl_cut(&a, SL_MCPL_MEMBER_BYTES);
		w->packed =
			(uint8_t *)sl_cut(&a, sl_mcpl_member_most(most)); /* a stored header, too */
		w->x = (struct sl_exec){.space = SL_HOST};
		w->x.scratch.size = sl_mcpl_member_scratch(&w->c->facts);
		w->x.scratch.base = sl_cut(&a, w->x.scratch.size);
		if (i == 0) {
			a.size = a.used;
			SL_TRY(sl_memory_get(SL_HOST, a.size, &w->block));
			a.base = w->block;
			a.used = 0;
		}
	}
	return SL_OK;
}

enum sl_status sl_list_begin(struct sl_list_writer *w, struct sl_converting *c, const void *header,
	size_t bytes, uint32_t record_bytes)
{
	enum sl_status s;

	*w = (struct sl_list_writer){.c = c, .file = {.fd = -1}};
	w->most = SL_MCPL_MEMBER_BYTES / record_bytes * record_bytes;
	if (c->format == &sl_format_mcpl_gz)
		SL_TRY(get_members(w, bytes));
	s = sl_file_begin(&c->dir, c->name, false, &w->file);
	if (s == SL_OK && w->block)
		s = add(w, w->packed, sl_gzip_store(header, bytes, w->packed));
	else if (s == SL_OK)
		s = add(w, header, bytes);
	if (s != SL_OK)
		sl_list_drop(w);
	return s;
}

static enum sl_status flush(struct sl_list_writer *w)
{
	size_t used;

	SL_TRY(sl_mcpl_member(&w->x, &w->c->facts, w->member, w->used, w->packed, &used));
	w->used = 0;
	return add(w, w->packed, used);
}

/* Fills members, as many as there is enough for. */
static enum sl_status add_packed(struct sl_list_writer *w, const uint8_t *records, size_t bytes)
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

enum sl_status sl_list_add(struct sl_list_writer *w, const void *records, size_t bytes)
{
	enum sl_status s = sl_convert_check(w->c);

	if (s == SL_OK)
		s = w->block ? add_packed(w, (const uint8_t *)records, bytes)
		             : add(w, records, bytes);
	if (s != SL_OK)
		sl_list_drop(w);
	return s;
}

enum sl_status sl_list_end(struct sl_list_writer *w)
{
	enum sl_status s = w->used > 0 ? flush(w) : SL_OK;

	if (s == SL_OK)
		s = sl_file_end(&w->file, false);
	sl_list_drop(w);
	return s;
}

void sl_list_drop(struct sl_list_writer *w)
{
	sl_file_drop(&w->file);
	sl_memory_give(SL_HOST, w->block);
	w->block = NULL;
}

/* --- lists ------------------------------------------------------------------------------------ */

static enum sl_status join_head(
	struct sl_converting *c, const char *path, const void *file, size_t bytes, void *of)
{
	struct sl_mcpl_head *sum = (struct sl_mcpl_head *)of, more;
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

/* All records that the header of a stream counts. */
static enum sl_status copy_records(struct sl_converting *c, const char *path,
	struct sl_mcpl_stream *s, struct sl_list_writer *w)
{
	const uint8_t *records;
	bool more;
	size_t n;

	SL_TRY(sl_mcpl_skip_head(s));
	for (;;) {
		SL_TRY(sl_mcpl_raw(s, &records, &n));
		if (n == 0)
			break;
		SL_TRY(sl_list_add(w, records, n * s->header.record_bytes));
		c->particles += n;
	}
	SL_TRY(sl_mcpl_end(s, &more));
	if (more && !s->recovered)
		sl_convert_note_behind(c, path);
	return SL_OK;
}

static enum sl_status copy_list(
	struct sl_converting *c, const char *path, const void *file, size_t bytes, void *of)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = copy_records(c, path, &s, (struct sl_list_writer *)of);
	sl_mcpl_close(&s);
	c->files++;
	return status;
}

/* Calls each with all inputs in turn, their bytes at hand. */
static enum sl_status for_each(struct sl_converting *c,
	enum sl_status (*each)(struct sl_converting *c, const char *path, const void *file,
		size_t bytes, void *of),
	void *of)
{
	struct sl_convert_at at = {0};

	while (sl_convert_next(c, &at)) {
		struct sl_map file;
		enum sl_status s;

		SL_TRY(sl_convert_check(c));
		SL_TRY(sl_map_file(at.path, &file));
		s = sl_add_context(each(c, at.path, file.at, file.bytes, of), "%s", at.path);
		sl_unmap(&file);
		SL_TRY(s);
	}
	return SL_OK;
}

/* Twice over the files: what all of them hold stands before the first particle. */
enum sl_status sl_convert_lists(struct sl_converting *c)
{
	struct sl_mcpl_head head = {0};
	struct sl_list_writer w = {.file = {.fd = -1}};
	enum sl_status s = for_each(c, join_head, &head);

	if (s == SL_OK) {
		sl_mcpl_head_finish(&head);
		s = sl_list_begin(&w, c, head.bytes, head.size, head.fixed.record_bytes);
	}
	if (s == SL_OK)
		s = for_each(c, copy_list, &w);
	if (s == SL_OK)
		s = sl_list_end(&w);
	sl_list_drop(&w);
	sl_mcpl_head_free(&head);
	return s;
}
