/*
 * device_block.h - blocks of device memory that outlive the run that filled them.
 *
 * Others may hold such a block, and their streams may still work on it when it is given back: a
 * tensor of torch frees its memory while a kernel that reads it is queued. So a block is given back
 * without a call of the device, from any thread and at any time, and is kept for the next request.
 * The work on its new contents is queued after all work that the device has then: of every stream,
 * or of none if only the same stream has used the block.
 *
 * On the emulated device the memory is host memory that the host may read.
 */
#ifndef SL_PRIMITIVES_DEVICE_DEVICE_BLOCK_H
#define SL_PRIMITIVES_DEVICE_DEVICE_BLOCK_H

#include "primitives/device/device.h"

SL_C_BEGIN

struct sl_device_block {
	void *data; /* aligned to SL_ALIGN */
	size_t bytes;
	int number; /* of the device */
	bool emulated;
	sl_event done; /* the contents are complete after it; NULL: they are complete */
	/* Private: */
	const struct sl_driver *driver;
	size_t kept_most; /* bytes that may wait for a request on this device */
	uint64_t stream;  /* its number, if work of no other stream uses the block; else 0 */
	struct sl_device_block *next;
};

/*
 * Takes a block of at least bytes on the current device of the calling thread. Work that is queued
 * on s may use it at once. Errors: SL_HOST_MEMORY, SL_DEVICE_MEMORY, SL_DEVICE_FAILED.
 */
enum sl_status sl_block_take(size_t bytes, sl_stream s, struct sl_device_block **block);

/* Gives a block back; NULL is allowed. Any stream may still work on it. */
void sl_block_give(struct sl_device_block *block);

/* The same, if only work that is queued on s uses the block. The block is of the driver in use. */
void sl_block_give_on(struct sl_device_block *block, sl_stream s);

/*
 * The contents of the block will be complete when the work that is now queued on s is done. Then
 * sl_block_follow() queues on another stream of that device, or of a program's, a wait for that.
 */
enum sl_status sl_block_mark(struct sl_device_block *block, sl_stream s);
enum sl_status sl_block_follow(const struct sl_device_block *block, sl_stream s);

/* Copies bytes from the block, from `from` on, to the host, after its contents are complete. */
enum sl_status sl_block_read(
	const struct sl_device_block *block, const void *from, size_t bytes, void *to);

/* Queues on s a wait for the work that other has now. Both are streams of the current device. */
enum sl_status sl_stream_after(sl_stream s, sl_stream other);

/* Frees the blocks that nobody has. May wait for the device. */
void sl_blocks_free(void);

/*
 * In a fork of the process: no thread is in a function above, and the memory of CUDA is not there.
 */
void sl_blocks_reset(void);

/*
 * Makes a device of the kind in use the current one of the calling thread, and sets *before to the
 * one that was, for sl_device_restore(). Describes the device only the first time, which takes
 * milliseconds.
 */
enum sl_status sl_device_select(int number, int *before);
void sl_device_restore(int before);

/* Makes a CUDA device current for other libraries; returns the number of the one that was. */
int sl_cuda_swap(int number);

/*
 * The number of the current CUDA device of the calling thread, whoever chose it; 0 if there is
 * none.
 */
int sl_cuda_current(void);

/*
 * The number of the CUDA device whose memory p is in; that of the current one if p is NULL or
 * unknown.
 */
int sl_cuda_device_of(const void *p);

SL_C_END

#endif
