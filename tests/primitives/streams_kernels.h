/* streams_kernels.h - work of other users of a device, for streams_gpu.c. */
#ifndef SL_TESTS_PRIMITIVES_STREAMS_KERNELS_H
#define SL_TESTS_PRIMITIVES_STREAMS_KERNELS_H

#include "primitives/primitives.h"

SL_C_BEGIN

/*
 * Blocks that each take all shared memory of a multiprocessor and wait until *flag, in pinned
 * memory, is not 0, or for 60 s.
 */
enum sl_status streams_hold(uint32_t blocks, size_t shared_bytes, volatile int *flag, sl_stream s);

/* Copies n words after a wait of some microseconds. */
enum sl_status streams_copy_late(uint32_t *to, const uint32_t *from, uint32_t n, sl_stream s);

/* Atomic additions to n words all over the memory, until *flag is not 0, or for 60 s. */
enum sl_status streams_load_memory(uint32_t *words, uint32_t n, volatile int *flag, sl_stream s);

SL_C_END

#endif
