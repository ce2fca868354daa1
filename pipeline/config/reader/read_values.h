/*
 * read_values.h - reads the values of all options, each from the source that gave it last.
 */
#ifndef SL_PIPELINE_CONFIG_READER_READ_VALUES_H
#define SL_PIPELINE_CONFIG_READER_READ_VALUES_H

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"

/*
 * Fills *c, defaults included, and adds a problem for each wrong value and each required option that
 * is missing. Call it after the keys of all sources are matched.
 */
enum sl_status sl_reader_read_values(struct sl_reader *r, struct sl_config *c);

#endif
