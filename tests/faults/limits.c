/*
 * limits.c - runs at real limits: the largest size of a file, a disk that is full or has no inodes,
 * a full stdout. trial.h says what must hold after them.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/basic/skip.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program_server.h"
#include "tests/support/runs/trial.h"

enum { MESSAGE_BYTES = 512 };

#define RUN "run tiny.yaml --quiet --out out --device cpu --threads 2 --set output.format="

static const struct scenario runs[] = {{"openPMD", "", RUN "openpmd", NULL, NULL, THREADS},
	{"csv.gz", "", RUN "csv.gz --set run.particles=2400", NULL, NULL, THREADS}};

/* A failed run has exit code 4 and this text. */
static void check_disk(const char *text)
{
	trial_check_ending();
	if (trial.end.code != 0 && trial.end.code != SL_DISK)
		fail_fault("exit code %d: %s", trial.end.code, trial.end.err);
	if (trial.end.code != 0 && text)
		trial_check_message(text);
	trial_finish();
}

/*
 * The limits grow from less than LOCK needs to more than the largest file, so that each file
 * exceeds some limit.
 */
TEST(size_limits_of_files_are_reported)
{
	for (int i = 0; i < 2; i++) {
		trial_begin(&runs[i]);
		for (unsigned long limit = 16; limit < 65536; limit += limit / 2) {
			const struct fault fault = {.file_bytes = limit};

			trial_run_with(&fault, "ulimit -f of %lu bytes", limit);
			/* stderr is a file too, so a low limit truncates the message */
			check_disk(limit < MESSAGE_BYTES ? NULL : strerrordesc_np(EFBIG));
		}
		assert_true(trial.failed > 8 && trial.succeeded > 0);
		trial_end();
	}
}

/* --- a small disk, which is the folder of the trial ------------------------------------------- */

/*
 * It is mounted in a name space of this process, whose children see it too, and unmounted because
 * that may pass it on.
 */
static const char *disk(void)
{
	return folder_path(&folder, "f");
}

/* Nothing is mounted at the root of a chroot, so that its propagation cannot be changed: EINVAL. */
static int make_private(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 || errno == EINVAL ? 0 : -1;
}

/* Options are those of mount(8). */
static void mount_disk(const char *options)
{
	assert_int_equal(mkdir(disk(), 0777), 0);
	if (unshare(CLONE_NEWNS) == 0 && make_private() == 0 &&
		mount("tmpfs", disk(), "tmpfs", 0, options) == 0) {
		program_server_start(); /* in this name space */
		return;
	}
	assert_int_equal(rmdir(disk()), 0);
	skip_test(
		"the test mounts a tmpfs, which fails here (%s); run it as root, and in a container "
		"with CAP_SYS_ADMIN",
		strerror(errno));
}

/* Returns -1 if the size is smaller than the files need. */
static int change_disk(const char *options)
{
	return mount("tmpfs", disk(), "tmpfs", MS_REMOUNT, options);
}

static void unmount_disk(void)
{
	assert_int_equal(umount2(disk(), MNT_DETACH), 0);
	assert_int_equal(rmdir(disk()), 0);
}

static void begin_on_disk(const struct scenario *s)
{
	mount_disk("size=64m");
	trial_begin(s);
}

static void end_on_disk(void)
{
	unmount_disk();
	trial_end();
}

/* The plan finds too little space: refused with the sizes, and no file is made. */
TEST(too_small_disk_is_reported)
{
	static const struct scenario large = {
		"large", "", RUN "openpmd --set run.particles=20000", NULL, NULL, THREADS};

	begin_on_disk(&large);
	assert_int_equal(change_disk("size=1m"), 0);
	trial_run_with(NULL, "a disk of 1 MiB");
	assert_int_equal(trial.end.code, SL_DISK);
	assert_non_null(strstr(trial.end.err, "out: the run may write"));
	assert_non_null(strstr(trial.end.err, "are free"));
	assert_false(folder_has(&trial.f, "out"));
	process_free(&trial.end);
	end_on_disk();
}

/* Leaves no space, which is quicker than filling the disk. */
static void shrink_disk(void)
{
	char size[32];
	int refused = -1;

	for (unsigned kib = 16; refused && kib < 65536; kib += 16) {
		snprintf(size, sizeof(size), "size=%uk", kib);
		refused = change_disk(size);
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
		trial_run_with(
			&(struct fault){.at_stop = shrink_disk}, "SL_FAULT=%s:stop", calls[i]);
		assert_int_equal(change_disk("size=64m"), 0);
		check_disk(strerrordesc_np(ENOSPC));
	}
	assert_true(trial.failed >= 3);
	end_on_disk();
}

/* Free blocks but no free inodes: LOCK, run.json and each batch in turn cannot be created. */
TEST(disk_without_inodes_is_reported)
{
	begin_on_disk(&runs[0]);
	for (unsigned n = 4; n <= 14; n++) {
		char options[64];

		snprintf(options, sizeof(options), "size=64m,nr_inodes=%u", n);
		assert_int_equal(change_disk(options), 0);
		trial_run_with(NULL, "a disk of %u inodes", n);
		assert_int_equal(change_disk("nr_inodes=100"), 0);
		check_disk(strerrordesc_np(ENOSPC));
	}
	assert_true(trial.failed >= 6 && trial.succeeded >= 1);
	end_on_disk();
}

/* A run needs no room on the disk for files that it has written already. */
TEST(written_files_need_no_room)
{
	static const char fill[] =
		"rm f/out/t_000009.h5; head -c $(($(df --output=avail -B1 f | tail -1) "
		"- 1000000)) /dev/zero >f/fill";
	const char *const *run = WORDS("run", "c.yaml", "--out", "f/out", "--quiet", "--resume");

	write_text(&folder, "c.yaml",
		"run: {name: t, seed: 7, particles: 30000, batch: 3000, threads: 2}\n"
		"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
		"keep: transmitted\n");
	mount_disk("size=6m");
	expect(&folder, SL_OK, "", run);
	expect(&folder, 0, "", (const char *const[]){"sh", "-c", fill, NULL});
	expect(&folder, SL_OK, "", run);
	expect(&folder, SL_OK, "", WORDS("verify", "f/out", "--quiet"));
	unmount_disk();
}
