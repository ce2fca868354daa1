/*
 * files.c - tests that files are committed as a whole and only under permitted names, that other
 * entries are neither read nor followed, and that two writers write one file. failed_calls.c makes
 * the calls fail.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <zlib.h>

#include "primitives/base/jobs.h"
#include "primitives/device/device.h"
#include "primitives/files/disk.h"
#include "primitives/files/files.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/open_dir.h"
#include "tests/support/program/process.h"
#include "tests/support/program/program.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define PATH(name)  folder_path(&folder, name)
#define HERE        (&open_dir.dir)

enum { MIB = 1 << 20, LARGEST = 3 * MIB + 5 };

static unsigned char bytes[LARGEST];

BEFORE_EACH()
{
	open_dir_begin();
	for (size_t i = 0; i < LARGEST; i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 24); /* without pattern (Knuth) */
}

AFTER_EACH()
{
	open_dir_end();
}

static enum sl_status put(const char *name, const char *text, bool replace)
{
	return sl_file_commit(HERE, name, text, strlen(text), replace);
}

/* --- commit ----------------------------------------------------------------------------------- */

/* Sizes around that of a write; read back with the functions of C and of the library. */
TEST(files_of_every_size_are_committed)
{
	static const size_t sizes[] = {0, 1, 4095, MIB - 1, MIB, MIB + 1, LARGEST};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t size, own_size;
		uint64_t checked;
		uint32_t crc;
		char *text, *own;
		struct sl_map m;

		assert_ok(sl_file_commit(HERE, "a", bytes, sizes[i], true));
		text = folder_read(&folder, "a", &size);
		assert_ok(sl_file_read(HERE, "a", &own, &own_size));
		assert_ok(sl_file_check(HERE, "a", &checked, &crc));
		assert_ok(sl_map_file(PATH("a"), &m));
		assert_true(
			size == sizes[i] && own_size == size && checked == size && m.bytes == size);
		assert_memory_equal(text, bytes, size);
		assert_memory_equal(own, bytes, size);
		assert_int_equal(own[size], '\0');
		assert_true(size > 0 ? memcmp(m.at, bytes, size) == 0 : m.at == NULL);
		assert_int_equal(crc, crc32(0, bytes, (unsigned)size));
		sl_unmap(&m);
		sl_unmap(&m); /* of nothing */
		free(text);
		sl_memory_give(SL_HOST, own);
	}
	assert_int_equal(folder_count(&folder), 1);
}

/* A file gets its name only at its end. The .part file of an open writer is not touched. */
TEST(file_of_pieces_is_named_at_its_end)
{
	struct sl_file_writer w, other;

	assert_ok(sl_file_begin(HERE, "a", &w));
	assert_ok(sl_file_add(&w, "one ", 4));
	assert_fails(sl_file_begin(HERE, "a", &other), SL_OUTPUT_IN_USE, "a.part exists");
	assert_ok(sl_file_add(&w, "", 0));
	assert_ok(sl_file_add(&w, "two", 3));
	assert_false(folder_has(&folder, "a"));
	assert_ok(sl_file_end(&w, false));
	sl_file_drop(&w); /* does nothing to one that has ended */
	assert_ok(sl_file_begin(HERE, "b", &w));
	sl_file_drop(&w);
	expect_file(&folder, "a", "one two");
	assert_int_equal(folder_count(&folder), 1);
}

/* Bytes at offsets; the mapped file has no name, and an end of it that another program makes stays. */
TEST(file_that_is_only_read_back_is_mapped)
{
	struct sl_file_writer w;

	assert_ok(sl_file_begin(HERE, "a", &w));
	assert_ok(sl_file_put(&w, 4, "two", 3));
	assert_ok(sl_file_put(&w, SL_FILE_END, "one ", 4));
	assert_ok(sl_file_map(&w));
	assert_int_equal(w.map.bytes, 7);
	assert_memory_equal(w.map.at, "one two", 7);
	assert_int_equal(folder_count(&folder), 0);
	assert_ok(sl_file_commit(HERE, "a.part", "other", 5, false));
	sl_fault_set("file_fsync:1:5");
	assert_fails(sl_file_unmap(&w), SL_DISK, "cannot sync");
	sl_fault_set(NULL);
	assert_ok(sl_file_unmap(&w)); /* does nothing to one that is closed */
	assert_ok(sl_file_begin(HERE, "b", &w));
	assert_ok(sl_file_add(&w, "", 1));
	assert_ok(sl_file_map(&w));
	sl_file_drop(&w);
	expect_file(&folder, "a.part", "other");
	assert_int_equal(folder_count(&folder), 1);
}

static int put_and_die(void *unused)
{
	(void)unused;
	sl_fault_set("file_rename:1:kill");
	return put("a", "half", false) == SL_OK;
}

/*
 * Without a locked directory: the .part file of a killed writer is replaced, a user's is kept; the
 * umask is respected.
 */
TEST(part_files_without_a_lock)
{
	const mode_t was = umask(027);
	struct sl_file_writer w;
	struct stat facts;

	assert_int_equal(in_child(put_and_die, NULL), 128 + SIGKILL);
	expect_file(&folder, "a.part", "half");
	assert_ok(put("a", "whole", false));
	umask(was);
	assert_int_equal(stat(PATH("a"), &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0640);
	write_text(&folder, "b.part", "mine");
	assert_fails(sl_file_begin(HERE, "b", &w), SL_OUTPUT_IN_USE, "b.part exists");
	expect_file(&folder, "b.part", "mine");
	assert_int_equal(symlinkat("a", HERE->fd, "c.part"), 0);
	assert_fails(sl_file_begin(HERE, "c", &w), SL_OUTPUT_IN_USE, "c.part exists");
	expect_file(&folder, "a", "whole");
	assert_int_equal(folder_count(&folder), 3);
}

/* --- names and other entries ------------------------------------------------------------------ */

static void expect_refused(const char *name)
{
	uint64_t before = folder_hash(folder.path, NULL), size;
	uint32_t crc;
	char *text;
	size_t n;

	assert_fails(put(name, "x", false), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_append(HERE, name, "x", 1), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_remove(HERE, name), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_read(HERE, name, &text, &n), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_check(HERE, name, &size, &crc), SL_USAGE, "cannot name a file");
	assert_null(strchr(sl_last_error(), '\n'));
	assert_int_equal(folder_hash(folder.path, NULL), before);
}

/* A name with ".part" has at most 255 bytes. */
TEST(names_are_accepted_or_refused)
{
	static const char *const bad[] = {"", ".", "..", "/", "a/b", "/etc/x", "../a", "a/", "./a",
		"a\nb", "a\tb", "\x1b[2Ja", "a\x7f", "\r"};
	static const char *const good[] = {
		"...", ".hidden", "-", "a b", "\xc3\xa4", "a.part", "*", "a\\b", "~"};
	char name[300];

	assert_ok(put("a", "old", false));
	for (size_t i = 0; i < COUNT(bad); i++)
		expect_refused(bad[i]);
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_ok(put(good[i], good[i], false));
		expect_file(&folder, good[i], good[i]);
	}
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	expect_refused(name);
	name[251] = '\0';
	assert_fails(put(name, "x", false), SL_USAGE, "longer than 255");
	name[250] = '\0';
	assert_ok(put(name, "x", false));
}

static const char *const other_entries[] = {"link", "dangling", "fifo", "folder"};

static void make_other_entries(void)
{
	write_text(&folder, "victim", "untouched");
	assert_int_equal(symlink("victim", PATH("link")), 0);
	assert_int_equal(symlink("nowhere", PATH("dangling")), 0);
	assert_int_equal(mkfifo(PATH("fifo"), 0666), 0);
	assert_int_equal(mkdir(PATH("folder"), 0777), 0);
}

/* None of these entries is read, appended to, replaced without request, or waited for. */
TEST(other_entries_at_the_name)
{
	uint64_t before, number;
	uint32_t crc;
	char *text;
	size_t n;
	bool exists;

	make_other_entries();
	before = folder_hash(folder.path, NULL);
	alarm(10);
	for (size_t i = 0; i < COUNT(other_entries); i++) {
		const char *name = other_entries[i];

		assert_ok(sl_file_exists(HERE, name, &exists));
		assert_true(exists);
		assert_int_equal(put(name, "x", false), SL_OUTPUT_IN_USE);
		assert_int_not_equal(sl_file_append(HERE, name, "x", 1), SL_OK);
		assert_int_not_equal(sl_file_read(HERE, name, &text, &n), SL_OK);
		assert_null(text);
		assert_int_not_equal(sl_file_check(HERE, name, &number, &crc), SL_OK);
	}
	alarm(0);
	assert_ok(sl_file_exists(HERE, "none", &exists));
	assert_false(exists);
	assert_ok(sl_file_identity(HERE, "dangling", &exists, &number, &number));
	assert_false(exists);
	assert_fails(sl_file_read(HERE, "link", &text, &n), SL_DISK, "symbolic link");
	assert_fails(sl_file_read(HERE, "fifo", &text, &n), SL_BAD_INPUT, "not a regular file");
	assert_fails(put("folder", "x", true), SL_DISK, "folder");
	assert_int_equal(folder_hash(folder.path, NULL), before);
	assert_ok(put("link", "new", true)); /* the link is replaced, not what it names */
	expect_file(&folder, "victim", "untouched");
	expect_file(&folder, "link", "new");
}

/*
 * In a directory that this process has locked, every .part file belongs to a killed run; a folder
 * is kept.
 */
TEST(other_entries_at_the_part_name)
{
	make_other_entries();
	assert_ok(sl_dir_lock(&open_dir.dir));
	write_text(&folder, "link.part", "half a file");
	assert_ok(put("link", "", true));
	for (size_t i = 0; i < COUNT(other_entries); i++) {
		char part[64];

		snprintf(part, sizeof(part), "a%zu.part", i);
		assert_int_equal(rename(PATH(other_entries[i]), PATH(part)), 0);
		part[2] = '\0';
		if (strcmp(other_entries[i], "folder") != 0)
			assert_ok(put(part, "x", false));
		else
			assert_fails(put(part, "x", false), SL_DISK, "exists");
		assert_int_equal(folder_has(&folder, part), i < 3);
	}
	assert_int_equal(folder_count(&folder), 6); /* LOCK, victim, a0, a1, a2, a3.part */
	expect_file(&folder, "victim", "untouched");
	close(open_dir.dir.lock);
	open_dir.dir.lock = -1;
}

/* --- writers ---------------------------------------------------------------------------------- */

static void on_alarm(int signal)
{
	(void)signal;
}

/* Reads a pipe to its end. Returns the CRC-32 of what came. */
static void *read_slowly(void *end)
{
	unsigned char piece[5000];
	uint32_t crc = 0;
	ssize_t n;

	while ((n = read(*(int *)end, piece, sizeof(piece))) > 0) {
		crc = sl_crc32_update(crc, piece, (size_t)n);
		usleep(100);
	}
	return (void *)(uintptr_t)crc;
}

/*
 * With a slow reader of the pipe and a timer, most writes are interrupted before or in the middle.
 */
TEST(interrupted_writes_are_complete)
{
	const struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART */
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct sl_thread_handle reader;
	int ends[2], error;
	void *crc;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(sl_thread_start(1 << 20, read_slowly, &ends[0], &reader), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	error = sl_write_all(ends[1], "file_write", NULL, bytes, LARGEST);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	close(ends[1]);
	pthread_join(reader.id, &crc);
	close(ends[0]);
	assert_int_equal(error, 0);
	assert_int_equal((uintptr_t)crc, crc32(0, bytes, LARGEST));
}
