/*
 * emulated_memory.h - the emulated device's memory: pages that are closed while the host runs, and
 * behind each block one that is closed for good.
 *
 * For its driver (device_emulated.c), which lets one thread at a time in.
 */
#ifndef SL_PRIMITIVES_BASE_EMULATED_MEMORY_H
#define SL_PRIMITIVES_BASE_EMULATED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "hd.h"

SL_C_BEGIN

/* A block of bytes, all SL_EMULATED_FILL. SL_ERROR_MEMORY: so many are not left. */
int sl_emulated_memory_get(size_t bytes, void **p);
void sl_emulated_memory_give(void *p);

/* Bytes that are left. */
size_t sl_emulated_memory_free(void);

/* For the time that the device works. */
void sl_emulated_memory_open(bool open);

bool sl_emulated_memory_has(const void *p);

/* Does p .. p + bytes begin in a block and leave it? */
bool sl_emulated_memory_ends(const void *p, size_t bytes);

SL_C_END

#endif
