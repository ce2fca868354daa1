/*
 * memory.h - the memory of the emulated devices: pages that only their device may touch.
 *
 * The pages of an allocation are inaccessible while the host runs, so a host that dereferences a
 * device pointer crashes as it would with a GPU. An inaccessible guard page follows each
 * allocation. The driver (driver.c) makes all calls under its lock.
 */
#ifndef SL_PRIMITIVES_EMULATOR_MEMORY_H
#define SL_PRIMITIVES_EMULATOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "primitives/base/hd.h"

SL_C_BEGIN

/*
 * The value of each byte of fresh device memory and shared memory: not 0, so that missing writes
 * are seen.
 */
enum { SL_EMULATED_FILL = 0xa5 };

/*
 * Allocates bytes of a device, all SL_EMULATED_FILL. Returns 0, or SL_ERROR_MEMORY if fewer are
 * free.
 */
int sl_emulated_memory_get(int device, size_t bytes, void **p);
void sl_emulated_memory_give(void *p);

/* Bytes of memory of a device that are free. */
size_t sl_emulated_memory_free(int device);

/* Makes the memory of a device accessible (the device runs) or inaccessible (the host runs). */
void sl_emulated_memory_set_accessible(int device, bool open);

/* The device into whose memory p points; -1: none. */
int sl_emulated_memory_device(const void *p);

/* Whether p points into the memory of some device. */
bool sl_emulated_memory_has(const void *p);

/* Whether p .. p + bytes begins in an allocation and ends outside it. */
bool sl_emulated_memory_overruns(const void *p, size_t bytes);

SL_C_END

#endif
