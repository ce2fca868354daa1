/* phases.c - see phases.h. */
#include "pipeline/report/phases.h"

static double seconds(uint64_t from, uint64_t to)
{
	return to > from ? 1e-9 * (double)(to - from) : 0;
}

bool sl_phases_find(
	const struct sl_workspace *w, const struct sl_session *s, struct sl_phases *found)
{
	const struct sl_moments *at = &w->at;
	struct sl_phases p;

	if (at->started == 0 || at->reported == 0 || s->begun_ns == 0)
		return false;
	p.all = seconds(at->started, at->reported);
	p.plan = seconds(at->started, at->planned);
	p.memory = seconds(at->planned, at->allocated);
	p.prepare = seconds(at->allocated, s->begun_ns);
	p.batches = s->seconds;
	p.finish = p.all - p.plan - p.memory - p.prepare - p.batches;
	*found = p;
	return true;
}
