/*
 * launch.h - a kernel launch on the emulated device: which blocks are in flight, and which thread
 * runs.
 */
#ifndef SL_PRIMITIVES_EMULATOR_LAUNCH_H
#define SL_PRIMITIVES_EMULATOR_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/base/hd.h"

SL_C_BEGIN

/* A launch of one-dimensional grid and blocks. */
struct sl_emulated_launch {
	const char *kernel;                /* its name, for messages */
	uint32_t blocks, threads;          /* grid size; threads per block */
	size_t shared_bytes;               /* dynamic shared memory per block */
	void (*call)(const void *closure); /* runs the kernel for one thread */
};

/* Most bytes of a closure: the kernel's function pointer and its arguments. */
enum { SL_CLOSURE_BYTES = 8192 };

/*
 * Runs all blocks of the launch to their end. Called by the driver under its lock: one launch at a
 * time. Returns 0, SL_ERROR_MEMORY (host memory for the blocks) or SL_ERROR_LAUNCH (the kernel
 * violated a rule; sl_emulated_problem() says which). After an error the results are incomplete.
 */
int sl_emulated_run(const struct sl_emulated_launch *l, const void *closure);

/* What went wrong in the last launch that failed; "" if none has. */
const char *sl_emulated_problem(void);

/* For thread.c: a pseudo-random number below n, from the seed of the settings. */
uint32_t sl_random_below(uint32_t n);

/* For thread.c: fresh shared memory, filled; free() it. NULL if the host has no memory. */
void *sl_shared_get(size_t bytes);

SL_C_END

#endif
