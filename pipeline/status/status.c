/* status.c - see status.h. */
#include "pipeline/status/status.h"

#include <math.h>
#include <string.h>

#include "pipeline/results/results.h"
#include "primitives/files/files.h"

const char *const sl_run_states[] = {[SL_RUN_STARTING] = "starting",
	[SL_RUN_RUNNING] = "running",
	[SL_RUN_INTERRUPTED] = "interrupted",
	[SL_RUN_STOPPED] = "stopped",
	[SL_RUN_DAMAGED] = "damaged",
	[SL_RUN_DONE] = "done"};

/* --- reading ---------------------------------------------------------------------------------- */

/* A run that says "running" is one only as long as its process can hold the lock. */
static enum sl_run_state state_of(const char *stored, enum sl_lock_state lock)
{
	if (stored && strcmp(stored, "done") == 0)
		return SL_RUN_DONE;
	if (stored && strcmp(stored, "stopped") == 0)
		return SL_RUN_STOPPED;
	return lock == SL_LOCK_HELD || lock == SL_LOCK_ELSEWHERE ? SL_RUN_RUNNING
	                                                         : SL_RUN_INTERRUPTED;
}

/* Adds up the lines of the manifest. The last one can be incomplete while the run appends it. */
static enum sl_status read_batches(const struct sl_dir *dir, struct sl_run_status *r)
{
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest m = {.line = NULL};
	struct sl_results sums;

	SL_TRY(sl_manifest_read(dir, &m));
	sl_results_make(&m, true, &sums);
	r->batches = sums.all.n;
	r->particles = sums.all.particles;
	r->survivors = sums.survivors;
	r->bytes = sums.bytes;
	r->truncated = sums.fate[SL_FATE_max_steps].count;
	r->damaged = m.damaged;
	if (r->damaged > 0 && r->state == SL_RUN_RUNNING)
		r->damaged--;
	return SL_OK;
}

/*
 * Sets the particles of the session, and the rate: of a session in progress from the time between
 * its start, when run.json was written, and its last commit; of one that has ended from run.json.
 */
static void set_rate(struct sl_run_status *r, const struct sl_existing_run *run, double started,
	double committed, double now)
{
	double seconds = committed - started;

	r->seconds_left = -1;
	r->session_particles = run->session_particles;
	if (r->state != SL_RUN_RUNNING && r->state != SL_RUN_INTERRUPTED) {
		if (run->session_seconds > 0)
			r->rate = (double)r->session_particles / run->session_seconds;
		return;
	}
	r->session_particles = r->particles > run->particles ? r->particles - run->particles : 0;
	if (r->session_particles == 0 || seconds <= 0)
		return;
	r->rate = (double)r->session_particles / seconds;
	if (r->state == SL_RUN_RUNNING && r->n_particles >= r->particles)
		r->seconds_left = fmax((double)(r->n_particles - r->particles) / r->rate -
					       fmax(now - committed, 0),
			0);
}

/* Replaces the sizes of the run by those of its part. */
static void set_part_sizes(struct sl_run_status *r, uint64_t batch)
{
	uint64_t first, end;

	sl_part_batches(&r->part, r->n_batches, &first, &end);
	if (end < r->n_batches)
		r->n_particles = end * batch;
	r->n_particles -= first * batch;
	r->n_batches = end - first;
	r->at_most = false; /* a part ignores the stop rule */
}

/* Sets the sizes of the whole run. One that met its stop rule is complete with fewer batches. */
static enum sl_status set_sizes(struct sl_run_status *r, const struct sl_existing_run *run)
{
	struct sl_existing_sizes sizes;

	SL_TRY(sl_existing_run_sizes(run, &sizes));
	r->n_particles = sizes.particles;
	r->n_batches = sizes.n_batches;
	r->max_steps = sizes.max_steps;
	r->at_most = sizes.stops && r->state != SL_RUN_DONE;
	r->part = run->part;
	if (r->part.of > 0 && r->part.of <= r->n_batches)
		set_part_sizes(r, sizes.batch);
	if (r->state == SL_RUN_DONE) {
		r->n_particles = r->particles;
		r->n_batches = r->batches;
	}
	return SL_OK;
}

static enum sl_status read_run(const struct sl_dir *dir, double now, struct sl_run_status *r)
{
	SL_CLOSED_BY(sl_existing_run_free) struct sl_existing_run run = {.tree = NULL};
	double started, committed;
	bool exists;

	SL_TRY(sl_existing_run_read(dir, &run));
	snprintf(r->name, sizeof(r->name), "%.120s", run.name ? run.name : "");
	r->state = state_of(run.state, r->lock.state);
	SL_TRY(sl_file_time(dir, "run.json", &exists, &started));
	SL_TRY(sl_file_time(dir, "manifest.jsonl", &exists, &committed));
	SL_TRY(read_batches(dir, r));
	SL_TRY(set_sizes(r, &run));
	if (r->batches > 0)
		r->since_commit = fmax(now - committed, 0);
	set_rate(r, &run, started, committed, now);
	return SL_OK;
}

enum sl_status sl_run_status_read(const struct sl_dir *dir, double now, struct sl_run_status *r)
{
	bool exists;

	memset(r, 0, sizeof(*r));
	r->seconds_left = r->since_commit = -1;
	/* the lock first: a process that ends in between has written run.json before it lets go */
	SL_TRY(sl_dir_lock_holder(dir, "/proc/locks", &r->lock));
	SL_TRY(sl_file_exists(dir, "run.json", &exists));
	if (exists)
		return read_run(dir, now, r);
	r->state = SL_RUN_STARTING;
	if (r->lock.state == SL_LOCK_HELD || r->lock.state == SL_LOCK_ELSEWHERE)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"%s: has no run.json (no run has started there); name the directory of a run, as "
		"given with --out",
		dir->path);
}
