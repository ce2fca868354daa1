/*
 * sweep.h - runs every backend of a memory space over all sizes and variants of its case, except
 * those that sampling.h omits.
 */
#ifndef SL_TESTS_CASES_SWEEP_H
#define SL_TESTS_CASES_SWEEP_H

#include "case.h"
#include "sampling.h"

/*
 * Runs b with all sizes and variants at this tuning: twice with different poison in scratch and
 * outputs, and once with one byte of scratch too little. Adds the number of variants to *trials.
 * Stops at the first wrong answer with SL_CHECK_FAILED; the message names the variant.
 */
enum sl_status sl_sweep_backend(
	const struct sl_backend *b, struct sl_tuning tuning, uint64_t *trials);

/*
 * The same with the smallest tiles of b: sizes near one tile, and so many tiles that a tile must
 * forward sums which it read from its predecessors.
 */
enum sl_status sl_sweep_tiles(const struct sl_backend *b, uint64_t *trials);

/* Sweeps the device backends of p with representative tunings. Adds to *trials. */
enum sl_status sl_sweep_tunings(enum sl_primitive p, uint64_t *trials);

/* Sweeps all backends of space that have a case. SL_CHECK_FAILED if there is none. */
enum sl_status sl_sweep_space(enum sl_space space, uint64_t *trials);

#endif
