/* read.c - see files.h. */
#include "primitives/files/files.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "disk.h"
#include "primitives/base/size.h"
#include "primitives/device/device.h"

enum { PIECE_BYTES = 1 << 16 };

/* read(2), repeated if a signal interrupts it. */
static ssize_t read_some(int fd, void *bytes, size_t size)
{
	ssize_t n;

	do
		n = sl_fault_injected("file_read") ? -1 : read(fd, bytes, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Reads up to size bytes, fewer only at the end of the file. Returns 0 or an errno. */
static int read_all(int fd, char *bytes, size_t size, size_t *used)
{
	ssize_t n = 1;

	for (*used = 0; *used < size && n > 0; *used += n > 0 ? (size_t)n : 0)
		n = read_some(fd, bytes + *used, size - *used);
	return n < 0 ? errno : 0;
}

/* Opens a regular file for reading. dir is NULL if name is a path, not an entry of a directory. */
static enum sl_status open_to_read(
	int at, const char *dir, const char *name, int flags, int *fd, uint64_t *size)
{
	*fd = sl_open(at, name, flags | O_RDONLY | O_NONBLOCK);
	if (*fd < 0)
		return sl_disk_failed(errno, "open", dir ? dir : name, dir ? name : NULL);
	return sl_check_regular(*fd, dir ? dir : name, dir ? name : NULL, size);
}

/* Reads an open file of that size as a whole and closes it. */
static enum sl_status read_whole(
	int fd, const char *dir, const char *name, uint64_t file_bytes, char **bytes, size_t *size)
{
	void *block = NULL;
	enum sl_status s;
	int error;

	s = sl_memory_get(SL_HOST, sl_size_add((size_t)file_bytes, 1), &block);
	if (s != SL_OK) {
		close(fd);
		return s;
	}
	error = sl_close(fd, read_all(fd, (char *)block, (size_t)file_bytes, size));
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
	uint64_t bytes_in_file;
	int fd;

	*bytes = NULL;
	*size = 0;
	SL_TRY(sl_check_name(name));
	SL_TRY(open_to_read(d->fd, d->path, name, O_NOFOLLOW, &fd, &bytes_in_file));
	return read_whole(fd, d->path, name, bytes_in_file, bytes, size);
}

enum sl_status sl_path_read(const char *path, size_t most, char **bytes, size_t *size)
{
	uint64_t bytes_in_file;
	int fd;

	*bytes = NULL;
	*size = 0;
	SL_TRY(open_to_read(AT_FDCWD, NULL, path, 0, &fd, &bytes_in_file));
	if (bytes_in_file > most) {
		close(fd);
		return sl_fail(SL_BAD_INPUT,
			"%s has %llu bytes, but at most %zu are read; check that it is the right file",
			path, (unsigned long long)bytes_in_file, most);
	}
	return read_whole(fd, path, NULL, bytes_in_file, bytes, size);
}

/* One byte more than most is read, because a stream that is longer must be refused. */
enum sl_status sl_stream_read(int fd, const char *name, size_t most, char **bytes, size_t *size)
{
	void *block;
	int error;

	*bytes = NULL;
	*size = 0;
	SL_TRY(sl_memory_get(SL_HOST, sl_size_add(most, 1), &block));
	error = read_all(fd, (char *)block, most + 1, size);
	if (error == 0 && *size <= most) {
		*bytes = (char *)block;
		(*bytes)[*size] = '\0';
		return SL_OK;
	}
	sl_memory_give(SL_HOST, block);
	if (error)
		return sl_disk_failed(error, "read", name, NULL);
	return sl_fail(SL_BAD_INPUT,
		"%s has more than %zu bytes, which is the limit; check that it is the right text",
		name, most);
}

bool sl_errno_is_missing(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP ||
	       error == ENAMETOOLONG;
}

bool sl_path_is_missing(const char *path, int mode)
{
	return access(path, mode) != 0 && sl_errno_is_missing(errno);
}

enum sl_status sl_file_check(
	const struct sl_dir *d, const char *name, uint64_t *size, uint32_t *crc)
{
	char piece[PIECE_BYTES];
	uint64_t bytes_in_file;
	ssize_t n;
	int fd, error = 0;

	SL_TRY(sl_check_name(name));
	SL_TRY(open_to_read(d->fd, d->path, name, O_NOFOLLOW, &fd, &bytes_in_file));
	*size = 0;
	*crc = 0;
	while ((n = read_some(fd, piece, sizeof(piece))) > 0) {
		*crc = sl_crc32_update(*crc, piece, (size_t)n);
		*size += (uint64_t)n;
	}
	if (n < 0)
		error = errno;
	error = sl_close(fd, error);
	return error ? sl_disk_failed(error, "read", d->path, name) : SL_OK;
}

/* --- crc32 ------------------------------------------------------------------------------------ */

/* libdeflate computes the checksum at memory speed; zlib combines two. */

uint32_t sl_crc32(const void *bytes, size_t size)
{
	return libdeflate_crc32(0, bytes, size);
}

uint32_t sl_crc32_update(uint32_t crc, const void *bytes, size_t size)
{
	return libdeflate_crc32(crc, bytes, size);
}

uint32_t sl_crc32_combine(uint32_t crc, uint32_t next, size_t size)
{
	return (uint32_t)crc32_combine(crc, next, (z_off_t)size);
}

enum sl_status sl_host_get(size_t n, size_t bytes, void *p)
{
	void *memory;

	SL_TRY(sl_memory_get(SL_HOST, sl_size_mul(n, bytes), &memory));
	memcpy(p, &memory, sizeof(memory));
	return SL_OK;
}

enum sl_status sl_host_get_zeroed(size_t n, size_t bytes, void *p)
{
	void *memory;

	SL_TRY(sl_host_get(n, bytes, p));
	memcpy(&memory, p, sizeof(memory));
	memset(memory, 0, n * bytes);
	return SL_OK;
}

enum sl_status sl_host_grow(void *p, size_t n, size_t *capacity, size_t bytes)
{
	const size_t more = *capacity > 0 ? 2 * *capacity : 16;
	void *was, *now;

	if (n < *capacity)
		return SL_OK;
	memcpy(&was, p, sizeof(was));
	SL_TRY(sl_host_get(more, bytes, &now));
	if (n > 0)
		memcpy(now, was, n * bytes);
	sl_memory_give(SL_HOST, was);
	memcpy(p, &now, sizeof(now));
	*capacity = more;
	return SL_OK;
}

void sl_host_give(void *p)
{
	void *memory;

	memcpy(&memory, p, sizeof(memory));
	sl_memory_give(SL_HOST, memory);
}
