/*
 * memory_plan.c - the plan counts device memory to the byte. What it does with little memory:
 * tests/text/memory.txt.
 */
#include "pipeline/plan/plan.h"
#include "primitives/emulator/settings.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/library_run.h"

#define PLENTY ((size_t)1 << 40)

/* Sets the memory of the device. */
static void set_device_memory(size_t bytes)
{
	struct sl_emulator_settings c = *sl_emulator_get_settings();

	c.memory_bytes = bytes;
	sl_emulator_set_settings(&c);
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

#define RUN(mode, format, deflate)                                                             \
	{                                                                                      \
		"emulated", mode, NULL, NULL, deflate, format, 2, 3, 300, 5, NULL, NULL, NULL, \
			NULL                                                                   \
	}

/* Survivors with a format are packed on the device; the others have no files. */
TEST(plan_counts_memory_to_the_byte)
{
	struct library_run runs[] = {RUN(NULL, NULL, NULL), RUN("staged", NULL, NULL),
		RUN(NULL, "openpmd", "device"), RUN(NULL, "npz", "device"), RUN(NULL, "mcpl", NULL),
		RUN(NULL, "mcpl.gz", "device")};
	size_t fused = 0;

	sl_device_emulate(true);
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		size_t bytes;

		runs[i].to = runs[i].format ? folder_path(&folder, "small") : NULL;
		bytes = count_to_the_byte(runs[i]);
		fused = i == 0 ? bytes : fused;
		if (i > 0 && bytes <= fused)
			fail_msg("run %zu: %zu bytes", i, bytes);
		if (runs[i].to)
			remove_run(&folder, "small");
	}
}
