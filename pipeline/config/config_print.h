/*
 * config_print.h - prints the effective configuration as YAML.
 */
#ifndef SL_PIPELINE_CONFIG_CONFIG_PRINT_H
#define SL_PIPELINE_CONFIG_CONFIG_PRINT_H

#include "pipeline/config/config.h"

/*
 * Prints *c as YAML that reads back to the same bits: one key per line under its section, in the
 * order of the option tables. free: include the options that change no byte of the results. Returns
 * the length without the final NUL, as snprintf does, also when size is too small.
 */
size_t sl_config_print(const struct sl_config *c, bool free, char *text, size_t size);

/*
 * The line of run.particles in a printed configuration, and its bytes with the newline; NULL and 0
 * if there is none. Batches do not depend on the number of particles of the run, except for the
 * last, smaller one: files of batches leave the line out, so that a run can be extended.
 */
const char *sl_config_particles_line(const char *text, size_t *bytes);

#endif
