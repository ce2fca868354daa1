/*
 * autotune.c - the choice of a schedule by measurement: when auto measures, the number of measured
 * particles, and that the fastest is taken. Candidates and their memory: tests/text/plan.txt; that
 * all give the same bits: end_to_end/bits/bits.
 */
#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/execution/execution.h"
#include "pipeline/run/run.h"
#include "tests/support/configs/config_check.h"

static const char text[] = "run: {name: tuned, seed: 7, particles: 1000, batch: 400, threads: 2}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.3 cm}}\n"
			   "keep: [transmitted, reflected]\n"
			   "key: [w:6]\n"
			   "tallies: [steps:20:0..20]\n"
			   "output: {format: csv.gz, columns: [id, x, w, steps]}\n";

/* The configuration is that of the emulated device, which is then replaced. */
TEST(auto_measures_only_on_gpus)
{
	static const struct {
		enum sl_device_choice device;
		const char *mode;
		enum sl_schedule_choice schedule;
	} rows[] = {{SL_ON_CUDA, "auto", SL_BY_AUTO}, {SL_ON_CUDA, "staged", SL_BY_AUTO},
		{SL_ON_CUDA, "fused", SL_BY_HISTORY}, {SL_ON_EMULATED, "auto", SL_BY_HISTORY},
		{SL_ON_CPU, "auto", SL_BY_HISTORY}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_reader *r;
		char mode[32];

		snprintf(mode, sizeof(mode), "run.mode=%s", rows[i].mode);
		assert_ok(resolve_text(text, SETS("run.device=emulated", mode), 2, &r));
		choices.device = rows[i].device;
		choices.n_devices = rows[i].device != SL_ON_CPU;
		choices.schedule = SL_BY_AUTO;
		sl_resolve_mode(&(struct sl_resolver){.c = &config, .r = r, .to = &choices});
		sl_config_close(r);
		if (choices.schedule != rows[i].schedule ||
			(rows[i].device == SL_ON_CUDA &&
				(choices.mode == SL_MODE_staged) != (rows[i].mode[0] == 's')))
			fail_msg(
				"row %zu: schedule %d, mode %d", i, choices.schedule, choices.mode);
	}
}

/*
 * Selects a schedule. The measured particles are not part of the run. The caller closes the
 * workspace, then frees the plan.
 */
static struct sl_workspace *measure(struct sl_plan *plan, uint64_t done, int stop)
{
	struct sl_manifest_line line = {.generated = done};
	const struct sl_manifest lines = {.line = &line, .n = done > 0};
	struct sl_control control = {0};
	struct sl_workspace *w;

	atomic_store(&control.stop, stop);
	plan->choices.stop_rule.below = 0.5;
	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	assert_ok(sl_autotune_schedule(w, &lines, &control));
	assert_int_equal(w->recipe.particles, plan->recipe.particles);
	assert_int_equal(w->recipe.n_batches, plan->recipe.n_batches);
	assert_false(control.discard);
	return w;
}

/*
 * auto measures a sixteenth of the remaining particles, if these are enough; measure always
 * measures, on a part of those that remain.
 */
TEST(auto_measures_only_long_runs)
{
	static const struct {
		bool automatic; /* as if the CPU were a GPU */
		const char *particles;
		uint64_t done;
		int stop;
		unsigned candidates, measured;
	} rows[] = {{true, "1048575", 0, 0, 0, 0}, {true, "1048576", 0, 0, 3, 65536},
		{true, "1048576", 1, 0, 3, 0}, {false, "1000", 0, 0, 3, 400},
		{false, "1000", 800, 0, 3, 200}, {false, "1000", 1000, 0, 3, 0},
		{false, "1000", 0, 1, 3, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_workspace *w;
		struct sl_plan *plan;
		char particles[64];
		unsigned measured = 0;

		snprintf(particles, sizeof(particles), "run.particles=%s", rows[i].particles);
		resolve_good_sets(
			text, SETS("run.device=cpu", "transport.schedule=measure", particles,
				      rows[i].automatic ? "model.slab.thickness=10 um" : particles,
				      rows[i].automatic ? "run.batch=262144" : particles));
		if (rows[i].automatic)
			choices.schedule = SL_BY_AUTO;
		assert_ok(sl_plan_make(&config, &choices, &plan));
		w = measure(plan, rows[i].done, rows[i].stop);
		(void)sscanf(w->schedule_reason, "%*[a-z], with %u particles: histories %*f ms, ",
			&measured);
		if (plan->n_candidates != rows[i].candidates || measured != rows[i].measured)
			fail_msg("row %zu: %u candidates, %s", i, plan->n_candidates,
				w->schedule_reason);
		sl_workspace_close(w);
		sl_plan_free(plan);
	}
}

/* The fastest candidate is used, and the times of all are recorded. */
TEST(fastest_candidate_is_chosen)
{
	struct sl_plan *plan =
		plan_of_sets(text, SETS("run.device=emulated", "transport.schedule=measure"));
	struct sl_workspace *w = measure(plan, 0, 0);
	uint32_t best = 0;
	char expected[64];

	for (uint32_t i = 0; i < plan->n_candidates; i++) {
		assert_true(w->seconds[i] > 0);
		assert_non_null(strstr(w->schedule_reason, plan->candidate[i].name));
		if (w->seconds[i] < w->seconds[best])
			best = i;
	}
	snprintf(expected, sizeof(expected), "; %s is the fastest", plan->candidate[best].name);
	assert_non_null(strstr(w->schedule_reason, expected));
	assert_int_equal(w->recipe.mode, plan->candidate[best].mode);
	assert_int_equal(w->recipe.schedule.steps, plan->candidate[best].schedule.steps);
	sl_workspace_close(w);
	sl_plan_free(plan);
}
