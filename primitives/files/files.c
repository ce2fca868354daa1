/*
 * files.c - see files.h.
 *
 * The order of the steps of a commit makes it survive a power failure: the bytes are durable
 * (fsync) before the name is given (rename), and the name is durable (fsync of the directory)
 * before the call returns.
 */
#include "files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk.h"

#define PART ".part"

/* --- the .part file of a writer without a locked directory --------------------------------- */

/*
 * Another process must be able to tell three kinds of .part files apart: a killed writer left it, a
 * writer is using it, or a user made it. A writer creates its file with the sticky bit, which has
 * no meaning for a regular file on Linux, and locks it (flock(2), which ends with the process). So:
 * the bit without the lock means left over, the bit with the lock means in use, no bit means a
 * user's file. On a file system that does not store the bit, a file that was left over has to be
 * removed by hand.
 */
enum { PART_MARK = S_ISVTX, CREATE_TRIES = 10 };

/* Whether the open file is the entry part of d: another process may have replaced it. */
static bool is_entry(const struct sl_dir *d, const char *part, int fd)
{
	struct stat facts, entry;

	return fstat(fd, &facts) == 0 && fstatat(d->fd, part, &entry, AT_SYMLINK_NOFOLLOW) == 0 &&
	       entry.st_dev == facts.st_dev && entry.st_ino == facts.st_ino;
}

/* Removes the mark of a file that has its final name, and releases the lock. */
static void unlock_part(struct sl_file_writer *w)
{
	struct stat facts;

	if (w->lock < 0)
		return;
	if (fstat(w->lock, &facts) == 0 && (facts.st_mode & PART_MARK))
		(void)fchmod(w->lock, facts.st_mode & 07777 & ~(mode_t)PART_MARK);
	close(w->lock);
	w->lock = -1;
}

/* Whether the open file is the entry part of d, marked, and locked by nobody else. */
static bool is_left_over(const struct sl_dir *d, const char *part, int fd)
{
	struct stat facts;

	return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_mode & PART_MARK) &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0 && is_entry(d, part, fd);
}

static enum sl_status refuse_part(const struct sl_dir *d, const char *part)
{
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/%s exists (another process is writing it, or sluice did not make it); wait, "
		"move it away, or choose another name",
		d->path, part);
}

/* Removes the .part file that a killed writer left; SL_OUTPUT_IN_USE if there is another one. */
static enum sl_status remove_left_over(const struct sl_dir *d, const char *part)
{
	int fd = sl_open(d->fd, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	bool removed;

	if (fd < 0 && errno == ENOENT)
		return SL_OK;
	removed = fd >= 0 && is_left_over(d, part, fd) && unlinkat(d->fd, part, 0) == 0;
	if (fd >= 0)
		close(fd);
	if (removed)
		return SL_OK;
	return refuse_part(d, part);
}

/*
 * Locks the marked file that this process has just created. *lost: before the lock, another process
 * took it for one that was left over. Returns 0 or an errno.
 */
static int lock_part(struct sl_file_writer *w, bool *lost)
{
	w->lock = fcntl(w->fd, F_DUPFD_CLOEXEC, 0); /* so that the lock outlives the descriptor */
	if (w->lock < 0)
		return errno;
	*lost = false;
	if (flock(w->lock, LOCK_EX | LOCK_NB) == 0)
		*lost = !is_entry(w->dir, w->part, w->fd);
	else if (errno == EWOULDBLOCK)
		*lost = true;
	else
		unlock_part(w); /* a file system without locks: the file counts as a user's */
	return 0;
}

/* Creates the .part file in a directory that this process has not locked. */
static enum sl_status create_part(struct sl_file_writer *w, int flags)
{
	const struct sl_dir *d = w->dir;
	bool lost = true;
	int error = 0;

	for (int i = 0; lost && i < CREATE_TRIES; i++) {
		w->fd = sl_open_mode(d->fd, w->part, flags, 0666 | PART_MARK);
		if (w->fd < 0 && errno != EEXIST)
			return sl_disk_failed(errno, "create", d->path, w->part);
		if (w->fd < 0) {
			SL_TRY(remove_left_over(d, w->part));
			continue;
		}
		error = lock_part(w, &lost);
		if (error) {
			sl_file_drop(w);
			return sl_disk_failed(error, "lock", d->path, w->part);
		}
		if (lost) {
			close(w->fd);
			close(w->lock);
			w->fd = w->lock = -1;
		}
	}
	return lost ? refuse_part(d, w->part) : SL_OK;
}

/* Creates it in a locked directory: a file of the name was left by a killed run. */
static enum sl_status replace_part(struct sl_file_writer *w, int flags)
{
	const struct sl_dir *d = w->dir;

	unlinkat(d->fd, w->part, 0);
	w->fd = sl_open(d->fd, w->part, flags);
	return w->fd < 0 ? sl_disk_failed(errno, "create", d->path, w->part) : SL_OK;
}

/* --- commit ------------------------------------------------------------------------------- */

enum sl_status sl_file_begin(const struct sl_dir *d, const char *name, struct sl_file_writer *w)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

	*w = (struct sl_file_writer){.dir = d, .fd = -1, .lock = -1};
	SL_TRY(sl_check_name(name));
	snprintf(w->part, sizeof(w->part), "%s" PART, name);
	SL_TRY(sl_check_name(w->part));
	return d->lock >= 0 || d->locked_for_us ? replace_part(w, flags) : create_part(w, flags);
}

void sl_file_adopt(const struct sl_dir *d, const char *name, struct sl_file_writer *w)
{
	*w = (struct sl_file_writer){.dir = d, .fd = -1, .lock = -1};
	snprintf(w->part, sizeof(w->part), "%s" PART, name);
}

void sl_file_drop(struct sl_file_writer *w)
{
	if (!w->dir || w->fd < 0)
		return;
	close(w->fd);
	w->fd = -1;
	if (!w->map.at) /* the name was given away already */
		sl_file_remove_part(w);
	sl_unmap(&w->map);
}

enum sl_status sl_file_add(struct sl_file_writer *w, const void *bytes, size_t size)
{
	int error = sl_write_all(w->fd, "file_write", NULL, bytes, size);

	if (!error)
		return SL_OK;
	sl_file_drop(w);
	return sl_disk_failed(error, "write", w->dir->path, w->part);
}

enum sl_status sl_file_put(
	const struct sl_file_writer *w, uint64_t at, const void *bytes, size_t size)
{
	int error = sl_write_all(w->fd, "file_write", at == SL_FILE_END ? NULL : &at, bytes, size);

	return error ? sl_disk_failed(error, "write", w->dir->path, w->part) : SL_OK;
}

enum sl_status sl_file_sync(struct sl_file_writer *w)
{
	const char *verb = "write";
	int error = 0;

	if (!w->dir->lazy && (sl_fault_injected("file_fsync") || fsync(w->fd) != 0)) {
		verb = "sync";
		error = errno;
	}
	error = sl_close(w->fd, error);
	w->fd = -1;
	if (!error)
		return SL_OK;
	sl_file_remove_part(w);
	return sl_disk_failed(error, verb, w->dir->path, w->part);
}

enum sl_status sl_file_map(struct sl_file_writer *w)
{
	enum sl_status s = sl_map_entry(w->dir, w->part, &w->map);

	sl_file_remove_part(w);
	return s;
}

/* What waits to be written is not waited for: only a failure of the disk until now matters. */
enum sl_status sl_file_unmap(struct sl_file_writer *w)
{
	int error = 0;

	if (!w->dir || w->fd < 0)
		return SL_OK;
	if (sl_fault_injected("file_fsync") ||
		(sync_file_range(w->fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE) != 0 && errno != ENOSYS))
		error = errno;
	sl_unmap(&w->map);
	error = sl_close(w->fd, error);
	w->fd = -1;
	return error ? sl_disk_failed(error, "sync", w->dir->path, w->part) : SL_OK;
}

void sl_file_remove_part(struct sl_file_writer *w)
{
	unlinkat(w->dir->fd, w->part, 0);
	unlock_part(w);
}

/* For file systems without RENAME_NOREPLACE: link(2) refuses an existing name too. */
static int link_new(const struct sl_dir *d, const char *part, const char *name)
{
	if (sl_fault_injected("file_link") || linkat(d->fd, part, d->fd, name, 0) != 0)
		return errno;
	if (sl_fault_injected("file_remove") || unlinkat(d->fd, part, 0) != 0) {
		int error = errno;

		unlinkat(d->fd, name, 0);
		return error;
	}
	return 0;
}

/*
 * For file systems without links too: checks first, which is safe because the directory is locked.
 */
static int rename_checked(const struct sl_dir *d, const char *part, const char *name)
{
	struct stat facts;

	if (fstatat(d->fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	if (errno != ENOENT)
		return errno;
	return sl_fault_injected("file_rename") || renameat(d->fd, part, d->fd, name) != 0 ? errno
	                                                                                   : 0;
}

/* Renames part to name. Returns 0 or an errno. */
static int rename_part(const struct sl_dir *d, const char *part, const char *name, bool replace)
{
	int error = 0;

	if (sl_fault_injected("file_rename") ||
		renameat2(d->fd, part, d->fd, name, replace ? 0 : RENAME_NOREPLACE) != 0)
		error = errno;
	if (!replace && (error == EINVAL || error == ENOSYS)) {
		error = link_new(d, part, name);
		if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS)
			error = rename_checked(d, part, name);
	}
	return error;
}

static enum sl_status name_part(
	const struct sl_dir *d, const char *part, const char *name, bool replace)
{
	int error = rename_part(d, part, name, replace);

	if (error == EEXIST && !replace)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s/%s already exists (results are never overwritten); choose another "
			"output folder, or continue the run with --resume",
			d->path, name);
	if (error)
		return sl_disk_failed(error, "rename to", d->path, name);
	error = d->lazy ? 0 : sl_sync_directory(d->fd);
	if (error && !replace)
		unlinkat(d->fd, name, 0); /* it may not be durable, so it is not committed */
	return error ? sl_disk_failed(error, "sync the folder of", d->path, name) : SL_OK;
}

enum sl_status sl_file_name_part(struct sl_file_writer *w, bool replace)
{
	char name[NAME_MAX + 1];
	enum sl_status s;

	snprintf(name, sizeof(name), "%.*s", (int)(strlen(w->part) - strlen(PART)), w->part);
	s = name_part(w->dir, w->part, name, replace);
	if (s != SL_OK)
		sl_file_remove_part(w);
	else
		unlock_part(w);
	return s;
}

enum sl_status sl_file_end(struct sl_file_writer *w, bool replace)
{
	SL_TRY(sl_file_sync(w));
	return sl_file_name_part(w, replace);
}

enum sl_status sl_file_commit(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size, bool replace)
{
	struct sl_file_writer w;

	SL_TRY(sl_file_begin(d, name, &w));
	SL_TRY(sl_file_add(&w, bytes, size));
	return sl_file_end(&w, replace);
}

/* --- entries -------------------------------------------------------------------------------- */

/* fstatat(2). *exists is false, and *facts undefined, if there is no such entry. */
static enum sl_status look_up(
	const struct sl_dir *d, const char *name, int flags, struct stat *facts, bool *exists)
{
	*exists = !sl_fault_injected("file_stat") && fstatat(d->fd, name, facts, flags) == 0;
	if (*exists || errno == ENOENT)
		return SL_OK;
	return sl_disk_failed(errno, "look up", d->path, name);
}

enum sl_status sl_file_exists(const struct sl_dir *d, const char *name, bool *exists)
{
	struct stat facts;

	return look_up(d, name, AT_SYMLINK_NOFOLLOW, &facts, exists);
}

enum sl_status sl_file_identity(
	const struct sl_dir *d, const char *name, bool *exists, uint64_t *device, uint64_t *number)
{
	struct stat facts;

	*device = *number = 0;
	SL_TRY(look_up(d, name, 0, &facts, exists));
	if (*exists) {
		*device = facts.st_dev;
		*number = facts.st_ino;
	}
	return SL_OK;
}

enum sl_status sl_file_time(const struct sl_dir *d, const char *name, bool *exists, double *seconds)
{
	struct stat facts;

	*seconds = 0;
	SL_TRY(look_up(d, name, 0, &facts, exists));
	if (*exists)
		*seconds = (double)facts.st_mtim.tv_sec + 1e-9 * (double)facts.st_mtim.tv_nsec;
	return SL_OK;
}

enum sl_status sl_file_remove(const struct sl_dir *d, const char *name)
{
	SL_TRY(sl_check_name(name));
	if (sl_fault_injected("file_remove") || (unlinkat(d->fd, name, 0) != 0 && errno != ENOENT))
		return sl_disk_failed(errno, "remove", d->path, name);
	return SL_OK;
}

/* --- append --------------------------------------------------------------------------------- */

/* Opens name for appending; *made says whether it was created. */
static enum sl_status open_to_append(
	const struct sl_dir *d, const char *name, int *fd, bool *made, uint64_t *size)
{
	/* O_NONBLOCK: opening a FIFO must not wait for a reader. */
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
	enum sl_status s;

	*made = false;
	*fd = sl_open(d->fd, name, flags);
	if (*fd < 0 && errno == ENOENT) {
		*made = true;
		*fd = sl_open(d->fd, name, flags | O_CREAT | O_EXCL);
	}
	if (*fd < 0)
		return sl_disk_failed(errno, "open", d->path, name);
	s = sl_check_regular(*fd, d->path, name, size);
	if (s != SL_OK && *made)
		unlinkat(d->fd, name, 0);
	return s;
}

/* After a failure: restores the old length, if the file system allows that. */
static void restore(const struct sl_dir *d, const char *name, bool made, uint64_t size)
{
	int fd = -1, truncated = 0;

	if (made)
		unlinkat(d->fd, name, 0);
	else
		fd = openat(d->fd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		truncated = ftruncate(fd, (off_t)size);
		close(fd);
	}
	(void)truncated;
}

enum sl_status sl_file_append(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size)
{
	const char *verb = "append to";
	uint64_t before = 0;
	bool made;
	int fd, error;

	SL_TRY(sl_check_name(name));
	SL_TRY(open_to_append(d, name, &fd, &made, &before));
	error = sl_write_all(fd, "file_append", NULL, bytes, size);
	if (!error && !d->lazy && (sl_fault_injected("file_datasync") || fdatasync(fd) != 0)) {
		verb = "sync";
		error = errno;
	}
	error = sl_close(fd, error);
	if (!error && made && !d->lazy)
		error = sl_sync_directory(d->fd);
	if (!error)
		return SL_OK;
	restore(d, name, made, before);
	return sl_disk_failed(error, verb, d->path, name);
}

/* --- links ------------------------------------------------------------------------------------ */

/*
 * File systems without links, or with a limit of links, and files of others: the bytes can be
 * copied.
 */
static bool can_copy(int error)
{
	return error == EXDEV || error == EPERM || error == EACCES || error == EMLINK ||
	       error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

enum sl_status sl_file_link(
	const struct sl_dir *from, const char *name, const struct sl_dir *to, bool *linked)
{
	struct stat facts;

	*linked = false;
	SL_TRY(sl_check_name(name));
	if (fstatat(from->fd, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
		return sl_disk_failed(errno, "look up", from->path, name);
	if (!S_ISREG(facts.st_mode)) /* a link to a symbolic link would depend on its place */
		return SL_OK;
	*linked = !sl_fault_injected("file_link") && linkat(from->fd, name, to->fd, name, 0) == 0;
	if (*linked || can_copy(errno))
		return SL_OK;
	if (errno == EEXIST)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s/%s already exists (results are never overwritten); choose another output "
			"folder",
			to->path, name);
	return sl_disk_failed(errno, "link", to->path, name);
}
