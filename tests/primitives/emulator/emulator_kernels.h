/*
 * emulator_kernels.h - small kernels for the emulated device; most of them contain a deliberate
 * error.
 */
#ifndef SL_TESTS_PRIMITIVES_EMULATOR_EMULATOR_KERNELS_H
#define SL_TESTS_PRIMITIVES_EMULATOR_EMULATOR_KERNELS_H

#include "primitives/device/device.h"

SL_C_BEGIN

/* Words of device memory that each of them works on; those of access_kernels.cu. */
enum { KERNEL_WORDS = 1024, ACCESS_WORDS = 4096 };

/* Queues the kernel of that name. */
enum sl_status launch_kernel(const char *name, uint32_t *words, sl_stream s);

/*
 * Launches a kernel whose memory accesses are known (access_kernels.cu): so many blocks of 64
 * threads.
 */
enum sl_status launch_access_kernel(
	const char *name, uint32_t blocks, uint32_t stride, uint32_t *words);

SL_C_END

#endif
