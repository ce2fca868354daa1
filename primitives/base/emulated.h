/*
 * emulated.h - the emulated device: kernels as plain C++ on the CPU, one fiber a thread.
 *
 * Kernels are compiled a second time, by the host's compiler against emulator.h, whose words end
 * here. A block's threads run one at a time and change over at barriers, warp calls, atomics and
 * backoffs, so sanitizers, valgrind and debuggers see inside a kernel, and a schedule can be
 * repeated. Shared memory and fresh device memory are filled with 0xA5. Device memory cannot be
 * touched by the host but through sl_copy and sl_fill.
 *
 * SL_EMULATOR in the environment says how, as "blocks=4,seed=7,memory=64M":
 *
 *	blocks=N    blocks in flight at a time, in turns, 64 at most; 1: each to its end (default)
 *	seed=N      threads and blocks take turns at random, by this seed, and some are held back
 *	            while others can go on; 0: in order (default)
 *	start=last  blocks start from the last, which no order promised forbids
 *	memory=N    bytes of device memory, K, M and G as usual; 1G is the default
 *	queue=now   work is done when it is queued; else only when it is waited for (default)
 *	device=turing  the oldest device that this project is built for: compute capability 7.5,
 *	            64 KiB of shared memory a block; else as Hopper: 9.0, 227 KiB (default)
 *
 * A kernel that does what no kernel may fails its launch, and with it the device; the sentence
 * names kernel, block, thread and line:
 *
 *	threads that wait for each other in vain, at barriers or in warp calls
 *	threads of a block at different barriers; lanes that meet in different warp calls
 *	warp calls whose mask lacks the caller, or names lanes that have ended (CUDA lets these be
 *	ignored, where they were meant to take part it is a bug all the same)
 *	blocks that wait in vain; loops that wait and do not back off
 *	gates that have not been made, or have more arrivals than they were made for; waits for a
 *	round that the parity of a real one does not tell from others; bulk loads off 16 bytes
 *	more than 48 KiB of variables in shared memory
 *
 * What it cannot show: bank conflicts, occupancy, registers, time; pointers to host memory in a
 * kernel; races between streams; and orders of memory that no interleaving gives. ThreadSanitizer
 * finds missing orderings all the same: of threads by barriers, gates and __syncwarp (other warp
 * calls order nothing), of blocks by release and acquire.
 */
#ifndef SL_PRIMITIVES_BASE_EMULATED_H
#define SL_PRIMITIVES_BASE_EMULATED_H

#include "device.h"

SL_C_BEGIN

enum { SL_WARP = 32, SL_BLOCK_MAX = 1024 };

/* What memory of the device holds at first. */
enum { SL_EMULATED_FILL = 0xa5 };

/* Of the thread that runs: CUDA's threadIdx.x and so on. One dimension. */
struct sl_emulated_index {
	uint32_t x;
};

struct sl_emulated_here {
	/* index, index, how many, how many */
	struct sl_emulated_index thread, block, threads, blocks;
};

extern struct sl_emulated_here sl_emulated_here;

/* --- what a thread calls ---------------------------------------------------------------------- */

/* Where in the kernel's text. */
struct sl_emulated_site {
	const char *file;
	int line;
};

/* Waits for all threads of the block; gives how many said yes. */
uint32_t sl_emulated_barrier(bool yes, struct sl_emulated_site at);

enum sl_emulated_call {
	SL_CALL_SYNC,    /* gives nothing; the only one that orders memory */
	SL_CALL_SHUFFLE, /* the word of lane from, 0xa5... when that is not of mask */
	SL_CALL_BALLOT,  /* the lanes whose word is not 0 */
	SL_CALL_MATCH    /* the lanes that have the same word */
};

/* Waits for the lanes of mask, each of which brings a word and has a result. */
uint64_t sl_emulated_warp(enum sl_emulated_call call, uint32_t mask, uint64_t word, uint32_t from,
	struct sl_emulated_site at);

/* The lane of the thread that runs. */
uint32_t sl_emulated_lane(void);

/* Comes before each atomic operation: at random, others run first. */
void sl_emulated_atomic(bool writes, struct sl_emulated_site at);

/* Lets others run: what a thread that waits for another block must do now and then. */
void sl_emulated_backoff(struct sl_emulated_site at);

/* A gate as bulk.cuh has them, in shared memory. */
struct sl_gate {
	uint32_t arrivals, missing; /* a round; of this one */
	int64_t bytes;              /* announced, less those that have come */
	uint32_t round;             /* rounds that are over */
	char order[2];              /* tags of the round and the one before, for sl_fiber_release */
};

void sl_emulated_gate_make(struct sl_gate *g, uint32_t arrivals);

/* Announces bytes and arrives. */
void sl_emulated_gate_arrive(struct sl_gate *g, uint32_t bytes, struct sl_emulated_site at);

/* Waits until the round is over. */
void sl_emulated_gate_wait(struct sl_gate *g, uint32_t round, struct sl_emulated_site at);

/* Copies at once, which is the soonest that a device may; the bytes have then come to g. */
void sl_emulated_bulk_load(
	void *to, const void *from, uint32_t bytes, struct sl_gate *g, struct sl_emulated_site at);

/* A variable of the block in shared memory: the same for the same key. */
void *sl_emulated_shared(const void *key, size_t bytes, struct sl_emulated_site at);

/* The shared memory that the launch asked for. */
void *sl_emulated_dynamic(void);

/* --- launches --------------------------------------------------------------------------------- */

/* A launch as it is queued: call(closure) is run by each thread. */
struct sl_emulated_launch {
	const char *kernel;
	uint32_t blocks, threads;
	size_t shared_bytes;
	void (*call)(const void *closure);
};

enum { SL_CLOSURE_BYTES = 8192 };

/* The compute capability, 90 for 9.0. */
uint32_t sl_emulated_capability(void);

/* Queues a launch; closure_bytes are copied. Gives 0 or an error of the driver. */
int sl_emulated_queue(
	const struct sl_emulated_launch *l, const void *closure, size_t closure_bytes, sl_stream s);

/* Runs a launch to its end: for the driver. Gives 0 or an error; the text of it is kept. */
int sl_emulated_run(const struct sl_emulated_launch *l, const void *closure);

/* What went wrong in the last launch that failed, "" if none has. */
const char *sl_emulated_problem(void);

/* --- choices ---------------------------------------------------------------------------------- */

enum { SL_EMULATED_BLOCKS_MAX = 64 };

/* The choices of SL_EMULATOR. */
struct sl_emulated_choices {
	uint32_t blocks;
	uint64_t seed;
	bool from_last;
	bool at_once;
	bool turing;
	size_t memory_bytes;
};

/* For tests: choices instead of those of SL_EMULATOR, from the next launch on. */
void sl_emulated_choose(const struct sl_emulated_choices *c);
const struct sl_emulated_choices *sl_emulated_chosen(void);

/*
 * What is wrong with SL_EMULATOR, or NULL. Malformed choices choose nothing, and a test that
 * believes in them would prove nothing: the program and the device refuse with this sentence.
 */
const char *sl_emulated_choices_problem(void);

SL_C_END

#endif
