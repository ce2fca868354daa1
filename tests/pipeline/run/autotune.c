/*
 * autotune.c - the choice of a schedule by measurement: when auto measures, the candidates and their memory,
 * identical batches with each candidate, and the number of measured particles.
 */
#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/read_config.h"
#include "pipeline/resolve/execution/mode.h"
#include "pipeline/run/autotune.h"
#include "pipeline/plan/memory.h"
#include "primitives/emulator/settings.h"
#include "tests/support/basic/check.h"

static const char text[] = "run: {name: tuned, seed: 7, particles: 1000, batch: 400, threads: 2}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.3 cm}}\n"
			   "keep: [transmitted, reflected]\n"
			   "key: [w:6]\n"
			   "tallies: [steps:20:0..20]\n"
			   "output: {format: csv.gz, columns: [id, x, w, steps]}\n";

enum { SETS_MAX = 4 };

static struct sl_config config;
static struct sl_choices choices;

/* Resolves "key=value" texts, up to the first NULL. The caller closes the reader. */
static struct sl_reader *resolve_settings(const char *const set[SETS_MAX])
{
	struct sl_reader *r;
	size_t n = 0;

	while (n < SETS_MAX && set[n])
		n++;
	assert_ok(sl_config_open_text("c", text, sizeof(text) - 1, set, n, &config, &r));
	assert_ok(sl_resolve(&config, r, &choices));
	return r;
}

static void resolve(const char *const set[SETS_MAX])
{
	sl_config_close(resolve_settings(set));
}

static struct sl_plan *plan_of(const char *const set[SETS_MAX])
{
	struct sl_plan *plan;

	resolve(set);
	assert_ok(sl_plan_make(&config, &choices, &plan));
	return plan;
}

static const char *const measure_emulated[SETS_MAX] = {
	"run.device=emulated", "transport.schedule=measure"};
static const char *const measure_host[SETS_MAX] = {"run.device=cpu", "transport.schedule=measure"};

/* --- candidates ------------------------------------------------------------------------------- */

/* The schedule that auto selects for a configuration whose device is then replaced by this one. */
static enum sl_schedule_choice schedule_of_auto(enum sl_device_choice device, const char *mode)
{
	const char *const set[SETS_MAX] = {"run.device=emulated", mode};
	struct sl_reader *r = resolve_settings(set);

	choices.device = device;
	choices.n_devices = device != SL_ON_CPU;
	choices.schedule = SL_BY_AUTO;
	sl_resolve_mode(&config, r, &choices);
	sl_config_close(r);
	return choices.schedule;
}

TEST(auto_measures_only_on_gpus)
{
	assert_int_equal(schedule_of_auto(SL_ON_CUDA, NULL), SL_BY_AUTO);
	assert_int_equal(choices.mode, SL_MODE_fused);
	assert_int_equal(schedule_of_auto(SL_ON_CUDA, "run.mode=staged"), SL_BY_AUTO);
	assert_int_equal(choices.mode, SL_MODE_staged);
	assert_int_equal(schedule_of_auto(SL_ON_CUDA, "run.mode=fused"), SL_BY_HISTORY);
	assert_int_equal(schedule_of_auto(SL_ON_EMULATED, NULL), SL_BY_HISTORY);
	assert_int_equal(schedule_of_auto(SL_ON_CPU, NULL), SL_BY_HISTORY);
}

static void expect_candidates(const char *const set[SETS_MAX], const char *expected)
{
	struct sl_plan *plan = plan_of(set);
	char found[200] = "";

	for (uint32_t i = 0; i < plan->n_candidates; i++) {
		const struct sl_candidate *c = &plan->candidate[i];

		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s %s%s",
			i ? ", " : "", sl_device_modes[c->mode].name, c->name,
			(c->compact.backend != NULL) == (c->mode == SL_MODE_staged) ? "" : "?");
	}
	assert_string_equal(found, expected);
	sl_plan_free(plan);
}

TEST(candidates_depend_on_the_settings)
{
	expect_candidates((const char *const[SETS_MAX]){"run.device=emulated"}, "");
	expect_candidates(measure_emulated, "fused histories, staged histories staged, "
					    "staged rounds of 16, staged rounds of 4");
	expect_candidates(
		measure_host, "staged histories, staged rounds of 16, staged rounds of 4");
	expect_candidates((const char *const[SETS_MAX]){measure_emulated[0], measure_emulated[1],
				  "run.mode=staged"},
		"staged histories, staged rounds of 16, staged rounds of 4");
	/* with explicit rounds these are the only candidate */
	expect_candidates((const char *const[SETS_MAX]){measure_emulated[0], measure_emulated[1],
				  "transport.steps_per_launch=3"},
		"fused histories, staged histories staged, staged rounds of 3");
	expect_candidates((const char *const[SETS_MAX]){measure_emulated[0], measure_emulated[1],
				  "transport.finish=never"},
		"fused histories, staged histories staged, staged rounds of 8");
}

/* --- memory ----------------------------------------------------------------------------------- */

static const char *const rounds_16 = "transport={schedule: rounds, steps_per_launch: 16, "
				     "compact: every}",
			 *const rounds_4 = "transport={schedule: rounds, steps_per_launch: 4, "
					   "compact: every, finish: alive < 0.3}";

/*
 * Bytes of a batch with one fixed schedule and mode: of the device pipeline, or of the slot on the
 * host.
 */
static size_t memory_of_candidate(const char *device, const char *schedule, const char *mode)
{
	const char *const set[SETS_MAX] = {device, schedule, mode};
	struct sl_plan *plan = plan_of(set);
	size_t bytes = plan->on_device ? plan->memory.device_pipeline : plan->memory.slot;

	assert_int_equal(plan->n_candidates, 0);
	sl_plan_free(plan);
	return bytes;
}

static size_t memory_of_largest_candidate(const char *device)
{
	static const char *const history = "transport.schedule=history";
	const size_t bytes[] = {memory_of_candidate(device, history, NULL),
		memory_of_candidate(device, history, "run.mode=staged"),
		memory_of_candidate(device, rounds_16, NULL),
		memory_of_candidate(device, rounds_4, NULL)};
	size_t most = 0;

	for (int i = 0; i < 4; i++)
		most = bytes[i] > most ? bytes[i] : most;
	assert_true(most > bytes[0]);
	return most;
}

TEST(memory_is_that_of_the_largest_candidate)
{
	struct sl_plan *plan = plan_of(measure_host);

	assert_int_equal(plan->memory.slot, memory_of_largest_candidate("run.device=cpu"));
	sl_plan_free(plan);
	plan = plan_of(measure_emulated);
	assert_int_equal(
		plan->memory.device_pipeline, memory_of_largest_candidate("run.device=emulated"));
	sl_plan_free(plan);
}

/* If memory suffices only for histories, histories are chosen. */
TEST(little_memory_leaves_only_histories)
{
	const struct sl_emulator_settings before = *sl_emulator_get_settings();
	struct sl_emulator_settings little = before;
	const char *const set[SETS_MAX] = {measure_emulated[0], measure_emulated[1], "run.slots=1"};
	size_t histories =
		memory_of_candidate(measure_emulated[0], "transport.schedule=history", NULL);
	struct sl_plan *plan;

	little.memory_bytes = memory_of_largest_candidate(measure_emulated[0]) - 1;
	sl_emulator_set_settings(&little);
	plan = plan_of(set);
	assert_ok(sl_memory_plan_check(plan));
	assert_int_equal(plan->n_candidates, 0);
	assert_int_equal(plan->memory.device_pipeline, histories);
	assert_int_equal(plan->recipe.mode, SL_MODE_fused);
	assert_non_null(strstr(plan->schedule_reason, "not enough memory"));
	sl_plan_free(plan);
	little.memory_bytes++;
	sl_emulator_set_settings(&little);
	plan = plan_of(set);
	assert_int_equal(plan->n_candidates, 4);
	sl_plan_free(plan);
	sl_emulator_set_settings(&before);
}

/* --- the same batches ------------------------------------------------------------------------- */

/* Adds up what a run computes, batch by batch. */
static uint64_t sum;

static enum sl_status add_batch(void *ctx, struct sl_host_slot *slot)
{
	const struct sl_batch *b = &slot->batch;

	(void)ctx;
	sum = 31 * sum + b->n_survivors;
	for (int f = 0; f < SL_FATE_COUNT; f++)
		sum = 31 * sum + b->tally.count[f];
	for (uint32_t k = 0; k < b->table.n_columns; k++)
		sum = 31 * sum + b->table.column[k].digest;
	for (uint32_t k = 0; k < b->bin_words; k++)
		sum = 31 * sum + b->bins[k];
	return SL_OK;
}

static uint64_t sum_of(struct sl_workspace *w)
{
	const struct sl_manifest none = {0};
	struct sl_control control = {.batch = add_batch, .discard = true};
	struct sl_session session;

	sum = 0;
	assert_ok(sl_run(w, NULL, &none, &control, &session));
	assert_int_equal(session.batches, 3);
	return sum;
}

static void check_candidates_give_the_same_batches(const char *const set[SETS_MAX])
{
	struct sl_plan *plan = plan_of(set);
	struct sl_workspace *w;
	uint64_t histories;

	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	histories = sum_of(w);
	for (int again = 0; again < 2; again++)
		for (uint32_t i = plan->n_candidates; i-- > 0;) {
			assert_ok(sl_workspace_use(w, &plan->candidate[i]));
			assert_true(sum_of(w) == histories);
			assert_int_equal(w->recipe.mode, plan->candidate[i].mode);
		}
	sl_workspace_close(w);
	sl_plan_free(plan);
}

TEST(all_candidates_give_the_same_batches)
{
	check_candidates_give_the_same_batches(measure_host);
	check_candidates_give_the_same_batches(measure_emulated);
}

/* --- measurements ----------------------------------------------------------------------------- */

/*
 * Selects a schedule. Returns the number of particles of one measurement, 0 if there was none. The
 * measured particles are not part of the run.
 */
static unsigned particles_measured(struct sl_plan *plan, uint64_t done, struct sl_control *control)
{
	struct sl_manifest_line line = {.generated = done};
	const struct sl_manifest lines = {.line = &line, .n = done > 0};
	struct sl_workspace *w;
	unsigned particles = 0;

	plan->choices.stop_rule.below = 0.5;
	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	assert_ok(sl_autotune_schedule(w, &lines, control));
	assert_int_equal(w->recipe.particles, plan->recipe.particles);
	assert_int_equal(w->recipe.n_batches, plan->recipe.n_batches);
	assert_false(control->discard);
	if (w->schedule_reason[0])
		assert_int_equal(
			sscanf(w->schedule_reason, "%*[a-z], with %u particles: histories %*f ms, ",
				&particles),
			1);
	sl_workspace_close(w);
	sl_plan_free(plan);
	return particles;
}

/*
 * What auto would measure if the CPU were a GPU: a sixteenth of the remaining particles, if these
 * are enough.
 */
static unsigned particles_measured_by_auto(const char *particles, uint64_t done)
{
	const char *const set[SETS_MAX] = {
		"run.device=cpu", "run.batch=262144", particles, "model.slab.thickness=10 um"};
	struct sl_control control = {0};
	struct sl_plan *plan;

	resolve(set);
	choices.schedule = SL_BY_AUTO;
	assert_ok(sl_plan_make(&config, &choices, &plan));
	assert_int_equal(plan->n_candidates, plan->recipe.particles < 1048576 ? 0 : 3);
	return particles_measured(plan, done, &control);
}

TEST(auto_measures_only_long_runs)
{
	struct sl_control control = {0};

	assert_int_equal(particles_measured_by_auto("run.particles=1048575", 0), 0);
	assert_int_equal(particles_measured_by_auto("run.particles=1048576", 0), 65536);
	assert_int_equal(particles_measured_by_auto("run.particles=1048576", 1), 0);
	/* measure always measures, on a part of the remaining particles */
	assert_int_equal(particles_measured(plan_of(measure_host), 0, &control), 400);
	assert_int_equal(particles_measured(plan_of(measure_host), 800, &control), 200);
	assert_int_equal(particles_measured(plan_of(measure_host), 1000, &control), 0);
	atomic_store(&control.stop, 1);
	assert_int_equal(particles_measured(plan_of(measure_host), 0, &control), 0);
}

/* The fastest candidate is used, and the times of all are recorded. */
TEST(fastest_candidate_is_chosen)
{
	struct sl_plan *plan = plan_of(measure_emulated);
	const struct sl_manifest none = {0};
	struct sl_control control = {0};
	struct sl_workspace *w;
	uint32_t best = 0;
	char expected[64];

	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	assert_ok(sl_autotune_schedule(w, &none, &control));
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

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
