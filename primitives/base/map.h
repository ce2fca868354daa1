/*
 * map.h - a regular file as memory, for reading: its pages come and go as the system likes, and
 * none of them counts as the program's.
 *
 * Calls for SL_FAULT: file_open file_stat file_map file_close.
 */
#ifndef SL_BASE_MAP_H
#define SL_BASE_MAP_H

#include <stddef.h>

#include "status.h"

SL_C_BEGIN

struct sl_map {
	const void *at; /* NULL: not mapped, or of no bytes */
	size_t bytes;
};

/* Maps the file path, to be read once and in order; to be given back with sl_unmap(). */
enum sl_status sl_map_file(const char *path, struct sl_map *m);
void sl_unmap(struct sl_map *m);

SL_C_END

#endif
