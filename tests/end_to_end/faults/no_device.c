/*
 * no_device.c - no driver, an outdated driver, no device, and an unsupported device: each is
 * reported; requesting the device by name is an error, and auto computes on the CPU.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/basic/check.h"
#include "pipeline/report/plan_print.h"
#include "tests/support/device/counting_driver.h"
#include "tests/support/runs/library_run.h"

/* The answer of the driver, and the expected message. */
static const struct {
	struct driver_answers answers;
	const char *message;
} cases[] = {
	{{.count = 35, .runtime = 13000}, "no CUDA driver is loaded"},
	{{.count = 35, .driver = 12020, .runtime = 13000},
		"the CUDA driver is too old: it serves CUDA 12.2, this build needs 13.0"},
	{{.count = 100}, "the CUDA driver sees no device (CUDA_VISIBLE_DEVICES is "},
	{{.count = 46}, "no device can be used: CUDA error 46"},
	{{.count = 802}, "no device can be used: CUDA error 802"},
	{{.count = 803}, "no device can be used: CUDA error 803"},
	{{.use = SL_ERROR_NO_IMAGE, .major = 7},
		"device 0, Old GPU, is of architecture 7.0, too old for this program"},
	{{.use = SL_ERROR_NO_IMAGE}, "this build has no code for it (error 209"},
};

/* The plan gives the reason in one line. */
static void check_plan(const struct sl_plan *plan, const char *message)
{
	char *text = NULL, *line, *end;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	sl_plan_print(plan, out);
	fclose(out);
	line = strstr(text, "no GPU: ");
	if (!line || !strstr(line, message))
		fail_msg("\"%s\" is not in the plan:\n%s", message, text);
	end = strchr(line, '\n');
	assert_true(end && strstr(line, message) < end && strncmp(end + 1, "memory", 6) == 0);
	free(text);
}

/* Requesting the device by name is an error; auto computes on the CPU. */
TEST(missing_devices_are_reported)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct library_run r = {
			.device = "emulated", .threads = 1, .particles = 40, .batches = 2};
		struct sl_plan *plan;

		driver_answers = cases[i].answers;
		assert_fails(library_plan(&r, &plan), SL_NO_DEVICE, cases[i].message);
		sl_plan_free(plan);
		r.device = "auto";
		assert_ok(library_plan(&r, &plan));
		assert_false(plan->on_device);
		check_plan(plan, cases[i].message);
		sl_plan_free(plan);
		assert_ok(library_run(&r));
	}
}

TEST(device_number_out_of_range_is_refused)
{
	struct sl_device d;

	assert_fails(sl_device_use(32, &d), SL_NO_DEVICE,
		"there is no device 32: this machine has 32; choose one from 0 to 31");
	assert_fails(sl_device_use(-1, &d), SL_NO_DEVICE, "there is no device -1");
}

BEFORE_TESTS()
{
	counting_begin();
}

BEFORE_EACH()
{
	counting_clear();
}
