/* cub_contender.h - the batch made of CUB's calls and simple kernels. */
#ifndef SL_BENCH_CONTENDERS_CUB_CONTENDER_H
#define SL_BENCH_CONTENDERS_CUB_CONTENDER_H

#include "bench/contenders/contender.h"

/* NULL in a build without CUDA. */
extern const struct sl_contender_type *const sl_cub_contender;

#endif
