/*
 * order_file.h - the order file of a batch, NAME_000012.order: what the joined file of the run is
 * sorted and sampled by, for each survivor in the order of the batch's file.
 *
 *	key         packed sort key (stages/selection/key.h)
 *	priority    bits of a double: |weight| / u, with a uniform number u of the particle
 *
 * Each has 8 bytes, least significant byte first; struct sl_order_items tells which of them there
 * are. The survivors of an MCPL file do not give their keys: records have energies and times in
 * other units, and packed directions. A batch has the ids that follow those of the batch before it,
 * so keys and batch numbers are enough to sort equal keys by id.
 *
 * Priorities are those of priority sampling (Duffield, Lund and Thorup, Priority sampling for
 * estimation of arbitrary subset sums, J. ACM 54 (2007) 32): the particles of the N largest
 * priorities are the sample, and each counts with the weight max(|weight|, threshold), where the
 * threshold is the next largest priority. The expectation of every sum of weights is then that of
 * all particles. u is a pure function of (seed, id), and a quotient of doubles has the same bits on
 * each machine.
 */
#ifndef SL_PIPELINE_BATCH_FILE_ORDER_FILE_H
#define SL_PIPELINE_BATCH_FILE_ORDER_FILE_H

#include "pipeline/plan/plan.h"
#include "primitives/files/files.h"

/*
 * Appends the order file of the batch, whose table is written, to w, and sets its size and CRC-32.
 * With w = NULL nothing is written.
 */
enum sl_status sl_order_file_put(const struct sl_plan *plan, const struct sl_batch *b,
	struct sl_file_writer *w, uint64_t *bytes, uint32_t *crc);

/* The priority of a particle, and 0 for a weight that is 0 or NaN. */
double sl_sample_priority(uint64_t seed, uint64_t id, float weight);

#endif
