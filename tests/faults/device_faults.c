/*
 * device_faults.c - every call of a device fails (support/runs/fail_calls.h), and devices fail
 * together.
 */
#include "tests/support/runs/fail_calls.h"

#define RUN    "run tiny.yaml --quiet --out out --set output.format="
#define ONE    " --threads 1 --device cpu"
#define RESUME " --resume"
#define BARE   " --set output.columns=[]"
#define DEVICE " --threads 1 --device emulated --slots 1 --sort naive"
#define STAGED DEVICE " --mode staged --scan naive --compact naive"
#define FUSED  DEVICE " --mode fused"
#define SEVERAL \
	RUN "csv.gz --sort naive --slots 2 --threads 6 --set run.particles=2400 --device emulated:3 --mode "

static const struct scenario device_runs[] = {
	{"staged", "", RUN "csv.gz" STAGED, RUN "csv.gz" FUSED RESUME, RUN "csv.gz" ONE RESUME,
		ONE_WRITER},
	{"fused", "", RUN "csv.gz" FUSED, NULL, RUN "csv.gz" STAGED RESUME, ONE_WRITER},
	{"packed columns", "", RUN "openpmd --deflate device" FUSED, NULL,
		RUN "openpmd --deflate cpu" ONE RESUME, ONE_WRITER},
	{"packed records", "", RUN "mcpl" BARE FUSED, NULL, RUN "mcpl" BARE ONE RESUME, ONE_WRITER},
	{"threads", "", RUN "csv.gz --sort naive --threads 3 --slots 3 --device emulated", NULL,
		RUN "csv.gz --threads 3 --device cpu" RESUME, THREADS},
	{"the last batch", "",
		RUN
		"csv.gz --sort naive --slots 1 --threads 2 --set run.particles=400 --device emulated:2",
		NULL, NULL, THREADS | SURVIVES},
	{"three devices", "", SEVERAL "fused", SEVERAL "staged --resume", NULL, THREADS | SURVIVES},
};

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

TEST(calls_of_devices_fail)
{
	for (size_t i = 0; i < COUNT(device_runs); i++)
		fail_calls(&device_runs[i], true);
	/* A single command may have a harmless fault, but few faults are harmless. */
	assert_true(failed_commands > succeeded_commands);
}

/* Faults of several devices, with their outcome. */
TEST(devices_fail_together)
{
	static const struct {
		const char *fault;
		int code;
		const char *text; /* of the message */
	} rows[] = {
		{"dev_use:9:719", SL_DEVICE_FAILED, "selecting the device"},
		{"dev_use:10:719", SL_OK, ""},
		{"dev_use:15:719", SL_OK, ""},
		{"dev_sync:9+:719", SL_DEVICE_FAILED, "no device is left: "},
		{"dev_launch:1+:700", SL_DEVICE_FAILED, "no device is left: "},
		{"dev_sync:5:719,dev_sync:12:719,dev_sync:18:719", SL_DEVICE_FAILED,
			"no device is left: "},
		{"dev_copy:40+:1", SL_DEVICE_FAILED, "no device is left: "},
		{"dev_sync:3:719,dev_record:40:700", SL_OK, ""},
	};

	trial_begin(&device_runs[COUNT(device_runs) - 1]);
	for (size_t i = 0; i < COUNT(rows); i++) {
		trial_run_with(NULL, "SL_FAULT=%s", rows[i].fault);
		trial_check_ending();
		if (trial.end.code != rows[i].code)
			fail_fault("exit code %d: %s", trial.end.code, trial.end.err);
		if (trial.end.code != 0)
			trial_check_message(rows[i].text);
		else if (failed_devices() == 0)
			fail_fault("no device has failed");
		trial_finish();
	}
	trial_end();
}
