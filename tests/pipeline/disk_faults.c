/*
 * disk_faults.c - every call to the file system fails, once and from then on.
 *
 * Each time: exit code 4, a sentence that names the file and the reason, nothing half-written, the
 * batches before as they were; and --resume, once there is room again, gives the bytes of an
 * unbroken run. Injected in the file layer (SL_FAULT), in the system calls themselves (traced.h),
 * and by real limits: RLIMIT_FSIZE, a file system that fills up, one without inodes, /dev/full.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/cases/thin.h"
#include "tests/support/check.h"
#include "tests/support/tiny_run.h"
#include "tests/support/traced.h"

enum { BATCHES = 3, LONG_BATCHES = 200, CALLS_MAX = 400, STORY_BYTES = 512 };

/* How often runs failed, and how often they bore the fault and ended well; the states of the folder
 * from which --resume was already tried. */
struct tally {
	unsigned failed, borne;
	struct tiny_states states;
};

/* The run failed as it should (error 0: in words cut off), or ended well; out is as it must be, and
 * goes on to its end. */
static unsigned judge(struct tiny_run *t, const char *out, enum tiny_end how,
	const struct ending *e, int error, struct tally *tally)
{
	unsigned batches = tiny_check(t, out, how);

	if (e->code == 0 && batches == t->batches) {
		tally->borne++;
	} else {
		tally->failed++;
		tiny_check_ending(t, e, SL_DISK, error ? strerrordesc_np(error) : NULL, "sluice: ");
		if (error && !strstr(e->err, out) && !strstr(e->err, "tiny.yaml"))
			fail_msg("%s: no file is named: %s", t->what, e->err);
	}
	tiny_finish_once(t, out, &tally->states);
	return batches;
}

/* --- in the file layer --------------------------------------------------------------------- */

/* The calls of the file layer, and how many of each a run of three batches makes at least. */
static const struct {
	const char *name;
	unsigned least;
} calls[] = {
	{"file_open", 12},
	{"file_write", 5},
	{"file_fsync", 5},
	{"file_close", 9},
	{"file_rename", 5},
	{"file_link", 0},
	{"file_dirsync", 6},
	{"file_append", 3},
	{"file_datasync", 3},
	{"file_stat", 4},
	{"file_read", 2},
	{"file_remove", 0},
	{"dir_make", 1},
	{"dir_lock", 1},
	{"dir_sign", 1},
	{"dir_read", 1},
	{"dir_space", 1},
};

/* Where a sweep begins, and the last word of the command line that is hurt. */
struct start {
	const char *name, *last;
	void (*prepare)(struct tiny_run *t);
	enum tiny_end how; /* the run that is there has ended */
	unsigned passes;   /* so many in a row that end well, and no call is left to fail */
};

static void nothing(struct tiny_run *t)
{
	tiny_remove(t, "out");
}

/* Two batches, the second of which has lost its line, and a file begun. */
static void broken(struct tiny_run *t)
{
	static const char *const fault[] = {"SL_FAULT=file_datasync:2:5", NULL};
	const char *second =
		strcmp(t->format, "openpmd") == 0 ? "tiny_000001.h5" : "tiny_000001.csv.gz";
	char name[64];
	struct ending e;
	size_t bytes;
	char *file;

	tiny_remove(t, "out");
	tiny_go(t, fault, NULL, "out", NULL, &e);
	tiny_check_ending(t, &e, SL_DISK, NULL, NULL);
	process_free(&e);
	snprintf(name, sizeof(name), "whole/%s", second);
	file = folder_read(&t->folder, name, &bytes);
	snprintf(name, sizeof(name), "out/%s", second);
	folder_write(&t->folder, name, file, bytes);
	free(file);
	folder_write(&t->folder, "out/tiny_000002.h5.part", "half", 4);
}

/* The k-th such call fails, for k = 1, 2, 3, ...; on: and all after it. */
static void fail_each(struct tiny_run *t, const struct start *s, const char *call, int error,
	bool on, struct tally *tally)
{
	unsigned before = 0;

	for (uint64_t k = 1, next, passes = 0; passes < s->passes; k = next) {
		char fault[64];
		const char *const env[] = {fault, NULL};
		struct ending e;
		unsigned n;

		snprintf(fault, sizeof(fault), "SL_FAULT=%s:%" PRIu64 "%s:%d", call, k,
			on ? "+" : "", error);
		snprintf(
			t->what, sizeof(t->what), "%s, %s threads, %s", s->name, t->threads, fault);
		s->prepare(t);
		tiny_go(t, env, NULL, "out", s->last, &e);
		next = sl_thin_next(k, UINT64_MAX);
		passes = e.code == 0 ? passes + next - k : 0;
		n = judge(t, "out", s->how, &e, error, tally);
		process_free(&e);
		if (passes)
			continue;
		/* one writer writes and commits in turn; with more, any batch may meet the fault */
		if (n < before && t->batches == BATCHES)
			fail_msg("%s: %u batches are left, there had been %u", t->what, n, before);
		before = n;
		/* the line of the batch at which it failed is taken back */
		if (!s->last && strcmp(call, "file_datasync") == 0 && n != k - 1)
			fail_msg("%s: %u batches are left", t->what, n);
	}
}

static void sweep_calls(const struct start *s, const char *threads, const char *format, int error)
{
	struct tiny_run t = {.threads = threads, .format = format, .batches = BATCHES};
	struct tally tally = {.failed = 0};

	tiny_make(&t);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		unsigned failed = tally.failed;

		fail_each(&t, s, calls[i].name, error, false, &tally);
		if (!s->last && sl_thin_step(tally.failed - failed) < calls[i].least)
			fail_msg("%s: %s made a run fail %u times, there are at least %u calls",
				s->name, calls[i].name, tally.failed - failed, calls[i].least);
		fail_each(&t, s, calls[i].name, error, true, &tally);
	}
	tiny_free(&t);
	print_message("%s, %s threads, %s: %u failed, %u ended well\n", s->name, threads,
		strerrorname_np(error), tally.failed, tally.borne);
	assert_true(sl_thin_step(tally.failed) > 50);
}

static void calls_of_a_run(void **state)
{
	static const struct start fresh = {"a run", NULL, nothing, TINY_ENDED, 3};

	(void)state;
	sweep_calls(&fresh, "1", "openpmd", ENOSPC);
	sweep_calls(&fresh, "3", "csv.gz", EIO);
	sweep_calls(&fresh, "3", "openpmd", EDQUOT);
}

/* Six threads have two writers: batches are written ahead of those that are committed. */
static void calls_of_two_writers(void **state)
{
	static const struct start fresh = {"a run", NULL, nothing, TINY_ENDED, 3};
	static const char *const names[] = {
		"file_open", "file_write", "file_fsync", "file_close", "file_rename"};
	struct tiny_run t = {.threads = "6", .format = "openpmd", .batches = 2 * BATCHES};
	struct tally tally = {.failed = 0};

	(void)state;
	tiny_make(&t);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fail_each(&t, &fresh, names[i], ENOSPC, i % 2 == 1, &tally);
	tiny_free(&t);
	print_message("two writers: %u failed, %u ended well\n", tally.failed, tally.borne);
	assert_true(sl_thin_step(tally.failed) > 8 * BATCHES);
}

static void calls_of_a_resume(void **state)
{
	static const struct start resumed = {
		"a run gone on with", "--resume", broken, TINY_KILLED, 4};

	(void)state;
	sweep_calls(&resumed, "1", "openpmd", EIO);
}

/* Tallies by bins are a file more a batch, and one at the end: each of them may not get its name.
 */
static void calls_with_tallies(void **state)
{
	static const struct start fresh = {
		"a run with tallies by bins", NULL, nothing, TINY_ENDED, 3};
	static const char *const more[] = {"--device", "cpu", "--set", "tallies=[w:2]", NULL};
	struct tiny_run t = {.threads = "1", .format = "openpmd", .batches = BATCHES, .more = more};
	struct tally tally = {.failed = 0};

	(void)state;
	tiny_make(&t);
	fail_each(&t, &fresh, "file_rename", ENOSPC, false, &tally);
	/* run.json twice, two files a batch, NAME.xdmf and NAME.tallies */
	assert_true(sl_thin_step(tally.failed) >= 2 + 2 * BATCHES + 2);
	tiny_free(&t);
}

/* --- in the system calls ------------------------------------------------------------------- */

/* A line of the tracer's log. */
struct call {
	char name[16], path[256];
	int fd;
	long result;
};

static size_t read_log(const struct tiny_run *t, struct call all[CALLS_MAX])
{
	FILE *log = fopen(folder_path(&t->folder, "log"), "r");
	size_t n = 0;

	assert_non_null(log);
	while (n < CALLS_MAX && fscanf(log, "%15s %d %255s %ld\n", all[n].name, &all[n].fd,
					all[n].path, &all[n].result) == 4)
		n++;
	assert_true(feof(log) && n < CALLS_MAX);
	fclose(log);
	return n;
}

/* Runs under the tracer; the call of that number fails (0: none). */
static void run_traced(struct tiny_run *t, unsigned long at, bool on, int error, struct ending *e)
{
	char number[32], reason[16];
	const char *const front[] = {"/proc/self/exe", "traced", "log", number, reason, NULL};

	snprintf(number, sizeof(number), "%lu%s", at, on ? "+" : "");
	snprintf(reason, sizeof(reason), "%d", error);
	tiny_go(t, NULL, front, "out", NULL, e);
}

static bool is_sync(const struct call *c)
{
	return strcmp(c->name, "fsync") == 0 || strcmp(c->name, "fdatasync") == 0;
}

/* A failed sync is the last: a second one would succeed over lost pages. */
static void check_no_second_sync(const struct tiny_run *t)
{
	static struct call all[CALLS_MAX];
	size_t n = read_log(t, all);
	bool failed = false;

	for (size_t i = 0; i < n; i++) {
		if (failed && is_sync(&all[i]))
			fail_msg("%s: a sync was made after one had failed", t->what);
		failed |= is_sync(&all[i]) && all[i].result < 0;
	}
}

static void system_calls_fail(struct tiny_run *t, int error, bool on)
{
	static struct call all[CALLS_MAX];
	struct tally tally = {.failed = 0};
	struct ending e;
	size_t n;

	run_traced(t, 0, false, error, &e);
	tiny_check_ending(t, &e, 0, NULL, NULL);
	process_free(&e);
	n = read_log(t, all);
	tiny_remove(t, "out");
	for (size_t k = 1; k <= n; k = sl_thin_next(k, n)) {
		snprintf(t->what, sizeof(t->what), "call %zu%s of %zu, %.15s, fails with errno %d",
			k, on ? "+" : "", n, all[k - 1].name, error);
		run_traced(t, k, on, error, &e);
		if (!on && is_sync(&all[k - 1]))
			check_no_second_sync(t);
		judge(t, "out", TINY_ENDED, &e, error, &tally);
		process_free(&e);
	}
	print_message("%s threads, the k-th system call%s, errno %d: %u failed, %u ended well\n",
		t->threads, on ? " and all after it" : "", error, tally.failed, tally.borne);
	assert_true(sl_thin_step(tally.failed) > 20);
}

static void system_calls(void **state)
{
	struct tiny_run t = {.threads = "2", .format = "openpmd", .batches = BATCHES};

	(void)state;
	tiny_make(&t);
	system_calls_fail(&t, ENOSPC, false);
	system_calls_fail(&t, ENOSPC, true);
	system_calls_fail(&t, EIO, false);
	tiny_free(&t);
}

/* --- order --------------------------------------------------------------------------------- */

/* The next call must be of that name and, unless NULL, of that path. */
static const struct call *expect(
	const struct call **at, const struct call *end, const char *name, const char *path)
{
	const struct call *c = *at;

	if (c == end)
		fail_msg("the log ends where %s %s was expected", name, path ? path : "");
	if (strcmp(c->name, name) != 0 || (path && strcmp(c->path, path) != 0) || c->result < 0)
		fail_msg("%s %s = %ld stands where %s %s was expected", c->name, c->path, c->result,
			name, path ? path : "");
	++*at;
	return c;
}

/* write < fsync(file) < rename < fsync(folder) < manifest line < fdatasync, nothing between. */
static void expect_batch(const struct call **at, const struct call *end, unsigned number)
{
	char part[64], name[64];
	const struct call *made, *named, *line;

	snprintf(part, sizeof(part), "tiny_%06u.h5.part", number);
	snprintf(name, sizeof(name), "tiny_%06u.h5", number);
	made = expect(at, end, "openat", part);
	do
		assert_int_equal(expect(at, end, "write", NULL)->fd, made->result);
	while (*at < end && strcmp((*at)->name, "write") == 0);
	assert_int_equal(expect(at, end, "fsync", NULL)->fd, made->result);
	named = expect(at, end, "renameat2", name);
	assert_int_equal(expect(at, end, "fsync", NULL)->fd, named->fd);
	if (number == 0)
		expect(at, end, "openat", "manifest.jsonl");
	line = expect(at, end, "write", NULL);
	assert_int_equal(expect(at, end, "fdatasync", NULL)->fd, line->fd);
	if (number == 0) /* the folder has a new entry */
		assert_int_equal(expect(at, end, "fsync", NULL)->fd, named->fd);
}

static void order_of_calls(void **state)
{
	static struct call all[CALLS_MAX];
	struct tiny_run t = {.threads = "3", .format = "openpmd", .batches = BATCHES};
	const struct call *at = all, *end;
	struct ending e;

	(void)state;
	tiny_make(&t);
	run_traced(&t, 0, false, 0, &e);
	process_free(&e);
	end = all + read_log(&t, all);
	while (at < end && strcmp(at->path, "tiny_000000.h5.part") != 0)
		at++;
	for (unsigned i = 0; i < BATCHES; i++) {
		if (at < end && strcmp(at->name, "unlinkat") == 0)
			at++; /* what a killed run may have left */
		expect_batch(&at, end, i);
	}
	tiny_free(&t);
}

/* --- real limits --------------------------------------------------------------------------- */

static void size_limit(const char *format, unsigned batches)
{
	struct tiny_run t = {.threads = "2", .format = format, .batches = batches};
	struct tally tally = {.failed = 0};

	tiny_make(&t);
	/* From less than LOCK needs to more than any file; 5/4 apart, so that each kind is met. */
	for (unsigned long limit = 16; limit < 65536; limit += limit / 4) {
		struct tiny_command c;
		struct ending e;

		snprintf(t.what, sizeof(t.what), "%s, files of at most %lu bytes", format, limit);
		tiny_command(&t, NULL, NULL, "out", NULL, &c);
		c.process.file_bytes = limit;
		process_run(&c.process, HANG_SECONDS, &e);
		/* stderr is a file here too */
		judge(&t, "out", TINY_ENDED, &e, limit < STORY_BYTES ? 0 : EFBIG, &tally);
		process_free(&e);
	}
	print_message("%s, limits on the size of files: %u failed, %u ended well\n", format,
		tally.failed, tally.borne);
	assert_true(tally.failed > 10 && tally.borne > 0);
	tiny_free(&t);
}

static void size_limits(void **state)
{
	(void)state;
	size_limit("openpmd", BATCHES);
	size_limit("csv.gz", 4 * BATCHES); /* the manifest is the largest but for run.json */
}

/* Mounts a tmpfs at t's folder "disk", seen by this process and its children alone. */
static void mount_tmpfs(const struct tiny_run *t, const char *options)
{
	const char *path = folder_path(&t->folder, "disk");

	assert_int_equal(mkdir(path, 0777), 0);
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("tmpfs", path, "tmpfs", 0, options) != 0) {
		print_message("a tmpfs cannot be mounted here (%s); skipped\n", strerror(errno));
		skip();
	}
}

static void unmount_tmpfs(const struct tiny_run *t)
{
	const char *path = folder_path(&t->folder, "disk");

	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_int_equal(rmdir(path), 0);
}

static int resize_disk(const struct tiny_run *t, const char *size)
{
	return mount("tmpfs", folder_path(&t->folder, "disk"), "tmpfs", MS_REMOUNT, size);
}

/* Leaves no more room than there must be; at once, while filling would take its time. */
static void shrink_disk(const struct tiny_run *t)
{
	char size[32];
	int refused = -1;

	for (unsigned kib = 64; refused && kib < 65536; kib += 64) {
		snprintf(size, sizeof(size), "size=%uk", kib);
		refused = resize_disk(t, size);
	}
	assert_int_equal(refused, 0);
}

/* The plan had enough; then the space is gone while the run goes on. */
static void disk_fills_up(void **state)
{
	struct tiny_run t = {.threads = "2", .format = "openpmd", .batches = LONG_BATCHES};
	const struct timespec pause = {0, 200000};
	struct tally tally = {.failed = 0};
	struct tiny_command c;
	struct running r;
	struct ending e;
	unsigned n;

	(void)state;
	tiny_make(&t);
	mount_tmpfs(&t, "size=64m");
	snprintf(t.what, sizeof(t.what), "the disk fills up");
	tiny_command(&t, NULL, NULL, "disk/out", NULL, &c);
	process_start(&c.process, &r);
	for (int i = 0; i < 50000 && !folder_has(&t.folder, "disk/out/manifest.jsonl"); i++)
		nanosleep(&pause, NULL);
	shrink_disk(&t);
	process_wait(&r, HANG_SECONDS, &e);
	assert_int_equal(resize_disk(&t, "size=64m"), 0);
	n = judge(&t, "disk/out", TINY_ENDED, &e, ENOSPC, &tally);
	print_message("the disk was full after %u of %u batches\n", n, t.batches);
	assert_int_equal(tally.failed, 1);
	process_free(&e);
	unmount_tmpfs(&t);
	tiny_free(&t);
}

/* So small that the plan sees it: refused with the figures, nothing is made. */
static void disk_too_small(void **state)
{
	struct tiny_run t = {.threads = "2", .format = "openpmd", .batches = LONG_BATCHES};
	struct ending e;

	(void)state;
	tiny_make(&t);
	mount_tmpfs(&t, "size=1m");
	snprintf(t.what, sizeof(t.what), "a disk of 1 MiB");
	tiny_go(&t, NULL, NULL, "disk/out", NULL, &e);
	tiny_check_ending(&t, &e, SL_DISK, "disk/out: the run may write", "are free");
	process_free(&e);
	assert_false(folder_has(&t.folder, "disk/out"));
	unmount_tmpfs(&t);
	tiny_free(&t);
}

/* Room for bytes, none for names: LOCK, run.json, each batch in turn cannot be made. */
static void no_inodes(void **state)
{
	struct tiny_run t = {.threads = "1", .format = "openpmd", .batches = BATCHES};
	struct tally tally = {.failed = 0};

	(void)state;
	tiny_make(&t);
	for (unsigned n = 1; n <= 10; n++) {
		char options[64];
		struct ending e;

		snprintf(options, sizeof(options), "size=64m,nr_inodes=%u", n);
		snprintf(t.what, sizeof(t.what), "a disk of %u inodes", n);
		mount_tmpfs(&t, options);
		tiny_go(&t, NULL, NULL, "disk/out", NULL, &e);
		assert_int_equal(resize_disk(&t, "nr_inodes=100"), 0);
		judge(&t, "disk/out", TINY_ENDED, &e, ENOSPC, &tally);
		process_free(&e);
		unmount_tmpfs(&t);
	}
	assert_true(tally.failed >= 6 && tally.borne >= 1);
	tiny_free(&t);
}

/* The results are on the disk, but nobody could read the summary. */
static void full_stdout(void **state)
{
	static const char *const words[] = {"sluice", "run", "tiny.yaml", "--out", "out",
		"--threads", "1", "--set", "run.particles=600", NULL};
	struct tiny_run t = {.threads = "1", .format = "openpmd", .batches = BATCHES};
	struct ending e;

	(void)state;
	tiny_make(&t);
	snprintf(t.what, sizeof(t.what), "a full stdout");
	process_run(
		&(struct process){.argv = words, .folder = t.folder.path, .out_to = "/dev/full"},
		HANG_SECONDS, &e);
	tiny_check_ending(&t, &e, SL_DISK, "stdout", strerrordesc_np(ENOSPC));
	process_free(&e);
	assert_int_equal(tiny_check(&t, "out", TINY_ENDED), BATCHES);
	tiny_finish(&t, "out");
	tiny_free(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_calls),
		cmocka_unit_test(system_calls),
		cmocka_unit_test(calls_of_a_run),
		cmocka_unit_test(calls_of_two_writers),
		cmocka_unit_test(calls_of_a_resume),
		cmocka_unit_test(calls_with_tallies),
		cmocka_unit_test(size_limits),
		cmocka_unit_test(full_stdout),
		cmocka_unit_test(disk_fills_up),
		cmocka_unit_test(disk_too_small),
		cmocka_unit_test(no_inodes),
	};
	int code;

	if (traced(argc, argv, &code))
		return code;
	if (!sl_thin_by_environment())
		return 1;
	if (!traced_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
