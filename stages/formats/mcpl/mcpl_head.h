/*
 * mcpl_head.h - reads whole headers of MCPL files of any program, and merges several into one.
 *
 * A header is copied once; everything else works on that copy. The records of the files then follow
 * the merged header unchanged. Headers can be merged under the rules of the reference
 * implementation (mcpl_merge_files of MCPL 2): they must be equal except for the number of
 * particles and the values of comments stat:sum:KEY:VALUE. These values are added; -1, unknown,
 * plus anything is -1.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_HEAD_H
#define SL_STAGES_FORMATS_MCPL_MCPL_HEAD_H

#include "stages/formats/common/format.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* A header with all of its strings. */
struct sl_mcpl_head {
	struct sl_mcpl_header fixed; /* particles: of all files that were joined */
	uint8_t *bytes;              /* as in a file, except the number of particles; owned */
	size_t size;
};

/*
 * Reads the whole header of a file in memory to a block that it allocates, at most twice the size
 * of the header; *recovered as in struct sl_mcpl_stream. Statistics of a recovered file become -1,
 * unknown. Two statistics with the same key are SL_BAD_INPUT, as in the reference implementation.
 * After SL_OK, call sl_mcpl_head_free().
 */
enum sl_status sl_mcpl_head_read(
	const void *file, size_t bytes, struct sl_mcpl_head *h, bool *recovered);
void sl_mcpl_head_free(struct sl_mcpl_head *h);

/* Reads the header and frees it: SL_OK if sl_mcpl_head_read() accepts it. */
enum sl_status sl_mcpl_head_check(const void *file, size_t bytes);

/*
 * Merges more into h, which is zeros before the first header, and takes over its memory.
 * SL_BAD_INPUT if they differ; the message says in what. merged: they are of several runs of this
 * program, whose comments on the run and configurations differ; those of the first header stay.
 */
enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, struct sl_mcpl_head *more, bool merged);

/* After the last merge: writes h->fixed into h->bytes. */
void sl_mcpl_head_finish(struct sl_mcpl_head *h);

#endif
