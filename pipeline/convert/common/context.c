/* context.c - iterates over the inputs of a conversion and collects its notes. */
#include "pipeline/convert/common/context.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void sl_convert_note(struct sl_conversion *c, const char *format, ...)
{
	size_t used = strlen(c->notes);
	va_list more;

	va_start(more, format);
	vsnprintf(c->notes + used, sizeof(c->notes) - used, format, more);
	va_end(more);
	used = strlen(c->notes);
	snprintf(c->notes + used, sizeof(c->notes) - used, "\n");
}

void sl_convert_note_recovered(struct sl_conversion *c, const char *path, uint64_t particles)
{
	sl_convert_note(c,
		"%s: the file was not closed by its writer; its %" PRIu64
		" complete records are converted",
		path, particles);
}

void sl_convert_note_trailing(struct sl_conversion *c, const char *path)
{
	sl_convert_note(c, "%s: the bytes after the last particle are ignored", path);
}

bool sl_convert_next(const struct sl_conversion *c, struct sl_convert_cursor *at)
{
	for (; at->operand < c->job->n; at->operand++, at->line = 0) {
		const struct sl_convert_operand *o = &c->operand[at->operand];

		if (at->line >= (o->is_run ? o->manifest.n : 1))
			continue;
		at->line_of_run = o->is_run ? &o->manifest.line[at->line] : NULL;
		at->line++;
		snprintf(at->path, sizeof(at->path), "%.3800s%s%s", o->path,
			at->line_of_run ? "/" : "", at->line_of_run ? at->line_of_run->file : "");
		return true;
	}
	return false;
}

enum sl_status sl_convert_check_stop(const struct sl_conversion *c)
{
	return atomic_load(c->job->stop) == 0
	               ? SL_OK
	               : sl_fail(SL_STOPPED, "stopped by a signal; no file was written");
}
