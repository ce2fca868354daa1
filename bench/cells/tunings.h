/* tunings.h - the tunings (block, items and padding) with which a backend is measured. */
#ifndef SL_BENCH_CELLS_TUNINGS_H
#define SL_BENCH_CELLS_TUNINGS_H

#include "bench/measure/options.h"

/*
 * Calls each for one tuning after another until it fails: for the default of the backend (a tuning
 * of zeros), for the block, items and padding of the options, or with --tunings for all that are
 * possible.
 */
typedef enum sl_status sl_each_tuning(void *ctx, struct sl_tuning tuning);
enum sl_status sl_tunings_each(const struct sl_backend *backend, enum sl_type type,
	const struct sl_bench_options *options, sl_each_tuning *each, void *ctx);

#endif
