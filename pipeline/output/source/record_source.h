/*
 * record_source.h - the selected records of the file of a batch, one after another, with their
 * keys.
 *
 * A record of a sample gets the weight that it counts with. Where the header states the weight of
 * all particles, it does so for the sample too, and records have no weight.
 *
 * In a format of records, they are those of the batch's list. In a format of columns they are rows
 * (row_layout.h), and the survivors of the batch are in memory while it is read.
 */
#ifndef SL_PIPELINE_OUTPUT_SOURCE_RECORD_SOURCE_H
#define SL_PIPELINE_OUTPUT_SOURCE_RECORD_SOURCE_H

#include "pipeline/output/source/checked_file.h"
#include "pipeline/output/source/row_layout.h"
#include "pipeline/plan/plan.h"
#include "pipeline/results/manifest.h"
#include "pipeline/results/survivor_file.h"
#include "primitives/base/record_copy.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* Which records are selected, and how they are changed: the same for all files of a run. */
struct sl_selection {
	struct sl_order_items items; /* of order files */
	bool sampled;                /* only records with a priority above the threshold */
	double threshold;
	uint64_t kept;                    /* records that are selected in all batches */
	uint32_t record_bytes;            /* of a record, or of a row */
	struct sl_mcpl_header layout;     /* of the records of a list */
	const struct sl_row_layout *rows; /* NULL: the format is one of records */
	uint32_t weight_at;               /* offset of the weight in a row; SL_NO_WEIGHT: none */
};

#define SL_NO_WEIGHT UINT32_MAX

_Static_assert((int)SL_MCPL_RECORD_MOST <= (int)SL_ROW_MOST, "a record fits where a row does");

struct sl_record_source {
	const struct sl_selection *selection;
	uint64_t left;         /* records that were not read yet */
	uint64_t key;          /* of the record at hand; 0 without a key */
	const uint8_t *record; /* NULL: none */
	struct sl_checked_file list, order;
	const uint8_t *next;          /* record of a list */
	bool is_list;                 /* the batch is a list; else a table */
	struct sl_mcpl_stream stream; /* of the list */
	struct sl_survivors table;
	struct sl_row_columns columns; /* of the table */
	uint64_t row;                  /* the next one */
	const uint8_t *item;           /* the next one in the order file */
	size_t at_hand;                /* records from next on */
	uint8_t changed[SL_ROW_MOST];  /* a row, or a record whose weight was changed */
};

/*
 * Opens the source of a batch. selection and line must stay valid. The caller calls
 * sl_record_source_close() in any case.
 */
enum sl_status sl_record_source_open(struct sl_record_source *s, const struct sl_dir *dir,
	const struct sl_manifest_line *line, const struct sl_selection *selection);

/*
 * Moves to the next selected record; *more is false after the last one. Then the files of a whole
 * batch have been compared with the manifest: SL_CHECK_FAILED if they differ. A record is valid
 * until the next call.
 */
enum sl_status sl_record_source_next(struct sl_record_source *s, bool *more);

void sl_record_source_close(struct sl_record_source *s);

/* The weight with which a particle of the sample counts; its own weight without a sample. */
double sl_selection_weight(const struct sl_selection *s, double weight);

#endif
