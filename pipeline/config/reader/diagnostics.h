/*
 * diagnostics.h - collects the problems of a configuration and reports them in order of place.
 *
 * A key is a full path such as "model.slab.mu_a"; "key[2]" is item 2 of a list, counted from 0.
 */
#ifndef SL_PIPELINE_CONFIG_READER_DIAGNOSTICS_H
#define SL_PIPELINE_CONFIG_READER_DIAGNOSTICS_H

#include "pipeline/config/reader/reader.h"
#include "stages/models/model.h"

/* Does key, or a key below it, have a problem? */
bool sl_config_has_problem(const struct sl_reader *r, const char *key);

/*
 * Adds a problem at the place of key, or of the nearest section around it when it was not given. Always
 * returns false, for: return sl_config_add_problem(r, key, ...).
 */
bool sl_config_add_problem(struct sl_reader *r, const char *key, const char *format, ...)
	SL_PRINTF(3, 4);

/*
 * Adds that key has no effect, for the reason why, if it was given with a value other than its default
 * and has no other problem. advice: what to do.
 */
void sl_config_refuse_unused(
	struct sl_reader *r, const char *key, const char *why, const char *advice);

/* Adds a problem at byte offset of the value of key, if the column can be computed. */
void sl_config_add_problem_within(
	struct sl_reader *r, const char *key, size_t offset, const char *text);

/* Adds a problem at a place. A second problem of a key is dropped: it follows from the first. */
void sl_reader_add(struct sl_reader *r, struct sl_place at, const char *key, const char *text);

/* The record of a key that was found, or NULL. */
struct sl_seen *sl_reader_seen(const struct sl_reader *r, const char *path);

/* Forgets keys and problems at and below key, because another source replaces them. */
void sl_reader_forget(struct sl_reader *r, const char *key);

/* Is path equal to key or below it? "run.seed" is below "run", "keep[1]" is below "keep". */
bool sl_key_below(const char *path, const char *key);

/* Number of problems. */
size_t sl_config_problems(const struct sl_reader *r);

/* All problems in order of place, one per line. The text belongs to r. */
const char *sl_config_report(struct sl_reader *r);

/* SL_OK without problems; else SL_USAGE with the report as last error (cut if it is very long). */
enum sl_status sl_config_verdict(struct sl_reader *r);

/*
 * The access of the chosen model to the reader, with keys relative to model.NAME. A key with its
 * default value counts as not given, so that the output of --print-config is accepted.
 */
struct sl_model_check sl_config_check(struct sl_reader *r);

#endif
