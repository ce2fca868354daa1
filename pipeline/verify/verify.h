/*
 * verify.h - a run on disk is held against its manifest, its configuration and itself.
 *
 * Per batch: the file's size and CRC-32; the digest of each column, computed anew from what a
 * reader gets; rows in key order with ties in id order; fates that close. Where the ids are among
 * the columns, a sample of survivors is remade from (seed, id) and compared bit for bit and by key;
 * where ids or columns of the key are not, the first batch is computed anew and its digests
 * compared; and, of a format that rounds, what its file has of them. Then what is made of all
 * batches (verify_side_files.h).
 */
#ifndef SL_PIPELINE_VERIFY_VERIFY_H
#define SL_PIPELINE_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stdio.h>

#include "primitives/base/status.h"

/* SL_CHECK_FAILED or SL_BAD_INPUT at the first batch that is not what it should be. */
enum sl_status sl_verify(const char *directory, bool json, bool quiet, FILE *out);

#endif
