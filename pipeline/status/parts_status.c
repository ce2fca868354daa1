/* parts_status.c - see parts_status.h. */
#include "pipeline/status/parts_status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/text/json.h"
#include "pipeline/text/messages.h"
#include "primitives/base/clock.h"
#include "primitives/files/files.h"

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
	sum->state[r->state]++;
	sum->batches += r->batches;
	sum->n_batches += r->n_batches;
	sum->particles += r->particles;
	sum->n_particles += r->n_particles;
	sum->survivors += r->survivors;
	sum->bytes += r->bytes;
	sum->truncated.count += r->truncated.count;
	sum->truncated.particles += r->truncated.particles;
	sum->truncated.max_steps = r->truncated.max_steps;
	if (r->state == SL_RUN_RUNNING)
		sum->rate += r->rate;
	sum->seconds_left = fmax(sum->seconds_left, r->seconds_left);
}

/*
 * Reads the status of a part. *started is false if its process has not written run.json yet. A part whose
 * run.json cannot be read gets the state "damaged"; if there are several, the error message is that of the
 * first.
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
	struct parts_walk *w = (struct parts_walk *)ctx;
	char path[SL_PATH_BYTES];
	struct sl_run_status r;
	struct sl_part part;
	struct sl_dir dir;
	enum sl_status s;
	bool started;

	if (!sl_part_find(name, &part))
		return SL_OK;
	if (w->sum->of > 0 && part.of != w->sum->of)
		return sl_fail(SL_BAD_INPUT,
			"%s: has parts of a run of %llu and of a run of %llu parts; give the directory of "
			"one part",
			w->dir->path, (unsigned long long)w->sum->of, (unsigned long long)part.of);
	w->sum->of = part.of;
	snprintf(path, sizeof(path), "%.3900s/%s", w->dir->path, name);
	SL_TRY(sl_dir_open(path, false, &dir));
	s = read_part(w, &dir, &r, &started);
	sl_dir_close(&dir);
	if (s != SL_OK || !started)
		return s;
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

	*sum = (struct sl_parts_status){.seconds_left = -1};
	SL_TRY(sl_dir_each(dir, add_part, &w));
	sum->not_started = sum->of - w.started;
	return SL_OK;
}

/* --- printing --------------------------------------------------------------------------------- */

/* In percent. A part of unknown size, whose run.json is damaged or not there yet, has done nothing. */
static double share(uint64_t part, uint64_t of)
{
	return of > 0 ? 100.0 * (double)part / (double)of : 0;
}

/* A line of the table, or an item of the array. */
static void print_part(void *ctx, const struct sl_part *part, const struct sl_run_status *r)
{
	char left[SL_DURATION_BYTES] = "";

	if (r->seconds_left >= 0)
		sl_duration(r->seconds_left, left);
	fprintf((FILE *)ctx, "%6llu  %-11s %9llu of %-9llu %5.1f %%  %s\n",
		(unsigned long long)part->number, sl_run_states[r->state],
		(unsigned long long)r->batches, (unsigned long long)r->n_batches,
		share(r->particles, r->n_particles), left);
}

static void write_part(void *ctx, const struct sl_part *part, const struct sl_run_status *r)
{
	struct sl_json *j = (struct sl_json *)ctx;

	sl_json_object(j, NULL);
	sl_json_u64(j, "part", part->number);
	sl_json_text(j, "state", sl_run_states[r->state]);
	sl_json_u64(j, "batches", r->batches);
	sl_json_u64(j, "of_batches", r->n_batches);
	sl_json_u64(j, "particles", r->particles);
	sl_json_u64(j, "of_particles", r->n_particles);
	sl_json_real(j, "rate", r->rate > 0 ? r->rate : NAN);
	sl_json_real(j, "seconds_left", r->seconds_left >= 0 ? r->seconds_left : NAN);
	sl_json_close(j);
}

/* The sums over the parts that have started, and how many parts are in which state. */
static void print_sum(const struct sl_parts_status *s, double now, FILE *out)
{
	char bytes[32], text[SL_DURATION_BYTES], when[32];

	fprintf(out, "%llu parts:", (unsigned long long)s->of);
	for (int i = SL_RUN_DONE; i >= 0; i--)
		if (s->state[i] > 0)
			fprintf(out, " %llu %s,", (unsigned long long)s->state[i],
				sl_run_states[i]);
	fprintf(out, " %llu not started\n", (unsigned long long)s->not_started);
	fprintf(out, "batches     %llu of %llu of the parts that have started\n",
		(unsigned long long)s->batches, (unsigned long long)s->n_batches);
	fprintf(out, "particles   %llu of %llu, %.1f %%; %llu survivors, %s in files\n",
		(unsigned long long)s->particles, (unsigned long long)s->n_particles,
		share(s->particles, s->n_particles), (unsigned long long)s->survivors,
		sl_sized((double)s->bytes, bytes));
	if (s->rate > 0)
		fprintf(out, "rate        %.4g M particles/s of the parts that run\n",
			s->rate * 1e-6);
	if (s->seconds_left >= 0)
		fprintf(out, "end         in %s, %s, of the parts that run\n",
			sl_duration(s->seconds_left, text),
			sl_clock_text(now, s->seconds_left, when));
	sl_truncated_print(&s->truncated, out);
	if (s->state[SL_RUN_DONE] == s->of)
		fprintf(out, "sluice join makes the run of all parts\n");
}

/* A damaged part is reported after the others are printed. */
static enum sl_status verdict(const struct sl_parts_status *sum)
{
	return sum->state[SL_RUN_DAMAGED] > 0 ? sl_fail(SL_BAD_INPUT, "%s", sum->why) : SL_OK;
}

/* Prints the table, or the object. */
static enum sl_status print_parts(const struct sl_dir *dir, double now, FILE *out)
{
	struct sl_parts_status sum;

	fprintf(out, "  part  state                 batches     particles  left\n");
	SL_TRY(sl_parts_status_read(dir, now, print_part, out, &sum));
	print_sum(&sum, now, out);
	return verdict(&sum);
}

static enum sl_status print_parts_json(const struct sl_dir *dir, double now, FILE *out)
{
	struct sl_json j = sl_json_stream(out);
	struct sl_parts_status sum;

	sl_json_object(&j, NULL);
	sl_json_array(&j, "parts");
	SL_TRY(sl_parts_status_read(dir, now, write_part, &j, &sum));
	sl_json_close(&j);
	sl_json_u64(&j, "of_parts", sum.of);
	sl_json_u64(&j, "done", sum.state[SL_RUN_DONE]);
	sl_json_u64(&j, "not_started", sum.not_started);
	sl_json_u64(&j, "damaged", sum.state[SL_RUN_DAMAGED]);
	sl_json_u64(&j, "particles", sum.particles);
	sl_truncated_json(&sum.truncated, &j);
	sl_json_real(&j, "rate", sum.rate > 0 ? sum.rate : NAN);
	sl_json_real(&j, "seconds_left", sum.seconds_left >= 0 ? sum.seconds_left : NAN);
	sl_json_close(&j);
	fputc('\n', out);
	return verdict(&sum);
}

/* A directory with a run and parts, in which the parts were joined, is that of the run. */
static enum sl_status look(const struct sl_dir *dir, double now, bool *has_parts)
{
	struct sl_parts_status sum;
	bool has_run;

	*has_parts = false;
	SL_TRY(sl_file_exists(dir, "run.json", &has_run));
	if (has_run)
		return SL_OK;
	SL_TRY(sl_parts_status_read(dir, now, NULL, NULL, &sum));
	*has_parts = sum.of > 0;
	return SL_OK;
}

enum sl_status sl_parts_status_print(const char *directory, bool json, FILE *out, bool *has_parts)
{
	double now = sl_seconds_since_1970();
	struct sl_dir dir;
	enum sl_status s;

	*has_parts = false;
	SL_TRY(sl_dir_open(directory, false, &dir));
	s = look(&dir, now, has_parts);
	if (s == SL_OK && *has_parts)
		s = json ? print_parts_json(&dir, now, out) : print_parts(&dir, now, out);
	sl_dir_close(&dir);
	return s;
}
