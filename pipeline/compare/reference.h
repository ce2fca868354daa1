/*
 * reference.h - what the first row gave, batch by batch, and whether another row gave the same.
 *
 * Kept of a batch are its tally, the checksum of its tallies by bins, the number of its survivors
 * and their digests. When a batch is not the same, the reference makes it anew, and the first place
 * where the two differ is told.
 */
#ifndef SL_PIPELINE_COMPARE_REFERENCE_H
#define SL_PIPELINE_COMPARE_REFERENCE_H

#include "pipeline/compare/comparison.h"

struct sl_reference {
	struct sl_plan *plan;          /* of the first row, for a batch at a time */
	struct sl_workspace *w;        /* of plan */
	struct sl_recipe recipe;       /* the plan's, for all batches of the comparison */
	struct sl_manifest_line *line; /* n_batches */
	bool knows;                    /* the lines are set */
};

/* Gets its memory. To be closed even after a failure. */
enum sl_status sl_reference_open(const struct sl_comparison *c, struct sl_reference *r);
void sl_reference_close(struct sl_reference *r);

/* Looks at a batch of row: learns it, or sets the answer and story of a row that differs. */
void sl_reference_check(
	struct sl_reference *r, struct sl_comparison_case *row, const struct sl_batch *b);

#endif
