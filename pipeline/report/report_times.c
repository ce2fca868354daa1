/*
 * report_times.c - the times of a session in run.json: of stages, devices, ranks, parts and rounds.
 */
#include "pipeline/report/report.h"

static double between(uint64_t from, uint64_t to)
{
	return to > from ? 1e-9 * (double)(to - from) : 0;
}

/*
 * What the user has waited for: opening devices and planning, allocating, opening the directory and
 * measuring schedules, and after the batches the files of the whole run. Missing if no command has
 * computed the run.
 */
static void write_phases(
	struct sl_json *j, const struct sl_workspace *w, const struct sl_session *s)
{
	const struct sl_moments *at = &w->at;
	const double all = between(at->started, at->reported),
		     before = between(at->started, s->begun_ns);

	if (at->started == 0 || at->reported == 0 || s->begun_ns == 0)
		return;
	sl_json_add(j,
		"command_seconds %g plan_seconds %g memory_seconds %g prepare_seconds %g "
		"finish_seconds %g",
		all, between(at->started, at->planned), between(at->planned, at->allocated),
		between(at->allocated, s->begun_ns), all - before - s->seconds);
}

/* A run on one device needs no list of devices. */
static void write_devices(
	struct sl_json *j, const struct sl_workspace *w, const struct sl_session *session)
{
	const struct sl_plan *plan = w->plan;

	if (plan->n_devices < 2)
		return;
	sl_json_array(j, "devices");
	for (uint32_t d = 0; d < plan->n_devices; d++)
		sl_json_add(j, "{ number %lu name %s batches %lu failure? %s }",
			(uint64_t)plan->device[d].number, plan->device[d].name,
			session->device_batches[d], w->device[d].dropped ? w->device[d].why : "");
	sl_json_close(j);
}

static void write_ranks(struct sl_json *j, const struct sl_workspace *w)
{
	if (w->n_ranks == 0)
		return;
	sl_json_array(j, "ranks");
	for (uint32_t i = 0; i < w->n_ranks; i++) {
		const struct sl_rank_facts *r = &w->rank[i];

		sl_json_add(j,
			"{ number %u host %s threads %u devices %u device? %s failed_devices? %lu "
			"batches %lu }",
			i, r->host, r->threads, r->devices, r->devices > 0 ? r->device : "",
			r->dropped_devices, r->batches);
	}
	sl_json_close(j);
}

static void write_parts(struct sl_json *j, const struct sl_parts_origin *origin)
{
	sl_json_array(j, "parts");
	for (size_t i = 0; i < origin->n_parts; i++) {
		const struct sl_part_times *t = &origin->part[i];

		sl_json_add(j, "{ number %lu host %s wall_seconds %g batches %lu }", t->number,
			t->host, t->seconds, t->batches);
	}
	sl_json_close(j);
}

/*
 * Times of this session in seconds. command_seconds lasts until this file is written. Those of
 * thread_seconds are sums over threads, or over batches in flight on a device, so together they
 * exceed wall_seconds. busy is a share from 0 to 1.
 */
void sl_report_times(struct sl_json *j, const char *key, const struct sl_workspace *w,
	const struct sl_session *s)
{
	sl_json_object(j, key);
	write_phases(j, w, s);
	sl_json_add(j,
		"wall_seconds %g batches %lu particles %lu column_bytes %lu file_bytes %lu "
		"computing_seconds %g thread_seconds {",
		s->seconds, s->batches, s->particles, s->column_bytes, s->file_bytes,
		sl_session_computing_seconds(s));
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		if (w->origin ? s->stage_ns[i] > 0 : sl_stage_is_run(w->recipe.mode, i))
			sl_json_real(j, sl_stages[i].name, (double)s->stage_ns[i] * 1e-9);
	sl_json_add(j, "transfer %g compress %g assemble %g commit %g }",
		(double)s->transfer_ns * 1e-9, (double)s->pack_ns * 1e-9,
		(double)s->assemble_ns * 1e-9, (double)s->commit_ns * 1e-9);
	if (w->joined.seconds > 0)
		sl_json_add(j, "joined { seconds %g }", w->joined.seconds);
	if (w->origin) {
		write_parts(j, w->origin);
		sl_json_close(j);
		return;
	}
	sl_json_object(j, "busy");
	for (int k = 0; k < SL_WORKER_COUNT; k++)
		sl_json_real(j, sl_workers[k], sl_session_busy_share(s, (enum sl_worker)k));
	sl_json_close(j);
	write_devices(j, w, s);
	write_ranks(j, w);
	sl_json_close(j);
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* Particles that all rounds would process without compaction: every round has the first width. */
static double without_compaction(const struct sl_rounds *all)
{
	const struct sl_round *first = all->at;
	double sum = 0;

	for (uint32_t i = 0; i < all->n; i++)
		sum += (double)first->width * (double)all->at[i].batches / (double)first->batches;
	return sum;
}

/*
 * longest is the number of rounds of the longest batch. It exceeds the length of each if a batch
 * had more than SL_ROUNDS_MAX rounds.
 */
void sl_report_rounds(struct sl_json *j, const struct sl_rounds *all)
{
	struct sl_round sum = {0};

	if (all->n == 0)
		return;
	for (uint32_t i = 0; i < all->n; i++) {
		sum.width += all->at[i].width;
		sum.advance_ns += all->at[i].advance_ns;
		sum.compact_ns += all->at[i].compact_ns;
	}
	sl_json_add(j,
		"rounds { longest %lu particles %lu without_compaction %g advance_seconds %g "
		"compact_seconds %g each [",
		all->longest, sum.width, without_compaction(all), 1e-9 * (double)sum.advance_ns,
		1e-9 * (double)sum.compact_ns);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct sl_round *r = &all->at[i];

		sl_json_add(j,
			"{ batches %lu particles %lu alive %lu batches_compacted %lu "
			"advance_seconds %g compact_seconds %g }",
			r->batches, r->width, r->alive, r->compacted,
			1e-9 * (double)(r->advance_ns), 1e-9 * (double)(r->compact_ns));
	}
	sl_json_add(j, "] }");
}
