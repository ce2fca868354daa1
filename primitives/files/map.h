/*
 * map.h - maps a regular file to memory, for reading. The kernel loads and drops its pages as
 * needed; they do not count as memory of the program.
 *
 * Calls for SL_FAULT: file_open file_stat file_map file_close.
 */
#ifndef SL_PRIMITIVES_FILES_MAP_H
#define SL_PRIMITIVES_FILES_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"

SL_C_BEGIN

struct sl_map {
	const void *at; /* NULL: not mapped, or an empty file */
	size_t bytes;
	uint64_t device, number; /* device and inode number of the file */
	int64_t written_ns;      /* time of its last modification */
};

/*
 * Maps the file path for one sequential read. Release it with sl_unmap(). If the file was just
 * written, waits until the next tick of the kernel's clock, so that each later write gives it
 * another time.
 */
enum sl_status sl_map_file(const char *path, struct sl_map *m);

void sl_unmap(struct sl_map *m);

/*
 * Whether the mapped file was written to since, so that its bytes may have changed. A file that was
 * removed or replaced by another one is unchanged for those that have mapped it. Not noticed: a
 * write whose program sets the old time again, or through a mapping, which sets the time only once
 * until it is flushed; on a network file system, one by another node within the time of its
 * attribute cache.
 */
bool sl_map_is_changed(const struct sl_map *m, const char *path);

/*
 * Mixes device, inode, size and time of modification into a stamp (the hash of Fowler, Noll and Vo,
 * by words). Equal stamps of the same paths, from 0 on, mean that the files are the same and
 * unchanged.
 */
uint64_t sl_map_stamp(const struct sl_map *m, uint64_t stamp);

SL_C_END

#endif
