/*
 * map.h - a regular file as memory, for reading: its pages come and go as the system likes, and
 * none of them counts as the program's.
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
	const void *at; /* NULL: not mapped, or of no bytes */
	size_t bytes;
	uint64_t device, number; /* which file it is ... */
	int64_t written_ns;      /* ... and when it was written to last */
};

/* Maps the file path, to be read once and in order; to be given back with sl_unmap(). */
enum sl_status sl_map_file(const char *path, struct sl_map *m);
void sl_unmap(struct sl_map *m);

/*
 * Has anybody written to the file since? Its bytes may be others, then. One that has another in its
 * place, or is not there any more, stays what it was for those who have mapped it.
 */
bool sl_map_is_changed(const struct sl_map *m, const char *path);

SL_C_END

#endif
