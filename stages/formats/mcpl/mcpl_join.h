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

/* Joins more to h, the first. SL_BAD_INPUT when they do not agree, and in what. */
enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, const struct sl_mcpl_head *more);

/* Writes the number of particles into the bytes of h, once all are joined. */
void sl_mcpl_head_finish(struct sl_mcpl_head *h);

#endif
