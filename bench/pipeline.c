/*
 * pipeline.c - the command: one batch from particles to sorted columns, by every way there is, on
 * one device in one run.
 *
 * All ways must come to the same number of survivors and the same digests of all columns; those of
 * the host's loops, where the batch is not so large that these take minutes. Nothing is timed
 * before.
 *
 * A time is from the first launch to the end of the last kernel. The number of survivors comes home
 * on the way, as it must by every way, and the host's share in that counts. Copies of the columns
 * to the host do not. The stream is not held: who makes batches queues them as he goes.
 */
#include "bench/racers.h"

#include <math.h>
#include <string.h>

#include "pipeline/config/reader/read_config.h"
#include "pipeline/compare/case_run.h"
#include "primitives/base/clock.h"

enum {
	WAYS = 8,
	SAMPLES_MOST = 31,
	WARM_UPS = 2,
	HOST_MOST = 1 << 24 /* particles; the host takes a second or two for them */
};

/* A way's times. */
struct entry {
	char name[32];
	uint32_t steps;
	const char *step[SL_STEPS_MAX];
	struct sl_spread all, of[SL_STEPS_MAX];
};

/* The ways of a size, and what they came to. */
struct race {
	struct sl_bench *b;
	uint32_t n;
	struct sl_outcome answer; /* of the host, or of the first way */
	bool is_answered;
	struct entry entry[WAYS];
	uint32_t n_entries;
};

/* --- the recipe ------------------------------------------------------------------------------- */

static const char *const usual_config = "data/configs/reference.yaml";

/* Keys of u32, columns of 4 bytes: what CUB's way is written for. */
static enum sl_status check_config(const struct sl_recipe *r, const char *name)
{
	for (uint32_t k = 0; k < r->n_columns; k++)
		if (sl_column_facts[r->column[k]].bytes != sizeof(uint32_t))
			return sl_fail(SL_USAGE,
				"%s: output.columns has %s, which is not of 4 bytes (CUB's way is "
				"written for those), leave it out",
				name, sl_column_facts[r->column[k]].name);
	if (r->n_fields == 0 || r->key_bits > 32)
		return sl_fail(SL_USAGE,
			"%s: the key has %u bits (CUB's way sorts by 1 to 32), choose another",
			name, r->key_bits);
	if (r->inputs || r->condition.n > 0)
		return sl_fail(SL_USAGE,
			"%s: reads a list or keeps on conditions (CUB's way does neither), choose "
			"another",
			name);
	return SL_OK;
}

enum sl_status sl_pipeline_plan(
	const struct sl_bench *b, uint32_t n, const char *mode, struct sl_plan **plan)
{
	static struct sl_config config;
	static struct sl_choices choices;
	const char *path = b->asked->config ? b->asked->config : usual_config;
	char particles[64], batch[64], device[64], way[64];
	const char *const sets[] = {particles, batch, device, "run.slots=1", way};
	struct sl_reader *reader = NULL;
	enum sl_status s;

	*plan = NULL;
	snprintf(particles, sizeof(particles), "run.particles=%u", n);
	snprintf(batch, sizeof(batch), "run.batch=%u", n);
	if (sl_device_is_emulated())
		snprintf(device, sizeof(device), "run.device=emulated");
	else
		snprintf(device, sizeof(device), "run.device=cuda:%d", b->device.number);
	snprintf(way, sizeof(way), "run.mode=%s", mode ? mode : "");
	s = sl_config_open(path, sets, mode ? 5 : 4, &config, &reader);
	if (s == SL_OK)
		s = sl_resolve(&config, reader, &choices);
	sl_config_close(reader);
	if (s == SL_OK)
		s = sl_plan_make(&config, &choices, plan);
	return s == SL_OK ? check_config(&(*plan)->recipe, path) : s;
}

/* --- a way ------------------------------------------------------------------------------------ */

/* The first that there is, is the one that all others must give. */
static enum sl_status check_answer(struct race *r, const struct sl_outcome *a, const char *name)
{
	if (!r->is_answered)
		r->answer = *a;
	r->is_answered = true;
	if (a->n_survivors != r->answer.n_survivors)
		return sl_fail(SL_CHECK_FAILED, "%s: %u particles survive, by another way %u", name,
			a->n_survivors, r->answer.n_survivors);
	for (int k = 0; k < SL_COLUMN_COUNT; k++)
		if (a->digest[k] != r->answer.digest[k])
			return sl_fail(SL_CHECK_FAILED,
				"%s: column %s is not what it is by another way", name,
				sl_column_facts[k].name);
	return SL_OK;
}

static enum sl_status flush(const struct sl_bench *b)
{
#ifdef SL_WITH_CUDA
	if (!sl_device_is_emulated())
		SL_TRY(sl_queue_flush(b->watch.flush, b->watch.flush_bytes, NULL));
#endif
	(void)b;
	return sl_stream_wait(NULL);
}

/* The first lap, whose answer is checked, is a warm-up too. */
static enum sl_status check_way(struct race *r, struct sl_racer *w, const char *name)
{
	struct sl_outcome answer;
	struct sl_lap lap;

	SL_TRY(sl_add_context(w->kind->run(w, &lap), "%s", name));
	SL_TRY(sl_add_context(w->kind->answer(w, &answer), "%s", name));
	SL_TRY(check_answer(r, &answer, name));
	for (int i = 1; i < WARM_UPS && !sl_device_is_emulated(); i++)
		SL_TRY(w->kind->run(w, &lap));
	return SL_OK;
}

static enum sl_status time_way(struct race *r, struct sl_racer *w, struct entry *e)
{
	static double all[SAMPLES_MOST], of[SL_STEPS_MAX][SAMPLES_MOST];
	uint64_t begun = sl_now_ns();
	uint32_t n = 0;
	struct sl_lap lap;

	while (n < SAMPLES_MOST &&
		(n < 3 || (n < r->b->watch.samples && 1e-6 * (double)(sl_now_ns() - begun) <
							      2 * r->b->watch.budget_ms))) {
		SL_TRY(flush(r->b));
		SL_TRY(w->kind->run(w, &lap));
		all[n] = lap.all_ms;
		for (uint32_t k = 0; k < lap.n; k++)
			of[k][n] = lap.ms[k];
		n++;
	}
	e->steps = lap.n;
	memcpy(e->step, lap.step, sizeof(e->step));
	e->all = sl_spread_of(all, n);
	for (uint32_t k = 0; k < lap.n; k++)
		e->of[k] = sl_spread_of(of[k], n);
	return SL_OK;
}

static enum sl_status run_way(struct race *r, const struct sl_racer_kind *kind,
	const struct sl_recipe *recipe, const char *name)
{
	struct entry *e = &r->entry[r->n_entries];
	struct sl_racer w;
	enum sl_status s = sl_racer_open(kind, recipe, &w);

	snprintf(e->name, sizeof(e->name), "%s", name);
	if (s == SL_OK)
		s = check_way(r, &w, name);
	if (s == SL_OK)
		s = time_way(r, &w, e);
	sl_racer_close(&w);
	r->n_entries += s == SL_OK;
	return s;
}

static enum sl_status run_mode(struct race *r, const char *mode, const char *name)
{
	struct sl_plan *plan;
	enum sl_status s = sl_pipeline_plan(r->b, r->n, mode, &plan);

	if (s == SL_OK && r->n <= HOST_MOST && !r->is_answered) {
		s = sl_racer_host(&plan->recipe, &r->answer);
		r->is_answered = s == SL_OK;
	}
	if (s == SL_OK)
		s = run_way(r, &sl_racer_lane, &plan->recipe, name);
	sl_plan_free(plan);
	return s;
}

static const char staged[] = "staged";

/* What run.mode can be, but for auto; NULL: there is one mode alone, staged. */
static const char *const *modes(void)
{
	const struct sl_model *none;
	const struct sl_option *mode = sl_option_find("run.mode", &none);

	return mode ? mode->choices + 1 : NULL;
}

static enum sl_status run_cub(struct race *r)
{
	struct sl_plan *plan;
	enum sl_status s;

	if (!sl_racer_cub || sl_device_is_emulated())
		return SL_OK;
	s = sl_pipeline_plan(r->b, r->n, modes() ? staged : NULL, &plan);
	if (s == SL_OK)
		s = run_way(r, sl_racer_cub, &plan->recipe, sl_racer_cub->name);
	sl_plan_free(plan);
	return s;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct sl_spread *cub_of(const struct race *r)
{
	for (uint32_t i = 0; sl_racer_cub && i < r->n_entries; i++)
		if (strcmp(r->entry[i].name, sl_racer_cub->name) == 0)
			return &r->entry[i].all;
	return NULL;
}

static void write_row(const struct race *r, const char *way, const char *step,
	const struct sl_spread *ms, const struct sl_spread *cub)
{
	bool all = strcmp(step, "all") == 0;
	const struct sl_field row[] = {
		{"way", way, 0, 0},
		{"n", NULL, r->n, 10},
		{"step", step, 0, 0},
		{"ms_median", NULL, ms->median, 6},
		{"ms_min", NULL, ms->least, 6},
		{"ms_lower_quartile", NULL, ms->lower, 6},
		{"ms_upper_quartile", NULL, ms->upper, 6},
		{"ms_max", NULL, ms->most, 6},
		{"samples", NULL, ms->n, 4},
		{"survivors", NULL, strcmp(way, "copy") ? r->answer.n_survivors : (double)NAN, 10},
		{"g_particles_per_s", NULL, all ? 1e-6 * r->n / ms->median : (double)NAN, 5},
		{"times_cub", NULL, cub && all ? cub->median / ms->median : (double)NAN, 4},
	};

	sl_sheet_row(r->b->sheet, row, sizeof(row) / sizeof(row[0]));
}

static void print_way(const struct race *r, const struct entry *e, const struct sl_spread *cub)
{
	printf("%-8s %10u  %10.4f %10.4f %10.4f %3u  %10.3f", e->name, r->n, e->all.median,
		e->all.least, e->all.most, e->all.n, 1e-6 * r->n / e->all.median);
	if (cub)
		printf(" %6.2fx ", cub->median / e->all.median);
	else
		printf(" %7s ", "-");
	for (uint32_t k = 0; k < e->steps; k++)
		printf("  %s %.4f", e->step[k], e->of[k].median);
	putchar('\n');
	(void)fflush(stdout);
}

static void show(const struct race *r)
{
	const struct sl_spread *cub = cub_of(r);

	for (uint32_t i = 0; i < r->n_entries; i++) {
		const struct entry *e = &r->entry[i];

		print_way(r, e, cub);
		write_row(r, e->name, "all", &e->all, cub);
		for (uint32_t k = 0; k < e->steps; k++)
			write_row(r, e->name, e->step[k], &e->of[k], cub);
	}
}

/* The machine's own speed: a copy of one column of 4 bytes. */
static enum sl_status show_copy(const struct race *r)
{
	struct sl_times times;

	SL_TRY(sl_copy_time(r->b, r->n, &times));
	printf("%-8s %10u  %10.4f %10.4f %10.4f %3u  (one column of 4 bytes, %.0f GB/s)\n", "copy",
		r->n, times.ms.median, times.ms.least, times.ms.most, times.ms.n,
		8e-6 * r->n / times.ms.median);
	write_row(r, "copy", "one column", &times.ms, NULL);
	return SL_OK;
}

static enum sl_status run_race(struct race *r)
{
	SL_TRY(show_copy(r));
	if (!modes())
		SL_TRY(run_mode(r, NULL, staged));
	for (const char *const *mode = modes(); mode && *mode; mode++)
		SL_TRY(run_mode(r, *mode, *mode));
	SL_TRY(run_cub(r));
	show(r);
	return SL_OK;
}

/* --- the command ------------------------------------------------------------------------------ */

enum sl_status sl_pipeline_row(struct sl_bench *b, uint32_t n)
{
	struct race r = {.b = b, .n = n};

	return sl_add_context(run_race(&r), "pipeline of %u particles", n);
}

void sl_pipeline_heading(void)
{
	printf("\n%-8s %10s  %10s %10s %10s %3s  %10s %7s   %s\n", "way", "n", "median ms", "least",
		"most", "of", "G/s", "CUB", "steps, ms");
}

enum sl_status sl_bench_pipeline(struct sl_bench *b)
{
	static const struct sl_numbers usual = {4, {1 << 16, 1 << 20, 1 << 24, 1 << 26}};
	static const struct sl_numbers emulated = {1, {1 << 10}};
	const struct sl_numbers *sizes = b->asked->sizes.n > 0     ? &b->asked->sizes
	                                 : sl_device_is_emulated() ? &emulated
	                                                           : &usual;
	char what[64];

	sl_pipeline_heading();
	for (uint32_t i = 0; i < sizes->n; i++) {
		if (sl_bench_has_time(b, 0)) {
			SL_TRY(sl_pipeline_row(b, sizes->at[i]));
			continue;
		}
		snprintf(what, sizeof(what), "pipeline, n=%u", sizes->at[i]);
		sl_sheet_left_out(b->sheet, what);
	}
	return SL_OK;
}
