/*
 * mcpl_join.h - lists of particles of anybody's are joined: of headers that agree one is made, and
 * records follow as they are.
 *
 * Headers agree as the reference implementation has it (mcpl_merge_files of MCPL 2): they are the
 * same but for the number of particles and the values of comments stat:sum:KEY:VALUE, which add up,
 * -1 (not known) and anything being -1; those of a file whose writer died are not known. Files of
 * other versions are not joined.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_JOIN_H
#define SL_STAGES_FORMATS_MCPL_MCPL_JOIN_H

#include "stages/formats/mcpl/mcpl_stream.h"

/* A header with all of its strings. */
struct sl_mcpl_head {
	struct sl_mcpl_header fixed; /* particles: of all files that were joined */
	uint8_t *bytes;              /* as it stands in a file, but for that number */
	size_t size;
};

/*
 * Reads the header of a file that is in memory, whole, in memory of its own; *recovered as the
 * stream has it. To be freed after success.
 */
enum sl_status sl_mcpl_head_read(
	const void *file, size_t bytes, struct sl_mcpl_head *h, bool *recovered);
void sl_mcpl_head_free(struct sl_mcpl_head *h);

/* Goes over the header of a stream just opened, to its first particle. */
enum sl_status sl_mcpl_skip_head(struct sl_mcpl_stream *s);

/* Joins more to h, the first. SL_BAD_INPUT when they do not agree, and in what. */
enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, const struct sl_mcpl_head *more);

/* Writes the number of particles into the bytes of h, once all are joined. */
void sl_mcpl_head_finish(struct sl_mcpl_head *h);

/*
 * Writes the header of a list put together of several tables of the columns of t: that of a table,
 * but for the number of particles, which may be more than a table has. Returns its bytes; at NULL:
 * measures. weight, batch: as sl_mcpl_put_header().
 */
size_t sl_mcpl_put_list(uint8_t *at, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, uint64_t particles, const struct sl_batch_facts *batch);

#endif
