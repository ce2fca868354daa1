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

/*
 * Makes an empty folder below $TMPDIR, or else in /dev/shm, where fsync costs no time, or else in
 * /tmp.
 */
void folder_make(struct folder *f);

/* Removes the folder and its contents. */
void folder_remove(struct folder *f);

/* Returns the path of name in the folder; valid until the eighth later call. */
const char *folder_path(const struct folder *f, const char *name);

/*
 * Writes and reads whole files. The caller frees the NUL-terminated text that folder_read()
 * returns.
 */
void folder_write(const struct folder *f, const char *name, const void *bytes, size_t size);
char *folder_read(const struct folder *f, const char *name, size_t *size);

/*
 * Flips a bit of a file: at = 0 selects the first byte, at = of the last, and others in proportion.
 */
void folder_flip(const struct folder *f, const char *name, size_t at, size_t of);

/* Tests whether an entry exists; counts the entries except "." and "..". */
bool folder_has(const struct folder *f, const char *name);
size_t folder_count(const struct folder *f);

/*
 * Returns a hash of the tree below path: names, sizes and bytes, but not times. except is NULL, or
 * a name that is skipped in every folder.
 */
uint64_t folder_hash(const char *path, const char *except);

#endif
