/*
 * files.c - tests that files are committed atomically and only under permitted names, that other entries are neither read
 * nor followed, and that files are read, mapped and written by two writers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "primitives/files/crc32.h"
#include "primitives/files/lock.h"
#include "primitives/files/map.h"
#include "tests/faults/fault_injection.h"
#include "tests/primitives/files/files_check.h"

/* --- commit ----------------------------------------------------------------------------------- */

/* Sizes around that of a write; read back with the functions of C and of the library. */
TEST(files_of_every_size_are_committed)
{
	static const size_t sizes[] = {0, 1, 4095, MIB - 1, MIB, MIB + 1, 3 * MIB + 5};
	unsigned char *bytes = (unsigned char *)malloc(4 * MIB);

	for (size_t i = 0; i < 4 * MIB; i++)
		bytes[i] = byte_at(i);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t size, own_size;
		uint64_t checked;
		uint32_t crc;
		char *text, *own;
		struct sl_map m;

		assert_ok(sl_file_commit(dir(), "a", bytes, sizes[i], true));
		text = folder_read(&folder, "a", &size);
		assert_ok(sl_file_read(dir(), "a", &own, &own_size));
		assert_ok(sl_file_check(dir(), "a", &checked, &crc));
		assert_ok(sl_map_file(folder_path(&folder, "a"), &m));
		assert_true(
			size == sizes[i] && own_size == size && checked == size && m.bytes == size);
		assert_memory_equal(text, bytes, size);
		assert_memory_equal(own, bytes, size);
		assert_int_equal(own[size], '\0');
		assert_true(size > 0 ? memcmp(m.at, bytes, size) == 0 : m.at == NULL);
		assert_int_equal(crc, crc32(0, bytes, (unsigned)size));
		assert_int_equal(crc, sl_crc32(bytes, size));
		sl_unmap(&m);
		assert_null(m.at);
		sl_unmap(&m); /* of nothing */
		free(text);
		sl_memory_give(SL_HOST, own);
	}
	assert_int_equal(sl_crc32("123456789", 9), 0xcbf43926); /* the check value of CRC-32 */
	assert_int_equal(folder_count(&folder), 1);
	free(bytes);
}

TEST(existing_files_are_not_replaced)
{
	assert_ok(put("a", "old", false));
	assert_fails(put("a", "new", false), SL_OUTPUT_IN_USE, "a already exists");
	expect("a", "old");
	assert_ok(put("a", "new", true));
	expect("a", "new");
	assert_ok(put("b", "made by replace", true));
	assert_int_equal(folder_count(&folder), 2);
}

/* A file gets its name only at its end. The .part file of an open writer is not touched. */
TEST(file_of_pieces_is_named_at_its_end)
{
	struct sl_file_writer w, other;

	assert_ok(sl_file_begin(dir(), "a", &w));
	assert_ok(sl_file_add(&w, "one ", 4));
	assert_fails(sl_file_begin(dir(), "a", &other), SL_OUTPUT_IN_USE, "a.part exists");
	assert_ok(sl_file_add(&w, "", 0));
	assert_ok(sl_file_add(&w, "two", 3));
	assert_false(folder_has(&folder, "a"));
	assert_ok(sl_file_end(&w, false));
	expect("a", "one two");
	sl_file_drop(&w); /* does nothing to one that has ended */
	expect("a", "one two");
	assert_ok(sl_file_begin(dir(), "a", &w));
	assert_ok(sl_file_add(&w, "three", 5));
	assert_fails(sl_file_end(&w, false), SL_OUTPUT_IN_USE, "a already exists");
	assert_ok(sl_file_begin(dir(), "b", &w));
	sl_file_drop(&w);
	assert_int_equal(folder_count(&folder), 1);
}

static mode_t mode_of(const char *name)
{
	struct stat facts;

	assert_int_equal(fstatat(dir()->fd, name, &facts, 0), 0);
	return facts.st_mode & 07777;
}

/* A child process begins the file "a" and is killed; returns with its a.part in the folder. */
static void kill_a_writer(void)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct sl_file_writer w;

		if (sl_file_begin(dir(), "a", &w) == SL_OK && sl_file_add(&w, "half", 4) == SL_OK)
			raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	expect("a.part", "half");
}

/* Without a locked directory: the .part file of a killed writer is replaced, a user's is kept. */
TEST(part_files_without_a_lock)
{
	struct sl_file_writer w;

	kill_a_writer();
	assert_ok(put("a", "whole", false));
	expect("a", "whole");
	assert_int_equal(mode_of("a") & S_ISVTX, 0);
	folder_write(&folder, "b.part", "mine", 4);
	assert_fails(sl_file_begin(dir(), "b", &w), SL_OUTPUT_IN_USE, "b.part exists");
	expect("b.part", "mine");
	assert_int_equal(symlinkat("a", dir()->fd, "c.part"), 0);
	assert_fails(sl_file_begin(dir(), "c", &w), SL_OUTPUT_IN_USE, "c.part exists");
	expect("a", "whole");
	assert_int_equal(folder_count(&folder), 3);
}

TEST(umask_is_respected)
{
	mode_t was = umask(027);
	struct sl_dir d;

	assert_ok(put("a", "x", false));
	assert_ok(sl_dir_open(folder_path(&folder, "d"), true, &d));
	sl_dir_close(&d);
	umask(was);
	assert_int_equal(mode_of("a"), 0640);
	assert_int_equal(mode_of("d"), 0750);
}

TEST(lines_are_appended)
{
	assert_ok(sl_file_append(dir(), "log", "one\n", 4));
	assert_ok(sl_file_append(dir(), "log", "", 0));
	assert_ok(sl_file_append(dir(), "log", "two\n", 4));
	expect("log", "one\ntwo\n");
}

/* Only ENOENT means that a file does not exist. */
TEST(files_are_found_and_removed)
{
	uint64_t device, number;
	bool exists = true;

	assert_ok(sl_file_exists(dir(), "a", &exists));
	assert_false(exists);
	assert_ok(sl_file_identity(dir(), "a", &exists, &device, &number));
	assert_false(exists);
	assert_ok(sl_file_remove(dir(), "a"));
	assert_ok(put("a", "x", false));
	sl_fault_set("file_stat:1+:5,file_remove:1:5");
	assert_fails(sl_file_exists(dir(), "none", &exists), SL_DISK, "none: Input/output error");
	assert_fails(sl_file_identity(dir(), "none", &exists, &device, &number), SL_DISK, "none");
	assert_fails(sl_dir_exists(folder.path, &exists), SL_DISK, "Input/output error");
	assert_fails(sl_file_remove(dir(), "a"), SL_DISK, "cannot remove");
	sl_fault_set(NULL);
	assert_true(folder_has(&folder, "a"));
	assert_ok(sl_file_remove(dir(), "a"));
	assert_false(folder_has(&folder, "a"));
}

/* --- names ------------------------------------------------------------------------------------ */

static void expect_refused(const char *name)
{
	uint64_t before = folder_hash(folder.path, NULL), size;
	uint32_t crc;
	char *bytes;
	size_t n;

	assert_fails(put(name, "x", false), SL_USAGE, "cannot name a file");
	assert_fails(put(name, "x", true), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_append(dir(), name, "x", 1), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_remove(dir(), name), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_read(dir(), name, &bytes, &n), SL_USAGE, "cannot name a file");
	assert_fails(sl_file_check(dir(), name, &size, &crc), SL_USAGE, "cannot name a file");
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
		expect(good[i], good[i]);
	}
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	expect_refused(name);
	name[251] = '\0';
	assert_fails(put(name, "x", false), SL_USAGE, "longer than 255");
	name[250] = '\0';
	assert_ok(put(name, "x", false));
}

/* --- other entries at a name ------------------------------------------------------------------ */

static const char *const other_entries[] = {"link", "dangling", "fifo", "folder"};

static void make_other_entries(void)
{
	folder_write(&folder, "victim", "untouched", 9);
	assert_int_equal(symlink("victim", folder_path(&folder, "link")), 0);
	assert_int_equal(symlink("nowhere", folder_path(&folder, "dangling")), 0);
	assert_int_equal(mkfifo(folder_path(&folder, "fifo"), 0666), 0);
	assert_int_equal(mkdir(folder_path(&folder, "folder"), 0777), 0);
}

/* None of these entries is read, appended to, replaced without request, or waited for. */
TEST(other_entries_at_the_name)
{
	uint64_t before, size;
	uint32_t crc;
	char *bytes;
	size_t n;

	make_other_entries();
	before = folder_hash(folder.path, NULL);
	alarm(10);
	for (size_t i = 0; i < COUNT(other_entries); i++) {
		const char *name = other_entries[i];

		assert_int_equal(put(name, "x", false), SL_OUTPUT_IN_USE);
		assert_int_not_equal(sl_file_append(dir(), name, "x", 1), SL_OK);
		assert_int_not_equal(sl_file_read(dir(), name, &bytes, &n), SL_OK);
		assert_null(bytes);
		assert_int_not_equal(sl_file_check(dir(), name, &size, &crc), SL_OK);
	}
	alarm(0);
	assert_fails(sl_file_read(dir(), "link", &bytes, &n), SL_DISK, "symbolic link");
	assert_fails(sl_file_read(dir(), "fifo", &bytes, &n), SL_BAD_INPUT, "not a regular file");
	assert_fails(put("folder", "x", true), SL_DISK, "folder");
	assert_int_equal(folder_hash(folder.path, NULL), before);
	assert_ok(put("link", "new", true)); /* the link is replaced, not what it names */
	expect("victim", "untouched");
	expect("link", "new");
}

/* In a directory that this process has locked, every .part file belongs to a killed run; a folder is kept. */
TEST(other_entries_at_the_part_name)
{
	const struct sl_dir unlocked = *dir();

	assert_ok(sl_dir_open(folder.path, false, &open_dir.dir));
	assert_ok(sl_dir_lock(&open_dir.dir));
	make_other_entries();
	for (size_t i = 0; i < COUNT(other_entries); i++) {
		char part[64];

		snprintf(part, sizeof(part), "a%zu.part", i);
		assert_int_equal(renameat(dir()->fd, other_entries[i], dir()->fd, part), 0);
		part[2] = '\0';
		if (strcmp(other_entries[i], "folder") != 0) {
			assert_ok(put(part, "x", false));
			expect(part, "x");
		} else {
			assert_fails(put(part, "x", false), SL_DISK, "exists");
			assert_false(folder_has(&folder, part));
		}
	}
	folder_write(&folder, "b.part", "half a fi", 9);
	assert_ok(put("b", "", false));
	expect("b", "");
	assert_false(folder_has(&folder, "b.part"));
	expect("victim", "untouched");
	sl_dir_close(&open_dir.dir);
	open_dir.dir = unlocked;
}

/* --- read ------------------------------------------------------------------------------------- */

/* What is not a regular file of at most this size is refused, read or mapped. */
TEST(files_are_read_by_path)
{
	char *bytes;
	size_t size;
	struct sl_map m;

	folder_write(&folder, "a", "a\0b", 3);
	assert_int_equal(symlink("a", folder_path(&folder, "link")), 0);
	assert_int_equal(mkfifo(folder_path(&folder, "pipe"), 0600), 0);
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
	assert_fails(sl_map_file(folder_path(&folder, "b"), &m), SL_DISK, "it does not exist");
	assert_fails(sl_map_file(folder.path, &m), SL_BAD_INPUT, "not a regular file");
	assert_fails(sl_map_file(folder_path(&folder, "pipe"), &m), SL_BAD_INPUT, "");
	assert_null(m.at);
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

	for (size_t most = 3; most < 8; most++) {
		const char *text = most < 6 ? "abc" : "";

		assert_ok(read_pipe(text, most, &bytes, &size));
		assert_int_equal(size, strlen(text));
		assert_string_equal(bytes, text);
		sl_memory_give(SL_HOST, bytes);
	}
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

/* --- mapped files ----------------------------------------------------------------------------- */

/*
 * A write changes the mapped file; another file under the same name does not. A kernel can give all writes of one tick the
 * same time, so the tick must be over when the file is mapped.
 */
TEST(changes_of_the_mapped_file_are_detected)
{
	const char *path = folder_path(&folder, "some");
	struct timespec now;
	struct sl_map m;

	for (int i = 0; i < 10; i++) {
		folder_write(&folder, "some", "bytes", 5);
		assert_ok(sl_map_file(path, &m));
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		assert_true(now.tv_sec * INT64_C(1000000000) + now.tv_nsec > m.written_ns);
		assert_false(sl_map_is_changed(&m, path));
		if (i > 0)
			folder_flip(&folder, "some", 0, 1);
		else
			assert_int_equal(0, truncate(path, 1));
		assert_true(sl_map_is_changed(&m, path));
		sl_unmap(&m);
	}
	assert_ok(sl_map_file(path, &m));
	folder_write(&folder, "other", "by", 2);
	assert_int_equal(0, rename(folder_path(&folder, "other"), path));
	assert_false(sl_map_is_changed(&m, path));
	sl_unmap(&m);
}

TEST(failed_calls_of_a_mapping_are_reported)
{
	static const struct {
		const char *fault;
		enum sl_status status;
	} faults[] = {{"file_open:1:5", SL_DISK}, {"file_stat:1:5", SL_DISK},
		{"file_map:1:12", SL_HOST_MEMORY}, {"file_close:1:5", SL_DISK}};
	struct sl_map m;

	folder_write(&folder, "some", "bytes", 5);
	for (size_t k = 0; k < COUNT(faults); k++) {
		assert_null(sl_fault_set(faults[k].fault));
		assert_int_equal(faults[k].status, sl_map_file(folder_path(&folder, "some"), &m));
		assert_null(m.at);
	}
}

/* --- a second writer of a .part file ---------------------------------------------------------- */

/* Begins the file "a", and returns its inode number. */
static uint64_t begin(struct sl_file_writer *first)
{
	uint64_t device, number;
	bool exists;

	assert_ok(sl_file_begin(dir(), "a", first));
	assert_ok(sl_file_identity(dir(), "a.part", &exists, &device, &number));
	assert_true(exists);
	return number;
}

TEST(two_writers_make_one_file)
{
	struct sl_file_writer first, second;
	bool joined;

	assert_ok(sl_file_join(dir(), "a", begin(&first), &joined, &second));
	assert_true(joined);
	assert_ok(sl_file_seek(&second, 4));
	assert_ok(sl_file_add(&second, "ef", 2));
	assert_ok(sl_file_add(&first, "ab", 2));
	assert_ok(sl_file_seek(&second, 2));
	assert_ok(sl_file_add(&second, "cd", 2));
	assert_ok(sl_file_sync(&second));
	assert_ok(sl_file_end(&first, false));
	expect("a", "abcdef");
	(void)begin(&first);
	assert_fails(sl_file_seek(&first, UINT64_MAX), SL_DISK, "a.part");
	sl_file_drop(&first);
}

/* Only the writer that has begun the file removes it. */
TEST(a_second_writer_removes_nothing)
{
	struct sl_file_writer first, second;
	uint64_t number = begin(&first);
	bool joined;

	for (int i = 0; i < 3; i++) {
		assert_ok(sl_file_join(dir(), "a", number, &joined, &second));
		assert_true(joined);
		if (i == 0)
			sl_file_drop(&second);
		else
			assert_null(sl_fault_set(i == 1 ? "file_write:1:28" : "file_fsync:1:5"));
		if (i == 1)
			assert_fails(sl_file_add(&second, "x", 1), SL_DISK, "write");
		else if (i == 2)
			assert_fails(sl_file_sync(&second), SL_DISK, "sync");
		sl_fault_set(NULL);
		assert_true(folder_has(&folder, "a.part"));
		assert_int_equal(second.fd, -1);
	}
	assert_null(sl_fault_set("file_seek:1:28"));
	assert_fails(sl_file_seek(&first, 1), SL_DISK, "No space left");
	sl_file_drop(&first);
	assert_int_equal(folder_count(&folder), 0);
}

TEST(another_file_is_not_joined)
{
	struct sl_file_writer first, second;
	uint64_t number = begin(&first);
	bool joined = true;

	assert_ok(sl_file_join(dir(), "a", number + 1, &joined, &second));
	assert_false(joined);
	assert_int_equal(second.fd, -1);
	assert_true(folder_has(&folder, "a.part"));
	sl_file_drop(&first);
	joined = true;
	assert_ok(sl_file_join(dir(), "a", number, &joined, &second));
	assert_false(joined);
	assert_int_equal(0, symlink("b", folder_path(&folder, "a.part")));
	assert_fails(sl_file_join(dir(), "a", number, &joined, &second), SL_DISK, "a.part");
	assert_fails(sl_file_join(dir(), "../a", number, &joined, &second), SL_USAGE, "a");
}

BEFORE_EACH()
{
	open_dir_begin();
}

AFTER_EACH()
{
	open_dir_end();
}
