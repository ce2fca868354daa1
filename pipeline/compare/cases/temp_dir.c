/*
 * temp_dir.c - creates a temporary directory next to an output directory, and removes it.
 *
 * Only the directory itself is created, no parent of it, so nothing else has to be removed, and an
 * interrupted comparison leaves at most one directory.
 */
#include "pipeline/compare/cases/temp_dir.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The start of the last name in path[0..n), which can end in slashes. */
static size_t last_name(const char *path, size_t n)
{
	while (n > 0 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	return n;
}

/*
 * Writes NAME.compare in the parent of the output directory, or in the nearest parent that exists: it
 * is on the file system where the output would be, so writing is timed on that file system.
 */
static enum sl_status choose_path(const char *to, char path[SL_PATH_BYTES])
{
	size_t name = last_name(to, strlen(to)), folder = name;
	int bytes = (int)strcspn(to + name, "/");
	bool exists;

	for (;; folder = last_name(to, folder)) {
		snprintf(path, SL_PATH_BYTES, "%.*s", (int)folder, to);
		SL_TRY(sl_dir_exists(folder > 0 ? path : ".", &exists));
		if (exists || folder == 0)
			break;
	}
	snprintf(path, SL_PATH_BYTES, "%.*s%.*s.compare", (int)folder, to, bytes, to + name);
	return SL_OK;
}

enum sl_status sl_temp_dir_open(const char *to, struct sl_dir *dir)
{
	char path[SL_PATH_BYTES];
	enum sl_status s;
	bool exists;

	*dir = (struct sl_dir){.fd = -1, .lock = -1};
	SL_TRY(choose_path(to, path));
	SL_TRY(sl_dir_exists(path, &exists));
	if (exists)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: the temporary directory exists (another comparison uses it, or one "
			"was killed and left it); wait, use another --out, or remove it",
			path);
	s = sl_dir_open(path, true, dir);
	if (s != SL_OK)
		rmdir(path); /* created, but not opened; the message of the failure stays */
	return s;
}

enum sl_status sl_temp_dir_close(struct sl_dir *dir)
{
	if (dir->fd < 0)
		return SL_OK;
	SL_TRY(sl_dir_empty(dir));
	sl_dir_close(dir);
	return sl_dir_remove(dir->path);
}
