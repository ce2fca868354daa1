/*
 * emulator_kernels.h - small kernels for the emulated device; most of them contain a deliberate
 * error.
 */
#ifndef SL_TESTS_PRIMITIVES_EMULATOR_EMULATOR_KERNELS_H
#define SL_TESTS_PRIMITIVES_EMULATOR_EMULATOR_KERNELS_H

#include "primitives/device/device.h"

SL_C_BEGIN

/* Words of device memory that each of them works on. */
enum { KERNEL_WORDS = 1024 };

/* Queues the kernel of that name. */
enum sl_status launch_kernel(const char *name, uint32_t *words, sl_stream s);

SL_C_END

#endif
