/* access_kernels.h - small kernels whose memory accesses are known, for access.c. */
#ifndef SL_TESTS_PRIMITIVES_EMULATOR_ACCESS_KERNELS_H
#define SL_TESTS_PRIMITIVES_EMULATOR_ACCESS_KERNELS_H

#include <stdint.h>

#include "primitives/base/hd.h"
#include "primitives/base/status.h"

SL_C_BEGIN

enum { ACCESS_WORDS = 4096 };

/* Launches the kernel of that name with so many blocks of 64 threads on ACCESS_WORDS words. */
enum sl_status launch_access_kernel(
	const char *name, uint32_t blocks, uint32_t stride, uint32_t *words);

SL_C_END

#endif
