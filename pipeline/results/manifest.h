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

#include <stdbool.h>

#include "pipeline/results/manifest_line.h"
#include "primitives/files/dirs.h"

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
