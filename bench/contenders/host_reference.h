/*
 * host_reference.h - the result of a batch by the loops of the host, which are the specification.
 */
#ifndef SL_BENCH_CONTENDERS_HOST_REFERENCE_H
#define SL_BENCH_CONTENDERS_HOST_REFERENCE_H

#include "bench/contenders/contender.h"

enum sl_status sl_host_reference(const struct sl_recipe *recipe, struct sl_batch_result *r);

#endif
