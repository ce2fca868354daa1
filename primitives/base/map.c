/* map.c - see map.h. */
#include "map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "disk.h"

enum sl_status sl_map_file(const char *path, struct sl_map *m)
{
	int fd = sl_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK), error = 0;
	void *at = NULL;
	uint64_t bytes;

	*m = (struct sl_map){0};
	if (fd < 0)
		return sl_disk_failed(errno, "open", path, NULL);
	SL_TRY(sl_check_regular(fd, path, NULL, &bytes));
	if (bytes > 0)
		at = refused("file_map") ? MAP_FAILED
		                         : mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		error = errno;
	error = sl_close(fd, error);
	if (error && at && at != MAP_FAILED)
		munmap(at, bytes);
	if (error)
		return sl_disk_failed(error, "map", path, NULL);
	if (at)
		madvise(at, bytes, MADV_SEQUENTIAL); /* advice: whatever comes of it */
	*m = (struct sl_map){at, bytes};
	return SL_OK;
}

void sl_unmap(struct sl_map *m)
{
	if (m->at)
		munmap((void *)m->at, m->bytes);
	*m = (struct sl_map){0};
}
