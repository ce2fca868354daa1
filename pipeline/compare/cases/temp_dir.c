/* temp_dir.c - a folder is made with its parents, emptied, and removed with them. */
#include "pipeline/compare/cases/temp_dir.h"
#include "primitives/files/files.h"

#include <stdio.h>
#include <string.h>

static bool is_there(const char *path)
{
	struct sl_dir d;

	if (sl_dir_open(path, false, &d) != SL_OK)
		return false;
	sl_dir_close(&d);
	return true;
}

/* The length of path without its last name; 0 when nothing is left. */
static size_t parent(const char *path, size_t n)
{
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 0 && path[n - 1] == '/')
		n--;
	return n;
}

/* How much of the path is there: "" and "/" always are. */
static size_t find_kept(const char *path)
{
	char part[SL_PATH_BYTES];
	size_t n = strlen(path);

	do {
		n = parent(path, n);
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
	} while (n > 0 && !is_there(part));
	return n;
}

/*
 * Removes path, and above it what was made, as far as nobody has put something there. Fails when
 * path itself stays.
 */
static enum sl_status remove_made(struct sl_temp_dir *p)
{
	enum sl_status s = sl_dir_remove(p->path);

	for (size_t n = parent(p->path, strlen(p->path)); n > p->kept; n = parent(p->path, n)) {
		p->path[n] = '\0';
		(void)sl_dir_remove(p->path);
	}
	return s;
}

enum sl_status sl_temp_dir_open(const char *path, struct sl_temp_dir *p)
{
	enum sl_status s;

	p->dir = (struct sl_dir){.fd = -1, .lock = -1};
	snprintf(p->path, sizeof(p->path), "%s", path);
	p->kept = find_kept(path);
	if (is_there(path))
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: is there already (it is for files that are removed again, and was "
			"left by a process that was killed, or is in use), try again later, "
			"another --out, or remove it",
			path);
	s = sl_dir_open(path, true, &p->dir);
	if (s != SL_OK) {
		char why[SL_MESSAGE_BYTES];

		memcpy(why, sl_last_error(), sizeof(why));
		(void)remove_made(p);
		sl_set_last_error(why);
	}
	return s;
}

static enum sl_status remove_entry(void *of, const char *name)
{
	return sl_file_remove((const struct sl_dir *)of, name);
}

enum sl_status sl_temp_dir_empty(const struct sl_dir *dir)
{
	struct sl_dir d = *dir;

	return sl_dir_each(dir, remove_entry, &d);
}

enum sl_status sl_temp_dir_close(struct sl_temp_dir *p)
{
	enum sl_status s;

	if (p->dir.fd < 0)
		return SL_OK;
	s = sl_temp_dir_empty(&p->dir);
	sl_dir_close(&p->dir);
	return s == SL_OK ? remove_made(p) : s;
}
