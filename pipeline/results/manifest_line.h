/*
 * manifest_line.h - one line of manifest.jsonl: the record of a committed batch.
 */
#ifndef SL_PIPELINE_RESULTS_MANIFEST_LINE_H
#define SL_PIPELINE_RESULTS_MANIFEST_LINE_H

#include "primitives/base/status.h"
#include "stages/batch/batch.h"

enum { SL_FILE_NAME_BYTES = 256, SL_MANIFEST_LINE_BYTES = 8192 };

struct sl_manifest_line {
	uint64_t batch, first_id, generated, survivors;
	struct sl_tally tally;
	sl_column_set columns; /* set of columns in the file, or that are digested */
	struct sl_column_label
		label[SL_NAMED_COLUMNS_MAX]; /* names of those; units are not stored */
	uint64_t digest[SL_COLUMN_COUNT];    /* of each of these columns */
	char file[SL_FILE_NAME_BYTES];       /* survivors; "" if the run writes none */
	char bins_file[SL_FILE_NAME_BYTES];  /* histograms; "" if the run has none */
	char order_file[SL_FILE_NAME_BYTES]; /* sort keys; "" if the run does not need them */
	uint64_t file_bytes, bins_bytes, order_bytes;
	uint32_t file_crc, bins_crc, order_crc;
};

/* Prints the line with its newline; returns the length. SL_MANIFEST_LINE_BYTES always suffice. */
size_t sl_manifest_print(const struct sl_manifest_line *line, char text[SL_MANIFEST_LINE_BYTES]);

/* Reads a line of bytes without its newline. SL_BAD_INPUT when the line is not valid. */
enum sl_status sl_manifest_parse(const char *text, size_t bytes, struct sl_manifest_line *line);

#endif
