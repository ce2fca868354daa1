/*
 * block.h - the state of the running launch and of each block in flight.
 *
 * Shared by launch.c, which schedules the threads, and thread.c, which has the functions that the
 * threads call. One launch runs at a time, under the lock of the driver, so nothing here is atomic.
 */
#ifndef SL_PRIMITIVES_EMULATOR_BLOCK_H
#define SL_PRIMITIVES_EMULATOR_BLOCK_H

#include "access.h"
#include "fibers/fiber.h"
#include "primitives/emulator/emulator.h"
#include "settings.h"
#include "thread.h"

enum { SL_WARPS_MAX = SL_BLOCK_MAX / SL_WARP, SL_VARIABLES_MAX = 32 };

enum sl_thread_state { SL_READY, SL_AT_BARRIER, SL_AT_WARP, SL_AT_MBARRIER, SL_DONE };

struct sl_thread {
	struct sl_fiber fiber;
	struct sl_block *block;
	uint32_t number; /* in its block */
	enum sl_thread_state state;
	struct sl_emulated_site at; /* where it waits */
	bool is_polling; /* waits for another block: since its last sl_backoff() it has only read */
	/* The warp call that it is in: */
	enum sl_emulated_call call;
	uint32_t mask, from;
	uint64_t word, result;
	const struct sl_mbarrier *mbarrier; /* the mbarrier that it waits at */
};

struct sl_warp {
	uint32_t alive;   /* lanes that have not ended */
	uint32_t arrived; /* lanes that wait in a warp call */
	uint32_t round;   /* SL_CALL_SYNC calls so far */
};

/* A statically declared variable in shared memory. */
struct sl_variable {
	const void *key;
	void *at;
	size_t bytes;
};

/*
 * Tags that order the threads of a block for ThreadSanitizer (sl_fiber_release). Barriers and warps
 * have a pair: one tag is released for the next round while the other is still being acquired.
 */
struct sl_block_order {
	char start, shared, end;
	char barrier[2], warp[SL_WARPS_MAX][2];
};

struct sl_block {
	bool busy; /* a block of the launch occupies this place */
	uint32_t number;
	uint32_t begun, alive, ready; /* threads: started; not ended; able to run */
	uint32_t waiting;             /* threads at the barrier */
	uint32_t round;               /* barriers so far */
	struct sl_emulated_site barrier_at;
	struct sl_thread thread[SL_BLOCK_MAX];
	struct sl_warp warp[SL_WARPS_MAX];
	struct sl_variable variable[SL_VARIABLES_MAX];
	uint32_t n_variables;
	size_t variable_bytes;
	void *dynamic; /* dynamic shared memory */
	struct sl_block_order *order;
	struct sl_access_log log; /* kept from block to block */
};

/* The launch that runs. */
struct sl_running {
	const struct sl_emulator_settings *settings;
	const struct sl_emulated_launch *launch;
	const void *closure;
	struct sl_thread *thread;    /* the thread that runs */
	uint32_t loads;              /* atomic loads of that thread since it was resumed */
	uint64_t random;             /* state of the generator */
	bool progressed, backed_off; /* in this round of the scheduler: a thread made progress; a
	                                thread called sl_backoff() */
	struct sl_emulated_site backoff_at; /* the last sl_backoff, for the livelock message */
	uint32_t backoff_block, backoff_thread;
	int error;         /* what the launch returns if it fails */
	char problem[512]; /* why the launch failed; "": it has not */
};

extern struct sl_running sl_running;

#endif
