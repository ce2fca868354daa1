/* info_mcpl.h - what an MCPL file contains. */
#ifndef SL_PIPELINE_INFO_INFO_MCPL_H
#define SL_PIPELINE_INFO_INFO_MCPL_H

#include <stdint.h>

#include "pipeline/text/json.h"
#include "primitives/base/status.h"

/*
 * Writes the header, comments, sizes of blobs, the first head particles, statistics and a table by
 * particle type of any MCPL file, plain or in gzip, in the units of the configuration.
 * SL_BAD_INPUT if the file is damaged; what precedes the damage is then written.
 */
enum sl_status sl_info_mcpl(const char *path, uint64_t head, struct sl_json *j);

/*
 * The same for a list of another format (stages/formats/phase_space), for which
 * sl_phase_space_names_foreign() is true.
 */
enum sl_status sl_info_phase_space(const char *path, uint64_t head, struct sl_json *j);

#endif
