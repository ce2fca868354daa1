/*
 * emulated.h - the emulated device: kernels as plain C++ on the CPU, one fiber a thread.
 *
 * Kernels are compiled a second time, by the host's compiler against emulator.h, whose words end
 * here. A block's threads run one at a time and change over at barriers, warp calls and yields, so
 * sanitizers, valgrind and debuggers see inside a kernel, and a schedule can be repeated. Shared
 * memory is filled with 0xA5 before each block. Device memory cannot be touched by the host but
 * through sl_copy and sl_fill.
 *
 * SL_EMULATOR in the environment says how, as "blocks=4,seed=7,memory=64M":
 *
 *	blocks=N    blocks in flight at a time, in turns; 1: each to its end (the default)
 *	seed=N      threads and blocks take turns at random, by this seed; 0: in order (the default)
 *	start=last  blocks start from the last, which no order promised forbids
 *	memory=N    bytes of device memory, K, M and G as usual; 1G is the default
 *	queue=now   work is done when it is queued; else only when it is waited for (the default)
 *
 * What it cannot show: bank conflicts, occupancy, registers, time, and orders of memory that no
 * interleaving gives (ThreadSanitizer finds missing orderings all the same).
 */
#ifndef SL_BASE_EMULATED_H
#define SL_BASE_EMULATED_H

#include "device.h"

SL_C_BEGIN

enum { SL_WARP = 32, SL_BLOCK_MOST = 1024 };

/* Of the thread that runs: CUDA's threadIdx.x and so on. One dimension. */
struct sl_emulated_index {
	uint32_t x;
};

struct sl_emulated_here {
	struct sl_emulated_index thread, block, threads,
		blocks; /* index, index, how many, how many */
};

extern struct sl_emulated_here sl_emulated_here;

/* Waits for all threads of the block; gives how many said yes. */
uint32_t sl_emulated_barrier(bool yes);

/*
 * Waits for the lanes of mask, each of which leaves a word; gives the words, by lane, valid until
 * the next exchange of the warp.
 */
const uint64_t *sl_emulated_exchange(uint32_t mask, uint64_t word);

/* The lane of the thread that runs. */
uint32_t sl_emulated_lane(void);

/* A variable of the block in shared memory: the same for the same key. */
void *sl_emulated_shared(const void *key, size_t bytes);

/* The shared memory that the launch asked for. */
void *sl_emulated_dynamic(void);

/* Lets another thread run: what a spinning thread must do now and then. */
void sl_emulated_yield(void);

/* A launch as it is queued: call(closure) is run by each thread. */
struct sl_emulated_launch {
	const char *kernel;
	uint32_t blocks, threads;
	size_t shared_bytes;
	void (*call)(const void *closure);
};

enum { SL_CLOSURE_BYTES = 8192 };

/* Queues a launch; closure_bytes are copied. Gives 0 or an error of the driver. */
int sl_emulated_queue(
	const struct sl_emulated_launch *l, const void *closure, size_t closure_bytes, sl_stream s);

/* Runs a launch to its end: for the driver. Gives 0 or an error; the text of it is kept. */
int sl_emulated_run(const struct sl_emulated_launch *l, const void *closure);

/* What went wrong in the last launch that failed, "" if none has. */
const char *sl_emulated_problem(void);

/* The choices of SL_EMULATOR. */
struct sl_emulated_choices {
	uint32_t blocks;
	uint64_t seed;
	bool from_last;
	bool at_once;
	size_t memory_bytes;
};

/* For tests: choices instead of those of SL_EMULATOR, from the next launch on. */
void sl_emulated_choose(const struct sl_emulated_choices *c);
const struct sl_emulated_choices *sl_emulated_chosen(void);

/* What is wrong with SL_EMULATOR, or NULL. */
const char *sl_emulated_choices_problem(void);

SL_C_END

#endif
