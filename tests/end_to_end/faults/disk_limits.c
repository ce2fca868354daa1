/*
 * disk_limits.c - runs against real limits end as disk_check.h requires: RLIMIT_FSIZE, a full file
 * system, one without inodes, and /dev/full.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/basic/check.h"
#include "tests/support/basic/small_disk.h"
#include "tests/support/runs/disk_check.h"

enum { LONG_BATCHES = 200, MESSAGE_BYTES = 512 };

static void check_size_limit(const char *format, unsigned batches)
{
	struct tiny_run t = {.threads = "2", .format = format, .batches = batches};
	struct disk_failures failures = {.failed = 0};

	tiny_make(&t);
	/*
	 * The limits grow by a quarter, from less than LOCK needs to more than the largest file,
	 * so that each file exceeds some limit.
	 */
	for (unsigned long limit = 16; limit < 65536; limit += limit / 4) {
		struct tiny_command c;
		struct ending e;

		snprintf(t.what, sizeof(t.what), "%s, files of at most %lu bytes", format, limit);
		tiny_command(&t, NULL, NULL, "out", NULL, &c);
		c.process.file_bytes = limit;
		process_run(&c.process, HANG_SECONDS, &e);
		/* stderr is a file too, so a low limit truncates the message */
		check_disk_failure(
			&t, "out", TINY_ENDED, &e, limit < MESSAGE_BYTES ? 0 : EFBIG, &failures);
		process_free(&e);
	}
	print_message("%s, limits on the size of files: %u failed, %u succeeded\n", format,
		failures.failed, failures.succeeded);
	assert_true(failures.failed > 10 && failures.succeeded > 0);
	tiny_free(&t);
}

TEST(file_size_limits_are_reported)
{
	check_size_limit("openpmd", BATCHES);
	check_size_limit(
		"csv.gz", 4 * BATCHES); /* the manifest is the largest file except run.json */
}

static const char *disk_of(const struct tiny_run *t)
{
	return folder_path(&t->folder, "disk");
}

/* Limits the free space directly, because filling the disk takes long. */
static void shrink_disk(const struct tiny_run *t)
{
	char size[32];
	int refused = -1;

	for (unsigned kib = 64; refused && kib < 65536; kib += 64) {
		snprintf(size, sizeof(size), "size=%uk", kib);
		refused = small_disk_change(disk_of(t), size);
	}
	assert_int_equal(refused, 0);
}

/*
 * A run of that many batches fills its disk. Returns how many are committed: all of them if the run ends
 * before the test has shrunk the disk.
 */
static unsigned fill_disk(unsigned batches)
{
	struct tiny_run t = {.threads = "2", .format = "openpmd", .batches = batches};
	const struct timespec pause = {0, 200000};
	struct disk_failures failures = {.failed = 0};
	struct tiny_command c;
	struct running r;
	struct ending e;
	unsigned n;

	tiny_make(&t);
	small_disk_mount(disk_of(&t), "size=64m");
	snprintf(t.what, sizeof(t.what), "the disk fills up");
	tiny_command(&t, NULL, NULL, "disk/out", NULL, &c);
	process_start(&c.process, &r);
	for (int i = 0; i < 50000 && !folder_has(&t.folder, "disk/out/manifest.jsonl"); i++)
		nanosleep(&pause, NULL);
	shrink_disk(&t);
	process_wait(&r, HANG_SECONDS, &e);
	assert_int_equal(small_disk_change(disk_of(&t), "size=64m"), 0);
	n = check_disk_failure(&t, "disk/out", TINY_ENDED, &e, ENOSPC, &failures);
	print_message("the disk was full after %u of %u batches\n", n, t.batches);
	assert_int_equal(failures.failed, n < batches);
	process_free(&e);
	small_disk_unmount(disk_of(&t));
	tiny_free(&t);
	return n;
}

/* The plan finds enough space; the space disappears during the run, which a busy machine can take long to do. */
TEST(disk_that_fills_up_leaves_a_resumable_run)
{
	unsigned batches = LONG_BATCHES;

	while (fill_disk(batches) == batches) {
		batches *= 2;
		assert_in_range(batches, 0, 64 * LONG_BATCHES);
	}
}

/* The plan finds too little space: refused with the sizes, and no file is made. */
TEST(too_small_disk_is_reported)
{
	struct tiny_run t = {.threads = "2", .format = "openpmd", .batches = LONG_BATCHES};
	struct ending e;

	tiny_make(&t);
	small_disk_mount(disk_of(&t), "size=1m");
	snprintf(t.what, sizeof(t.what), "a disk of 1 MiB");
	tiny_execute(&t, NULL, NULL, "disk/out", NULL, &e);
	tiny_check_ending(&t, &e, SL_DISK, "disk/out: the run may write", "are free");
	process_free(&e);
	assert_false(folder_has(&t.folder, "disk/out"));
	small_disk_unmount(disk_of(&t));
	tiny_free(&t);
}

/* Free blocks but no free inodes: LOCK, run.json and each batch in turn cannot be created. */
TEST(disk_without_inodes_is_reported)
{
	struct tiny_run t = {.threads = "1", .format = "openpmd", .batches = BATCHES};
	struct disk_failures failures = {.failed = 0};

	tiny_make(&t);
	for (unsigned n = 1; n <= 10; n++) {
		char options[64];
		struct ending e;

		snprintf(options, sizeof(options), "size=64m,nr_inodes=%u", n);
		snprintf(t.what, sizeof(t.what), "a disk of %u inodes", n);
		small_disk_mount(disk_of(&t), options);
		tiny_execute(&t, NULL, NULL, "disk/out", NULL, &e);
		assert_int_equal(small_disk_change(disk_of(&t), "nr_inodes=100"), 0);
		check_disk_failure(&t, "disk/out", TINY_ENDED, &e, ENOSPC, &failures);
		process_free(&e);
		small_disk_unmount(disk_of(&t));
	}
	assert_true(failures.failed >= 6 && failures.succeeded >= 1);
	tiny_free(&t);
}

/* The results are on the disk, but the summary cannot be written. */
TEST(full_stdout_is_reported)
{
	static const char *const words[] = {"sluice", "run", "tiny.yaml", "--out", "out",
		"--threads", "1", "--set", "run.particles=600", NULL};
	struct tiny_run t = {.threads = "1", .format = "openpmd", .batches = BATCHES};
	struct ending e;

	tiny_make(&t);
	snprintf(t.what, sizeof(t.what), "a full stdout");
	process_run(
		&(struct process){.argv = words, .folder = t.folder.path, .out_to = "/dev/full"},
		HANG_SECONDS, &e);
	tiny_check_ending(&t, &e, SL_DISK, "stdout", strerrordesc_np(ENOSPC));
	process_free(&e);
	assert_int_equal(tiny_check(&t, "out", TINY_ENDED), BATCHES);
	tiny_resume(&t, "out");
	tiny_free(&t);
}
