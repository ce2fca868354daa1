/*
 * manifest.h - manifest.jsonl: a line per committed batch, in batch order.
 *
 * A batch is done when its line is valid (its own CRC is right) and its files have the stated sizes
 * and checksums; not when a file exists. All numbers are integers, so lines of several processes
 * can be merged and sums do not depend on order. Nothing in it depends on time or machine: a
 * resumed run ends with the same bytes as an unbroken one.
 */
#ifndef SL_PIPELINE_RESULTS_MANIFEST_H
#define SL_PIPELINE_RESULTS_MANIFEST_H

#include "primitives/base/files.h"
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

struct sl_manifest {
	struct sl_manifest_line *line; /* n, by ascending batch number; each batch once */
	size_t n;
	size_t damaged; /* lines dropped: torn, of a wrong CRC, or repeated */
	bool in_order;  /* the file holds just these lines, in this order */
};

/* Reads DIR/manifest.jsonl; no file is an empty manifest. To be freed in any case. */
enum sl_status sl_manifest_read(const struct sl_dir *d, struct sl_manifest *m);
void sl_manifest_free(struct sl_manifest *m);

/* Appends one line to the file, durably. */
enum sl_status sl_manifest_append(const struct sl_dir *d, const struct sl_manifest_line *line);

/* Replaces the file by the lines of m, whole. */
enum sl_status sl_manifest_write(const struct sl_dir *d, const struct sl_manifest *m);

#endif
