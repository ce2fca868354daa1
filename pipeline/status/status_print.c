/*
 * status_print.c - the status of a run, or of its parts, as text or JSON. Keys are read by scripts:
 * never rename one.
 */
#include "pipeline/status/status.h"

#include <math.h>
#include <time.h>

#include "pipeline/print/result.h"
#include "primitives/base/clock.h"
#include "primitives/files/files.h"

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
		r->part.of, sl_run_states[r->state]);
	put_done(j, r);
	sl_json_add(j, "session_particles %lu at_most %d survivors %lu bytes %lu damaged_lines %lu",
		r->session_particles, r->at_most, r->survivors, r->bytes, r->damaged);
	sl_truncated_json(&r->truncated, j);
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

/*
 * An item of the array. The size of a part is unknown if its run.json is damaged or not there yet.
 */
static void put_part(void *ctx, const struct sl_part *part, const struct sl_run_status *r)
{
	struct sl_json *j = (struct sl_json *)ctx;

	sl_json_add(j, "{ part %lu state %s", part->number, sl_run_states[r->state]);
	put_done(j, r);
	put_pace(j, r);
	sl_json_close(j);
}

/* The sums over the parts that have started, and how many parts are in which state. */
static void put_sum(struct sl_json *j, const struct sl_parts_status *sum, double now)
{
	sl_json_add(j, "of_parts %lu done %lu not_started %lu damaged %lu states {", sum->of,
		sum->state[SL_RUN_DONE], sum->not_started, sum->state[SL_RUN_DAMAGED]);
	for (int i = SL_RUN_DONE; i >= 0; i--)
		sl_json_add(j, "%s? %lu", sl_run_states[i], sum->state[i]);
	sl_json_u64(j, "not started", sum->not_started);
	sl_json_close(j);
	put_done(j, &sum->all);
	sl_json_add(j, "survivors %lu bytes %lu", sum->all.survivors, sum->all.bytes);
	sl_truncated_json(&sum->all.truncated, j);
	put_end(j, &sum->all, now);
	sl_json_bool(j, "joinable", sum->state[SL_RUN_DONE] == sum->of);
}

/* A damaged part is reported after the others are printed. */
static enum sl_status print_parts(const struct sl_dir *dir, double now, bool json, FILE *out)
{
	struct sl_parts_status sum;
	struct sl_result r;
	enum sl_status s;

	SL_TRY(sl_result_begin(&r, json ? NULL : parts_lines, out));
	sl_json_add(&r.json, "{ parts [");
	s = sl_parts_status_read(dir, now, put_part, &r.json, &sum);
	sl_json_close(&r.json);
	if (s == SL_OK)
		put_sum(&r.json, &sum, now);
	s = sl_result_end(&r, s);
	return s == SL_OK && sum.state[SL_RUN_DAMAGED] > 0 ? sl_fail(SL_BAD_INPUT, "%s", sum.why)
	                                                   : s;
}

/* A directory with a run and parts, in which the parts were joined, is that of the run. */
static enum sl_status print(const struct sl_dir *dir, double now, bool json, FILE *out)
{
	struct sl_parts_status sum = {.of = 0};
	struct sl_run_status status;
	struct sl_result r;
	bool has_run;

	SL_TRY(sl_file_exists(dir, "run.json", &has_run));
	if (!has_run)
		SL_TRY(sl_parts_status_read(dir, now, NULL, NULL, &sum));
	if (sum.of > 0)
		return print_parts(dir, now, json, out);
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
