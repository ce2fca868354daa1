/* disk.c - see disk.h. Contains the table of reasons and advice for each errno. */
#include "disk.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most bytes of one write, so that a signal or a full disk is noticed early. */
enum { PIECE_BYTES = 1 << 20 };

static const struct {
	int error;
	const char *why;
	const char *advice;
} reasons[] = {
	{ENOSPC, "the file system is full",
		"free space, or choose another output folder; then run again (sluice run: with --resume)"},
	{EDQUOT, "the quota of disk space is used up",
		"free space, or choose another output folder; then run again (sluice run: with --resume)"},
	{EFBIG, "the file would exceed the largest size of a file here, see ulimit -f",
		"raise the limit, lower run.batch or choose another output folder, then run again (sluice run: with --resume)"},
	{EIO, "the storage reported an error, see dmesg",
		"check the disk or choose another output folder, then run again (sluice run: with --resume)"},
	{EROFS, "the file system is read-only", "choose another output folder"},
	{EACCES, "this user has no permission", "change its owner or mode, or choose another one"},
	{EPERM, "this user has no permission", "change its owner or mode, or choose another one"},
	{ENOENT, "it does not exist", "check the spelling"},
	{ENOTDIR, "the path, or part of it, is not a folder", "choose another path"},
	{EISDIR, "it is a folder", "move it away or choose another name"},
	{ELOOP, "it is a symbolic link, which is not followed here",
		"replace the link by the file or choose another name"},
	{ENXIO, "it is not a regular file", "move it away or choose another name"},
	{EEXIST, "this name already exists", "move it away or choose another name"},
	{ENAMETOOLONG, "the name is too long for this file system", "choose a shorter one"},
	{EMFILE, "too many files are open in this process", "raise ulimit -n"},
	{ENFILE, "too many files are open on this machine", "close other programs"},
	{ENOMEM, "the kernel has no memory left", "close other programs"},
	{ENOLCK, "the file system has no locks", "choose an output folder on a local disk"},
	{EOPNOTSUPP, "the file system cannot do this", "choose an output folder on a local disk"},
	{ESTALE, "the server of the network file system no longer has it",
		"mount the file system again, then run again (sluice run: with --resume)"},
};

enum sl_status sl_disk_failed(int error, const char *verb, const char *dir, const char *name)
{
	const char *why = "the system call failed";
	const char *advice = "check the folder or choose another one";
	const char *text = strerrordesc_np(error); /* strerror() depends on the locale */

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].error == error) {
			why = reasons[i].why;
			advice = reasons[i].advice;
		}
	}
	return sl_fail(error == ENOMEM ? SL_HOST_MEMORY : SL_DISK, "cannot %s %s%s%s: %s (%s); %s",
		verb, dir, name ? "/" : "", name ? name : "", text ? text : "unknown error", why,
		advice);
}

enum sl_status sl_check_name(const char *name)
{
	size_t n = strlen(name);
	const char *why = NULL;

	if (n == 0)
		why = "it is empty";
	else if (n > NAME_MAX)
		why = "it is longer than 255 bytes";
	else if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		why = "it names a folder";
	else if (strchr(name, '/'))
		why = "it contains '/', but files are written only directly to the output folder";
	for (size_t i = 0; i < n && !why; i++) {
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			why = "it contains a control character";
	}
	if (!why)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"\"%.64s\" cannot name a file (%s); use letters, digits, '.', '_' and '-'", name,
		why);
}

int sl_open_mode(int at, const char *name, int flags, mode_t mode)
{
	int fd;

	if (sl_fault_injected("file_open"))
		return -1;
	do
		fd = openat(at, name, flags | O_CLOEXEC | O_NOCTTY, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

int sl_open(int at, const char *name, int flags)
{
	return sl_open_mode(at, name, flags, 0666);
}

int sl_write_all(int fd, const char *call, uint64_t *offset, const void *bytes, size_t size)
{
	const char *at = (const char *)bytes;

	while (size > 0) {
		size_t piece = size < PIECE_BYTES ? size : PIECE_BYTES;
		ssize_t n = sl_fault_injected(call) ? -1
		            : offset                ? pwrite(fd, at, piece, (off_t)*offset)
		                                    : write(fd, at, piece);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		at += n;
		size -= (size_t)n;
		if (offset)
			*offset += (uint64_t)n;
	}
	return 0;
}

int sl_sync_directory(int fd)
{
	if (!sl_fault_injected("file_dirsync") && fsync(fd) == 0)
		return 0;
	return errno == EINVAL ? 0
	                       : errno; /* EINVAL: this file system has no fsync of directories */
}

int sl_close(int fd, int error)
{
	bool failed = sl_fault_injected("file_close");
	int reported = failed ? errno : 0;

	if (close(fd) != 0 && errno != EINTR && !failed) /* after EINTR, Linux has closed it */
		reported = errno;
	return error ? error : reported;
}

enum sl_status sl_check_regular(int fd, const char *dir, const char *name, uint64_t *size)
{
	struct stat facts;
	int error = 0;

	if (sl_fault_injected("file_stat") || fstat(fd, &facts) != 0)
		error = errno;
	if (!error && S_ISREG(facts.st_mode)) {
		*size = (uint64_t)facts.st_size;
		return SL_OK;
	}
	close(fd);
	if (error)
		return sl_disk_failed(error, "read the type of", dir, name);
	return sl_fail(SL_BAD_INPUT, "%s%s%s is %s", dir, name ? "/" : "", name ? name : "",
		S_ISDIR(facts.st_mode) ? "a folder; name a file"
				       : "not a regular file (pipes and devices are not read or "
					 "written); copy it to a file first");
}
