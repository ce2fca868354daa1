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
	r->truncated = sl_results_truncated(&sums, 0);
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
	r->truncated.max_steps = sizes.max_steps;
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

/* --- parts ------------------------------------------------------------------------------------ */

struct parts_walk {
	const struct sl_dir *dir;
	double now;
	void (*each)(void *ctx, const struct sl_part *part, const struct sl_run_status *r);
	void *ctx;
	struct sl_parts_status *sum;
	uint64_t started; /* parts that are counted in sum->state */
};

static void add(const struct sl_run_status *r, struct sl_parts_status *sum)
{
	struct sl_run_status *all = &sum->all;

	sum->state[r->state]++;
	all->batches += r->batches;
	all->n_batches += r->n_batches;
	all->particles += r->particles;
	all->n_particles += r->n_particles;
	all->survivors += r->survivors;
	all->bytes += r->bytes;
	all->truncated.count += r->truncated.count;
	all->truncated.particles += r->truncated.particles;
	all->truncated.max_steps = r->truncated.max_steps;
	if (r->state == SL_RUN_RUNNING)
		all->rate += r->rate;
	all->seconds_left = fmax(all->seconds_left, r->seconds_left);
}

/*
 * Reads the status of a part. *started is false if its process has not written run.json yet. A part
 * whose run.json cannot be read gets the state "damaged"; if there are several, the error message
 * is that of the first.
 */
static enum sl_status read_part(
	struct parts_walk *w, const struct sl_dir *dir, struct sl_run_status *r, bool *started)
{
	enum sl_status s = sl_run_status_read(dir, w->now, r);
	char why[SL_MESSAGE_BYTES];

	*started = true;
	if (s != SL_BAD_INPUT)
		return s;
	memcpy(why, sl_last_error(), sizeof(why));
	SL_TRY(sl_file_exists(dir, "run.json", started));
	*r = (struct sl_run_status){.state = SL_RUN_DAMAGED, .seconds_left = -1};
	if (*started && w->sum->state[SL_RUN_DAMAGED] == 0)
		memcpy(w->sum->why, why, sizeof(why));
	return SL_OK;
}

/* Adds the part in the directory of that name. */
static enum sl_status add_part(void *ctx, const char *name)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	struct parts_walk *w = (struct parts_walk *)ctx;
	char path[SL_PATH_BYTES];
	struct sl_run_status r;
	struct sl_part part;
	bool started;

	if (!sl_part_find(name, &part))
		return SL_OK;
	if (w->sum->of > 0 && part.of != w->sum->of)
		return sl_fail(SL_BAD_INPUT,
			"%s: has parts of a run of %lu and of a run of %lu parts; give the directory of "
			"one part",
			w->dir->path, w->sum->of, part.of);
	w->sum->of = part.of;
	snprintf(path, sizeof(path), "%.3900s/%s", w->dir->path, name);
	SL_TRY(sl_dir_open(path, false, &dir));
	SL_TRY(read_part(w, &dir, &r, &started));
	if (!started)
		return SL_OK;
	add(&r, w->sum);
	w->started++;
	if (w->each)
		w->each(w->ctx, &part, &r);
	return SL_OK;
}

enum sl_status sl_parts_status_read(const struct sl_dir *dir, double now,
	void (*each)(void *ctx, const struct sl_part *part, const struct sl_run_status *r),
	void *ctx, struct sl_parts_status *sum)
{
	struct parts_walk w = {.dir = dir, .now = now, .each = each, .ctx = ctx, .sum = sum};

	*sum = (struct sl_parts_status){.all.seconds_left = -1};
	SL_TRY(sl_dir_each(dir, add_part, &w));
	sum->not_started = sum->of - w.started;
	return SL_OK;
}
