/*
 * files.c - files below a directory held open: committed whole, appended to, read, checked.
 *
 * The order of a commit is what makes it survive a power cut: the bytes are on the disk (fsync)
 * before the name is (rename), and the name before anyone is told (fsync of the directory).
 */
#include "files.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "disk.h"
#include "size.h"

#define PART ".part"

enum { READ_BYTES = 1 << 16 };

static enum sl_status check_name(const char *name)
{
	size_t n = strlen(name);
	const char *why = NULL;
	char shown[65];

	if (n == 0)
		why = "it is empty";
	else if (n > NAME_MAX)
		why = "it is longer than 255 bytes";
	else if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		why = "it names a folder";
	else if (strchr(name, '/'))
		why = "it has a '/', files are written to the output folder alone";
	for (size_t i = 0; i < n && !why; i++) {
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			why = "it has a control character";
	}
	if (!why)
		return SL_OK;
	snprintf(shown, sizeof(shown), "%s", name);
	sl_make_printable(shown);
	return sl_fail(SL_USAGE,
		"\"%s\" cannot name a file (%s); use letters, digits, '.', '_' and '-'", shown,
		why);
}

/* Closes fd whatever happens. 0 or an errno; the first error counts. */
static int shut(int fd, int error)
{
	bool failed = refused("file_close");
	int reported = failed ? errno : 0;

	if (close(fd) != 0 && errno != EINTR && !failed) /* Linux has closed it even so */
		reported = errno;
	return error ? error : reported;
}

/* --- commit ------------------------------------------------------------------------------- */

/* Writes bytes to the new file part, durably. */
static enum sl_status write_part(
	const struct sl_dir *d, const char *part, const void *bytes, size_t size)
{
	const char *verb = "write";
	int fd, error;

	unlinkat(d->fd, part, 0); /* left by a killed run: the directory is locked, so not in use */
	fd = sl_open(d->fd, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
	if (fd < 0)
		return sl_disk_failed(errno, "make", d->path, part);
	error = sl_write_all(fd, "file_write", bytes, size);
	if (!error && (refused("file_fsync") || fsync(fd) != 0)) {
		verb = "sync";
		error = errno;
	}
	error = shut(fd, error);
	return error ? sl_disk_failed(error, verb, d->path, part) : SL_OK;
}

/* For file systems without RENAME_NOREPLACE: link refuses a taken name as well. */
static int link_new(const struct sl_dir *d, const char *part, const char *name)
{
	if (refused("file_link") || linkat(d->fd, part, d->fd, name, 0) != 0)
		return errno;
	if (refused("file_remove") || unlinkat(d->fd, part, 0) != 0) {
		int error = errno;

		unlinkat(d->fd, name, 0);
		return error;
	}
	return 0;
}

/* For those without links either: looks first, which is safe as the directory is locked. */
static int rename_checked(const struct sl_dir *d, const char *part, const char *name)
{
	if (sl_file_exists(d, name))
		return EEXIST;
	return refused("file_rename") || renameat(d->fd, part, d->fd, name) != 0 ? errno : 0;
}

/* Gives part its name. 0 or an errno. */
static int put(const struct sl_dir *d, const char *part, const char *name, bool replace)
{
	int error = 0;

	if (refused("file_rename") ||
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
	int error = put(d, part, name, replace);

	if (error == EEXIST && !replace)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s/%s is there already (results are never overwritten); choose another "
			"output folder, or --resume to go on with a run",
			d->path, name);
	if (error)
		return sl_disk_failed(error, "rename to", d->path, name);
	error = sl_sync_directory(d->fd);
	if (error && !replace)
		unlinkat(d->fd, name, 0); /* not known to last, so not committed */
	return error ? sl_disk_failed(error, "sync the folder of", d->path, name) : SL_OK;
}

enum sl_status sl_file_commit(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size, bool replace)
{
	char part[NAME_MAX + sizeof(PART)];
	enum sl_status s;

	SL_TRY(check_name(name));
	snprintf(part, sizeof(part), "%s" PART, name);
	SL_TRY(check_name(part));
	s = write_part(d, part, bytes, size);
	if (s == SL_OK)
		s = name_part(d, part, name, replace);
	if (s != SL_OK)
		unlinkat(d->fd, part, 0);
	return s;
}

/* --- small things --------------------------------------------------------------------------- */

bool sl_file_exists(const struct sl_dir *d, const char *name)
{
	struct stat facts;

	return fstatat(d->fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

enum sl_status sl_file_remove(const struct sl_dir *d, const char *name)
{
	SL_TRY(check_name(name));
	if (refused("file_remove") || (unlinkat(d->fd, name, 0) != 0 && errno != ENOENT))
		return sl_disk_failed(errno, "remove", d->path, name);
	return SL_OK;
}

uint32_t sl_crc32(const void *bytes, size_t size)
{
	return libdeflate_crc32(0, bytes, size);
}

/* Passes a descriptor of a regular file and its size; closes any other. */
static enum sl_status check_regular(int fd, const char *dir, const char *name, uint64_t *size)
{
	struct stat facts;
	int error = 0;

	if (refused("file_stat") || fstat(fd, &facts) != 0)
		error = errno;
	if (!error && S_ISREG(facts.st_mode)) {
		*size = (uint64_t)facts.st_size;
		return SL_OK;
	}
	close(fd);
	if (error)
		return sl_disk_failed(error, "look at", dir, name);
	return sl_fail(SL_BAD_INPUT,
		"%s%s%s is not a regular file (pipes, devices and folders are not read or "
		"written); copy it to a file first",
		dir, name ? "/" : "", name ? name : "");
}

/* --- append --------------------------------------------------------------------------------- */

/* Opens name for appending; *made says whether it is new. */
static enum sl_status open_to_append(
	const struct sl_dir *d, const char *name, int *fd, bool *made, uint64_t *size)
{
	/* O_NONBLOCK: opening a FIFO must not wait for its reader. */
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
	s = check_regular(*fd, d->path, name, size);
	if (s != SL_OK && *made)
		unlinkat(d->fd, name, 0);
	return s;
}

/* After a failure: back to the old length, as far as the file system allows it. */
static void restore(const struct sl_dir *d, const char *name, bool made, uint64_t size)
{
	int fd = -1, kept = 0;

	if (made)
		unlinkat(d->fd, name, 0);
	else
		fd = openat(d->fd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		kept = ftruncate(fd, (off_t)size);
		close(fd);
	}
	(void)kept;
}

enum sl_status sl_file_append(
	const struct sl_dir *d, const char *name, const void *bytes, size_t size)
{
	const char *verb = "append to";
	uint64_t before = 0;
	bool made;
	int fd, error;

	SL_TRY(check_name(name));
	SL_TRY(open_to_append(d, name, &fd, &made, &before));
	error = sl_write_all(fd, "file_append", bytes, size);
	if (!error && (refused("file_datasync") || fdatasync(fd) != 0)) {
		verb = "sync";
		error = errno;
	}
	error = shut(fd, error);
	if (!error && made)
		error = sl_sync_directory(d->fd);
	if (!error)
		return SL_OK;
	restore(d, name, made, before);
	return sl_disk_failed(error, verb, d->path, name);
}

/* --- read ----------------------------------------------------------------------------------- */

/* read(2), begun again when a signal interrupts it. */
static ssize_t read_some(int fd, void *bytes, size_t size)
{
	ssize_t n;

	do
		n = refused("file_read") ? -1 : read(fd, bytes, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Reads up to size bytes, fewer only at the end of the file. 0 or an errno. */
static int read_all(int fd, char *bytes, size_t size, size_t *used)
{
	ssize_t n = 1;

	for (*used = 0; *used < size && n > 0; *used += n > 0 ? (size_t)n : 0)
		n = read_some(fd, bytes + *used, size - *used);
	return n < 0 ? errno : 0;
}

/* Opens a regular file for reading. dir is NULL for a path of its own. */
static enum sl_status open_to_read(
	int at, const char *dir, const char *name, int flags, int *fd, uint64_t *size)
{
	*fd = sl_open(at, name, flags | O_RDONLY | O_NONBLOCK);
	if (*fd < 0)
		return sl_disk_failed(errno, "open", dir ? dir : name, dir ? name : NULL);
	return check_regular(*fd, dir ? dir : name, dir ? name : NULL, size);
}

/* Reads all of the open file of that size, and closes it. */
static enum sl_status read_whole(
	int fd, const char *dir, const char *name, uint64_t bytes_there, char **bytes, size_t *size)
{
	void *block = NULL;
	enum sl_status s;
	int error;

	s = sl_memory_get(SL_HOST, sl_size_add((size_t)bytes_there, 1), &block);
	if (s != SL_OK) {
		close(fd);
		return s;
	}
	error = shut(fd, read_all(fd, (char *)block, (size_t)bytes_there, size));
	if (error) {
		sl_memory_give(SL_HOST, block);
		return sl_disk_failed(error, "read", dir, name);
	}
	*bytes = (char *)block;
	(*bytes)[*size] = '\0';
	return SL_OK;
}

enum sl_status sl_file_read(const struct sl_dir *d, const char *name, char **bytes, size_t *size)
{
	uint64_t there;
	int fd;

	*bytes = NULL;
	*size = 0;
	SL_TRY(check_name(name));
	SL_TRY(open_to_read(d->fd, d->path, name, O_NOFOLLOW, &fd, &there));
	return read_whole(fd, d->path, name, there, bytes, size);
}

enum sl_status sl_path_read(const char *path, size_t most, char **bytes, size_t *size)
{
	uint64_t there;
	int fd;

	*bytes = NULL;
	*size = 0;
	SL_TRY(open_to_read(AT_FDCWD, NULL, path, 0, &fd, &there));
	if (there > most) {
		close(fd);
		return sl_fail(SL_BAD_INPUT,
			"%s has %llu bytes (at most %zu are read); is it the right file?", path,
			(unsigned long long)there, most);
	}
	return read_whole(fd, path, NULL, there, bytes, size);
}

enum sl_status sl_file_check(
	const struct sl_dir *d, const char *name, uint64_t *size, uint32_t *crc)
{
	char piece[READ_BYTES];
	uint64_t there;
	ssize_t n;
	int fd, error = 0;

	SL_TRY(check_name(name));
	SL_TRY(open_to_read(d->fd, d->path, name, O_NOFOLLOW, &fd, &there));
	*size = 0;
	*crc = 0;
	while ((n = read_some(fd, piece, sizeof(piece))) > 0) {
		*crc = libdeflate_crc32(*crc, piece, (size_t)n);
		*size += (uint64_t)n;
	}
	if (n < 0)
		error = errno;
	error = shut(fd, error);
	return error ? sl_disk_failed(error, "read", d->path, name) : SL_OK;
}
