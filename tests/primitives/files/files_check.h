/* files_check.h - helpers for the tests of files: commit a text and read it back. */
#ifndef SL_TESTS_PRIMITIVES_FILES_FILES_CHECK_H
#define SL_TESTS_PRIMITIVES_FILES_FILES_CHECK_H

#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "primitives/files/read.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/open_dir.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

enum { MIB = 1 << 20 };

static inline const struct sl_dir *dir(void)
{
	return &open_dir.dir;
}

static inline enum sl_status put(const char *name, const char *text, bool replace)
{
	return sl_file_commit(dir(), name, text, strlen(text), replace);
}

static inline void expect(const char *name, const char *text)
{
	char *bytes;
	size_t size;

	assert_ok(sl_file_read(dir(), name, &bytes, &size));
	assert_int_equal(size, strlen(text));
	assert_string_equal(bytes, text);
	sl_memory_give(SL_HOST, bytes);
}

/* Byte i of a text without pattern (Knuth's multiplicative hash). */
static inline unsigned char byte_at(size_t i)
{
	return (unsigned char)(i * 2654435761u >> 24);
}

#endif
