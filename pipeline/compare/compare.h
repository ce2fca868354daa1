/*
 * compare.h - one configuration through every backend: equal answers, and times.
 *
 * A row is a choice of backends. The host's own come first and are the reference; then, on the
 * device, staged, all of one name together, and each primitive varied by itself; last, fused, every
 * sort. Where particles take many steps, the schedules of rounds follow, on the host and on the
 * device: no compaction, one a round, one when half are dead, and sorts. Every batch of every row
 * must have the tally, the survivors and the digests of the reference.
 *
 * A row runs the whole configuration without compressing and writing, and once more with both, into
 * a folder beside the output that is removed; then its first batch alone, again and again, for the
 * times of the stages. What is timed is run once before, so that nothing is paid for the first
 * time, and then until it has been timed often enough.
 *
 * stop.when is left out: rows are to do the same work, and a batch that is dropped while others are
 * timed would be in their times.
 *
 * A row that fails is told, and the others are run: it may be the only one that needs so much
 * memory. Only what would end all of them ends the comparison: the reference fails, the disk, a
 * signal.
 */
#ifndef SL_PIPELINE_COMPARE_COMPARE_H
#define SL_PIPELINE_COMPARE_COMPARE_H

#include "pipeline/compare/comparison.h"

/*
 * Plans the comparison of a resolved configuration: of all its particles, or on the emulated device
 * of the first SL_EMULATED_PARTICLES. To be freed even after a failure.
 */
enum sl_status sl_compare_plan(const struct sl_config *config, const struct sl_choices *choices,
	bool all, struct sl_comparison *c);
void sl_compare_free(struct sl_comparison *c);

/* Tells that a row begins. */
typedef void sl_case_begins(const struct sl_comparison *c, size_t row);

/*
 * Runs all rows of c. Of *control, stop and patience are the caller's. SL_CHECK_FAILED if any row
 * differs, else how the first that failed did, else SL_OK. c->ended tells whether all were tried.
 */
enum sl_status sl_compare(
	struct sl_comparison *c, struct sl_control *control, sl_case_begins *begins);

#endif
