/* context.c - iterates over the inputs of a conversion and collects its notes. */
#include "pipeline/convert/convert.h"

#include <stdarg.h>
#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/device/device.h"
#include "stages/formats/phase_space/phase_space.h"
#include "stages/inputs/inputs.h"

void sl_convert_note(struct sl_conversion *c, const char *format, ...)
{
	size_t used = strlen(c->notes);
	va_list more;

	va_start(more, format);
	vsnprintf(c->notes + used, sizeof(c->notes) - used, format, more);
	va_end(more);
	sl_append(c->notes, sizeof(c->notes), "\n");
}

void sl_convert_note_recovered(struct sl_conversion *c, const char *path, uint64_t particles)
{
	sl_convert_note(c,
		"%s: the file was not closed by its writer; its %lu complete records are converted",
		path, particles);
}

void sl_convert_note_trailing(struct sl_conversion *c, const char *path)
{
	sl_convert_note(c, "%s: the bytes after the last particle are ignored", path);
}

/* A run directory stands for the files of its committed batches, in the order of the manifest. */
bool sl_convert_next(const struct sl_conversion *c, struct sl_convert_cursor *at)
{
	for (; at->operand < c->job->n; at->operand++, at->line = 0) {
		const struct sl_convert_operand *o = &c->operand[at->operand];

		if (at->line >= (o->is_run ? o->manifest.n : 1))
			continue;
		at->line_of_run = o->is_run ? &o->manifest.line[at->line] : NULL;
		at->line++;
		snprintf(at->path, sizeof(at->path), "%.3800s%s%s", o->path,
			at->line_of_run ? "/" : "",
			at->line_of_run ? at->line_of_run->file.name : "");
		return true;
	}
	return false;
}

enum sl_status sl_convert_changed(const char *path)
{
	return sl_fail(SL_DISK,
		"%s: the file changed while it was converted, so the result would mix two states "
		"of it; convert it again when no other program writes to it",
		path);
}

/* Called before each input and each block of output, because nothing else looks at the signal. */
enum sl_status sl_convert_check_stop(const struct sl_conversion *c)
{
	return atomic_load(c->job->stop) == 0
	               ? SL_OK
	               : sl_fail(SL_STOPPED, "stopped by a signal; no file was written");
}

/* --- output ----------------------------------------------------------------------------------- */

enum sl_status sl_convert_put(void *conversion, uint64_t at, const void *bytes, size_t size)
{
	struct sl_conversion *c = (struct sl_conversion *)conversion;

	SL_TRY(sl_convert_check_stop(c));
	c->bytes += size;
	return sl_file_put(&c->file, at, bytes, size);
}

enum sl_status sl_convert_begin_list(
	struct sl_conversion *c, const void *header, size_t bytes, const struct sl_mcpl_header *h)
{
	const struct sl_list_target to = {
		sl_convert_put, c, &c->facts, c->format == &sl_format_mcpl_gz};

	sl_job_pool_open(&c->pool, 0); /* close_all() in convert.c closes both */
	SL_TRY(sl_record_output_begin(&c->records, &to, &c->pool, h->record_bytes, h->particles));
	SL_TRY(sl_file_begin(&c->dir, c->name, &c->file));
	return sl_list_header_send(&to, header, bytes);
}

/*
 * A time of modification has the grain of a clock tick, so it does not show every change of an
 * input, but the number of particles may.
 */
enum sl_status sl_convert_end(struct sl_conversion *c)
{
	if (!c->table && c->particles != c->records.all)
		return sl_convert_changed("an input");
	SL_TRY(c->table ? sl_table_output_end(c->table) : sl_record_output_flush(&c->records));
	return sl_file_end(&c->file, c->job->force);
}

/* --- inputs ----------------------------------------------------------------------------------- */

/*
 * The output replaces a file only when it is complete, but an input must not disappear even then.
 */
static enum sl_status check_not_output(
	const struct sl_conversion *c, const char *path, const struct sl_map *file)
{
	if (!c->replaces || file->device != c->device || file->number != c->number)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"--to %s: the file is the input %s, which --force does not replace; choose another "
		"name",
		c->job->to, path);
}

/* Passes a list of another format on as MCPL, which is made in memory. */
static enum sl_status read_phase_space(struct sl_conversion *c, const char *path,
	const struct sl_map *file, sl_convert_reader *read)
{
	SL_CLOSED_BY(sl_phase_space_close) struct sl_phase_space *space = NULL;
	SL_CLOSED_BY(sl_host_give) void *bytes = NULL;
	struct sl_map list = *file;
	enum sl_status s = sl_phase_space_open(path, file, &space);

	if (s == SL_OK)
		s = sl_phase_space_to_mcpl(space, &bytes, &list.bytes);
	s = sl_add_context(s, "%s", path);
	list.at = bytes;
	if (s == SL_OK)
		s = read(c, path, &list);
	return space && sl_phase_space_is_changed(space, path) ? sl_convert_changed(path) : s;
}

enum sl_status sl_convert_for_each(struct sl_conversion *c, sl_convert_reader *read)
{
	struct sl_convert_cursor at = {0};
	uint64_t stamp = 0;

	while (sl_convert_next(c, &at)) {
		struct sl_map file;
		enum sl_status s;
		bool changed;

		SL_TRY(sl_convert_check_stop(c));
		SL_TRY(sl_map_file(at.path, &file));
		s = check_not_output(c, at.path, &file);
		if (s == SL_OK)
			s = sl_phase_space_is_foreign(at.path, &file)
			            ? read_phase_space(c, at.path, &file, read)
			            : read(c, at.path, &file);
		if (s == SL_OK && c->stamp != 0 && at.line_of_run &&
			sl_crc32(file.at, file.bytes) != at.line_of_run->file.crc)
			s = sl_fail(SL_BAD_INPUT, "%s: " SL_OTHER_THAN_COMMITTED, at.path);
		changed = sl_map_is_changed(&file, at.path);
		stamp = sl_map_stamp(&file, stamp);
		sl_unmap(&file);
		SL_TRY(changed ? sl_convert_changed(at.path) : s);
	}
	stamp |= 1; /* 0 means that the first pass has not ended */
	if (c->stamp == 0)
		c->stamp = stamp;
	return c->stamp == stamp ? SL_OK : sl_convert_changed("an input");
}
