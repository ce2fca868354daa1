/*
 * reference.h - keeps the results of the first case per batch, and compares other cases with them.
 *
 * For each batch it keeps the tally, the checksum of the histograms, the number of survivors and
 * their digests. If a batch differs, the reference batch is computed again to find the first
 * difference.
 */
#ifndef SL_PIPELINE_COMPARE_CASES_REFERENCE_H
#define SL_PIPELINE_COMPARE_CASES_REFERENCE_H

#include "pipeline/compare/cases/cases.h"

struct sl_reference {
	struct sl_plan *plan;          /* of the first case, for one batch at a time */
	struct sl_workspace *w;        /* of plan */
	struct sl_recipe recipe;       /* of the plan, but with all batches of the comparison */
	struct sl_manifest_line *line; /* one per batch */
	bool recorded;                 /* the lines are set */
};

/* Plans the first case and allocates the lines. Call sl_reference_close(), also after a failure. */
enum sl_status sl_reference_open(const struct sl_comparison *c, struct sl_reference *r);
void sl_reference_close(struct sl_reference *r);

/*
 * First case: records the batch as reference. Later cases: compares the batch, and on a difference
 * sets the case's answer, status and message. Only the first difference of a case is described.
 */
void sl_reference_check(
	struct sl_reference *r, struct sl_comparison_case *entry, const struct sl_batch *b);

#endif
