/*
 * device.h - memory, streams and copies: the one layer through which all else reaches
 * a device, and the only place that allocates.
 *
 * device_host.c serves a build without CUDA: SL_HOST works, SL_DEVICE and SL_PINNED
 * are refused with SL_NO_DEVICE. device_cuda.c serves both. The rest of the code is the
 * same for either and has no #ifdef.
 */
#ifndef SL_BASE_DEVICE_H
#define SL_BASE_DEVICE_H

#include <stddef.h>

#include "status.h"

SL_C_BEGIN

enum sl_space {
	SL_HOST,   /* ordinary memory */
	SL_DEVICE, /* the GPU's memory */
	SL_PINNED  /* host memory that the GPU copies from and to without a detour */
};

/* What cudaStream_t is; NULL on the host. No CUDA header is needed to pass it on. */
typedef struct CUstream_st *sl_stream;

struct sl_device {
	int number;       /* as CUDA numbers them */
	char name[96];    /* "NVIDIA H200" */
	int major, minor; /* compute capability */
	int multiprocessors;
	size_t memory_bytes; /* in all */
	size_t free_bytes;   /* when asked */
};

/*
 * How many devices can be used. When there is none, SL_NO_DEVICE, and the story says which of:
 * built without CUDA, no driver, driver too old, no device.
 */
enum sl_status sl_device_count(int *n);

/* Describes device number; makes it the calling thread's current one. */
enum sl_status sl_device_use(int number, struct sl_device *device);

/*
 * Gets bytes of memory, SL_ALIGN-aligned; *p is the caller's until it is given back. Zero bytes
 * give a valid pointer. Errors: SL_HOST_MEMORY, SL_DEVICE_MEMORY, SL_NO_DEVICE.
 */
enum sl_status sl_memory_get(enum sl_space space, size_t bytes, void **p);

/* Gives memory back; p may be NULL. */
void sl_memory_give(enum sl_space space, void *p);

/* A stream of the current device; for NULL work is queued on the default stream. */
enum sl_status sl_stream_make(sl_stream *s);
void sl_stream_free(sl_stream s);

/* Waits until all work on s is done; a failure of that work is reported here. */
enum sl_status sl_stream_wait(sl_stream s);

/*
 * Queues a copy on s, between any two spaces. Asynchronous unless one side is SL_HOST
 * memory; both must stay valid until s has been waited for.
 */
enum sl_status sl_copy(void *to, const void *from, size_t bytes, sl_stream s);

/* Queues bytes of value on s. Asynchronous. */
enum sl_status sl_fill(void *to, int value, size_t bytes, sl_stream s);

SL_C_END

#endif
