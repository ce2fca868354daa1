/* dirs.c - see files.h. */
#include "primitives/files/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "disk.h"

const char *sl_path_split(const char *path, char folder[SL_PATH_BYTES])
{
	const char *slash = strrchr(path, '/');

	snprintf(folder, SL_PATH_BYTES, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		slash ? path : ".");
	return slash ? slash + 1 : path;
}

bool sl_path_ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(path), bytes = strlen(suffix);

	return n > bytes && strcmp(path + n - bytes, suffix) == 0;
}

/* Returns 0 if path is a directory, ENOTDIR if it is something else, or the errno of stat(2). */
static int check_directory(const char *path)
{
	struct stat facts;

	if (sl_fault_injected("file_stat") || stat(path, &facts) != 0)
		return errno;
	return S_ISDIR(facts.st_mode) ? 0 : ENOTDIR;
}

/*
 * Makes the new entry path durable: fsync of its parent. A parent without read permission is
 * skipped.
 */
static int sync_parent(const char *path)
{
	char copy[SL_PATH_BYTES];
	int fd, error;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = sl_open(AT_FDCWD, dirname(copy), O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return errno == EACCES ? 0 : errno;
	error = sl_sync_directory(fd);
	close(fd);
	return error;
}

/* Creates one directory whose parent exists, if it does not exist yet. */
static enum sl_status make_one(const char *path)
{
	int error = check_directory(path);

	if (error == ENOENT) {
		if (!sl_fault_injected("dir_make") && mkdir(path, 0777) == 0) {
			error = sync_parent(path);
			return error ? sl_disk_failed(error, "sync the parent of the new folder",
					       path, NULL)
			             : SL_OK;
		}
		error = errno;
		if (error == EEXIST) /* another process was faster, or it is a dangling link */
			error = check_directory(path);
	}
	return error ? sl_disk_failed(error, "create the folder", path, NULL) : SL_OK;
}

static enum sl_status make_all(const char *path)
{
	char part[SL_PATH_BYTES];

	for (size_t i = 1; path[i - 1]; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		SL_TRY(make_one(part));
	}
	return SL_OK;
}

enum sl_status sl_dir_open(const char *path, bool make, struct sl_dir *d)
{
	size_t n = strlen(path);

	*d = (struct sl_dir){.fd = -1, .lock = -1};
	if (n == 0 || n >= SL_PATH_BYTES)
		return sl_fail(SL_USAGE,
			"the path of a folder has %zu bytes, but must have 1 to %d; choose another path",
			n, SL_PATH_BYTES - 1);
	while (n > 1 && path[n - 1] == '/')
		n--;
	memcpy(d->path, path, n);
	if (make)
		SL_TRY(make_all(d->path));
	d->fd = sl_open(AT_FDCWD, d->path, O_RDONLY | O_DIRECTORY);
	return d->fd < 0 ? sl_disk_failed(errno, "open the folder", d->path, NULL) : SL_OK;
}

enum sl_status sl_dir_make_temporary(const char *parent, const char *name, struct sl_dir *d)
{
	char path[SL_PATH_BYTES];
	enum sl_status s;

	parent = parent ? parent : getenv("TMPDIR");
	snprintf(path, sizeof(path), "%.3800s/%.200s-XXXXXX", parent && parent[0] ? parent : "/tmp",
		name);
	if (sl_fault_injected("dir_make") || !mkdtemp(path))
		return sl_disk_failed(errno, "create the folder", path, NULL);
	s = sl_dir_open(path, false, d);
	if (s != SL_OK)
		rmdir(path);
	return s;
}

bool sl_dir_is_writable(const struct sl_dir *d)
{
	return faccessat(d->fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

enum sl_status sl_dir_exists(const char *path, bool *exists)
{
	int error = check_directory(path);

	*exists = error == 0;
	if (error == 0 || error == ENOENT || error == ENOTDIR)
		return SL_OK;
	return sl_disk_failed(error, "look up the folder", path, NULL);
}

enum sl_status sl_dir_remove(const char *path)
{
	int error = sl_fault("dir_remove");

	if (error == 0 && rmdir(path) != 0)
		error = errno;
	return error ? sl_disk_failed(error, "remove the folder", path, NULL) : SL_OK;
}

void sl_dir_close(struct sl_dir *d)
{
	if (d->lock >= 0) {
		/* a failure only leaves an outdated text; a shared lock never changes it */
		int cleared = ftruncate(d->lock, 0);

		(void)cleared;
		close(d->lock);
	}
	if (d->fd >= 0)
		close(d->fd);
	d->fd = d->lock = -1;
}

enum sl_status sl_dir_sync(const struct sl_dir *d)
{
	if (!sl_fault_injected("dir_sync") && syncfs(d->fd) == 0)
		return SL_OK;
	return sl_disk_failed(errno, "sync the file system of", d->path, NULL);
}

enum sl_status sl_dir_free_bytes(const struct sl_dir *d, uint64_t *bytes)
{
	struct statvfs facts;

	if (sl_fault_injected("dir_space") || fstatvfs(d->fd, &facts) != 0)
		return sl_disk_failed(errno, "read the free space of", d->path, NULL);
	if (facts.f_frsize != 0 && facts.f_bavail > UINT64_MAX / facts.f_frsize)
		*bytes = UINT64_MAX;
	else
		*bytes = (uint64_t)facts.f_bavail * facts.f_frsize;
	return SL_OK;
}

static int is_listed(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* alphasort() depends on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

enum sl_status sl_dir_each(
	const struct sl_dir *d, enum sl_status (*each)(void *ctx, const char *name), void *ctx)
{
	struct dirent **entry = NULL;
	enum sl_status s = SL_OK;
	int n = sl_fault_injected("dir_read") ? -1
	                                      : scandirat(d->fd, ".", &entry, is_listed, by_name);

	if (n < 0)
		return sl_disk_failed(errno, "list", d->path, NULL);
	for (int i = 0; i < n; i++) {
		if (s == SL_OK)
			s = each(ctx, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	return s;
}
