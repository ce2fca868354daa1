/*
 * convert.h - files of particles become one file, of the same format or of another.
 *
 * An input is a file of any format, lists of particles of anybody's among them, or the directory of
 * a run: the files of its committed batches. Several are joined in the order given. Nothing is
 * overwritten, and what was made has its name only once it is whole.
 *
 *	lists to a list     records go by as they are; headers must agree (mcpl_join.h)
 *	tables to a list    records are packed input by input; what a record lacks is dropped
 *	all to a table      is made in memory, as such a file is
 */
#ifndef SL_PIPELINE_CONVERT_CONVERT_H
#define SL_PIPELINE_CONVERT_CONVERT_H

#include <stdio.h>

#include "pipeline/convert/context.h"

/* Does it, and tells out what was made and what could not be kept; out may be NULL. */
enum sl_status sl_convert(const struct sl_convert_job *job, FILE *out);

#endif
