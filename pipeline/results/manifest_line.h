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
	uint32_t columns;                 /* set of columns that the file holds */
	uint64_t digest[SL_COLUMN_COUNT]; /* of those */
	char file[SL_FILE_NAME_BYTES];
	char bins_file[SL_FILE_NAME_BYTES]; /* with tallies by bins; "" when there are none */
	uint64_t file_bytes, bins_bytes;
	uint32_t file_crc, bins_crc;
};

/* The line as text, newline included; returns its length. It always fits. */
size_t sl_manifest_print(const struct sl_manifest_line *line, char text[SL_MANIFEST_LINE_BYTES]);

/* Reads one line (bytes without newline). SL_BAD_INPUT with the reason when it is not a valid one.
 */
enum sl_status sl_manifest_parse(const char *text, size_t bytes, struct sl_manifest_line *line);

#endif
