/*
 * manifest.h - reads and writes manifest.jsonl: one line per committed batch, in batch order.
 *
 * A batch is done when its line is valid (its CRC matches) and its files have the sizes and
 * checksums of the line; the existence of a file is not enough. All numbers are integers, so sums
 * over lines do not depend on the order. Nothing in the manifest depends on time or machine: a
 * resumed run ends with the same bytes as an uninterrupted one.
 *
 * The folder results/ contains what is known after batches are done: manifest, statistics, sums of
 * histograms and images, and files of survivors read back. It takes no plan.
 */
#ifndef SL_PIPELINE_RESULTS_MANIFEST_H
#define SL_PIPELINE_RESULTS_MANIFEST_H

#include <stdbool.h>

#include "pipeline/results/manifest_line.h"
#include "primitives/files/dirs.h"

struct sl_manifest {
	struct sl_manifest_line *line; /* n lines by ascending batch number; each batch once */
	size_t n;
	size_t damaged; /* lines dropped: incomplete, with a wrong CRC, or repeated */
	bool in_order;  /* the file consists of exactly these lines in this order */
};

/*
 * Reads manifest.jsonl in d; a missing file gives an empty manifest. The caller frees m, also after
 * a failure.
 */
enum sl_status sl_manifest_read(const struct sl_dir *d, struct sl_manifest *m);
void sl_manifest_free(struct sl_manifest *m);

/* Appends one line to the file and flushes it to the disk. */
enum sl_status sl_manifest_append(const struct sl_dir *d, const struct sl_manifest_line *line);

/* Replaces the file by the lines of m atomically. */
enum sl_status sl_manifest_write(const struct sl_dir *d, const struct sl_manifest *m);

#endif
