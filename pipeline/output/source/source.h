/* source.h - records of batch files in order */
#ifndef SL_PIPELINE_OUTPUT_SOURCE_SOURCE_H
#define SL_PIPELINE_OUTPUT_SOURCE_SOURCE_H

#include "pipeline/plan/plan.h"
#include "pipeline/results/results.h"
#include "primitives/base/record_copy.h"
#include "primitives/files/files.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* --- checked_file ----------------------------------------------------------------------------- */

/*
 * A file of a batch, mapped and read once, whose size and CRC-32 must be those of
 * the manifest.
 *
 * The checksum is computed while the file is read, from the pages that are in memory then. A file
 * that is larger than the memory is thus read from the disk once.
 */

struct sl_checked_file {
	struct sl_map map;
	const struct sl_dir *dir;
	const char *name;
	size_t done;  /* bytes whose checksum is in crc */
	uint32_t crc; /* of these bytes */
	uint32_t expected;
};

/* Maps a file of dir; both must stay valid. SL_CHECK_FAILED if it has another size. */
enum sl_status sl_checked_file_open(
	struct sl_checked_file *f, const struct sl_dir *dir, const struct sl_committed_file *file);

/* The bytes before offset at have been read. */
void sl_checked_file_advance(struct sl_checked_file *f, size_t at);

/*
 * Reads the rest of the file. SL_CHECK_FAILED if the checksum of the whole file is not the expected
 * one.
 */
enum sl_status sl_checked_file_end(struct sl_checked_file *f);

/* Unmaps the file; does nothing if it is not open. */
void sl_checked_file_close(struct sl_checked_file *f);

/* --- row_layout ------------------------------------------------------------------------------- */

/*
 * A survivor of a format of columns as one record: a row.
 *
 * A row has the columns of the file that are not the same for the whole run, one after another.
 */

struct sl_row_item {
	enum sl_column column;
	uint32_t bytes, at; /* of the value; its offset in a row */
};

struct sl_row_layout {
	uint32_t bytes;     /* at least 1 */
	uint32_t weight_at; /* offset of the weight; SL_NO_WEIGHT: none */
	uint32_t n;
	struct sl_row_item item[SL_COLUMN_COUNT];
};

/* All values of a row, if none is constant. */
enum { SL_ROW_MOST = SL_COLUMN_COUNT * sizeof(uint64_t) };

/* The layout of the rows of a plan. */
void sl_row_layout_make(const struct sl_plan *plan, struct sl_row_layout *l);

/* Where the values of each item are in a table. */
struct sl_row_columns {
	const uint8_t *data[SL_COLUMN_COUNT];
	uint32_t step[SL_COLUMN_COUNT]; /* bytes from a row to the next; 0: constant */
};

/* False if the table lacks a column. */
bool sl_row_columns_find(
	const struct sl_row_layout *l, const struct sl_table *t, struct sl_row_columns *c);

/* Copies row i of the table to `to`. */
void sl_row_put(
	const struct sl_row_layout *l, const struct sl_row_columns *c, uint64_t i, uint8_t *to);

/*
 * Copies n rows, one after another, whose layout is that of the columns of t that are not constant,
 * to its rows from number first on.
 */
void sl_row_get(const struct sl_row_layout *l, const uint8_t *rows, uint32_t first, uint32_t n,
	const struct sl_table *t);

/* --- record_source ---------------------------------------------------------------------------- */

/*
 * The selected records of the file of a batch, one after another, with their
 * keys.
 *
 * A record of a sample gets the weight that it counts with. Where the header states the weight of
 * all particles, it does so for the sample too, and records have no weight.
 *
 * In a format of records, they are those of the batch's list. In a format of columns they are rows
 * (row_layout.c), and the survivors of the batch are in memory while it is read.
 */

/* Which records are selected, and how they are changed: the same for all files of a run. */
struct sl_selection {
	struct sl_order_items items; /* of order files */
	bool sampled;                /* only records with a priority above the threshold */
	double threshold;
	uint64_t kept;                    /* records that are selected in all batches */
	uint32_t record_bytes;            /* of a record, or of a row */
	struct sl_mcpl_header layout;     /* of the records of a list */
	const struct sl_row_layout *rows; /* NULL: the format is one of records */
	uint32_t weight_at;               /* offset of its weight; SL_NO_WEIGHT: it has none */
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
