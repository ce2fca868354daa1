/* status.c - see status.h. */
#include "pipeline/status/status.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "pipeline/results/manifest.h"
#include "pipeline/text/json.h"
#include "pipeline/text/messages.h"
#include "primitives/base/clock.h"
#include "primitives/base/size.h"
#include "primitives/files/files.h"
#include "primitives/files/read.h"

const char *const sl_run_states[] = {[SL_RUN_STARTING] = "starting",
	[SL_RUN_RUNNING] = "running",
	[SL_RUN_INTERRUPTED] = "interrupted",
	[SL_RUN_STOPPED] = "stopped",
	[SL_RUN_DAMAGED] = "damaged",
	[SL_RUN_DONE] = "done"};

static const char *const lock_names[] = {[SL_LOCK_FREE] = "free",
	[SL_LOCK_HELD] = "held",
	[SL_LOCK_LEFT] = "left",
	[SL_LOCK_ELSEWHERE] = "elsewhere"};

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
	struct sl_manifest m = {0};
	enum sl_status s = sl_manifest_read(dir, &m);

	for (size_t i = 0; s == SL_OK && i < m.n; i++) {
		const struct sl_manifest_line *l = &m.line[i];

		r->particles += l->generated;
		r->survivors += l->survivors;
		r->truncated.count += l->tally.count[SL_FATE_max_steps];
		r->bytes += l->file_bytes + l->bins_bytes + l->order_bytes;
	}
	r->batches = m.n;
	r->damaged = m.damaged;
	if (r->damaged > 0 && r->state == SL_RUN_RUNNING)
		r->damaged--;
	sl_manifest_free(&m);
	return s;
}

/*
 * Sets the particles of the session, and the rate: of a session in progress from the time between its start, when run.json was written, and
 * its last commit; of one that has ended from run.json.
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
	r->truncated.particles = r->particles;
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
	struct sl_existing_run run;
	double started, committed;
	enum sl_status s;
	bool exists;

	SL_TRY(sl_existing_run_read(dir, &run));
	snprintf(r->name, sizeof(r->name), "%.120s", run.name ? run.name : "");
	r->state = state_of(run.state, r->lock.state);
	s = sl_file_time(dir, "run.json", &exists, &started);
	if (s == SL_OK)
		s = sl_file_time(dir, "manifest.jsonl", &exists, &committed);
	if (s == SL_OK)
		s = read_batches(dir, r);
	if (s == SL_OK)
		s = set_sizes(r, &run);
	r->since_commit = s == SL_OK && r->batches > 0 ? fmax(now - committed, 0) : -1;
	if (s == SL_OK)
		set_rate(r, &run, started, committed, now);
	sl_existing_run_free(&run);
	return s;
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

/* A time of day some seconds after now, in UTC. */
const char *sl_clock_text(double now, double later, char text[32])
{
	time_t at = (time_t)(now + later);
	struct tm utc;

	text[0] = '\0';
	if (gmtime_r(&at, &utc))
		strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return text;
}

static void print_process(const struct sl_run_status *r, FILE *out)
{
	static const char *const what[] = {[SL_LOCK_FREE] = "",
		[SL_LOCK_HELD] = "; it holds the lock",
		[SL_LOCK_LEFT] = "; it has ended without closing the run",
		[SL_LOCK_ELSEWHERE] = "; whether it still runs can be seen on that host only"};
	const struct sl_lock_holder *l = &r->lock;

	if (l->state == SL_LOCK_FREE)
		fprintf(out, "process     none\n");
	else if (l->pid == 0)
		fprintf(out, "process     holds the lock, and has not written its number yet\n");
	else
		fprintf(out, "process     %llu on %s since %s%s\n", (unsigned long long)l->pid,
			l->host, l->since, what[l->state]);
}

/* The line about the last commit, the rate and the end, as far as they are known. */
static void print_pace(const struct sl_run_status *r, double now, FILE *out)
{
	char text[SL_DURATION_BYTES], when[32];

	if (r->since_commit >= 0)
		fprintf(out, "last commit %s, %s ago\n", sl_clock_text(now, -r->since_commit, when),
			sl_duration(r->since_commit, text));
	if (r->rate > 0)
		fprintf(out, "rate        %.4g M particles/s in the %s session\n", r->rate * 1e-6,
			r->state == SL_RUN_RUNNING ? "present" : "last");
	if (r->seconds_left >= 0)
		fprintf(out, "end         %sin %s, %s\n", r->at_most ? "at the latest " : "",
			sl_duration(r->seconds_left, text),
			sl_clock_text(now, r->seconds_left, when));
}

static void print_text(const char *directory, const struct sl_run_status *r, double now, FILE *out)
{
	char bytes[32];

	fprintf(out, "%s: run %s, ", directory, r->name[0] ? r->name : "(no name)");
	if (r->part.of > 0)
		fprintf(out, "part %llu of %llu, ", (unsigned long long)r->part.number,
			(unsigned long long)r->part.of);
	fprintf(out, "%s\n", sl_run_states[r->state]);
	if (r->state != SL_RUN_STARTING) {
		fprintf(out, "batches     %llu of %s%llu\n", (unsigned long long)r->batches,
			r->at_most ? "at most " : "", (unsigned long long)r->n_batches);
		fprintf(out, "particles   %llu of %s%llu, %.1f %%; %llu survivors, %s in files\n",
			(unsigned long long)r->particles, r->at_most ? "at most " : "",
			(unsigned long long)r->n_particles,
			r->n_particles > 0 ? 100.0 * (double)r->particles / (double)r->n_particles
					   : 100,
			(unsigned long long)r->survivors, sl_sized((double)r->bytes, bytes));
	}
	print_process(r, out);
	print_pace(r, now, out);
	sl_truncated_print(&r->truncated, out);
	if (r->damaged > 0)
		fprintf(out, "damaged lines of manifest.jsonl: %zu, not counted\n", r->damaged);
	if (r->state == SL_RUN_INTERRUPTED || r->state == SL_RUN_STOPPED)
		fprintf(out, "sluice run --resume continues the run\n");
}

static void print_json(const struct sl_run_status *r, double now, FILE *out)
{
	struct sl_json j = sl_json_stream(out);
	char when[32];

	sl_json_object(&j, NULL);
	sl_json_text(&j, "name", r->name);
	if (r->part.of > 0) {
		sl_json_u64(&j, "part", r->part.number);
		sl_json_u64(&j, "of_parts", r->part.of);
	}
	sl_json_text(&j, "state", sl_run_states[r->state]);
	sl_json_u64(&j, "batches", r->batches);
	sl_json_u64(&j, "of_batches", r->n_batches);
	sl_json_u64(&j, "particles", r->particles);
	sl_json_u64(&j, "of_particles", r->n_particles);
	sl_json_u64(&j, "session_particles", r->session_particles);
	sl_json_bool(&j, "at_most", r->at_most);
	sl_json_u64(&j, "survivors", r->survivors);
	sl_json_u64(&j, "bytes", r->bytes);
	sl_json_u64(&j, "damaged_lines", r->damaged);
	sl_truncated_json(&r->truncated, &j);
	sl_json_object(&j, "lock");
	sl_json_text(&j, "state", lock_names[r->lock.state]);
	if (r->lock.pid > 0) {
		sl_json_u64(&j, "pid", r->lock.pid);
		sl_json_text(&j, "host", r->lock.host);
		sl_json_text(&j, "since", r->lock.since);
	}
	sl_json_close(&j);
	sl_json_real(&j, "rate", r->rate > 0 ? r->rate : NAN);
	sl_json_real(&j, "seconds_left", r->seconds_left >= 0 ? r->seconds_left : NAN);
	if (r->seconds_left >= 0)
		sl_json_text(&j, "end", sl_clock_text(now, r->seconds_left, when));
	sl_json_real(&j, "seconds_since_commit", r->since_commit >= 0 ? r->since_commit : NAN);
	sl_json_close(&j);
	fputc('\n', out);
}

enum sl_status sl_status_print(const char *directory, bool json, FILE *out)
{
	struct sl_run_status r;
	double now = sl_seconds_since_1970();
	struct sl_dir dir;
	enum sl_status s;

	SL_TRY(sl_dir_open(directory, false, &dir));
	s = sl_run_status_read(&dir, now, &r);
	if (s == SL_OK && json)
		print_json(&r, now, out);
	else if (s == SL_OK)
		print_text(directory, &r, now, out);
	sl_dir_close(&dir);
	return s;
}
