/*
 * limits.c - runs at real limits: the largest size of a file, a disk that is full or has no inodes, a full stdout.
 * trial.h says what must hold after them.
 */
#include <errno.h>
#include <stdio.h>

#include "tests/support/basic/small_disk.h"
#include "tests/support/program/fixture.h"
#include "tests/support/runs/trial.h"

enum { MESSAGE_BYTES = 512 };

#define RUN "run tiny.yaml --quiet --out out --device cpu --threads 2 --set output.format="

static const struct scenario runs[] = {{"openPMD", "", RUN "openpmd", NULL, NULL, THREADS},
	{"csv.gz", "", RUN "csv.gz --set run.particles=2400", NULL, NULL, THREADS}};

/* A failed run has exit code 4 and, unless it is NULL, this text. */
static void check_disk(
	const struct fault *fault, struct ending *e, struct tree *now, const char *text)
{
	trial_check_ending(fault, e, now);
	if (e->code != 0 && e->code != SL_DISK)
		fail_fault(fault, "exit code %d: %s", e->code, e->err);
	if (e->code != 0 && text)
		trial_check_message(fault, e, text);
	trial_finish(fault, e, now);
}

/* The limits grow from less than LOCK needs to more than the largest file, so that each file exceeds some limit. */
TEST(size_limits_of_files_are_reported)
{
	for (int i = 0; i < 2; i++) {
		trial_begin(&runs[i]);
		for (unsigned long limit = 16; limit < 65536; limit += limit / 2) {
			struct fault fault = {.file_bytes = limit};
			struct tree now;
			struct ending e;

			snprintf(fault.text, sizeof(fault.text), "ulimit -f of %lu bytes", limit);
			trial_run_with(&fault, &e, &now);
			/* stderr is a file too, so a low limit truncates the message */
			check_disk(&fault, &e, &now,
				limit < MESSAGE_BYTES ? NULL : strerrordesc_np(EFBIG));
		}
		assert_true(trial.failed > 8 && trial.succeeded > 0);
		trial_end();
	}
}

/* --- a small disk, which is the folder of the trial ------------------------------------------------ */

static const char *disk(void)
{
	return folder_path(&folder, "f");
}

static void begin_on_disk(const struct scenario *s)
{
	small_disk_mount(disk(), "size=64m");
	trial_begin(s);
}

static void end_on_disk(void)
{
	small_disk_unmount(disk());
	trial_end();
}

/* The plan finds too little space: refused with the sizes, and no file is made. */
TEST(too_small_disk_is_reported)
{
	static const struct scenario large = {
		"large", "", RUN "openpmd --set run.particles=20000", NULL, NULL, THREADS};
	const struct fault fault = {.text = "a disk of 1 MiB"};
	struct tree now;
	struct ending e;

	begin_on_disk(&large);
	assert_int_equal(small_disk_change(disk(), "size=1m"), 0);
	trial_run_with(&fault, &e, &now);
	assert_int_equal(e.code, SL_DISK);
	assert_non_null(strstr(e.err, "out: the run may write"));
	assert_non_null(strstr(e.err, "are free"));
	assert_false(folder_has(&trial.f, "out"));
	process_free(&e);
	tree_free(&now);
	end_on_disk();
}

/* Leaves no space, which is quicker than filling the disk. */
static void shrink_disk(void)
{
	char size[32];
	int refused = -1;

	for (unsigned kib = 16; refused && kib < 65536; kib += 16) {
		snprintf(size, sizeof(size), "size=%uk", kib);
		refused = small_disk_change(disk(), size);
	}
	assert_int_equal(refused, 0);
}

/* The plan finds enough space; the space disappears during the run. */
TEST(disk_that_fills_up_leaves_a_resumable_run)
{
	static const char *const calls[] = {
		"file_append:1", "file_append:2", "file_rename:2", "dir_lock:1"};

	begin_on_disk(&runs[0]);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct fault fault = {.env = {fault.text, NULL}, .at_stop = shrink_disk};
		struct tree now;
		struct ending e;

		snprintf(fault.text, sizeof(fault.text), "SL_FAULT=%s:stop", calls[i]);
		trial_run_with(&fault, &e, &now);
		assert_int_equal(small_disk_change(disk(), "size=64m"), 0);
		check_disk(&fault, &e, &now, strerrordesc_np(ENOSPC));
	}
	assert_true(trial.failed >= 3);
	end_on_disk();
}

/* Free blocks but no free inodes: LOCK, run.json and each batch in turn cannot be created. */
TEST(disk_without_inodes_is_reported)
{
	begin_on_disk(&runs[0]);
	for (unsigned n = 4; n <= 14; n++) {
		struct fault fault = {.at_stop = NULL};
		char options[64];
		struct tree now;
		struct ending e;

		snprintf(options, sizeof(options), "size=64m,nr_inodes=%u", n);
		snprintf(fault.text, sizeof(fault.text), "a disk of %u inodes", n);
		assert_int_equal(small_disk_change(disk(), options), 0);
		trial_run_with(&fault, &e, &now);
		assert_int_equal(small_disk_change(disk(), "nr_inodes=100"), 0);
		check_disk(&fault, &e, &now, strerrordesc_np(ENOSPC));
	}
	assert_true(trial.failed >= 6 && trial.succeeded >= 1);
	end_on_disk();
}
