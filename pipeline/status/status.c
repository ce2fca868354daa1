/*
 * status.c - reads how far a run is, or its parts, and prints it as text or JSON. Keys are read by
 * scripts: never rename one.
 */
#include "pipeline/status/status.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "pipeline/print/result.h"
#include "pipeline/results/results.h"
#include "primitives/base/clock.h"
#include "primitives/files/files.h"

static const char *const states[] = {[SL_RUN_STARTING] = "starting",
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

/*
 * Sets the sizes of the whole run. One that met its stop rule is complete with fewer batches. One
 * that says "done" and lacks batches has lost lines of its manifest.
 */
static enum sl_status set_sizes(struct sl_run_status *r, const struct sl_existing_run *run)
{
	struct sl_existing_sizes sizes;

	SL_TRY(sl_existing_run_sizes(run, &sizes));
	r->n_particles = sizes.particles;
	r->n_batches = sizes.n_batches;
	r->max_steps = sizes.max_steps;
	r->at_most = sizes.stops && r->state != SL_RUN_DONE;
	r->part = run->part;
	if (r->part.of > 0 && r->part.of <= r->n_batches) {
		const struct sl_batch_range own =
			sl_part_batches(&r->part, r->n_batches, sizes.batch, r->n_particles);

		r->n_particles = own.particles;
		r->n_batches = own.end - own.first;
		r->at_most = false; /* a part ignores the stop rule */
	}
	if (r->state == SL_RUN_DONE && r->batches < r->n_batches &&
		(r->part.of > 0 || !sizes.stops))
		r->state = SL_RUN_INTERRUPTED;
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

/* --- printing --------------------------------------------------------------------------------- */

static const char *const lock_names[] = {[SL_LOCK_FREE] = "free",
	[SL_LOCK_HELD] = "held",
	[SL_LOCK_LEFT] = "left",
	[SL_LOCK_ELSEWHERE] = "elsewhere"};

static const struct sl_line run_lines[] = {
	{"", NULL,
		"{directory}: run [{name}][{!name}(no name)], [part {part} of {of_parts}, ]{state}"},
	{"", "batches", "[{!state=starting}{batches} of [{?at_most}at most ]{of_batches}]"},
	{"", "particles",
		"[{!state=starting}{particles} of [{?at_most}at most ]{of_particles}"
		"[, {particles/of_particles/0.01:.1f} %]; {survivors~survivor}, {bytes:B} in files]"},
	{"lock", "process",
		"[{?state=free}none][{!state=free}"
		"[{!pid}holds the lock, and has not written its number yet]"
		"[{pid} on {host} since {since}[{?state=held}; it holds the lock]"
		"[{?state=left}; it has ended without closing the run]"
		"[{?state=elsewhere}; whether it still runs can be seen on that host only]]]"},
	{"last_commit", "last commit", "{}, {^seconds_since_commit:T} ago"},
	{"rate", "rate",
		"{/1e6:.4g} M particles/s in the [{?^state=running}present][{!^state=running}last] "
		"session"},
	{"end", "end", "[{?^at_most}at the latest ]in {^seconds_left:T}, {}"},
	{"warnings.*", NULL, "warning: {}"},
	{"damaged_lines", NULL, "damaged lines of manifest.jsonl: {}, not counted"},
	{"resumable", NULL, "sluice run --resume continues the run"},
	{NULL, NULL, NULL},
};

static const struct sl_line parts_lines[] = {
	{"parts.*", "  part  state                 batches     particles  left\n",
		"{part:6}  {state:-11} {batches:9} of {of_batches:-9} "
		"{particles/of_particles/0.01:5.1f} %  [{seconds_left:T}]"},
	{"", NULL, "{of_parts~part}: {states}"},
	{"", "batches", "{batches} of {of_batches} of the parts that have started"},
	{"", "particles",
		"{particles} of {of_particles}[, {particles/of_particles/0.01:.1f} %]; "
		"{survivors~survivor}, {bytes:B} in files"},
	{"rate", "rate", "{/1e6:.4g} M particles/s of the parts that run"},
	{"end", "end", "in {^seconds_left:T}, {}, of the parts that run"},
	{"warnings.*", NULL, "warning: {}"},
	{"", NULL, "[{?joinable}sluice join makes the run of all parts]"},
	{NULL, NULL, NULL},
};

/* A time of day some seconds after now, in UTC. */
static void put_clock(struct sl_json *j, const char *key, double now, double later)
{
	time_t at = (time_t)(now + later);
	struct tm utc;
	char text[32];

	if (gmtime_r(&at, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
		sl_json_text(j, key, text);
}

static void put_done(struct sl_json *j, const struct sl_run_status *r)
{
	sl_json_add(j, "batches %lu of_batches %lu particles %lu of_particles %lu", r->batches,
		r->n_batches, r->particles, r->n_particles);
}

static void put_pace(struct sl_json *j, const struct sl_run_status *r)
{
	sl_json_add(j, "rate %g seconds_left %g", r->rate > 0 ? r->rate : (double)NAN,
		r->seconds_left >= 0 ? r->seconds_left : (double)NAN);
}

static void put_end(struct sl_json *j, const struct sl_run_status *r, double now)
{
	put_pace(j, r);
	if (r->seconds_left >= 0)
		put_clock(j, "end", now, r->seconds_left);
}

static void put_run(struct sl_json *j, const struct sl_run_status *r, double now)
{
	sl_json_add(j, "name %s part? %lu of_parts? %lu state %s", r->name, r->part.number,
		r->part.of, states[r->state]);
	put_done(j, r);
	sl_json_add(j, "session_particles %lu at_most %d survivors %lu bytes %lu damaged_lines %lu",
		r->session_particles, r->at_most, r->survivors, r->bytes, r->damaged);
	sl_truncated_json(j, r->truncated, r->particles, r->max_steps);
	sl_json_add(j, "lock { state %s", lock_names[r->lock.state]);
	if (r->lock.pid > 0)
		sl_json_add(
			j, "pid %lu host %s since %s", r->lock.pid, r->lock.host, r->lock.since);
	sl_json_close(j);
	put_end(j, r, now);
	sl_json_real(
		j, "seconds_since_commit", r->since_commit >= 0 ? r->since_commit : (double)NAN);
	if (r->since_commit >= 0)
		put_clock(j, "last_commit", now, -r->since_commit);
	sl_json_bool(j, "resumable", r->state == SL_RUN_INTERRUPTED || r->state == SL_RUN_STOPPED);
}

/* --- the parts of a run ----------------------------------------------------------------------- */

/* The parts in the directory that they share; those without a directory have not started. */
struct parts {
	const struct sl_dir *dir;
	double now;
	struct sl_json *json;
	uint64_t of;                     /* parts of the run; 0: the directory has none */
	uint64_t state[SL_RUN_DONE + 1]; /* numbers of parts in each state */
	uint64_t started;
	struct sl_run_status all;   /* sums over those that have started; rate: of those that run */
	char why[SL_MESSAGE_BYTES]; /* what is wrong with the first damaged part */
};

/* Counts the parts: a directory can have those of one run only. */
static enum sl_status find_part(void *ctx, const char *name)
{
	struct parts *p = (struct parts *)ctx;
	struct sl_part part;

	if (!sl_part_find(name, &part))
		return SL_OK;
	if (p->of > 0 && part.of != p->of)
		return sl_fail(SL_BAD_INPUT,
			"%s: has parts of a run of %lu and of a run of %lu parts; give the directory of "
			"one part",
			p->dir->path, p->of, part.of);
	p->of = part.of;
	return SL_OK;
}

static void add(struct parts *p, const struct sl_run_status *r)
{
	struct sl_run_status *all = &p->all;

	p->started++;
	p->state[r->state]++;
	all->batches += r->batches;
	all->n_batches += r->n_batches;
	all->particles += r->particles;
	all->n_particles += r->n_particles;
	all->survivors += r->survivors;
	all->bytes += r->bytes;
	all->truncated += r->truncated;
	all->max_steps = r->max_steps;
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
	struct parts *p, const struct sl_dir *dir, struct sl_run_status *r, bool *started)
{
	enum sl_status s = sl_run_status_read(dir, p->now, r);
	struct sl_failure failure = sl_failure_keep(s);

	*started = true;
	if (s != SL_BAD_INPUT)
		return s;
	SL_TRY(sl_file_exists(dir, "run.json", started));
	*r = (struct sl_run_status){.state = SL_RUN_DAMAGED, .seconds_left = -1};
	if (*started && p->state[SL_RUN_DAMAGED] == 0)
		memcpy(p->why, failure.message, sizeof(p->why));
	return SL_OK;
}

/*
 * Adds the part in the directory of that name, an item of the array. The size of a part is unknown
 * if its run.json is damaged or not there yet.
 */
static enum sl_status put_part(void *ctx, const char *name)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	struct parts *p = (struct parts *)ctx;
	char path[SL_PATH_BYTES];
	struct sl_run_status r;
	struct sl_part part;
	bool started;

	if (!sl_part_find(name, &part))
		return SL_OK;
	snprintf(path, sizeof(path), "%.3900s/%s", p->dir->path, name);
	SL_TRY(sl_dir_open(path, false, &dir));
	SL_TRY(read_part(p, &dir, &r, &started));
	if (!started)
		return SL_OK;
	add(p, &r);
	sl_json_add(p->json, "{ part %lu state %s", part.number, states[r.state]);
	put_done(p->json, &r);
	put_pace(p->json, &r);
	sl_json_close(p->json);
	return SL_OK;
}

/* The sums over the parts that have started, and how many parts are in which state. */
static void put_sum(struct sl_json *j, const struct parts *sum)
{
	const uint64_t not_started = sum->of - sum->started;

	sl_json_add(j, "of_parts %lu done %lu not_started %lu damaged %lu states {", sum->of,
		sum->state[SL_RUN_DONE], not_started, sum->state[SL_RUN_DAMAGED]);
	for (int i = SL_RUN_DONE; i >= 0; i--)
		sl_json_add(j, "%s? %lu", states[i], sum->state[i]);
	sl_json_u64(j, "not started", not_started);
	sl_json_close(j);
	put_done(j, &sum->all);
	sl_json_add(j, "survivors %lu bytes %lu", sum->all.survivors, sum->all.bytes);
	sl_truncated_json(j, sum->all.truncated, sum->all.particles, sum->all.max_steps);
	put_end(j, &sum->all, sum->now);
	sl_json_bool(j, "joinable", sum->state[SL_RUN_DONE] == sum->of);
}

/* A damaged part is reported after the others are printed. */
static enum sl_status print_parts(struct parts *p, bool json, FILE *out)
{
	struct sl_result r;
	enum sl_status s;

	SL_TRY(sl_result_begin(&r, json ? NULL : parts_lines, out));
	sl_json_add(&r.json, "{ parts [");
	p->json = &r.json;
	s = sl_dir_each(p->dir, put_part, p);
	sl_json_close(&r.json);
	if (s == SL_OK)
		put_sum(&r.json, p);
	s = sl_result_end(&r, s);
	return s == SL_OK && p->state[SL_RUN_DAMAGED] > 0 ? sl_fail(SL_BAD_INPUT, "%s", p->why) : s;
}

/* A directory with a run and parts, in which the parts were joined, is that of the run. */
static enum sl_status print(const struct sl_dir *dir, double now, bool json, FILE *out)
{
	struct parts parts = {.dir = dir, .now = now, .all.seconds_left = -1};
	struct sl_run_status status;
	struct sl_result r;
	bool has_run;

	SL_TRY(sl_file_exists(dir, "run.json", &has_run));
	if (!has_run)
		SL_TRY(sl_dir_each(dir, find_part, &parts));
	if (parts.of > 0)
		return print_parts(&parts, json, out);
	SL_TRY(sl_run_status_read(dir, now, &status));
	SL_TRY(sl_result_begin(&r, json ? NULL : run_lines, out));
	sl_json_object(&r.json, NULL);
	put_run(&r.json, &status, now);
	sl_json_text(&r.json, "directory", dir->path);
	return sl_result_end(&r, SL_OK);
}

enum sl_status sl_status_print(const char *directory, bool json, FILE *out)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};

	SL_TRY(sl_dir_open(directory, false, &dir));
	return print(&dir, sl_seconds_since_1970(), json, out);
}
