/* map.c - see files.h. */
#include "primitives/files/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "disk.h"

enum { TICK_NS = 10000000 }; /* the longest: 100 per second */

static int64_t written_ns(const struct stat *file)
{
	return (int64_t)file->st_mtim.tv_sec * 1000000000 + file->st_mtim.tv_nsec;
}

/*
 * A time of modification can have the grain of the clock tick of the kernel. Waits until the tick
 * is over in which the file was written: then each write after this call gives it another time.
 */
static void pass_tick(const struct stat *file)
{
	const struct timespec wait = {.tv_nsec = 1000000};
	struct timespec now;
	int64_t since = 0;

	for (int i = 0; i < 16 && since <= 0 && since > -TICK_NS; i++) {
		if (i > 0)
			nanosleep(&wait, NULL);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		since = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - written_ns(file);
	}
}

enum sl_status sl_map_file(const char *path, struct sl_map *m)
{
	int fd = sl_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK), error = 0;
	void *at = NULL;
	struct stat file = {0};
	uint64_t bytes;

	*m = (struct sl_map){0};
	if (fd < 0)
		return sl_disk_failed(errno, "open", path, NULL);
	SL_TRY(sl_check_regular(fd, path, NULL, &bytes));
	if (fstat(fd, &file) != 0)
		error = errno;
	if (bytes > 0 && !error)
		at = sl_fault_injected("file_map")
		             ? MAP_FAILED
		             : mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		error = errno;
	pass_tick(&file);
	error = sl_close(fd, error);
	if (error && at && at != MAP_FAILED)
		munmap(at, bytes);
	if (error)
		return sl_disk_failed(error, "map", path, NULL);
	if (at)
		madvise(at, bytes, MADV_SEQUENTIAL); /* a hint: its result does not matter */
	*m = (struct sl_map){.at = at,
		.bytes = bytes,
		.device = file.st_dev,
		.number = file.st_ino,
		.written_ns = written_ns(&file)};
	return SL_OK;
}

enum sl_status sl_map_entry(const struct sl_dir *d, const char *name, struct sl_map *m)
{
	char path[SL_PATH_BYTES];

	snprintf(path, sizeof(path), "%.3800s/%.280s", d->path, name);
	return sl_map_file(path, m);
}

bool sl_map_is_changed(const struct sl_map *m, const char *path)
{
	struct stat file;

	return !sl_fault_injected("file_stat") && stat(path, &file) == 0 &&
	       file.st_dev == m->device && file.st_ino == m->number &&
	       ((uint64_t)file.st_size != m->bytes || written_ns(&file) != m->written_ns);
}

uint64_t sl_map_stamp(const struct sl_map *m, uint64_t stamp)
{
	const uint64_t facts[] = {m->device, m->number, m->bytes, (uint64_t)m->written_ns};

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		stamp = (stamp ^ facts[i]) * UINT64_C(0x100000001b3);
	return stamp;
}

void sl_unmap(struct sl_map *m)
{
	if (m->at)
		munmap((void *)m->at, m->bytes);
	*m = (struct sl_map){0};
}
