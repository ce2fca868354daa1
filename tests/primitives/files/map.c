/* map.c - tests memory-mapped files: their contents, and paths that cannot be mapped. */
#include "primitives/files/map.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

TEST(mapping_has_the_bytes_of_the_file)
{
	enum { N = 100003 };
	static unsigned char bytes[N];
	struct sl_map m;

	for (uint32_t i = 0; i < N; i++)
		bytes[i] = (unsigned char)(i * i >> 3);
	folder_write(&folder, "some", bytes, N);
	assert_ok(sl_map_file(folder_path(&folder, "some"), &m));
	assert_int_equal(m.bytes, N);
	assert_memory_equal(m.at, bytes, N);
	sl_unmap(&m);
	assert_null(m.at);
	sl_unmap(&m); /* of nothing */
}

/* A write changes the mapped file; another file under the same name does not. */
TEST(changes_of_the_file_are_detected)
{
	const char *path;
	struct sl_map m;

	folder_write(&folder, "some", "bytes", 5);
	path = folder_path(&folder, "some");
	assert_ok(sl_map_file(path, &m));
	assert_false(sl_map_is_changed(&m, path));
	folder_write(&folder, "other", "by", 2);
	assert_int_equal(0, rename(folder_path(&folder, "other"), path));
	assert_false(sl_map_is_changed(&m, path));
	sl_unmap(&m);
	assert_ok(sl_map_file(path, &m));
	assert_int_equal(0, truncate(path, 1));
	assert_true(sl_map_is_changed(&m, path));
	sl_unmap(&m);
	assert_ok(sl_map_file(path, &m));
}

/* A kernel can give all writes of one tick the same time, so the tick must be over when the file is mapped. */
TEST(writes_after_the_mapping_have_another_time)
{
	struct timespec now;
	const char *path;
	struct sl_map m;

	path = folder_path(&folder, "some");
	for (int i = 0; i < 10; i++) {
		folder_write(&folder, "some", "a", 1);
		assert_ok(sl_map_file(path, &m));
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		assert_true(now.tv_sec * INT64_C(1000000000) + now.tv_nsec > m.written_ns);
		folder_flip(&folder, "some", 0, 1);
		assert_true(sl_map_is_changed(&m, path));
		sl_unmap(&m);
	}
}

TEST(empty_file_has_no_mapping)
{
	struct sl_map m;

	folder_write(&folder, "empty", "", 0);
	assert_ok(sl_map_file(folder_path(&folder, "empty"), &m));
	assert_null(m.at);
	assert_int_equal(m.bytes, 0);
	sl_unmap(&m);
}

TEST(paths_of_no_file_are_refused)
{
	struct sl_map m;

	assert_int_equal(SL_DISK, sl_map_file(folder_path(&folder, "nowhere"), &m));
	assert_non_null(strstr(sl_last_error(), "cannot open"));
	assert_int_equal(SL_BAD_INPUT, sl_map_file(folder.path, &m));
	assert_int_equal(0, mkfifo(folder_path(&folder, "pipe"), 0600));
	assert_int_equal(SL_BAD_INPUT, sl_map_file(folder_path(&folder, "pipe"), &m));
	assert_null(m.at);
}

TEST(failed_calls_are_reported)
{
	static const struct {
		const char *fault;
		enum sl_status status;
	} faults[] = {{"file_open:1:5", SL_DISK}, {"file_stat:1:5", SL_DISK},
		{"file_map:1:12", SL_HOST_MEMORY}, {"file_close:1:5", SL_DISK}};
	struct sl_map m;

	folder_write(&folder, "some", "bytes", 5);
	for (int k = 0; k < 4; k++) {
		assert_null(sl_fault_set(faults[k].fault));
		assert_int_equal(faults[k].status, sl_map_file(folder_path(&folder, "some"), &m));
		assert_null(m.at);
		sl_fault_set(NULL);
	}
	assert_ok(sl_map_file(folder_path(&folder, "some"), &m));
	sl_unmap(&m);
}
