/*
 * access.h - counts the memory accesses of kernels on the emulated device, as a profiler of a GPU
 * does.
 *
 * The compiler inserts a call before each access to memory in a kernel: gcc with -fsanitize=thread,
 * whose functions are renamed to those of access.c (cuda_names.h). Other compilers and builds with
 * a sanitizer do not count. Accesses to device memory and to shared memory are recorded for each
 * block while counting is on, and are counted when the block is at a barrier or ends.
 *
 * The threads of a warp run one after another here. The k-th access that each of them makes at one
 * place of the machine code counts as one instruction of the warp, which is what a GPU executes
 * while the warp does not diverge.
 */
#ifndef SL_PRIMITIVES_EMULATOR_ACCESS_H
#define SL_PRIMITIVES_EMULATOR_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/hd.h"

SL_C_BEGIN

/*
 * The counts that tables show, in this order:
 *
 *	loads, stores   of threads, in device memory
 *	sectors         of 32 bytes of device memory that warps read and write
 *	shared          loads and stores of threads in shared memory
 *	conflicts       bank conflicts: passes over shared memory beyond the first
 *	atomics         atomic updates of threads, in device and shared memory
 *	barriers        __syncthreads() of blocks
 */
#define SL_ACCESS_COUNTS(X) \
	X(loads)            \
	X(stores)           \
	X(sectors)          \
	X(shared)           \
	X(conflicts)        \
	X(atomics)          \
	X(barriers)

/* Since the last call of sl_access_start(). */
struct sl_access_counts {
	uint64_t launches;
#define X(name) uint64_t name;
	SL_ACCESS_COUNTS(X)
#undef X
};

enum sl_access_count {
#define X(name) SL_ACCESS_COUNT_##name,
	SL_ACCESS_COUNTS(X)
#undef X
		SL_ACCESS_COUNT_COUNT
};

extern const char *const sl_access_count_names[SL_ACCESS_COUNT_COUNT];

/* A count divided by n; NaN if this build does not count, or no kernel was launched. */
double sl_access_per_item(
	const struct sl_access_counts *counts, enum sl_access_count which, double n);

/* Whether this build counts. */
bool sl_access_is_counted(void);

/* Sets all counts to 0 and counts from now on. No kernel may be queued or running. */
void sl_access_start(void);

/* Stops counting; to be called when the queued kernels have ended. */
struct sl_access_counts sl_access_stop(void);

/* --- for launch.c and thread.c ---------------------------------------------------------------- */

enum sl_access_kind { SL_ACCESS_LOAD, SL_ACCESS_STORE, SL_ACCESS_UPDATE };

struct sl_access;

/* The accesses of a block that are not counted yet. */
struct sl_access_log {
	struct sl_access *access;
	size_t n, capacity;
};

struct sl_block;

/* A launch begins or ends on the calling thread of the host. */
void sl_access_launch_begins(void);
void sl_access_launch_ends(void);

/* Records an access of the thread that runs, by the instruction at that place. */
void sl_access_add(enum sl_access_kind kind, const void *at, size_t bytes, uintptr_t place);

/* The threads of b are at a barrier. */
void sl_access_barrier(struct sl_block *b);

/* The threads of b have ended. */
void sl_access_block_ends(struct sl_block *b);

/* --- for the compiler ------------------------------------------------------------------------- */

/*
 * Before an access of any size, and at the start of the program. access.c has those of 1 to 16
 * bytes.
 */
void sl_counted_read_range(const void *at, size_t bytes);
void sl_counted_write_range(const void *at, size_t bytes);
void sl_counted_init(void);

SL_C_END

#endif
