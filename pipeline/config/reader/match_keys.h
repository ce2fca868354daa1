/*
 * match_keys.h - matches the keys of a source with the option tables.
 *
 * Known keys are recorded with their place in r->seen; an unknown key is a problem.
 */
#ifndef SL_PIPELINE_CONFIG_READER_MATCH_KEYS_H
#define SL_PIPELINE_CONFIG_READER_MATCH_KEYS_H

#include "pipeline/config/reader/reader.h"

/* Matches all keys of the file; root is the root mapping of its tree. */
void sl_reader_match_keys(struct sl_reader *r, sl_node root);

/* Matches --set number source, whose tree is the value of the key path. */
void sl_reader_match_set(struct sl_reader *r, size_t source, const char *path);

#endif
