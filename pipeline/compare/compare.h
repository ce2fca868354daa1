/*
 * compare.h - runs one configuration with every backend, checks that results agree, and times it.
 *
 * Input: a resolved configuration. Output: struct sl_comparison. cases/ chooses and
 * plans the single cases, and checks their batches.
 *
 * A case is a choice of backends and of a schedule. The host backends come first; the first case
 * (cpu, cpu, cpu) is the reference. On the device follow, in staged mode, all backends of one name
 * together and each primitive varied alone, and in fused mode every sort. For models with several
 * steps, host and device also run the schedules of rounds: no compaction, compaction every round,
 * compaction when half of the particles are dead, and sorting every fourth round. Every batch of
 * every case must have the fate counts, histograms, survivors and digests of the reference.
 *
 * Each case runs the whole configuration and writes nothing. sluice-bench measures stages and
 * backends.
 *
 * stop.when is ignored: all cases must do the same work.
 *
 * A case that fails is recorded and the next case runs: it may be the only one that needs that much
 * memory. A failure of the reference or a signal ends the comparison.
 */
#ifndef SL_PIPELINE_COMPARE_COMPARE_H
#define SL_PIPELINE_COMPARE_COMPARE_H

#include "pipeline/compare/cases/cases.h"
#include "pipeline/print/result.h"

/*
 * If run.device is auto and no GPU can be used, sets run.device to emulated and reason to the error
 * of the GPU; else reason to "".
 */
void sl_compare_choose_device(struct sl_config *config, char reason[SL_MESSAGE_BYTES]);

/*
 * Plans the comparison of a resolved configuration. On the emulated device it takes at most the
 * first SL_EMULATED_PARTICLES particles unless all is true. SL_USAGE if primitives.deflate names a
 * device backend. The caller frees c->plan by sl_plan_free(), also after
 * a failure.
 */
enum sl_status sl_compare_plan(const struct sl_config *config, const struct sl_choices *choices,
	bool all, struct sl_comparison *c);

/* Called before case `number` (from 0) runs, for progress output. */
typedef void sl_case_begins(const struct sl_comparison *c, size_t number);

/*
 * Runs all cases of c. The caller sets stop and cancel_after in *control; the other members are set
 * here. begins may be NULL. Returns SL_CHECK_FAILED if a case differs, else the status of the first
 * case that failed, else SL_OK. c->ended is true if every case was tried: results can be printed.
 */
enum sl_status sl_compare(
	struct sl_comparison *c, struct sl_control *control, sl_case_begins *begins);

extern const struct sl_line sl_compare_text[], sl_compare_csv[];

/* lines: one of these lists; NULL: JSON. */
enum sl_status sl_compare_print(
	const struct sl_comparison *c, const struct sl_line *lines, FILE *out);

#endif
