/*
 * settings.h - the emulated device: what it is, and the settings it runs with.
 *
 * The emulated device runs the kernels of this library on the CPU, for tests and for machines
 * without a GPU. Each .cu file is compiled a second time, as C++ for the host (cuda_names.h defines
 * the names of CUDA C). Each thread of a block is a fiber: the threads of all blocks in flight run
 * one at a time on one host thread, and switch at barriers, warp calls, atomics and sl_backoff().
 * So sanitizers, valgrind and debuggers see inside a kernel, and a schedule can be repeated. The
 * host can access device memory only through sl_copy() and sl_fill(). Fresh device memory and
 * shared memory are filled with SL_EMULATED_FILL.
 *
 * There are SL_DEVICES_MAX emulated devices, all alike, each with separate memory. They run one at
 * a time.
 *
 * The environment variable SL_EMULATOR sets how it runs, for example "blocks=4,seed=7,memory=64M":
 *
 *	blocks=N    N blocks in flight, 1 to 64. Default 1: each block runs to its end
 *	seed=N      N != 0: threads and blocks run in a random order with this seed, and some
 *	            are delayed while others can run. Default 0: in order
 *	start=last  blocks start from the last to the first; CUDA promises no order
 *	memory=N    bytes of memory of each device; N may end in K, M or G. Default 1G
 *	queue=now   work runs when it is queued. Default: when the host waits for it, the latest
 *	            moment at which a real device may run it
 *	device=turing  compute capability 7.5 with 64 KiB of shared memory per block, the oldest
 *	            device that this project supports. Default: Hopper, 9.0 with 227 KiB
 *
 * A kernel that violates a rule of CUDA fails its launch, and the device with it. The message names
 * kernel, block, thread, file and line. These violations are found:
 *
 *	deadlock: threads wait for each other at barriers, at mbarriers or in warp calls
 *	threads of one block at different barriers; lanes that meet in different warp calls
 *	a warp call whose mask does not contain its caller, or contains lanes that have ended
 *	livelock: blocks wait for work that no block in flight will do
 *	a million atomic loads of a thread without sl_backoff()
 *	an mbarrier that is not initialised or gets too many arrivals; a wait for a phase of an mbarrier
 *	that is neither the current nor the previous one; a bulk load that is not 16-byte aligned
 *	more than 48 KiB of statically declared shared memory
 *
 * An access just after the end of an allocation reaches a guard page, which ends the process.
 *
 * ThreadSanitizer finds missing synchronisation: barriers, mbarriers and __syncwarp() order the
 * threads of a block, release and acquire order blocks. Not emulated: bank conflicts, occupancy,
 * registers and time; races between streams; memory orders that no interleaving of instructions
 * produces.
 */
#ifndef SL_PRIMITIVES_EMULATOR_SETTINGS_H
#define SL_PRIMITIVES_EMULATOR_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/hd.h"

SL_C_BEGIN

enum { SL_EMULATED_BLOCKS_MAX = 64 };

/* The settings of SL_EMULATOR. */
struct sl_emulator_settings {
	uint32_t blocks;     /* in flight, 1 to SL_EMULATED_BLOCKS_MAX */
	uint64_t seed;       /* 0: in order */
	bool from_last;      /* start=last */
	bool at_once;        /* queue=now */
	bool turing;         /* device=turing */
	size_t memory_bytes; /* of each device */
};

/* The settings in use. The environment is read at the first call. */
SL_API const struct sl_emulator_settings *sl_emulator_get_settings(void);

/*
 * Replaces the settings of the process, for tests: valid from the next launch on. Not while other
 * threads use the emulated device.
 */
SL_API void sl_emulator_set_settings(const struct sl_emulator_settings *settings);

/*
 * A message that says what is wrong with SL_EMULATOR; NULL if nothing is. When it is malformed, all
 * settings have their defaults and sl_device_count() fails with this message.
 */
SL_API const char *sl_emulator_settings_problem(void);

SL_C_END

#endif
