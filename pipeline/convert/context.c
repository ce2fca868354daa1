/* context.c - iterates over the inputs of a conversion and collects its notes. */
#include "pipeline/convert/context.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void sl_convert_note(struct sl_converting *c, const char *format, ...)
{
	size_t used = strlen(c->notes);
	va_list more;

	va_start(more, format);
	vsnprintf(c->notes + used, sizeof(c->notes) - used, format, more);
	va_end(more);
	used = strlen(c->notes);
	snprintf(c->notes + used, sizeof(c->notes) - used, "\n");
}

void sl_convert_note_recovered(struct sl_converting *c, const char *path, uint64_t particles)
{
	sl_convert_note(c,
		"%s: its writer did not come to its end; its %" PRIu64 " whole records were taken",
		path, particles);
}

void sl_convert_note_behind(struct sl_converting *c, const char *path)
{
	sl_convert_note(c, "%s: what follows its last particle was left out", path);
}

bool sl_convert_next(const struct sl_converting *c, struct sl_convert_at *at)
{
	for (; at->operand < c->job->n; at->operand++, at->line = 0) {
		const struct sl_convert_operand *o = &c->operand[at->operand];

		if (at->line >= (o->is_run ? o->manifest.n : 1))
			continue;
		at->of = o->is_run ? &o->manifest.line[at->line] : NULL;
		at->line++;
		snprintf(at->path, sizeof(at->path), "%.3800s%s%s", o->path, at->of ? "/" : "",
			at->of ? at->of->file : "");
		return true;
	}
	return false;
}

enum sl_status sl_convert_check(const struct sl_converting *c)
{
	return atomic_load(c->job->stop) == 0
	               ? SL_OK
	               : sl_fail(SL_STOPPED, "stopped (asked by a signal); nothing was made");
}
