/*
 * read_config.h - reads a configuration: YAML text and --set options become struct sl_config.
 *
 * All problems are reported at once, one per line, as
 *
 * 	file:line:column: key: what is wrong (why), what to do
 *
 * A value of --set replaces the value of the file; its problems are placed at "--set key=value".
 */
#ifndef SL_PIPELINE_CONFIG_READER_READ_CONFIG_H
#define SL_PIPELINE_CONFIG_READER_READ_CONFIG_H

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"

/*
 * Reads the file path and the n_sets texts "key=value" of --set, and fills *c including all defaults.
 *
 * Problems are collected in *r: the call returns SL_OK even then, provided that the file contains a
 * YAML mapping; call sl_config_verdict() for the result. *r is made except when memory is short, and
 * the caller frees it by sl_config_close(). The texts of --set must live as long as *r.
 *
 * A --set replaces everything at its key, a later --set an earlier one: run.seed=2 replaces one
 * value, model={slab: {...}} the whole model. The value is YAML.
 */
enum sl_status sl_config_open(const char *path, const char *const *sets, size_t n_sets,
	struct sl_config *c, struct sl_reader **r);

/* The same for text in memory; name stands for the file in messages. */
enum sl_status sl_config_open_text(const char *name, const char *text, size_t bytes,
	const char *const *sets, size_t n_sets, struct sl_config *c, struct sl_reader **r);

/* Frees the reader; NULL is allowed. */
void sl_config_close(struct sl_reader *r);

#endif
