/*
 * temp_dir.c - creates a temporary directory with its parents, and removes both.
 *
 * Only directories that did not exist before are removed, and parents only while they are empty:
 * another process may have put files there meanwhile.
 */
#include "pipeline/compare/cases/temp_dir.h"
#include "primitives/files/files.h"

#include <stdio.h>
#include <string.h>

static bool exists(const char *path)
{
	struct sl_dir d;

	if (sl_dir_open(path, false, &d) != SL_OK)
		return false;
	sl_dir_close(&d);
	return true;
}

/* The length of path[0..n) without its last name; 0 if it has one name only. */
static size_t parent(const char *path, size_t n)
{
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 0 && path[n - 1] == '/')
		n--;
	return n;
}

/* The length of the part of path that exists; 0 for "" and "/". */
static size_t existing_length(const char *path)
{
	char part[SL_PATH_BYTES];
	size_t n = strlen(path);

	do {
		n = parent(path, n);
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
	} while (n > 0 && !exists(part));
	return n;
}

/*
 * Removes path and then the parents that were created, as far as they are empty. Fails only if path
 * itself cannot be removed.
 */
static enum sl_status remove_created(struct sl_temp_dir *p)
{
	enum sl_status s = sl_dir_remove(p->path);

	for (size_t n = parent(p->path, strlen(p->path)); n > p->existing; n = parent(p->path, n)) {
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
	p->existing = existing_length(path);
	if (exists(path))
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: the temporary directory exists (another comparison uses it, or one "
			"was killed and left it); wait, use another --out, or remove it",
			path);
	s = sl_dir_open(path, true, &p->dir);
	if (s != SL_OK) {
		char why[SL_MESSAGE_BYTES];

		memcpy(why, sl_last_error(), sizeof(why));
		(void)remove_created(p);
		sl_set_last_error(why);
	}
	return s;
}

static enum sl_status remove_entry(void *ctx, const char *name)
{
	return sl_file_remove((const struct sl_dir *)ctx, name);
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
	return s == SL_OK ? remove_created(p) : s;
}
