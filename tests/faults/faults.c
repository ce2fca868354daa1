/*
 * faults.c - every call of a command fails, once and from then on, and the command is killed at every call.
 *
 * A table of commands times the kinds of fault. An undisturbed command first logs its calls of sl_fault() with their
 * sites, which are the call and its callers. Each site then fails at its first, its last and one other call, or in
 * a complete test (SLUICE_ONE_IN=1) at every call. trial.h says what must hold then.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/device/device_driver.h"
#include "tests/cases/sampling.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/trial.h"

/* --- the commands ----------------------------------------------------------------------------- */

#define RUN    "run tiny.yaml --quiet --out out --set output.format="
#define ONE    " --threads 1 --device cpu"
#define MANY   " --threads 3 --device cpu"
#define RESUME " --resume"
#define WEIGHT " --set output.columns=[id,x,energy,pixel,weight]"
#define BARE   " --set output.columns=[]"

#define RUN_H5     RUN "openpmd --set tallies=[w:2] --set output.image=true" WEIGHT ONE
#define RUN_CSV    RUN "csv.gz" MANY
#define RUN_TWO    RUN "openpmd --threads 6 --set run.particles=1200 --device cpu"
#define RUN_NPZ    RUN "npz --set output.joined=true" ONE
#define RUN_GZIP   RUN "mcpl.gz --set output.joined=true" BARE ONE
#define RUN_ORDER  RUN "mcpl --set output.order=run --set output.sample=20" BARE ONE
#define RUN_SORTED RUN "openpmd --set output.order=run --set output.sample=20" WEIGHT ONE
#define RUN_STOP   RUN "openpmd --set stop.when=rel_error(hit)<0.9 --set stop.min_batches=2" MANY
#define RUN_PART   RUN "npz --part 1/2" ONE
#define RUN_LIST   "run list.yaml --quiet --out out --threads 2"

static const struct scenario runs[] = {
	{"openPMD, tallies, image", "", RUN_H5, RUN_H5 RESUME, NULL, ONE_WRITER},
	{"csv.gz", "", RUN_CSV, RUN_CSV RESUME, RUN "csv.gz --device emulated" RESUME, THREADS},
	{"two writers", "", RUN_TWO, RUN_TWO RESUME, NULL, THREADS},
	{"npz, joined", "", RUN_NPZ, RUN_NPZ RESUME, NULL, ONE_WRITER},
	{"mcpl.gz, joined", "", RUN_GZIP, RUN_GZIP RESUME, NULL, ONE_WRITER},
	{"mcpl, in order", "", RUN_ORDER, RUN_ORDER RESUME, NULL, ONE_WRITER},
	{"openPMD, in order", "", RUN_SORTED, RUN_SORTED RESUME, NULL, ONE_WRITER},
	{"a stop rule", "", RUN_STOP, RUN_STOP RESUME, NULL, THREADS},
	{"resume", "SL_FAULT=file_append:2:kill " RUN_H5, RUN_H5 RESUME, NULL, NULL, 0},
	{"force", RUN_H5, RUN_H5 " --force", RUN_H5 RESUME, NULL, REPLACES},
	{"a part", "", RUN_PART, RUN_PART RESUME, NULL, ONE_WRITER},
	{"a list", "", RUN_LIST, RUN_LIST RESUME, NULL, THREADS},
};

#define DEVICE " --threads 1 --device emulated --slots 1 --sort naive"
#define STAGED DEVICE " --mode staged --scan naive --compact naive"
#define FUSED  DEVICE " --mode fused"
#define PACKED RUN "openpmd --deflate device"
#define THREE  RUN "csv.gz --sort naive --threads 3 --slots 3 --device emulated"
#define LOSES \
	RUN "csv.gz --sort naive --slots 2 --threads 6 --set run.particles=2400 --device emulated:3 --mode "
#define LAST \
	RUN "csv.gz --sort naive --slots 1 --threads 2 --set run.particles=400 --device emulated:2"

static const struct scenario device_runs[] = {
	{"staged", "", RUN "csv.gz" STAGED, RUN "csv.gz" FUSED RESUME, RUN "csv.gz" ONE RESUME,
		ONE_WRITER},
	{"fused", "", RUN "csv.gz" FUSED, RUN "csv.gz" FUSED RESUME, RUN "csv.gz" STAGED RESUME,
		ONE_WRITER},
	{"packed columns", "", PACKED FUSED, PACKED FUSED RESUME,
		RUN "openpmd --deflate cpu" ONE RESUME, ONE_WRITER},
	{"packed records", "", RUN "mcpl" BARE FUSED, RUN "mcpl" BARE FUSED RESUME,
		RUN "mcpl" BARE ONE RESUME, ONE_WRITER},
	{"threads", "", THREE, THREE RESUME, RUN "csv.gz" MANY RESUME, THREADS},
	{"the last batch", "", LAST, LAST RESUME, NULL, THREADS | SURVIVES},
	{"three devices", "", LOSES "fused", LOSES "staged --resume", NULL, THREADS | SURVIVES},
};

#define VERIFY "verify out --quiet"

static const struct scenario others[] = {
	{"join", RUN "npz --part 1/2" ONE ";" RUN "npz --part 2/2" ONE, "join out --quiet",
		"join out --quiet --force", NULL, 0},
	{"convert to gzip", "", "convert list.mcpl.gz --to made.mcpl.gz --quiet", NULL, NULL, 0},
	{"convert to npz", "", "convert list.mcpl.gz --to made.npz --quiet", NULL, NULL, 0},
	{"convert to mcpl", "convert list.mcpl.gz --to table.npz --quiet",
		"convert table.npz --to made.mcpl --quiet", NULL, NULL, 0},
	{"convert to openPMD", "", "convert list.mcpl.gz --to made.h5 --quiet", NULL, NULL, 0},
	{"verify csv.gz", RUN_CSV, VERIFY, NULL, NULL, 0},
	{"verify openPMD", RUN_H5, VERIFY, NULL, NULL, 0},
	{"info", RUN_H5, "info out", NULL, NULL, 0},
	{"help", "", "help --markdown", NULL, NULL, 0},
};

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static bool is_of_device(const char *call)
{
	return strncmp(call, "dev_", 4) == 0 || strncmp(call, "pinned_", 7) == 0;
}

/* What the message of a failed command contains; NULL: anything. */
static const char *text_of(const char *call, int error, char text[32])
{
	if (strcmp(call, "dev_flip") == 0)
		return "transfer error";
	if (strstr(call, "malloc") && (error == SL_ERROR_MEMORY || error == ENOMEM))
		return "bytes requested";
	if (!is_of_device(call))
		return strerrordesc_np(error);
	if (strcmp(call, "dev_count") == 0 &&
		(error == SL_ERROR_OLD_DRIVER || error == SL_ERROR_NO_DEVICE))
		return error == SL_ERROR_NO_DEVICE ? "the CUDA driver sees no device"
		                                   : "no CUDA driver is loaded";
	snprintf(text, 32, "error %d", error);
	return text;
}

static bool suits(const char *call, int error, int code)
{
	if (strcmp(call, "host_malloc") == 0)
		return code == SL_HOST_MEMORY;
	if (strcmp(call, "malloc") ==
		0) /* lack of memory inside libc or the kernel is reported as a failed call */
		return code == SL_HOST_MEMORY || (code == SL_DISK && trial_is_run());
	if (strncmp(call, "sys_", 4) == 0)
		return code == SL_DISK || code == SL_OUTPUT_IN_USE;
	if (!is_of_device(call))
		return code == SL_DISK;
	if (error == SL_ERROR_ADDRESS || error == SL_ERROR_LAUNCH || strcmp(call, "dev_flip") == 0)
		return code == SL_DEVICE_FAILED;
	if (strcmp(call, "dev_count") == 0 || error == SL_ERROR_NO_IMAGE)
		return code == SL_NO_DEVICE;
	if (error != SL_ERROR_MEMORY)
		return code == SL_DEVICE_FAILED;
	return code == (strcmp(call, "pinned_malloc") == 0 ? SL_HOST_MEMORY : SL_DEVICE_MEMORY);
}

static bool is_in(const char *name, const char *names)
{
	const char *at = strstr(names, name);

	return at && at[strlen(name)] == ' ';
}

static bool is_in_batch(const char *call)
{
	return is_in(call,
		"dev_record dev_sync dev_elapsed dev_copy dev_fill dev_launch dev_capture dev_graph "
		"dev_replay ");
}

/* All memory is allocated before the output directory is made. */
static bool is_before_output(const char *call)
{
	return is_in(call, "dev_malloc pinned_malloc dev_stream dev_event ");
}

/* A failed sync is not repeated: a second one would succeed although pages are lost. */
static void check_no_second_sync(const struct fault *fault, const char *call, size_t k)
{
	static struct calls now;
	size_t n = 0;

	trial_calls(&now);
	for (size_t i = 0; i < now.n; i++) {
		n += strcmp(now.at[i].name, call) == 0;
		if (n >= k && is_in(now.at[i].name, "sys_fsync sys_dirsync sys_fdatasync ") &&
			strcmp(now.at[i].name, call) != 0)
			fail_fault(fault, "a sync follows the one that failed");
	}
}

/* Devices that run.json reports as failed. All batches must be counted once. */
static size_t failed_devices(const struct fault *fault)
{
	size_t bytes;
	char *json = folder_read(&trial.f, "out/run.json", &bytes),
	     *devices = strstr(json, "\"devices\"");
	unsigned long all = 0, batches = times_in(
				       tree_find(&trial.after, "out/manifest.jsonl")->bytes, "\n");
	size_t failed;

	assert_non_null(devices);
	failed = times_in(devices, "\"failure\"");
	for (const char *at = devices; (at = strstr(at, "\"batches\": ")) != NULL; at++)
		all += strtoul(at + strlen("\"batches\": "), NULL, 10);
	if (all != batches)
		fail_fault(fault, "the devices computed %lu batches of %lu", all, batches);
	free(json);
	return failed;
}

static bool is_sync(const char *call)
{
	return is_in(
		call, "file_fsync file_datasync file_dirsync sys_fsync sys_dirsync sys_fdatasync ");
}

/* HDF5 may crash without memory, and calls exit(-1) if it has none to report its own error. */
static bool is_crash_of_hdf5(const struct ending *e)
{
	return (e->code < 0 || e->code == 255) && trial_is_run() &&
	       strstr(trial.s->command, "openpmd");
}

/* After an error that makes a device unusable, no call reaches the driver (device.c asks sl_fault() before each). */
static void check_no_call_after(const struct fault *fault, const char *call, size_t k)
{
	static struct calls now;
	bool failed = false;

	trial_calls(&now);
	for (size_t i = 0; i < now.n; i++) {
		if (failed && is_of_device(now.at[i].name) &&
			strcmp(now.at[i].name, "dev_flip") != 0)
			fail_fault(fault, "%s is called after it", now.at[i].name);
		failed |= now.at[i].k == k && strcmp(now.at[i].name, call) == 0;
	}
}

static void check_device_failure(const struct fault *fault, const char *call, bool on, int error,
	const struct ending *e, const struct tree *now)
{
	const bool in_batch = is_in_batch(call);

	if ((trial.s->is & SURVIVES) && e->code == 0 && failed_devices(fault) > 1 && !on)
		fail_fault(fault, "more than one device has failed");
	if (e->code == 0)
		return;
	if ((trial.s->is & ONE_WRITER) && in_batch && !strstr(e->err, "batch "))
		fail_fault(fault, "the message names no batch: %s", e->err);
	if (trial_is_finished(now))
		fail_fault(fault, "exit code %d, but the output is complete", e->code);
	if (is_before_output(call) && folder_has(&trial.f, "out"))
		fail_fault(fault, "the output directory exists");
	if ((trial.s->is & SURVIVES) && in_batch && !on && suits(call, error, SL_DEVICE_FAILED))
		fail_fault(fault, "the other devices do not compute the rest: %s", e->err);
}

/* Call k fails with this error, and if on, each later one. */
static void fail_call(const char *call, size_t k, bool on, int error)
{
	const bool any = strcmp(call, "malloc") == 0; /* of a library, too */
	struct fault fault = {.env = {fault.text, any && on ? "FAIL_ON=1" : NULL, NULL}};
	char text[32];
	struct tree now;
	struct ending e;

	if (any)
		snprintf(fault.text, sizeof(fault.text), "FAIL_AT=%zu", k);
	else
		snprintf(fault.text, sizeof(fault.text), "SL_FAULT=%s:%zu%s:%d", call, k,
			on ? "+" : "", error);
	trial_run_with(&fault, NULL, false, &e, &now);
	if (any && is_crash_of_hdf5(&e)) {
		trial.ended++;
	} else {
		trial_check_ending(&fault, &e, &now);
		if (e.code != 0)
			trial_check_message(&fault, &e, any ? NULL : text_of(call, error, text));
		if (e.code != 0 && !suits(call, error, e.code))
			fail_fault(&fault, "exit code %d: %s", e.code, e.err);
		if ((trial.s->is & ONE_WRITER) && is_of_device(call) &&
			(error == SL_ERROR_ADDRESS || error == SL_ERROR_LAUNCH))
			check_no_call_after(&fault, call, k);
		if (is_of_device(call))
			check_device_failure(&fault, call, on, error, &e, &now);
		if ((trial.s->is & ONE_WRITER) && !on && is_sync(call) && e.code != 0)
			check_no_second_sync(&fault, call, k);
	}
	trial_finish(&fault, &e, &now);
}

static void kill_at(const char *call, size_t k)
{
	struct fault fault = {.env = {fault.text, NULL}};
	struct tree now;
	struct ending e;

	snprintf(fault.text, sizeof(fault.text), "SL_FAULT=%s:%zu:kill", call, k);
	trial_run_with(&fault, NULL, true, &e, &now);
	trial.ended += e.signal == SIGKILL;
	if (e.signal != SIGKILL && !(trial.s->is & THREADS))
		fail_fault(&fault, "exit code %d", e.code);
	trial_finish(&fault, &e, &now);
}

/* --- the calls that fail ---------------------------------------------------------------------- */

static uint64_t seed;

/* Whether call i of the log is the first or the last of its site, or the one that the seed selects. */
static bool stands_for_its_site(const struct calls *c, size_t i)
{
	size_t before = 0, after = 0;

	for (size_t k = 0; k < c->n; k++)
		if (c->at[k].site == c->at[i].site) {
			before += k < i;
			after += k > i;
		}
	return before == 0 || (after == 0 && strcmp(c->at[i].name, "malloc") != 0) ||
	       (seed + c->at[i].site) % (before + after + 1) == before;
}

/* The errors of a call, in turn. */
static int error_of(const char *call, unsigned turn)
{
	static const int of_disk[] = {ENOSPC, EIO, EDQUOT, EROFS},
			 of_count[] = {SL_ERROR_OLD_DRIVER, SL_ERROR_NO_DEVICE, 46, 802, 803};
	static const int of_device[] = {SL_ERROR_VALUE, SL_ERROR_MEMORY, SL_ERROR_NO_IMAGE,
		SL_ERROR_ADDRESS, SL_ERROR_LAUNCH},
			 bits[] = {1, 45, 777};

	return strstr(call, "malloc") == call || strcmp(call, "host_malloc") == 0 ? ENOMEM
	       : strcmp(call, "dev_flip") == 0  ? bits[turn % COUNT(bits)]
	       : strcmp(call, "dev_count") == 0 ? of_count[turn % COUNT(of_count)]
	       : is_of_device(call)             ? of_device[turn % COUNT(of_device)]
	                                        : of_disk[turn % COUNT(of_disk)];
}

/* Two copies with the same flipped bit are equal; without fstat(), no temporary file is removed. */
static bool only_once(const char *call)
{
	return strcmp(call, "dev_flip") == 0 || strncmp(call, "sys_", 4) == 0;
}

enum { ONCE, ON, KILL, KINDS };

/* Sites of allocations in earlier scenarios: they are the same in most commands, so each is tested in one. */
static struct {
	unsigned long site[CALLS_MOST];
	size_t n;
} known;

static bool is_known(unsigned long site)
{
	for (size_t i = 0; i < known.n; i++)
		if (known.site[i] == site)
			return true;
	return false;
}

static void note_sites(void)
{
	for (size_t i = 0; i < trial.calls.n; i++)
		if (strcmp(trial.calls.at[i].name, "malloc") == 0 &&
			!is_known(trial.calls.at[i].site)) {
			assert_true(known.n < CALLS_MOST);
			known.site[known.n++] = trial.calls.at[i].site;
		}
}

/* Whether call i of the log is to fail. */
static bool is_chosen(size_t i, bool of_device)
{
	const struct call *call = &trial.calls.at[i];

	if (is_of_device(call->name) != of_device)
		return false;
	if (strcmp(call->name, "malloc") == 0)
		return call->k > trial.first && !is_known(call->site) &&
		       stands_for_its_site(&trial.calls, i);
	return sl_sampling_step(1) == 1 || stands_for_its_site(&trial.calls, i);
}

static unsigned failed, succeeded; /* commands with a fault */

static void fail_calls(const struct scenario *s, bool of_device)
{
	unsigned errors = 0;

	trial_begin(s);
	for (size_t i = 0; i < trial.calls.n; i++) {
		const char *call = trial.calls.at[i].name;

		if (!is_chosen(i, of_device))
			continue;
		for (size_t turn = 0; turn < KINDS; turn++) {
			const size_t kind = (turn + i) % KINDS; /* any share has all kinds */

			if (!sl_sampling_selects() || (kind == ON && only_once(call)))
				continue;
			if (kind != KILL)
				fail_call(call, trial.calls.at[i].k, kind == ON,
					error_of(call, errors++));
			else if (!of_device && !strstr(call, "malloc"))
				kill_at(call, trial.calls.at[i].k);
		}
	}
	note_sites();
	failed += trial.failed;
	succeeded += trial.succeeded;
	trial_end();
}

TEST(calls_of_runs_fail)
{
	for (size_t i = 0; i < COUNT(runs); i++)
		fail_calls(&runs[i], false);
}

TEST(calls_of_other_commands_fail)
{
	for (size_t i = 0; i < COUNT(others); i++)
		fail_calls(&others[i], false);
}

TEST(calls_of_devices_fail)
{
	for (size_t i = 0; i < COUNT(device_runs); i++)
		fail_calls(&device_runs[i], true);
	/* A single command may have a harmless fault, but few faults are harmless. */
	assert_true(failed > succeeded);
}

/* Faults of several devices, with their outcome. */
TEST(devices_fail_together)
{
	static const struct {
		const char *fault;
		int code;
		const char *text; /* of the message, or of run.json */
	} rows[] = {
		{"dev_use:9:719", SL_DEVICE_FAILED, "selecting the device"},
		{"dev_use:10:719", SL_OK, "\"failure\""},
		{"dev_use:15:719", SL_OK, "\"failure\""},
		{"dev_sync:9+:719", SL_DEVICE_FAILED, "no device is left: "},
		{"dev_launch:1+:700", SL_DEVICE_FAILED, "no device is left: "},
		{"dev_sync:5:719,dev_sync:12:719,dev_sync:18:719", SL_DEVICE_FAILED,
			"no device is left: "},
		{"dev_copy:40+:1", SL_DEVICE_FAILED, "no device is left: "},
		{"dev_sync:3:719,dev_record:40:700", SL_OK, "\"failure\""},
	};

	trial_begin(&device_runs[COUNT(device_runs) - 1]);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault fault = {.env = {fault.text, NULL}};
		struct tree now;
		struct ending e;

		snprintf(fault.text, sizeof(fault.text), "SL_FAULT=%s", rows[i].fault);
		trial_run_with(&fault, NULL, false, &e, &now);
		trial_check_ending(&fault, &e, &now);
		if (e.code != rows[i].code)
			fail_fault(&fault, "exit code %d: %s", e.code, e.err);
		if (e.code != 0)
			trial_check_message(&fault, &e, rows[i].text);
		else if (failed_devices(&fault) == 0)
			fail_fault(&fault, "no device has failed");
		trial_finish(&fault, &e, &now);
	}
	trial_end();
}

/* The summary names the device and its failure, without the advice for a run that has ended. */
TEST(summary_names_the_failed_device)
{
	static const char *const env[] = {"SL_FAULT=dev_sync:7:719", NULL};
	const char line[] =
		"run tiny.yaml --out out --set run.particles=2400 --device emulated:3 --slots 2";
	struct ending e;

	trial_begin(&device_runs[0]);
	trial_run(line, strlen(line), env, &e);
	assert_int_equal(e.code, 0);
	assert_int_equal(
		times_in(e.out, ", then failed, and other devices computed the rest ("), 1);
	assert_int_equal(times_in(e.out, "error 719, a launch failed)\n"), 1);
	assert_int_equal(times_in(e.out, "\ndevice 2 computed "), 1);
	process_free(&e);
	trial_end();
}

/* --- the order -------------------------------------------------------------------------------- */

/* The calls that make files durable: a letter each, others none. */
static char letter_of(const char *call)
{
	static const char *const letters[][2] = {{"file_write", "w"}, {"sys_fsync", "f"},
		{"sys_renameat2", "r"}, {"sys_dirsync", "d"}, {"file_append", "a"},
		{"sys_fdatasync", "s"}};

	for (size_t i = 0; i < COUNT(letters); i++)
		if (strcmp(letters[i][0], call) == 0)
			return letters[i][1][0];
	return '\0';
}

/*
 * A file is written, flushed, renamed, and its folder flushed, before its line is written and flushed. First come the
 * directory of the run, LOCK and run.json, then three batches (the manifest is a new file at the first), NAME.xdmf and
 * run.json.
 */
TEST(calls_are_in_the_documented_order)
{
	static const struct scenario s = {"order", "", RUN "openpmd" MANY, NULL, NULL, 0};
	char order[256] = "";
	size_t n = 0;

	trial_begin(&s);
	for (size_t i = 0; i < trial.calls.n; i++) {
		char letter = letter_of(trial.calls.at[i].name);

		if (letter && (letter != 'w' || n == 0 || order[n - 1] != 'w'))
			order[n++] = letter;
		assert_true(n < sizeof(order) - 1);
	}
	assert_string_equal(order, "ds"
				   "wfrd"
				   "wfrdasd"
				   "wfrdas"
				   "wfrdas"
				   "wfrd"
				   "wfrd");
	trial_end();
}

BEFORE_TESTS()
{
	const char *share = getenv("SLUICE_SHARE");

	seed = share ? strtoull(share, NULL, 10) : 0;
	print_message("seed %llu\n", (unsigned long long)seed);
}
