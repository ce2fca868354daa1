/*
 * cub_backends.h - CUB's scan, select and sort in the form of backends, for comparison only. CUDA
 * devices only.
 */
#ifndef SL_BENCH_CUB_CUB_BACKENDS_H
#define SL_BENCH_CUB_CUB_BACKENDS_H

#include "primitives/primitives.h"

SL_C_BEGIN

/* Indexed by enum sl_primitive; there is none for SL_DEFLATE. */
extern const struct sl_backend sl_cub_backends[];

/* CCCL_VERSION: 3000001 for CCCL 3.0.1, which contains CUB. */
extern const int sl_cub_version;

SL_C_END

#endif
