/*
 * mcpl_join.h - merges the headers of several MCPL files of any program into one.
 *
 * The records of the files then follow the merged header unchanged. Headers can be merged under the
 * rules of the reference implementation (mcpl_merge_files of MCPL 2): they must be equal except for
 * the number of particles and the values of comments stat:sum:KEY:VALUE. These values are added; -1,
 * unknown, plus anything is -1.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_JOIN_H
#define SL_STAGES_FORMATS_MCPL_MCPL_JOIN_H

#include "stages/formats/mcpl/mcpl_stream.h"

/* Merges more into h, the first header. SL_BAD_INPUT if they differ; the message says in what. */
enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, const struct sl_mcpl_head *more);

/* After the last merge: writes the number of particles into h->bytes. */
void sl_mcpl_head_finish(struct sl_mcpl_head *h);

#endif
