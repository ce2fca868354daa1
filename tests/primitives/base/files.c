/* files.c - files are committed whole or not at all, whatever the system does on the way. */
#include "primitives/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "primitives/base/device.h"
#include "primitives/base/disk.h"
#include "primitives/base/fault.h"
#include "primitives/base/map.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/scene.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

enum { MIB = 1 << 20 };

static enum sl_status commit(struct scene *s, const char *name, const char *text, bool replace)
{
	return sl_file_commit(&s->dir, name, text, strlen(text), replace);
}

static void expect_content(struct scene *s, const char *name, const char *expected)
{
	char *bytes;
	size_t size;

	assert_ok(sl_file_read(&s->dir, name, &bytes, &size));
	assert_int_equal(size, strlen(expected));
	assert_string_equal(bytes, expected);
	sl_memory_give(SL_HOST, bytes);
}

/* Byte i of a text without pattern (Knuth's multiplicative hash). */
static unsigned char byte_at(size_t i)
{
	return (unsigned char)(i * 2654435761u >> 24);
}

/* --- commit ------------------------------------------------------------------------------- */

/* Sizes around those of a piece; read back by other means, and by ours. */
static void sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, MIB - 1, MIB, MIB + 1, 3 * MIB + 5};
	struct scene *s = (struct scene *)*state;
	unsigned char *bytes = (unsigned char *)malloc(4 * MIB);

	for (size_t i = 0; i < 4 * MIB; i++)
		bytes[i] = byte_at(i);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t size, own_size;
		uint64_t checked;
		uint32_t crc;
		char *text, *own;

		assert_ok(sl_file_commit(&s->dir, "a", bytes, sizes[i], true));
		text = folder_read(&s->folder, "a", &size);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(text, bytes, size);
		assert_ok(sl_file_read(&s->dir, "a", &own, &own_size));
		assert_int_equal(own_size, size);
		assert_memory_equal(own, bytes, size);
		assert_int_equal(own[size], '\0');
		assert_ok(sl_file_check(&s->dir, "a", &checked, &crc));
		assert_int_equal(checked, size);
		assert_int_equal(crc, crc32(0, bytes, (unsigned)size));
		assert_int_equal(crc, sl_crc32(bytes, size));
		free(text);
		sl_memory_give(SL_HOST, own);
	}
	assert_int_equal(folder_count(&s->folder), 1);
	free(bytes);
}

static void never_overwritten(void **state)
{
	struct scene *s = (struct scene *)*state;

	assert_ok(commit(s, "a", "old", false));
	assert_fails(commit(s, "a", "new", false), SL_OUTPUT_IN_USE, "a is there already");
	expect_content(s, "a", "old");
	assert_ok(commit(s, "a", "new", true));
	expect_content(s, "a", "new");
	assert_ok(commit(s, "b", "made by replace", true));
	assert_int_equal(folder_count(&s->folder), 2);
}

/* A file of pieces has its name at its end, and not before; another's half is let be. */
static void piece_by_piece(void **state)
{
	struct scene *s = (struct scene *)*state;
	struct sl_writing w, other;

	assert_ok(sl_file_begin(&s->dir, "a", false, &w));
	assert_ok(sl_file_add(&w, "one ", 4));
	assert_fails(sl_file_begin(&s->dir, "a", false, &other), SL_DISK, "a.part");
	assert_ok(sl_file_add(&w, "", 0));
	assert_ok(sl_file_add(&w, "two", 3));
	assert_false(sl_file_exists(&s->dir, "a"));
	assert_ok(sl_file_end(&w, false));
	expect_content(s, "a", "one two");
	sl_file_drop(&w); /* does nothing to one that has ended */
	expect_content(s, "a", "one two");
	assert_ok(sl_file_begin(&s->dir, "a", false, &w));
	assert_ok(sl_file_add(&w, "three", 5));
	assert_fails(sl_file_end(&w, false), SL_OUTPUT_IN_USE, "a is there already");
	assert_ok(sl_file_begin(&s->dir, "b", false, &w));
	assert_ok(sl_file_add(&w, "three", 5));
	sl_file_drop(&w);
	assert_int_equal(folder_count(&s->folder), 1);
	folder_write(&s->folder, "b.part", "half", 4);
	assert_ok(sl_file_begin(&s->dir, "b", true, &w)); /* one of ours, that was killed */
	assert_ok(sl_file_end(&w, false));
	expect_content(s, "b", "");
	assert_int_equal(folder_count(&s->folder), 2);
}

static void mapped(void **state)
{
	struct scene *s = (struct scene *)*state;
	struct sl_map m;

	assert_ok(commit(s, "a", "some text", false));
	assert_ok(commit(s, "b", "", false));
	assert_ok(sl_map_file(folder_path(&s->folder, "a"), &m));
	assert_int_equal(m.bytes, 9);
	assert_memory_equal(m.at, "some text", 9);
	sl_unmap(&m);
	assert_ok(sl_map_file(folder_path(&s->folder, "b"), &m));
	assert_int_equal(m.bytes, 0);
	sl_unmap(&m);
	assert_fails(sl_map_file(folder_path(&s->folder, "c"), &m), SL_DISK, "there is none");
	assert_fails(sl_map_file(s->folder.path, &m), SL_BAD_INPUT, "not a regular file");
}

static void umask_holds(void **state)
{
	struct scene *s = (struct scene *)*state;
	mode_t was = umask(027);
	struct stat facts;
	struct sl_dir d;

	assert_ok(commit(s, "a", "x", false));
	assert_ok(sl_dir_open(folder_path(&s->folder, "d"), true, &d));
	sl_dir_close(&d);
	umask(was);
	assert_int_equal(stat(folder_path(&s->folder, "a"), &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0640);
	assert_int_equal(stat(folder_path(&s->folder, "d"), &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0750);
}

/* --- names -------------------------------------------------------------------------------- */

static void expect_refused(struct scene *s, const char *name)
{
	uint64_t before = folder_hash(s->folder.path, NULL), size;
	uint32_t crc;
	char *bytes;
	size_t n;

	assert_fails(commit(s, name, "x", false), SL_USAGE, "cannot name a file");
	assert_fails(commit(s, name, "x", true), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_append(&s->dir, name, "x", 1), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_remove(&s->dir, name), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_read(&s->dir, name, &bytes, &n), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_check(&s->dir, name, &size, &crc), SL_USAGE, "cannot name a file");
	assert_null(strchr(sl_story(), '\n'));
	assert_int_equal(folder_hash(s->folder.path, NULL), before);
}

static void names_refused(void **state)
{
	static const char *const names[] = {"", ".", "..", "/", "a/b", "/etc/x", "../a", "a/",
		"./a", "a\nb", "a\tb", "\x1b[2Ja", "a\x7f", "\r"};
	struct scene *s = (struct scene *)*state;
	char name[300];

	assert_ok(commit(s, "a", "old", false));
	for (size_t i = 0; i < COUNT(names); i++)
		expect_refused(s, names[i]);
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	expect_refused(s, name);
}

static void names_allowed(void **state)
{
	static const char *const names[] = {
		"...", ".hidden", "-", "a b", "\xc3\xa4", "a.part", "*", "a\\b", "~"};
	struct scene *s = (struct scene *)*state;
	char name[300];

	for (size_t i = 0; i < COUNT(names); i++) {
		assert_ok(commit(s, names[i], names[i], false));
		expect_content(s, names[i], names[i]);
	}
	memset(name, 'n', sizeof(name));
	name[250] = '\0'; /* with ".part" 255 */
	assert_ok(commit(s, name, "x", false));
	name[250] = 'n';
	name[251] = '\0';
	assert_fails(commit(s, name, "x", false), SL_USAGE, "longer than 255");
}

/* --- what else may stand at a name -------------------------------------------------------- */

static void make_strangers(struct scene *s)
{
	folder_write(&s->folder, "victim", "untouched", 9);
	assert_int_equal(symlink("victim", folder_path(&s->folder, "link")), 0);
	assert_int_equal(symlink("nowhere", folder_path(&s->folder, "dangling")), 0);
	assert_int_equal(mkfifo(folder_path(&s->folder, "fifo"), 0666), 0);
	assert_int_equal(mkdir(folder_path(&s->folder, "folder"), 0777), 0);
}

static const char *const strangers[] = {"link", "dangling", "fifo", "folder"};

/* None of them is read, appended to, replaced unasked or waited for. */
static void strangers_at_the_name(void **state)
{
	struct scene *s = (struct scene *)*state;
	uint64_t before, size;
	uint32_t crc;
	char *bytes;
	size_t n;

	make_strangers(s);
	before = folder_hash(s->folder.path, NULL);
	alarm(10);
	for (size_t i = 0; i < COUNT(strangers); i++) {
		const char *name = strangers[i];

		assert_int_equal(commit(s, name, "x", false), SL_OUTPUT_IN_USE);
		assert_int_not_equal(sl_file_append(&s->dir, name, "x", 1), SL_OK);
		assert_int_not_equal(sl_file_read(&s->dir, name, &bytes, &n), SL_OK);
		assert_null(bytes);
		assert_int_not_equal(sl_file_check(&s->dir, name, &size, &crc), SL_OK);
		assert_true(sl_file_exists(&s->dir, name));
		assert_int_equal(folder_hash(s->folder.path, NULL), before);
	}
	alarm(0);
	assert_fails(sl_file_read(&s->dir, "link", &bytes, &n), SL_DISK, "symbolic link");
	assert_fails(sl_file_read(&s->dir, "fifo", &bytes, &n), SL_BAD_INPUT, "not a regular file");
	assert_fails(commit(s, "folder", "x", true), SL_DISK, "folder");
	assert_int_equal(folder_hash(s->folder.path, NULL), before);
	assert_ok(commit(s, "link", "new", true)); /* the link is replaced, not what it names */
	expect_content(s, "victim", "untouched");
	expect_content(s, "link", "new");
}

/* A .part left by a killed run is no hindrance, whatever it is; only a folder is not removed. */
static void strangers_at_the_part(void **state)
{
	struct scene *s = (struct scene *)*state;

	make_strangers(s);
	for (size_t i = 0; i < COUNT(strangers); i++) {
		char part[64];

		snprintf(part, sizeof(part), "a%zu.part", i);
		assert_int_equal(renameat(s->dir.fd, strangers[i], s->dir.fd, part), 0);
		part[2] = '\0';
		if (strcmp(strangers[i], "folder") != 0) {
			assert_ok(commit(s, part, "x", false));
			expect_content(s, part, "x");
		} else {
			assert_fails(commit(s, part, "x", false), SL_DISK, "already");
			assert_false(sl_file_exists(&s->dir, part));
		}
	}
	folder_write(&s->folder, "b.part", "half a fi", 9);
	assert_ok(commit(s, "b", "x", false));
	assert_false(folder_has(&s->folder, "b.part"));
	expect_content(s, "victim", "untouched");
}

/* --- faults ------------------------------------------------------------------------------- */

static bool any_part(const struct scene *s)
{
	return folder_has(&s->folder, "a.part") || folder_has(&s->folder, "new.part");
}

/*
 * Commits with the fault at its k-th call, for all k until it is not met any more: each failure is
 * SL_DISK with the errno in its story and leaves the folder as it was. Returns how many failed.
 */
static int sweep(struct scene *s, const char *call, int error, const char *on, const char *name,
	bool replace)
{
	static char bytes[2 * MIB + 1];

	for (int k = 1;; k++) {
		uint64_t before = folder_hash(s->folder.path, NULL);
		char fault[64];
		enum sl_status status;

		snprintf(fault, sizeof(fault), "%s:%d%s:%d", call, k, on, error);
		assert_null(sl_fault_set(fault));
		status = sl_file_commit(&s->dir, name, bytes, sizeof(bytes), replace);
		sl_fault_set(NULL);
		assert_false(any_part(s));
		if (status == SL_OK)
			return k - 1;
		assert_int_equal(status, SL_DISK);
		assert_non_null(strstr(sl_story(), strerrordesc_np(error)));
		assert_non_null(strstr(sl_story(), name));
		assert_int_equal(folder_hash(s->folder.path, NULL), before);
	}
}

static void every_fault(void **state)
{
	static const struct {
		const char *call;
		int times; /* how often a commit of 2 MiB and a byte makes it */
	} calls[] = {{"file_open", 1}, {"file_write", 3}, {"file_fsync", 1}, {"file_close", 1},
		{"file_rename", 1}};
	static const int errors[] = {ENOSPC, EIO, EDQUOT, EFBIG, EROFS};
	struct scene *s = (struct scene *)*state;

	assert_ok(commit(s, "a", "old", false));
	for (size_t i = 0; i < COUNT(calls); i++) {
		for (size_t e = 0; e < COUNT(errors); e++) {
			const char *on = e % 2 ? "+" : "";

			assert_int_equal(sweep(s, calls[i].call, errors[e], on, "new", false),
				calls[i].times);
			assert_ok(sl_file_remove(&s->dir, "new"));
			assert_int_equal(
				sweep(s, calls[i].call, errors[e], on, "a", true), calls[i].times);
			assert_ok(commit(s, "a", "old", true));
		}
	}
	assert_int_equal(sweep(s, "file_dirsync", EIO, "", "new", false), 1);
}

/* The one exception: what was replaced stays so when only the folder could not be synced. */
static void replaced_but_not_synced(void **state)
{
	struct scene *s = (struct scene *)*state;

	assert_ok(commit(s, "a", "old", false));
	sl_fault_set("file_dirsync:1:5");
	assert_fails(commit(s, "a", "new", true), SL_DISK, "sync the folder");
	expect_content(s, "a", "new");
	assert_false(any_part(s));
}

/* Signals interrupt, some file systems cannot sync a folder: neither is a failure. */
static void faults_that_are_none(void **state)
{
	struct scene *s = (struct scene *)*state;

	sl_fault_set("file_write:1:4");
	assert_ok(commit(s, "a", "text", false));
	sl_fault_set("file_dirsync:1:22");
	assert_ok(commit(s, "b", "text", false));
	sl_fault_set("file_read:1:4");
	expect_content(s, "a", "text");
	sl_fault_set("file_append:1:4");
	assert_ok(sl_file_append(&s->dir, "a", "more", 4));
	sl_fault_set(NULL);
	expect_content(s, "a", "textmore");
}

/* File systems without RENAME_NOREPLACE, and those without links too. */
static void old_file_systems(void **state)
{
	static const char *const faults[] = {"file_rename:1:22", "file_rename:1:38",
		"file_rename:1:22,file_link:1:1", "file_rename:1:22,file_link:1:95"};
	struct scene *s = (struct scene *)*state;

	for (size_t i = 0; i < COUNT(faults); i++) {
		sl_fault_set(faults[i]);
		assert_ok(commit(s, "a", "old", false));
		sl_fault_set(faults[i]);
		assert_fails(commit(s, "a", "new", false), SL_OUTPUT_IN_USE, "already");
		sl_fault_set(NULL);
		expect_content(s, "a", "old");
		assert_int_equal(folder_count(&s->folder), 1);
		assert_ok(sl_file_remove(&s->dir, "a"));
	}
	sl_fault_set("file_rename:1:22,file_remove:1:5");
	assert_int_equal(commit(s, "a", "old", false), SL_DISK);
	sl_fault_set("file_rename:1:22,file_link:1:5");
	assert_int_equal(commit(s, "a", "old", false), SL_DISK);
	sl_fault_set("file_rename:1+:22,file_link:1:1");
	assert_int_equal(commit(s, "a", "old", false), SL_DISK);
	assert_int_equal(folder_count(&s->folder), 0);
}

static void failed_reads(void **state)
{
	static const char *const faults[] = {
		"file_open:1:5", "file_stat:1:5", "file_read:1:5", "file_close:1:5"};
	struct scene *s = (struct scene *)*state;
	uint64_t checked;
	uint32_t crc;
	char *bytes;
	size_t size;

	assert_ok(commit(s, "a", "text", false));
	for (size_t i = 0; i < COUNT(faults); i++) {
		sl_fault_set(faults[i]);
		assert_fails(sl_file_read(&s->dir, "a", &bytes, &size), SL_DISK, "Input/output");
		assert_null(bytes);
		sl_fault_set(faults[i]);
		assert_fails(sl_file_check(&s->dir, "a", &checked, &crc), SL_DISK, "Input/output");
		sl_fault_set(faults[i]);
		assert_fails(sl_path_read(folder_path(&s->folder, "a"), 99, &bytes, &size), SL_DISK,
			"Input/output");
	}
	sl_fault_set("host_malloc:1:12");
	assert_int_equal(sl_file_read(&s->dir, "a", &bytes, &size), SL_HOST_MEMORY);
	assert_null(bytes);
}

/* Problem, why it is one, what to try. */
static void words(void **state)
{
	static const struct {
		int error;
		const char *told;
	} cases[] = {
		{ENOSPC, "a.part: No space left on device (the file system is full); free space"},
		{EDQUOT, "Disk quota exceeded (the quota of disk space is used up); free space"},
		{EFBIG, "File too large (larger than files may be here, see ulimit -f); raise"},
		{EIO, "Input/output error (the storage reported an error, see dmesg); check"},
		{9999, "unknown error (the system call failed); check the folder"}};
	struct scene *s = (struct scene *)*state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		char fault[64];

		snprintf(fault, sizeof(fault), "file_write:1:%d", cases[i].error);
		sl_fault_set(fault);
		assert_fails(commit(s, "a", "x", false), SL_DISK, cases[i].told);
	}
}

/* --- real faults -------------------------------------------------------------------------- */

static void dev_full(void **state)
{
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(sl_write_all(fd, "file_write", "x", 1), ENOSPC);
	assert_int_equal(sl_write_all(fd, "file_write", "x", 0), 0);
	close(fd);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* Reads the pipe slowly to its end: 0 when the bytes are all there, in order. */
static int read_slowly(int fd, size_t expected)
{
	unsigned char bytes[5000];
	size_t at = 0;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < n; i++, at++) {
			if (bytes[i] != byte_at(at))
				return 1;
		}
		usleep(100);
	}
	return at == expected ? 0 : 2;
}

/* A pipe that is read slowly and a timer: most writes are interrupted, in the middle or before. */
static void interrupted_writes(void **state)
{
	enum { BYTES = 3 * MIB + 1 };
	const struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART */
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	unsigned char *bytes = (unsigned char *)malloc(BYTES);
	int ends[2], status;
	pid_t reader;

	(void)state;
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = byte_at(i);
	assert_int_equal(pipe(ends), 0);
	reader = fork();
	assert_true(reader >= 0);
	if (reader == 0) {
		close(ends[1]);
		_exit(read_slowly(ends[0], BYTES));
	}
	close(ends[0]);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	status = sl_write_all(ends[1], "file_write", bytes, BYTES);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	close(ends[1]);
	assert_int_equal(status, 0);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	free(bytes);
}

enum { CANNOT_MOUNT = 77, NOT_REFUSED = 1, LEFTOVER = 2, NO_SUCCESS = 3 };

/* Commits more than there is room for, then what fits. Runs in a child. */
static int commit_too_much(struct scene *s)
{
	static char bytes[4 * MIB];
	struct sl_dir d;

	if (sl_dir_open(s->folder.path, false, &d) != SL_OK)
		return NO_SUCCESS;
	if (sl_file_commit(&d, "small", bytes, 1000, false) != SL_OK)
		return NO_SUCCESS;
	if (sl_file_commit(&d, "a", bytes, sizeof(bytes), false) != SL_DISK ||
		sl_file_commit(&d, "small", bytes, sizeof(bytes), true) != SL_DISK ||
		sl_file_append(&d, "small", bytes, sizeof(bytes)) != SL_DISK ||
		sl_file_append(&d, "b", bytes, sizeof(bytes)) != SL_DISK)
		return NOT_REFUSED;
	if (folder_count(&s->folder) != 1 || faccessat(d.fd, "small", F_OK, 0) != 0)
		return LEFTOVER;
	return sl_file_commit(&d, "a", bytes, MIB / 2, false) == SL_OK ? 0 : NO_SUCCESS;
}

/* In a mount namespace of its own, so nothing is left to be unmounted. */
static int on_tiny_disk(void *of)
{
	struct scene *s = (struct scene *)of;

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("tmpfs", s->folder.path, "tmpfs", 0, "size=1m") != 0)
		return CANNOT_MOUNT;
	return commit_too_much(s);
}

static void full_disk(void **state)
{
	int code = in_child(on_tiny_disk, *state);

	if (code == CANNOT_MOUNT) {
		print_message("may not mount a tiny file system here; skipped\n");
		skip();
	}
	assert_int_equal(code, 0);
}

static int with_file_limit(void *of)
{
	const struct rlimit limit = {MIB, MIB};

	signal(SIGXFSZ, SIG_IGN); /* as the program does */
	return setrlimit(RLIMIT_FSIZE, &limit) ? CANNOT_MOUNT : commit_too_much((struct scene *)of);
}

static void file_limit(void **state)
{
	assert_int_equal(in_child(with_file_limit, *state), 0);
}

/* --- append ------------------------------------------------------------------------------- */

static void appended(void **state)
{
	struct scene *s = (struct scene *)*state;

	assert_ok(sl_file_append(&s->dir, "log", "one\n", 4));
	assert_ok(sl_file_append(&s->dir, "log", "", 0));
	assert_ok(sl_file_append(&s->dir, "log", "two\n", 4));
	expect_content(s, "log", "one\ntwo\n");
}

static void append_every_fault(void **state)
{
	static const char *const faults[] = {"file_open:1:5", "file_stat:1:5", "file_append:1:28",
		"file_append:2:28", "file_append:3:28", "file_datasync:1:5", "file_close:1:5"};
	struct scene *s = (struct scene *)*state;
	static char bytes[2 * MIB + 1];

	folder_write(&s->folder, "log", "one\n", 4);
	for (size_t i = 0; i < COUNT(faults); i++) {
		sl_fault_set(faults[i]);
		assert_int_equal(sl_file_append(&s->dir, "log", bytes, sizeof(bytes)), SL_DISK);
		sl_fault_set(faults[i]);
		assert_int_equal(sl_file_append(&s->dir, "new", bytes, sizeof(bytes)), SL_DISK);
		expect_content(s, "log", "one\n");
		assert_int_equal(folder_count(&s->folder), 1);
	}
	sl_fault_set("file_dirsync:1:5");
	assert_int_equal(sl_file_append(&s->dir, "new", "x", 1), SL_DISK);
	assert_int_equal(folder_count(&s->folder), 1);
}

/* --- small things ------------------------------------------------------------------------- */

static void removed(void **state)
{
	struct scene *s = (struct scene *)*state;

	assert_ok(sl_file_remove(&s->dir, "a"));
	assert_false(sl_file_exists(&s->dir, "a"));
	assert_ok(commit(s, "a", "x", false));
	assert_true(sl_file_exists(&s->dir, "a"));
	sl_fault_set("file_remove:1:5");
	assert_fails(sl_file_remove(&s->dir, "a"), SL_DISK, "cannot remove");
	assert_true(sl_file_exists(&s->dir, "a"));
	assert_ok(sl_file_remove(&s->dir, "a"));
	assert_false(sl_file_exists(&s->dir, "a"));
}

static void paths_read(void **state)
{
	struct scene *s = (struct scene *)*state;
	char *bytes;
	size_t size;

	folder_write(&s->folder, "a", "a\0b", 3);
	assert_int_equal(symlink("a", folder_path(&s->folder, "link")), 0);
	assert_ok(sl_path_read(folder_path(&s->folder, "link"), 3, &bytes, &size));
	assert_int_equal(size, 3);
	assert_memory_equal(bytes, "a\0b", 4);
	sl_memory_give(SL_HOST, bytes);
	assert_fails(sl_path_read(folder_path(&s->folder, "a"), 2, &bytes, &size), SL_BAD_INPUT,
		"has 3 bytes (at most 2");
	assert_fails(sl_path_read(s->folder.path, 99, &bytes, &size), SL_BAD_INPUT, "regular");
	assert_fails(sl_path_read("/dev/zero", 99, &bytes, &size), SL_BAD_INPUT, "regular");
	assert_fails(
		sl_path_read(folder_path(&s->folder, "b"), 99, &bytes, &size), SL_DISK, "/b: No");
	assert_fails(sl_path_read("", 99, &bytes, &size), SL_DISK, "No such file");
}

static void crc(void **state)
{
	(void)state;
	assert_int_equal(sl_crc32("123456789", 9), 0xcbf43926); /* the check value of CRC-32 */
	assert_int_equal(sl_crc32("", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SCENE(sizes),
		WITH_SCENE(never_overwritten),
		WITH_SCENE(piece_by_piece),
		WITH_SCENE(mapped),
		WITH_SCENE(umask_holds),
		WITH_SCENE(names_refused),
		WITH_SCENE(names_allowed),
		WITH_SCENE(strangers_at_the_name),
		WITH_SCENE(strangers_at_the_part),
		WITH_SCENE(every_fault),
		WITH_SCENE(replaced_but_not_synced),
		WITH_SCENE(faults_that_are_none),
		WITH_SCENE(old_file_systems),
		WITH_SCENE(failed_reads),
		WITH_SCENE(words),
		cmocka_unit_test(dev_full),
		cmocka_unit_test(interrupted_writes),
		WITH_SCENE(full_disk),
		WITH_SCENE(file_limit),
		WITH_SCENE(appended),
		WITH_SCENE(append_every_fault),
		WITH_SCENE(removed),
		WITH_SCENE(paths_read),
		cmocka_unit_test(crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
