/*
 * thread.h - the functions that a thread of a kernel calls on the emulated device: barriers, warp
 * calls, atomics, mbarriers and shared memory.
 *
 * cuda_names.h and bulk.cuh map the names that kernels use to these functions. In each of them the
 * scheduler may switch to another thread. All take the place of the call in the source (file and
 * line), which messages name. A violation of CUDA's rules ends the launch (settings.h has the
 * list): the function then does not return.
 */
#ifndef SL_PRIMITIVES_EMULATOR_THREAD_H
#define SL_PRIMITIVES_EMULATOR_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access.h"
#include "primitives/base/hd.h"

SL_C_BEGIN

enum { SL_WARP = 32, SL_BLOCK_MAX = 1024 };

/* threadIdx.x and so on: all is one-dimensional. */
struct sl_emulated_index {
	uint32_t x;
};

/* threadIdx, blockIdx, blockDim and gridDim of the thread that runs. */
struct sl_emulated_here {
	struct sl_emulated_index thread, block, threads, blocks;
};

SL_FOR_MODELS extern struct sl_emulated_here sl_emulated_here;

/* A place in the source of the kernel. */
struct sl_emulated_site {
	const char *file;
	int line;
};

/* __syncthreads(): waits for all threads of the block. */
SL_FOR_MODELS void sl_emulated_barrier(struct sl_emulated_site at);

enum sl_emulated_call {
	SL_CALL_SYNC,    /* __syncwarp: no result; the only warp call that orders memory */
	SL_CALL_SHUFFLE, /* the word of lane `from`; SL_EMULATED_FILL bytes if it is not in the mask */
	SL_CALL_BALLOT, /* the lanes whose word is not 0 */
	SL_CALL_MATCH   /* the lanes that have the same word as the caller */
};

/* Waits for the lanes of mask; each passes a word and gets the result of the call. */
SL_FOR_MODELS uint64_t sl_emulated_warp(enum sl_emulated_call call, uint32_t mask, uint64_t word,
	uint32_t from, struct sl_emulated_site at);

/* The lane of the thread that runs, 0 to 31. */
SL_FOR_MODELS uint32_t sl_emulated_lane(void);

/* Called before each atomic operation. With a seed, it sometimes lets other threads run first. */
SL_FOR_MODELS void sl_emulated_atomic(
	enum sl_access_kind kind, const void *to, size_t bytes, struct sl_emulated_site at);

/* Lets other threads run: for loops that wait for another block. */
SL_FOR_MODELS void sl_emulated_backoff(struct sl_emulated_site at);

/* An mbarrier as in kernel/bulk.cuh, in shared memory. */
struct sl_mbarrier {
	uint32_t arrivals; /* of each phase */
	uint32_t missing;  /* arrivals that the current phase still waits for */
	int64_t bytes;     /* announced minus loaded */
	uint32_t phase;    /* phases that are complete */
	char order[2];     /* tags for sl_fiber_release: of this phase and the previous one */
};

/* Initialises an mbarrier whose phases have that many arrivals. */
void sl_emulated_mbarrier_init(struct sl_mbarrier *m, uint32_t arrivals);

/* Announces bytes that are to be loaded, then arrives. */
void sl_emulated_mbarrier_arrive(struct sl_mbarrier *m, uint32_t bytes, struct sl_emulated_site at);

/* Waits until that phase is complete. */
void sl_emulated_mbarrier_wait(struct sl_mbarrier *m, uint32_t phase, struct sl_emulated_site at);

/* Copies at the call, the earliest moment at which a device may, and counts the bytes in m. */
void sl_emulated_bulk_load(void *to, const void *from, uint32_t bytes, struct sl_mbarrier *m,
	struct sl_emulated_site at);

/* The block's variable in shared memory with that key; made and filled at the first call. */
SL_FOR_MODELS void *sl_emulated_shared(const void *key, size_t bytes, struct sl_emulated_site at);

/* The dynamic shared memory of the block; NULL if the launch has none. */
SL_FOR_MODELS void *sl_emulated_dynamic(void);

/* For launch.c: lets all threads that wait at the barrier of b continue. */
struct sl_block;
void sl_barrier_open(struct sl_block *b);

SL_C_END

#endif
