/*
 * verify.h - checks a run on disk against its manifest and its configuration.
 *
 * Checks per batch: size and CRC-32 of the file; the digest of each column, recomputed from the
 * values that a reader gets; rows in key order, equal keys in id order; fate counts that sum to the
 * number of generated particles. If the file has ids, a sample of survivors is recomputed from
 * (seed, id) and compared bit for bit. If ids or key columns are missing, or the format rounds, the
 * first batch is recomputed as a whole and its digests are compared. For particles that are read
 * from files, every batch is recomputed. Then the files made from all batches follow
 * (verify_side_files.h).
 */
#ifndef SL_PIPELINE_VERIFY_VERIFY_H
#define SL_PIPELINE_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"

/*
 * Verifies the run in directory and prints the counts of checks to out, as JSON or, unless quiet,
 * as text. Stops at the first batch or file that is wrong: SL_CHECK_FAILED or SL_BAD_INPUT.
 */
enum sl_status sl_verify(const char *directory, bool json, bool quiet, FILE *out);

#endif
