/* fail_calls.c - see fail_calls.h. */
#include "tests/support/runs/fail_calls.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/device/device_driver.h"
#include "tests/cases/sampling.h"

unsigned failed_commands, succeeded_commands;
static uint64_t seed;

static bool is_of_device(const char *call)
{
	return strncmp(call, "dev_", 4) == 0 || strncmp(call, "pinned_", 7) == 0;
}

/* --- what a failed call leads to -------------------------------------------------------------- */

/* The errors of calls whose names begin so, in turn. The first beginning that suits counts. */
static const struct outcome {
	const char *call;
	int error;        /* errno, CUDA error, or the number of the flipped bit */
	int code, other;  /* exit codes of the command */
	const char *text; /* of its message; NULL: the error; "": anything */
} outcomes[] = {
	{"host_malloc", ENOMEM, SL_HOST_MEMORY, 0, "bytes requested"},
	/* of a library, too; inside libc or the kernel it is a failed call */
	{"malloc", ENOMEM, SL_HOST_MEMORY, SL_DISK, ""},
	{"dev_flip", 1, SL_DEVICE_FAILED, 0, "transfer error"},
	{"dev_flip", 45, SL_DEVICE_FAILED, 0, "transfer error"},
	{"dev_flip", 777, SL_DEVICE_FAILED, 0, "transfer error"},
	{"dev_count", SL_ERROR_OLD_DRIVER, SL_NO_DEVICE, 0, "no CUDA driver is loaded"},
	{"dev_count", SL_ERROR_NO_DEVICE, SL_NO_DEVICE, 0, "the CUDA driver sees no device"},
	{"dev_count", 46, SL_NO_DEVICE, 0, NULL},
	{"dev_count", 802, SL_NO_DEVICE, 0, NULL},
	{"dev_count", 803, SL_NO_DEVICE, 0, NULL},
	{"dev_malloc", SL_ERROR_MEMORY, SL_DEVICE_MEMORY, 0, "bytes requested"},
	{"dev_malloc", SL_ERROR_LAUNCH, SL_DEVICE_FAILED, 0, NULL},
	{"pinned_malloc", SL_ERROR_MEMORY, SL_HOST_MEMORY, 0, "bytes requested"},
	{"pinned_malloc", SL_ERROR_VALUE, SL_DEVICE_FAILED, 0, NULL},
	{"dev_", SL_ERROR_VALUE, SL_DEVICE_FAILED, 0, NULL},
	{"dev_", SL_ERROR_MEMORY, SL_DEVICE_MEMORY, 0, NULL},
	{"dev_", SL_ERROR_NO_IMAGE, SL_NO_DEVICE, 0, NULL},
	{"dev_", SL_ERROR_ADDRESS, SL_DEVICE_FAILED, 0, NULL},
	{"dev_", SL_ERROR_LAUNCH, SL_DEVICE_FAILED, 0, NULL},
	{"sys_", ENOSPC, SL_DISK, SL_OUTPUT_IN_USE, NULL},
	{"sys_", EIO, SL_DISK, SL_OUTPUT_IN_USE, NULL},
	{"", ENOSPC, SL_DISK, 0, NULL},
	{"", EIO, SL_DISK, 0, NULL},
	{"", EDQUOT, SL_DISK, 0, NULL},
	{"", EROFS, SL_DISK, 0, NULL},
};

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static const struct outcome *outcome_of(const char *call, unsigned turn)
{
	const struct outcome *first = outcomes;
	unsigned n = 1;

	while (strncmp(first->call, call, strlen(first->call)) != 0)
		first++;
	while (first + n < outcomes + COUNT(outcomes) && strcmp(first[n].call, first->call) == 0)
		n++;
	return &first[turn % n];
}

static void check_outcome(const char *call, const struct outcome *o)
{
	const int code = trial.end.code;
	char number[32];

	snprintf(number, sizeof(number), "error %d", o->error);
	trial_check_message(o->text              ? o->text
			    : is_of_device(call) ? number
						 : strerrordesc_np(o->error));
	if (code != o->code && (code != o->other || (o->error == ENOMEM && !trial_is_run())))
		fail_fault("exit code %d: %s", code, trial.end.err);
}

static bool is_in(const char *name, const char *names)
{
	const char *at = strstr(names, name);

	return at && at[strlen(name)] == ' ';
}

/* A failed sync is not repeated: a second one would succeed although pages are lost. */
static bool is_other_sync(const char *name, const char *call)
{
	return is_in(name, "sys_fsync sys_dirsync sys_fdatasync ") && strcmp(name, call) != 0;
}

/*
 * After an error that makes a device unusable, no call reaches the driver (device.c asks sl_fault()
 * before each).
 */
static bool is_driver_call(const char *name, const char *call)
{
	(void)call;
	return is_of_device(name) && strcmp(name, "dev_flip") != 0;
}

static void check_none_after(
	const char *call, size_t k, bool (*is_wrong)(const char *name, const char *call))
{
	static struct calls now;
	bool failed = false;

	call_log_read(&now);
	for (size_t i = 0; i < now.n; i++) {
		if (failed && is_wrong(now.at[i].name, call))
			fail_fault("%s is called after it", now.at[i].name);
		failed |= now.at[i].k == k && strcmp(now.at[i].name, call) == 0;
	}
}

/* Devices that run.json reports as failed. All batches must be counted once. */
size_t failed_devices(void)
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
		fail_fault("the devices computed %lu batches of %lu", all, batches);
	free(json);
	return failed;
}

/* HDF5 may crash without memory, and calls exit(-1) if it has none to report its own error. */
static bool is_crash_of_hdf5(void)
{
	return (trial.end.code < 0 || trial.end.code == 255) && trial_is_run() &&
	       strstr(trial.s->command, "openpmd");
}

static void check_device_failure(const char *call, bool on, const struct outcome *o)
{
	const bool in_batch = is_in(call,
		"dev_record dev_sync dev_elapsed dev_copy dev_fill dev_launch dev_capture dev_graph "
		"dev_replay ");
	const struct ending *e = &trial.end;

	if ((trial.s->is & SURVIVES) && e->code == 0 && failed_devices() > 1 && !on)
		fail_fault("more than one device has failed");
	if (e->code == 0)
		return;
	if ((trial.s->is & ONE_WRITER) && in_batch && !strstr(e->err, "batch "))
		fail_fault("the message names no batch: %s", e->err);
	if (trial_is_finished())
		fail_fault("exit code %d, but the output is complete", e->code);
	/* all memory is allocated before, except the pinned memory for what a device has packed */
	if (is_in(call, "dev_malloc dev_stream dev_event ") && folder_has(&trial.f, "out"))
		fail_fault("the output directory exists");
	if ((trial.s->is & SURVIVES) && in_batch && !on && o->code == SL_DEVICE_FAILED)
		fail_fault("the other devices do not compute the rest: %s", e->err);
}

/* Call k fails, and if on, each later one. */
static void fail_call(const char *call, size_t k, bool on, const struct outcome *o)
{
	const bool any = strcmp(call, "malloc") == 0, one = trial.s->is & ONE_WRITER;

	if (any)
		trial_run_with(&(struct fault){.more = on ? "FAIL_ON=1" : NULL}, "FAIL_AT=%zu", k);
	else
		trial_run_with(NULL, "SL_FAULT=%s:%zu%s:%d", call, k, on ? "+" : "", o->error);
	if (any && is_crash_of_hdf5()) {
		trial.ended++;
		trial_finish();
		return;
	}
	trial_check_ending();
	if (trial.end.code != 0)
		check_outcome(call, o);
	if (one && is_of_device(call) &&
		(o->error == SL_ERROR_ADDRESS || o->error == SL_ERROR_LAUNCH))
		check_none_after(call, k, is_driver_call);
	if (is_of_device(call))
		check_device_failure(call, on, o);
	if (one && !on && trial.end.code != 0 &&
		is_in(call, "file_fsync file_datasync file_dirsync sys_fsync sys_dirsync "
			    "sys_fdatasync "))
		check_none_after(call, k, is_other_sync);
	trial_finish();
}

static void finish_killed(bool surely)
{
	trial.ended += trial.end.signal == SIGKILL;
	if (trial.end.signal != SIGKILL && surely)
		fail_fault("exit code %d", trial.end.code);
	trial_finish();
}

static void kill_at(const char *call, size_t k)
{
	trial_run_with(NULL, "SL_FAULT=%s:%zu:kill", call, k);
	finish_killed(!(trial.s->is & THREADS));
}

/*
 * Within one system call, between two calls, and in third-party code, where SL_FAULT does not
 * reach.
 */
static void kill_at_moments(void)
{
	const unsigned n = sl_sampling_step(1) == 1 ? 40 : 1;

	for (unsigned k = 0; k < n; k++) {
		const double golden = 0.6180339887 * (double)(seed + k);
		const double seconds = 1e-4 + trial.seconds * (golden - floor(golden));

		trial_run_with(&(struct fault){.seconds = seconds}, "a kill after %.6f s", seconds);
		finish_killed(false);
	}
}

/* --- the calls that fail ---------------------------------------------------------------------- */

/* Two copies with the same flipped bit are equal; without fstat(), no temporary file is removed. */
static bool only_once(const char *call)
{
	return strcmp(call, "dev_flip") == 0 || strncmp(call, "sys_", 4) == 0;
}

enum { ONCE, ON, KILL, KINDS };

/* Sites of earlier scenarios: most are the same in all commands. */
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
		if (!is_known(trial.calls.at[i].site)) {
			assert_true(known.n < CALLS_MOST);
			known.site[known.n++] = trial.calls.at[i].site;
		}
}

/*
 * Whether call i of the log stands for its site: the seed selects one call, and where the site is
 * new the ends count too.
 */
static bool stands_for_its_site(const struct calls *c, size_t i, bool is_new)
{
	size_t before = 0, after = 0;

	for (size_t k = 0; k < c->n; k++)
		if (c->at[k].site == c->at[i].site) {
			before += k < i;
			after += k > i;
		}
	return (is_new && before == 0) ||
	       (is_new && after == 0 && strcmp(c->at[i].name, "malloc") != 0) ||
	       (seed + c->at[i].site) % (before + after + 1) == before;
}

/* Whether call i of the log is to fail. Allocations of a site are tested in one scenario. */
static bool is_chosen(size_t i, bool of_device)
{
	const struct call *call = &trial.calls.at[i];
	const bool is_new = !is_known(call->site);

	if (is_of_device(call->name) != of_device)
		return false;
	if (strcmp(call->name, "malloc") == 0)
		return call->k > trial.first && is_new &&
		       stands_for_its_site(&trial.calls, i, true);
	return sl_sampling_step(1) == 1 || stands_for_its_site(&trial.calls, i, is_new);
}

void fail_calls(const struct scenario *s, bool of_device)
{
	const bool is_all = sl_sampling_step(1) == 1;
	unsigned errors = 0;

	if (!known.n) {
		seed = getenv("SLUICE_SHARE") ? strtoull(getenv("SLUICE_SHARE"), NULL, 10) : 0;
		print_message("seed %llu\n", (unsigned long long)seed);
	}
	trial_begin(s);
	for (size_t i = 0; i < trial.calls.n; i++) {
		const char *call = trial.calls.at[i].name;

		if (!is_chosen(i, of_device))
			continue;
		/* any share has all kinds; a known site has one */
		for (size_t turn = 0;
			turn < (is_all || !is_known(trial.calls.at[i].site) ? KINDS : 1); turn++) {
			const size_t kind = (turn + i + seed) % KINDS;

			if (!sl_sampling_selects() || (kind == ON && only_once(call)))
				continue;
			if (kind != KILL)
				fail_call(call, trial.calls.at[i].k, kind == ON,
					outcome_of(call, errors++));
			else if (!of_device && !strstr(call, "malloc"))
				kill_at(call, trial.calls.at[i].k);
		}
	}
	note_sites();
	kill_at_moments();
	failed_commands += trial.failed;
	succeeded_commands += trial.succeeded;
	trial_end();
}
