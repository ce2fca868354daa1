/*
 * config.h - a configuration file becomes plain values.
 *
 * YAML, read with libyaml's document API against one table (options.c, and the model's own table).
 * All that is wrong is reported in one go, each problem as
 *
 *	file:line:column: key: what, why, try
 *
 * Values from --set stand above those of the file and are placed as "--set key=value".
 */
#ifndef SL_PIPELINE_CONFIG_CONFIG_H
#define SL_PIPELINE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"
#include "stages/models/model.h"
#include "stages/models/option.h"

/* Every option of every run, in units inside. The table in options.c has one line for each. */
struct sl_config {
	struct {
		char name[SL_TEXT_BYTES]; /* names the files: letters, digits, '.', '_', '-' */
		uint64_t seed;
		uint64_t particles;
		uint64_t batch;             /* particles a batch; 0: auto */
		uint64_t threads;           /* 0: one a core */
		char device[SL_TEXT_BYTES]; /* auto, cpu, cuda, cuda:N, emulated */
		uint64_t slots;             /* batches on the device at the same time; 0: auto */
		int mode;                   /* 0: auto; enum sl_mode + 1 */
		double stop_before;         /* ns; infinite: never */
		char tuning[SL_TEXT_BYTES]; /* auto, none or a file */
	} run;
	int model; /* enum sl_model_number; SL_MODEL_COUNT when none could be told */
	union {
		unsigned char
			bytes[SL_MODEL_CONFIG_BYTES]; /* the model's own configuration struct */
		double align;
	} of_model;
	struct {
		uint64_t max_steps;
		int schedule; /* enum sl_schedule_choice */
		uint64_t steps_per_launch;
		char compact[SL_TEXT_BYTES], sort[SL_TEXT_BYTES], finish[SL_TEXT_BYTES];
		struct sl_texts key;
	} transport;
	struct sl_lines keep;
	struct sl_texts key;
	struct sl_texts tallies;
	struct {
		/* auto, NAME or NAME:block=N:items=N; auto or NAME */
		char scan[SL_TEXT_BYTES], compact[SL_TEXT_BYTES], sort[SL_TEXT_BYTES];
		char deflate[SL_TEXT_BYTES];
	} primitives;
	struct {
		char to[SL_TEXT_BYTES];
		char format[SL_TEXT_BYTES];
		struct sl_texts columns;
		uint64_t level;
		bool joined;
		bool image;
		double white; /* NaN: the largest value of the image */
		struct {
			char precision[SL_TEXT_BYTES]; /* "": single */
			double pdg;                    /* NaN: 22 */
			double energy;                 /* keV; NaN: they have a column */
			char userflags[SL_TEXT_BYTES]; /* "": pixel or fate */
		} mcpl;
	} output;
	struct {
		char when[SL_TEXT_BYTES];
		uint64_t min_batches; /* 0: as many as the program chooses */
	} stop;
	struct {
		double fate[SL_FATE_COUNT]; /* expected fraction of all; NaN: not checked */
		double sigma;
	} check;
};

/* The table of what is common to all runs; a model's own is in sl_models[]. */
extern const struct sl_option sl_options[];
extern const size_t sl_n_options;

/* A configuration being read: knows where each value stands, and collects what is wrong. */
struct sl_reader;

/*
 * Parses path (and the n_sets texts "key=value" of --set) and fills *c, all defaults included.
 * Problems are collected; the call succeeds even so, as long as there was a YAML mapping to read.
 * *r is always made (unless there is no memory) and must be closed; the texts of --set must live as
 * long.
 *
 * A --set replaces what stands at its key, a later one an earlier one: run.seed=2 one value,
 * model={slab: {...}} the whole model. The value is YAML.
 */
enum sl_status sl_config_open(const char *path, const char *const *sets, size_t n_sets,
	struct sl_config *c, struct sl_reader **r);

/* The same from text in memory; name stands for the file in messages. */
enum sl_status sl_config_open_text(const char *name, const char *text, size_t bytes,
	const char *const *sets, size_t n_sets, struct sl_config *c, struct sl_reader **r);

/*
 * Was the key given, in the file or by --set? key is a full path ("model.slab.mu_a"); an item of a
 * list is "key[2]", from 0.
 */
bool sl_config_given(const struct sl_reader *r, const char *key);

/* Was the option given as something else than its default? */
bool sl_config_changed(const struct sl_reader *r, const char *key);

/* Adds a problem at the place of key (or of the nearest mapping around it, when it was not given).
 */
void sl_config_complain(struct sl_reader *r, const char *key, const char *format, ...)
	SL_PRINTF(3, 4);

/* The same of what stands offset bytes into the text that is the value, if that can be told. */
void sl_config_complain_within(
	struct sl_reader *r, const char *key, size_t offset, const char *text);

/* Has a problem been found at key, or below it? */
bool sl_config_flawed(const struct sl_reader *r, const char *key);

/*
 * How the chosen model sees the configuration, keys relative to model.NAME. A key that was given as
 * what it would be anyway counts as not given, so that --print-config reads back.
 */
struct sl_check sl_config_check(struct sl_reader *r);

/* How many problems so far; all of them in order of place, a line each. Valid until closed. */
size_t sl_config_problems(const struct sl_reader *r);
const char *sl_config_report(struct sl_reader *r);

/* SL_OK without problems; else SL_USAGE, with the report as the story (cut, if it is very long). */
enum sl_status sl_config_verdict(struct sl_reader *r);

void sl_config_close(struct sl_reader *r);

/*
 * Prints the effective configuration as YAML that reads back to the same values, one key a line
 * under its section, in the order of the tables. With free = false, leaves out options that do not
 * change a byte of the results. Returns the length, as snprintf does.
 */
size_t sl_config_print(const struct sl_config *c, bool free, char *text, size_t size);

/* The option of that full path, or NULL; *model is its model, or NULL for a common one. */
const struct sl_option *sl_option_find(const char *path, const struct sl_model **model);

/* The known key (or word of choices) nearest to what was written, or NULL when none is near. */
const char *sl_nearest(const char *written, const char *const *words, size_t n_words);

#endif
