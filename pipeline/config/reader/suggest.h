/*
 * suggest.h - suggests what an unknown key or model may have meant.
 */
#ifndef SL_PIPELINE_CONFIG_READER_SUGGEST_H
#define SL_PIPELINE_CONFIG_READER_SUGGEST_H

#include "pipeline/config/reader/reader.h"

/* Writes the message about the unknown key path. */
void sl_suggest_key(const struct sl_reader *r, const char *path, char text[SL_PROBLEM_BYTES]);

/* Has an unknown key got the suggestion path? Then path is not reported as missing as well. */
bool sl_suggest_covers(const struct sl_reader *r, const char *path);

/* The name of a model nearest to written, or all names, written to text. */
const char *sl_suggest_model(const char *written, char *text, size_t size);

#endif
