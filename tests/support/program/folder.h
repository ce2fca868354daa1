/*
 * folder.h - a temporary directory of a test, and its contents.
 *
 * All calls fail the running cmocka test when the system refuses them.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_FOLDER_H
#define SL_TESTS_SUPPORT_PROGRAM_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct folder {
	char path[256];
};

/* Makes an empty folder below $TMPDIR or /tmp. */
void folder_make(struct folder *f);

/* The same, in memory where there is such a place: thousands of fsyncs cost nothing there. */
void folder_make_in_memory(struct folder *f);

/* Removes it with all that is in it. */
void folder_remove(struct folder *f);

/* The path of name in it; valid until the eighth call after. */
const char *folder_path(const struct folder *f, const char *name);

/* Writes and reads whole files. What is read is NUL-terminated, and the caller's to free. */
void folder_write(const struct folder *f, const char *name, const void *bytes, size_t size);
char *folder_read(const struct folder *f, const char *name, size_t *size);

/* Flips a bit of a file: of its first byte when at is 0, of its last when it is of. */
void folder_flip(const struct folder *f, const char *name, size_t at, size_t of);

/* Is there an entry of that name? How many entries are there, "." and ".." apart? */
bool folder_has(const struct folder *f, const char *name);
size_t folder_count(const struct folder *f);

/*
 * A hash of the tree below path: names, kinds, sizes and bytes, not times. except (or NULL) is a
 * NULL-terminated list of names that are passed over, wherever they are.
 */
uint64_t folder_hash(const char *path, const char *const *except);

#endif
