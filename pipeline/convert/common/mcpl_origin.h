/*
 * mcpl_origin.h - gives the headers of merged runs the same comment on their origin.
 *
 * A header of this program differs from run to run in two strings: the comment with name and seed,
 * and the blob with the configuration.
 */
#ifndef SL_PIPELINE_CONVERT_COMMON_MCPL_ORIGIN_H
#define SL_PIPELINE_CONVERT_COMMON_MCPL_ORIGIN_H

#include "stages/formats/mcpl/mcpl_head.h"

SL_C_BEGIN

/*
 * Gives headers of several runs of this program the same origin, so that they can be merged:
 * replaces the comment on the run by one with the text merged (struct sl_file_facts), and the
 * content of the blob with the configuration by that of first, unless first is NULL. Other
 * programs' headers stay as they are.
 */
enum sl_status sl_mcpl_head_set_origin(
	struct sl_mcpl_head *h, const char *merged, const struct sl_mcpl_head *first);

SL_C_END

#endif
