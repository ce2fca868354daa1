/* files.c - tests that files are committed atomically and only under permitted names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "primitives/files/map.h"
#include "primitives/files/crc32.h"
#include "primitives/files/lock.h"
#include "tests/faults/fault_injection.h"
#include "tests/primitives/files/files_check.h"

/* --- commit ------------------------------------------------------------------------------- */

/* Sizes around that of a write; read back with the functions of C and of the library. */
TEST(files_of_every_size_are_committed)
{
	static const size_t sizes[] = {0, 1, 4095, MIB - 1, MIB, MIB + 1, 3 * MIB + 5};
	struct open_dir *s = &open_dir;
	unsigned char *bytes = (unsigned char *)malloc(4 * MIB);

	for (size_t i = 0; i < 4 * MIB; i++)
		bytes[i] = byte_at(i);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t size, own_size;
		uint64_t checked;
		uint32_t crc;
		char *text, *own;

		assert_ok(sl_file_commit(&s->dir, "a", bytes, sizes[i], true));
		text = folder_read(&folder, "a", &size);
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
	assert_int_equal(folder_count(&folder), 1);
	free(bytes);
}

TEST(existing_files_are_not_replaced)
{
	struct open_dir *s = &open_dir;

	assert_ok(commit(s, "a", "old", false));
	assert_fails(commit(s, "a", "new", false), SL_OUTPUT_IN_USE, "a already exists");
	expect_content(s, "a", "old");
	assert_ok(commit(s, "a", "new", true));
	expect_content(s, "a", "new");
	assert_ok(commit(s, "b", "made by replace", true));
	assert_int_equal(folder_count(&folder), 2);
}

/* A file gets its name only at its end. The .part file of an open writer is not touched. */
TEST(file_of_pieces_is_named_at_its_end)
{
	struct open_dir *s = &open_dir;
	struct sl_file_writer w, other;

	assert_ok(sl_file_begin(&s->dir, "a", &w));
	assert_ok(sl_file_add(&w, "one ", 4));
	assert_fails(sl_file_begin(&s->dir, "a", &other), SL_OUTPUT_IN_USE, "a.part exists");
	assert_ok(sl_file_add(&w, "", 0));
	assert_ok(sl_file_add(&w, "two", 3));
	assert_false(folder_has(&folder, "a"));
	assert_ok(sl_file_end(&w, false));
	expect_content(s, "a", "one two");
	sl_file_drop(&w); /* does nothing to one that has ended */
	expect_content(s, "a", "one two");
	assert_ok(sl_file_begin(&s->dir, "a", &w));
	assert_ok(sl_file_add(&w, "three", 5));
	assert_fails(sl_file_end(&w, false), SL_OUTPUT_IN_USE, "a already exists");
	assert_ok(sl_file_begin(&s->dir, "b", &w));
	assert_ok(sl_file_add(&w, "three", 5));
	sl_file_drop(&w);
	assert_int_equal(folder_count(&folder), 1);
}

/* The mode of an entry, with the bits that chmod(2) sets. */
static mode_t mode_of(const struct open_dir *s, const char *name)
{
	struct stat facts;

	assert_int_equal(fstatat(s->dir.fd, name, &facts, 0), 0);
	return facts.st_mode & 07777;
}

/* A child process begins the file "a" and is killed; returns with its a.part in the folder. */
static void kill_a_writer(struct open_dir *s)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct sl_file_writer w;

		if (sl_file_begin(&s->dir, "a", &w) == SL_OK && sl_file_add(&w, "half", 4) == SL_OK)
			raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	expect_content(s, "a.part", "half");
}

/* Without a locked directory: the .part file of a killed writer is replaced, a user's is kept. */
TEST(part_files_without_a_lock)
{
	struct open_dir *s = &open_dir;
	struct sl_file_writer w;

	kill_a_writer(s);
	assert_ok(sl_file_begin(&s->dir, "a", &w));
	assert_ok(sl_file_add(&w, "whole", 5));
	assert_ok(sl_file_end(&w, false));
	expect_content(s, "a", "whole");
	assert_int_equal(mode_of(s, "a") & S_ISVTX, 0);
	folder_write(&folder, "b.part", "mine", 4);
	assert_fails(sl_file_begin(&s->dir, "b", &w), SL_OUTPUT_IN_USE, "b.part exists");
	expect_content(s, "b.part", "mine");
	assert_int_equal(symlinkat("a", s->dir.fd, "c.part"), 0);
	assert_fails(sl_file_begin(&s->dir, "c", &w), SL_OUTPUT_IN_USE, "c.part exists");
	expect_content(s, "a", "whole");
	assert_int_equal(folder_count(&folder), 3);
}

/* In a directory that this process has locked, every .part file belongs to a killed run. */
TEST(part_files_with_a_lock)
{
	struct open_dir *s = &open_dir;
	struct sl_file_writer w;
	struct sl_dir locked;

	assert_ok(sl_dir_open(folder.path, false, &locked));
	assert_ok(sl_dir_lock(&locked));
	folder_write(&folder, "b.part", "half", 4);
	assert_ok(sl_file_begin(&locked, "b", &w));
	assert_ok(sl_file_end(&w, false));
	expect_content(s, "b", "");
	sl_dir_close(&locked);
}

/* Only ENOENT means that a file does not exist. */
TEST(failed_lookups_are_reported)
{
	struct open_dir *s = &open_dir;
	uint64_t device, number;
	bool exists = true;

	assert_ok(sl_file_exists(&s->dir, "none", &exists));
	assert_false(exists);
	assert_ok(sl_file_identity(&s->dir, "none", &exists, &device, &number));
	assert_false(exists);
	sl_fault_set("file_stat:1+:5");
	assert_fails(sl_file_exists(&s->dir, "none", &exists), SL_DISK, "none: Input/output error");
	assert_fails(sl_file_identity(&s->dir, "none", &exists, &device, &number), SL_DISK, "none");
	assert_fails(sl_dir_exists(folder.path, &exists), SL_DISK, "Input/output error");
	sl_fault_set(NULL);
}

TEST(committed_file_can_be_mapped)
{
	struct open_dir *s = &open_dir;
	struct sl_map m;

	assert_ok(commit(s, "a", "some text", false));
	assert_ok(commit(s, "b", "", false));
	assert_ok(sl_map_file(folder_path(&folder, "a"), &m));
	assert_int_equal(m.bytes, 9);
	assert_memory_equal(m.at, "some text", 9);
	sl_unmap(&m);
	assert_ok(sl_map_file(folder_path(&folder, "b"), &m));
	assert_int_equal(m.bytes, 0);
	sl_unmap(&m);
	assert_fails(sl_map_file(folder_path(&folder, "c"), &m), SL_DISK, "it does not exist");
	assert_fails(sl_map_file(folder.path, &m), SL_BAD_INPUT, "not a regular file");
}

TEST(umask_is_respected)
{
	struct open_dir *s = &open_dir;
	mode_t was = umask(027);
	struct stat facts;
	struct sl_dir d;

	assert_ok(commit(s, "a", "x", false));
	assert_ok(sl_dir_open(folder_path(&folder, "d"), true, &d));
	sl_dir_close(&d);
	umask(was);
	assert_int_equal(stat(folder_path(&folder, "a"), &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0640);
	assert_int_equal(stat(folder_path(&folder, "d"), &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0750);
}

/* --- names -------------------------------------------------------------------------------- */

static void expect_refused(struct open_dir *s, const char *name)
{
	uint64_t before = folder_hash(folder.path, NULL), size;
	uint32_t crc;
	char *bytes;
	size_t n;

	assert_fails(commit(s, name, "x", false), SL_USAGE, "cannot name a file");
	assert_fails(commit(s, name, "x", true), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_append(&s->dir, name, "x", 1), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_remove(&s->dir, name), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_read(&s->dir, name, &bytes, &n), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_check(&s->dir, name, &size, &crc), SL_USAGE, "cannot name a file");
	assert_null(strchr(sl_last_error(), '\n'));
	assert_int_equal(folder_hash(folder.path, NULL), before);
}

TEST(invalid_names_are_refused)
{
	static const char *const names[] = {"", ".", "..", "/", "a/b", "/etc/x", "../a", "a/",
		"./a", "a\nb", "a\tb", "\x1b[2Ja", "a\x7f", "\r"};
	struct open_dir *s = &open_dir;
	char name[300];

	assert_ok(commit(s, "a", "old", false));
	for (size_t i = 0; i < COUNT(names); i++)
		expect_refused(s, names[i]);
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	expect_refused(s, name);
}

TEST(valid_names_are_allowed)
{
	static const char *const names[] = {
		"...", ".hidden", "-", "a b", "\xc3\xa4", "a.part", "*", "a\\b", "~"};
	struct open_dir *s = &open_dir;
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

/* --- other entries at a name -------------------------------------------------------------- */

static void make_other_entries(void)
{
	folder_write(&folder, "victim", "untouched", 9);
	assert_int_equal(symlink("victim", folder_path(&folder, "link")), 0);
	assert_int_equal(symlink("nowhere", folder_path(&folder, "dangling")), 0);
	assert_int_equal(mkfifo(folder_path(&folder, "fifo"), 0666), 0);
	assert_int_equal(mkdir(folder_path(&folder, "folder"), 0777), 0);
}

static const char *const other_entries[] = {"link", "dangling", "fifo", "folder"};

/* None of these entries is read, appended to, replaced without request, or waited for. */
TEST(other_entries_at_the_name)
{
	struct open_dir *s = &open_dir;
	uint64_t before, size;
	uint32_t crc;
	char *bytes;
	size_t n;

	make_other_entries();
	before = folder_hash(folder.path, NULL);
	alarm(10);
	for (size_t i = 0; i < COUNT(other_entries); i++) {
		const char *name = other_entries[i];

		assert_int_equal(commit(s, name, "x", false), SL_OUTPUT_IN_USE);
		assert_int_not_equal(sl_file_append(&s->dir, name, "x", 1), SL_OK);
		assert_int_not_equal(sl_file_read(&s->dir, name, &bytes, &n), SL_OK);
		assert_null(bytes);
		assert_int_not_equal(sl_file_check(&s->dir, name, &size, &crc), SL_OK);
		assert_true(folder_has(&folder, name));
		assert_int_equal(folder_hash(folder.path, NULL), before);
	}
	alarm(0);
	assert_fails(sl_file_read(&s->dir, "link", &bytes, &n), SL_DISK, "symbolic link");
	assert_fails(sl_file_read(&s->dir, "fifo", &bytes, &n), SL_BAD_INPUT, "not a regular file");
	assert_fails(commit(s, "folder", "x", true), SL_DISK, "folder");
	assert_int_equal(folder_hash(folder.path, NULL), before);
	assert_ok(commit(s, "link", "new", true)); /* the link is replaced, not what it names */
	expect_content(s, "victim", "untouched");
	expect_content(s, "link", "new");
}

/* In a locked directory a .part file belongs to a killed run and is replaced; a folder is kept. */
TEST(other_entries_at_the_part_name)
{
	struct open_dir *s = &open_dir;
	const struct sl_dir unlocked = s->dir;

	assert_ok(sl_dir_open(folder.path, false, &s->dir));
	assert_ok(sl_dir_lock(&s->dir));
	make_other_entries();
	for (size_t i = 0; i < COUNT(other_entries); i++) {
		char part[64];

		snprintf(part, sizeof(part), "a%zu.part", i);
		assert_int_equal(renameat(s->dir.fd, other_entries[i], s->dir.fd, part), 0);
		part[2] = '\0';
		if (strcmp(other_entries[i], "folder") != 0) {
			assert_ok(commit(s, part, "x", false));
			expect_content(s, part, "x");
		} else {
			assert_fails(commit(s, part, "x", false), SL_DISK, "exists");
			assert_false(folder_has(&folder, part));
		}
	}
	folder_write(&folder, "b.part", "half a fi", 9);
	assert_ok(commit(s, "b", "x", false));
	assert_false(folder_has(&folder, "b.part"));
	expect_content(s, "victim", "untouched");
	sl_dir_close(&s->dir);
	s->dir = unlocked;
}

/* --- append ------------------------------------------------------------------------------- */

TEST(lines_are_appended)
{
	struct open_dir *s = &open_dir;

	assert_ok(sl_file_append(&s->dir, "log", "one\n", 4));
	assert_ok(sl_file_append(&s->dir, "log", "", 0));
	assert_ok(sl_file_append(&s->dir, "log", "two\n", 4));
	expect_content(s, "log", "one\ntwo\n");
}

/* --- remove, read, checksum --------------------------------------------------------------- */

TEST(files_are_removed)
{
	struct open_dir *s = &open_dir;

	assert_ok(sl_file_remove(&s->dir, "a"));
	assert_false(folder_has(&folder, "a"));
	assert_ok(commit(s, "a", "x", false));
	assert_true(folder_has(&folder, "a"));
	sl_fault_set("file_remove:1:5");
	assert_fails(sl_file_remove(&s->dir, "a"), SL_DISK, "cannot remove");
	assert_true(folder_has(&folder, "a"));
	assert_ok(sl_file_remove(&s->dir, "a"));
	assert_false(folder_has(&folder, "a"));
}

TEST(files_are_read_by_path)
{
	char *bytes;
	size_t size;

	folder_write(&folder, "a", "a\0b", 3);
	assert_int_equal(symlink("a", folder_path(&folder, "link")), 0);
	assert_ok(sl_path_read(folder_path(&folder, "link"), 3, &bytes, &size));
	assert_int_equal(size, 3);
	assert_memory_equal(bytes, "a\0b", 4);
	sl_memory_give(SL_HOST, bytes);
	assert_fails(sl_path_read(folder_path(&folder, "a"), 2, &bytes, &size), SL_BAD_INPUT,
		"has 3 bytes, but at most 2 are read");
	assert_fails(sl_path_read(folder.path, 99, &bytes, &size), SL_BAD_INPUT, "regular");
	assert_fails(sl_path_read("/dev/zero", 99, &bytes, &size), SL_BAD_INPUT, "regular");
	assert_fails(sl_path_read(folder_path(&folder, "b"), 99, &bytes, &size), SL_DISK, "/b: No");
	assert_fails(sl_path_read("", 99, &bytes, &size), SL_DISK, "No such file");
}

/* Writes text to a pipe and reads it back as a stream of at most most bytes. */
static enum sl_status read_pipe(const char *text, size_t most, char **bytes, size_t *size)
{
	enum sl_status s;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	s = sl_stream_read(ends[0], "<pipe>", most, bytes, size);
	close(ends[0]);
	return s;
}

TEST(streams_are_read_up_to_their_ends)
{
	char *bytes;
	size_t size;

	for (size_t most = 3; most < 6; most++) {
		assert_ok(read_pipe("abc", most, &bytes, &size));
		assert_int_equal(size, 3);
		assert_string_equal(bytes, "abc");
		sl_memory_give(SL_HOST, bytes);
	}
	assert_ok(read_pipe("", 9, &bytes, &size));
	assert_int_equal(size, 0);
	assert_string_equal(bytes, "");
	sl_memory_give(SL_HOST, bytes);
	assert_fails(
		read_pipe("abcd", 3, &bytes, &size), SL_BAD_INPUT, "<pipe> has more than 3 bytes");
	assert_null(bytes);
	sl_fault_set("file_read:1:5");
	assert_fails(read_pipe("abc", 9, &bytes, &size), SL_DISK, "<pipe>");
	sl_fault_set("host_malloc:1:12");
	assert_int_equal(read_pipe("abc", 9, &bytes, &size), SL_HOST_MEMORY);
	assert_null(bytes);
	assert_fails(sl_stream_read(-1, "<closed>", 9, &bytes, &size), SL_DISK, "<closed>");
}

TEST(crc_is_that_of_zlib)
{
	assert_int_equal(sl_crc32("123456789", 9), 0xcbf43926); /* the check value of CRC-32 */
	assert_int_equal(sl_crc32("", 0), 0);
}

BEFORE_EACH()
{
	open_dir_begin();
}

AFTER_EACH()
{
	open_dir_end();
}
