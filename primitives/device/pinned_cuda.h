/*
 * pinned_cuda.h - pinned memory of CUDA.
 *
 * cudaMallocHost() takes and locks pages of 4 KiB one after the other: 2 GB/s, so that a run would
 * wait for its memory several times as long as it computes. Large blocks are therefore taken from
 * the system in huge pages, by several threads, and then registered with CUDA. A child process does
 * not have them (MADV_DONTFORK).
 */
#ifndef SL_PRIMITIVES_DEVICE_PINNED_CUDA_H
#define SL_PRIMITIVES_DEVICE_PINNED_CUDA_H

#include <stddef.h>

/*
 * Sets *p to bytes > 0 of memory that copies of all devices can use. Returns 0 or an error number
 * of CUDA.
 */
int sl_pinned_get(size_t bytes, void **p);

/* Frees memory of sl_pinned_get(). Returns as it does. */
int sl_pinned_give(void *p);

#endif
