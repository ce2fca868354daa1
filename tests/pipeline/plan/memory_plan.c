/*
 * memory_plan.c - the plan counts device memory to the byte.
 *
 * If the device has too little memory, the plan first uses fewer slots, then smaller batches,
 * unless the configuration fixes them; otherwise it is refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/plan/memory.h"
#include "primitives/emulator/settings.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/library_run.h"
#include "tests/support/program/fixture.h"

#define SETS(...)                                                  \
	(const char *const[]){"run.device=emulated", __VA_ARGS__}, \
		sizeof((const char *const[]){"run.device=emulated", __VA_ARGS__}) / sizeof(char *)

#define PLENTY ((size_t)1 << 40)

/* Sets the memory of the device. */
static void set_device_memory(size_t bytes)
{
	struct sl_emulator_settings c = *sl_emulator_get_settings();

	c.memory_bytes = bytes;
	sl_emulator_set_settings(&c);
}

/* Makes the plan for a device with this much memory. */
static void plan_with(struct sl_plan **plan, size_t device_bytes, const char *const *sets, size_t n)
{
	set_device_memory(device_bytes);
	assert_ok(library_plan_of(sets, n, plan));
}

/* --- fewer slots ----------------------------------------------------------------------------- */

#define THREE SETS("run.particles=1e6", "run.batch=20000", "run.threads=3")

/* Bytes of one batch on the device. */
static size_t pipeline_bytes(const char *const *sets, size_t n)
{
	struct sl_plan *plan;
	size_t bytes;

	plan_with(&plan, PLENTY, sets, n);
	bytes = plan->memory.device_pipeline;
	assert_int_equal(plan->n_device_slots, 3);
	assert_int_equal(plan->memory.device, 3 * bytes);
	sl_plan_free(plan);
	return bytes;
}

TEST(little_memory_reduces_slots_first)
{
	size_t pipeline = pipeline_bytes(THREE);
	const struct {
		size_t bytes;
		uint32_t pipelines;
	} cases[] = {{3 * pipeline, 3}, {3 * pipeline - 1, 2}, {2 * pipeline, 2},
		{2 * pipeline - 1, 1}, {pipeline, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_plan *plan;

		plan_with(&plan, cases[i].bytes, THREE);
		assert_int_equal(plan->n_device_slots, cases[i].pipelines);
		assert_int_equal(plan->recipe.batch, 20000);
		assert_ok(sl_memory_plan_check(plan));
		sl_plan_free(plan);
	}
}

/* A plan that does not fit is refused, and the batch size that the message suggests fits. */
TEST(refusal_states_the_memory_needed)
{
	size_t pipeline = pipeline_bytes(THREE);
	struct sl_plan *plan;
	unsigned batch = 0;
	char set[64];
	const char *at;

	plan_with(&plan, pipeline - 1, THREE);
	assert_fails(sl_memory_plan_check(plan), SL_DEVICE_MEMORY, "MiB of device memory and ");
	assert_non_null(strstr(sl_last_error(), "with batches of 20000 particles"));
	at = strstr(sl_last_error(), "run.batch (");
	assert_true(at && sscanf(at, "run.batch (with one slot, %u particles fit)", &batch) == 1);
	assert_int_equal(batch, 10000);
	sl_plan_free(plan);
	snprintf(set, sizeof(set), "run.batch=%u", batch);
	plan_with(&plan, pipeline - 1, SETS("run.particles=1e6", "run.slots=1", set));
	assert_ok(sl_memory_plan_check(plan));
	sl_plan_free(plan);
	/* an explicit number of slots is not reduced */
	plan_with(&plan, 3 * pipeline - 1,
		SETS("run.particles=1e6", "run.batch=20000", "run.threads=3", "run.slots=3"));
	assert_fails(sl_memory_plan_check(plan), SL_DEVICE_MEMORY, ", for 3 slots of ");
	sl_plan_free(plan);
}

/* --- smaller batches ------------------------------------------------------------------------- */

#define AUTO SETS("run.particles=1e8")

/*
 * The plan is the largest that fits: neither one more device pipeline nor a batch of twice the size
 * would fit.
 */
static void check_largest_batch(const struct sl_plan *plan, size_t bytes, size_t largest)
{
	char batch[64];

	assert_true(plan->memory.device <= bytes);
	assert_true(plan->n_device_slots == 3 ||
		    plan->memory.device_pipeline * (plan->n_device_slots + 1) > bytes);
	assert_true(plan->recipe.batch == largest || plan->memory.device_pipeline * 2 > bytes);
	snprintf(batch, sizeof(batch), "batch: %u\n", plan->recipe.batch);
	assert_non_null(strstr(plan->config_text, batch));
	assert_int_equal(plan->config.run.batch, plan->recipe.batch);
	assert_int_equal(
		plan->recipe.n_batches, sl_ceil_div(plan->recipe.particles, plan->recipe.batch));
}

TEST(little_memory_reduces_the_batch_next)
{
	unsigned refused = 0, smallest = 0;
	struct sl_plan *plan;
	size_t bytes, largest;

	plan_with(&plan, PLENTY, AUTO);
	bytes = plan->memory.device;
	largest = plan->recipe.batch;
	assert_true(largest > SL_BATCH_AUTO_LEAST);
	for (; refused < 3; bytes -= bytes / 7) {
		sl_plan_free(plan);
		plan_with(&plan, bytes, AUTO);
		if (sl_memory_plan_check(plan) == SL_OK) {
			check_largest_batch(plan, bytes, largest);
			assert_int_equal(refused, 0);
			smallest = plan->recipe.batch;
		} else {
			assert_int_equal(plan->recipe.batch, largest);
			refused++;
		}
	}
	assert_int_equal(smallest, SL_BATCH_AUTO_LEAST);
	sl_plan_free(plan);
}

/* --- bytes of the plan and of the run -------------------------------------------------------- */

/* The first two are not packed on the device. */
static const struct {
	const char *mode, *format, *deflate;
} small_runs[] = {{NULL, NULL, NULL}, {"staged", NULL, NULL}, {NULL, "openpmd", "device"},
	{NULL, "npz", "device"}, {NULL, "mcpl", NULL}, {NULL, "mcpl.gz", "device"}};
enum { FIRST_PACKED = 2, SMALL_RUNS = sizeof(small_runs) / sizeof(small_runs[0]) };

static struct library_run small_run(int i)
{
	return (struct library_run){.device = "emulated",
		.mode = small_runs[i].mode,
		.format = small_runs[i].format,
		.deflate = small_runs[i].deflate,
		.slots = 2,
		.threads = 3,
		.particles = 300,
		.batches = 5};
}

static bool has_begun;

static void note_start(void)
{
	has_begun = true;
}

/* The run allocates exactly the bytes that the plan states. */
static size_t count_to_the_byte(struct library_run r)
{
	struct sl_workspace *w;
	struct sl_plan *plan;
	size_t bytes;

	set_device_memory(PLENTY);
	assert_ok(library_plan(&r, &plan));
	bytes = plan->memory.device;
	set_device_memory(bytes - 1); /* as if another process had allocated one byte since */
	assert_ok(sl_workspace_open(plan, &w));
	assert_fails(sl_workspace_allocate(w), SL_DEVICE_MEMORY, "device memory: ");
	sl_workspace_close(w);
	sl_plan_free(plan);
	r.begun = note_start;
	has_begun = false;
	assert_fails(library_run(&r), SL_DEVICE_MEMORY, "of device memory and ");
	assert_false(has_begun);
	set_device_memory(bytes);
	assert_ok(library_run(&r));
	assert_true(has_begun);
	return bytes;
}

TEST(plan_counts_memory_to_the_byte)
{
	size_t fused = count_to_the_byte(small_run(0)), staged = count_to_the_byte(small_run(1));

	assert_true(fused < staged);
	for (int i = FIRST_PACKED; i < SMALL_RUNS; i++) {
		struct library_run packed = small_run(i);

		packed.to = folder_path(&folder, "small"); /* without it, a run packs nothing */
		assert_true(fused < count_to_the_byte(packed));
		remove_run(&folder, "small");
	}
}

/* The manifest of a run on a device with this much memory, which is enough for these pipelines. */
static char *manifest_with(struct library_run r, size_t bytes, uint32_t pipelines)
{
	struct sl_plan *plan;
	char *text;
	size_t n;

	r.slots = 0;
	r.to = folder_path(&folder, "small");
	set_device_memory(bytes);
	assert_ok(library_plan(&r, &plan));
	assert_int_equal(plan->n_device_slots, pipelines);
	sl_plan_free(plan);
	assert_ok(library_run(&r));
	text = folder_read(&folder, "small/manifest.jsonl", &n);
	remove_run(&folder, "small");
	return text;
}

TEST(fewer_slots_give_the_same_bytes)
{
	char *all = manifest_with(small_run(0), PLENTY, 3);

	for (int i = 0; i < 2 * 2; i++) {
		struct library_run r = small_run(i / 2);
		uint32_t n = 1 + (uint32_t)i % 2;
		struct sl_plan *plan;
		size_t pipeline;
		char *fewer;

		set_device_memory(PLENTY);
		assert_ok(library_plan(&r, &plan));
		pipeline = plan->memory.device_pipeline;
		sl_plan_free(plan);
		fewer = manifest_with(r, (n + 1) * pipeline - 1, n);
		assert_string_equal(fewer, all);
		free(fewer);
	}
	free(all);
}

/* --- survivors that nothing reads on the host -------------------------------------------------- */

/* With the format none no survivors are copied to the host, so no memory is there for them. */
TEST(format_none_copies_no_survivors)
{
	struct sl_plan *written, *none;

	plan_with(&written, PLENTY,
		SETS("run.particles=1e6", "run.batch=20000", "output.format=csv"));
	plan_with(
		&none, PLENTY, SETS("run.particles=1e6", "run.batch=20000", "output.format=none"));
	assert_true(written->memory.slot_pinned > 20000);
	assert_true(none->memory.slot_pinned < 1000);
	sl_plan_free(none);
	sl_plan_free(written);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}

/* A resumed run writes only what is missing. */
TEST(committed_batches_need_no_disk_space)
{
	struct sl_plan *plan;
	uint64_t whole;

	plan_with(&plan, PLENTY, SETS("run.particles=20000", "run.batch=1000"));
	assert_ok(sl_plan_check_resources(plan, 0));
	whole = plan->disk_bytes;
	assert_ok(sl_plan_check_resources(plan, 15));
	assert_true(whole > 0);
	assert_int_equal(4 * plan->disk_bytes, whole);
	sl_plan_free(plan);
}
