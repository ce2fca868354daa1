/*
 * emulator_block.h - a block of the emulated device in flight: for emulator.c, which gives turns to
 * its threads, and emulator_thread.c, which is what they call.
 */
#ifndef SL_PRIMITIVES_BASE_EMULATOR_BLOCK_H
#define SL_PRIMITIVES_BASE_EMULATOR_BLOCK_H

#include "emulated.h"
#include "fiber.h"

enum { SL_WARPS_MAX = SL_BLOCK_MAX / SL_WARP, SL_VARIABLES_MAX = 32 };

enum sl_thread_state { SL_READY, SL_AT_BARRIER, SL_AT_WARP, SL_AT_GATE, SL_DONE };

struct sl_thread {
	struct sl_fiber fiber;
	struct sl_block *block;
	uint32_t number; /* in its block */
	enum sl_thread_state state;
	struct sl_emulated_site at; /* where it waits */
	uint32_t yes;               /* what its last barrier counted */
	bool waits; /* for another block: it has backed off, and done nothing since but ask */
	/* its warp call */
	enum sl_emulated_call call;
	uint32_t mask, from;
	uint64_t word, result;
	const struct sl_gate *gate; /* at which it waits */
};

struct sl_warp {
	uint32_t alive, arrived; /* lanes */
	uint32_t round;          /* of SL_CALL_SYNC */
};

struct sl_variable {
	const void *key;
	void *at;
};

/*
 * What orders the threads of a block for ThreadSanitizer (sl_fiber_release): of each pair of tags,
 * one is released for the next round while the last is yet being acquired.
 */
struct sl_block_order {
	char start, shared, end;
	char barrier[2], warp[SL_WARPS_MAX][2];
};

struct sl_block {
	bool busy;
	uint32_t number;
	uint32_t begun, alive, ready; /* threads */
	uint32_t waiting, yes, round; /* at the barrier, that said yes; barriers so far */
	struct sl_emulated_site barrier_at;
	struct sl_thread thread[SL_BLOCK_MAX];
	struct sl_warp warp[SL_WARPS_MAX];
	struct sl_variable variable[SL_VARIABLES_MAX];
	uint32_t n_variables;
	size_t variable_bytes;
	void *dynamic;
	struct sl_block_order *order;
};

/* The launch that runs. */
struct sl_running {
	const struct sl_emulated_choices *how;
	const struct sl_emulated_launch *launch;
	const void *closure;
	struct sl_thread *thread; /* whose turn it is */
	uint32_t loads;           /* that it has made in this turn */
	uint64_t random;
	bool moved, waited; /* of a round of turns: has a thread done something; backed off? */
	struct sl_emulated_site waited_at;
	uint32_t waited_block, waited_thread;
	char problem[512]; /* why it is given up; "": it is not */
};

extern struct sl_running sl_running;

/* A number below n, by the seed. */
uint32_t sl_random_below(uint32_t n);

/* Shared memory as a block finds it; NULL when the host has none. */
void *sl_shared_get(size_t bytes);

/* All that are at the barrier may go on. */
void sl_barrier_open(struct sl_block *b);

#endif
