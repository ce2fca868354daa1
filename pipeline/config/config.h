/*
 * config.h - the values of a configuration: one member per option, in internal units.
 *
 * Folder pipeline/config: the option table (options.c), parsing and printing of single values
 * (quantity.c, values.c) and of the whole configuration (config_print.c). The folder reader/ reads
 * a file and --set options into struct sl_config. Names are not resolved here: see
 * pipeline/resolve.
 */
#ifndef SL_PIPELINE_CONFIG_CONFIG_H
#define SL_PIPELINE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/text/text.h"
#include "primitives/base/hd.h"
#include "primitives/base/status.h"
#include "stages/models/model.h"
#include "stages/models/option.h"
#include "stages/particle/units.h"

/* --- quantity --------------------------------------------------------------------------------- */

/*
 * Parses counts, quantities with a unit, and fractions.
 *
 * A text is read as a whole or refused: "1e6" is a million or an error, never 1 with a rest.
 * Nothing depends on the locale. On failure the functions return false, and sl_last_error() says
 * why.
 */

/* Bytes for a message about a value. */
enum { SL_WHY_BYTES = 512 };

/* Sets sl_last_error(). Always returns false, for: return sl_refuse("...", ...). */
bool sl_refuse(const char *format, ...) SL_PRINTF(1, 2);

/* The name here of a unit that other programs write as word; NULL if there is none. */
const char *sl_unit_elsewhere(const char *word);

/* A number with a unit of the dimension; *value is in the internal unit of the dimension. */
bool sl_real_parse(const char *text, enum sl_dimension dimension, double *value);

/*
 * Converts a scanned number in a power of a unit, such as 3 cm^2, to the internal units; shown is
 * its text in messages.
 */
bool sl_real_convert(const struct sl_decimal *n, const char *shown,
	const struct sl_unit_facts *unit, int power, double *value);

/* A fraction: 0.007, or 0.7 %, which gives the same bits. */
bool sl_fraction_parse(const char *text, double *value);

/* An unsigned whole number, such as 1000, 1e3 or 1_000. */
bool sl_count_parse(const char *text, uint64_t *value);

/* --- part ------------------------------------------------------------------------------------- */

/*
 * A part of a run: which of the batches one process of many computes (--part).
 *
 * Batches are functions of the configuration and their number, so the processes need not
 * communicate: part I of N has a range of consecutive batches, and sluice join makes the run of all
 * parts. The parts of a run have a directory each, which is named after the part, so that they can
 * share one --out.
 */

struct sl_part {
	uint64_t number; /* from 1 */
	uint64_t of;     /* parts of the run; 0: the whole run */
};

enum { SL_PARTS_MAX = 1000000 };

/*
 * Reads "I/N", or "slurm": then the environment of a task of a Slurm job array gives I and N.
 * SL_USAGE if the text is neither, or if the tasks of the array are not consecutive.
 */
enum sl_status sl_part_read(const char *text, struct sl_part *part);

/* The name of the directory of the part, such as part_03_of_20 (sl_message_part()). */
const char *sl_part_name(const struct sl_part *part);

/* Reads such a name; false if it is another one. */
bool sl_part_find(const char *name, struct sl_part *part);

/* Numbers of batches. */
struct sl_batch_range {
	uint64_t first, end; /* end is no part of it */
	uint64_t particles;  /* that they generate */
};

/*
 * The batches of the part, of a run of n_batches of so many particles. Parts differ by at most one
 * batch.
 */
struct sl_batch_range sl_part_batches(
	const struct sl_part *part, uint64_t n_batches, uint64_t batch, uint64_t particles);

/* --- share ------------------------------------------------------------------------------------ */

/*
 * The share of a machine that one of several processes of a run may use. All zero, or of = 1: the
 * process has the machine to itself. Each number includes this process.
 */
struct sl_share {
	uint32_t of;            /* the number of processes of the run on this machine */
	uint32_t cores_of;      /* those that may use the same cores as this one */
	uint32_t devices_of;    /* those that see the same GPUs as this one */
	uint32_t device_number; /* of this process among these, from 0 */
};

/* Upper limit of assignments "key=value" (--set and flags) of a command line. */
enum { SL_SETS_MAX = 64 };

/* When the files of a run are flushed to the disk; values of output.durable, in its order. */
enum sl_durability { SL_DURABLE_BATCH, SL_DURABLE_END, SL_DURABLE_NEVER };

/* What run.name consists of: file names are made of it. */
#define SL_RUN_NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* The options of all runs. Each member has an entry in the table of options.c. */
struct sl_config {
	/* run: what is computed, and where */
	struct {
		char name[SL_TEXT_BYTES]; /* prefix of all file names */
		uint64_t seed;
		uint64_t particles;
		uint64_t batch;             /* particles per batch; 0: auto */
		uint64_t threads;           /* 0: one per core */
		char device[SL_TEXT_BYTES]; /* auto, cpu, cuda:0,2, emulated:3, ... */
		uint64_t slots;             /* batches in flight on the device; 0: auto */
		int mode;                   /* 0: auto; enum sl_mode + 1 */
		double stop_before;         /* wall-clock limit in ns; infinite: none */
	} run;
	struct sl_lines models;           /* files of external models */
	char model_digest[SL_TEXT_BYTES]; /* of the external model; "": it is not one */
	const struct sl_model *model;     /* NULL: none was given */
	/* model: only the model knows the type; model->options describes the members */
	union {
		unsigned char
			bytes[SL_MODEL_CONFIG_BYTES]; /* the configuration struct of the model */
		double align;
	} model_config;
	/* transport: models with many steps */
	struct {
		uint64_t max_steps;
		int schedule; /* enum sl_schedule_choice */
	} transport;
	/* lists of items with a special syntax, resolved in resolve/condition and resolve/output */
	struct sl_named columns;
	struct sl_lines keep;
	struct sl_texts key;
	struct sl_lines tallies;
	struct {
		/* auto, NAME or NAME:block=N:items=N; auto or NAME */
		char scan[SL_TEXT_BYTES], compact[SL_TEXT_BYTES], sort[SL_TEXT_BYTES];
		char deflate[SL_TEXT_BYTES];
	} primitives;
	struct {
		char to[SL_TEXT_BYTES];
		int durable; /* enum sl_durability */
		char format[SL_TEXT_BYTES];
		struct sl_texts columns;
		uint64_t level;
		bool joined;
		char order[SL_TEXT_BYTES]; /* batch or run; "": batch */
		uint64_t sample, limit;    /* particles of the joined file; 0: all */
		bool image;
		double white; /* NaN: the largest value of the image */
		struct {
			char precision[SL_TEXT_BYTES]; /* "": single; of a list, its own */
			double pdg;                    /* NaN: 22 */
			double energy;                 /* keV; NaN: the energy is a column */
			char userflags[SL_TEXT_BYTES]; /* "": pixel or fate */
		} mcpl;
	} output;
	struct {
		char when[SL_TEXT_BYTES];
		uint64_t min_batches; /* 0: default */
	} stop;
	struct {
		double fate[SL_FATE_COUNT]; /* expected fraction; NaN: not checked */
		double sigma;
	} check;
	/* no keys, because they differ between the processes of a run */
	struct sl_part part; /* --part */
	struct sl_share share;
};

/* --- print ------------------------------------------------------------------------------------ */

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

/* --- values ----------------------------------------------------------------------------------- */

/*
 * One value of a configuration: its memory layout, from text, and back to text.
 *
 * Every function takes the option that describes the value; value points to the member of the
 * struct that the option table fills.
 */

/* Bytes for one value as text: each byte can become an escape of four, plus quotes. */
enum { SL_VALUE_BYTES = 4 * SL_TEXT_BYTES + 4 };

/* Is the value a list of items? */
bool sl_value_listed(const struct sl_option *o);

/* Size of the value in bytes. */
size_t sl_value_bytes(const struct sl_option *o);

/* Number of items of the value (1 unless it is a list), and the address of item i. */
size_t sl_value_items(const struct sl_option *o, const void *value);
void *sl_value_item(const struct sl_option *o, void *value, size_t i);

/* Sets the number of items of a list, at most SL_LIST_MAX. Does nothing for other kinds. */
void sl_value_resize(const struct sl_option *o, void *value, size_t n);

/* Sets the value that stands for "not given": NaN, 0, "" or an empty list. */
void sl_value_clear(const struct sl_option *o, void *value);

/* Does the value stand for "not given"? False for kinds without such a value. */
bool sl_value_absent(const struct sl_option *o, const void *value);

/*
 * Parses text as one item into *item and checks its range; false after sl_refuse() when it is
 * wrong. Not for SL_KIND_ITEMS, whose keys have the values.
 */
bool sl_value_parse(const struct sl_option *o, const char *text, void *item);

/* Prints one item as YAML that reads back to the same bits. */
void sl_value_print(const struct sl_option *o, const void *item, char text[SL_VALUE_BYTES]);

/*
 * An end of a range: *unit is the unit of its dimension that it is one of, such as 1 s, or else the
 * internal one.
 */
double sl_value_end(const struct sl_option *o, double end, const char **unit);

/* --- options ---------------------------------------------------------------------------------- */

/*
 * The table of options that all runs share, and look-ups in it and in the models' tables.
 *
 * The full path of an option is SECTION.KEY; for an option of a model it is model.NAME.KEY.
 */

enum { SL_KEY_BYTES = 256 };

/* The options of all runs; those of a model are in sl_models[]. */
extern const struct sl_option sl_options[];
extern const size_t sl_n_options;

/* Writes the full path of an option of the model, NULL for a common one. Returns its length. */
size_t sl_option_path(
	const struct sl_model *model, const struct sl_option *o, char path[SL_KEY_BYTES]);

/* Option i of a run of the model, common options first, with its path; NULL after the last. */
const struct sl_option *sl_option_at(
	const struct sl_model *model, size_t i, char path[SL_KEY_BYTES]);

/*
 * Option i of all tables, the common ones first; NULL after the last. *model is its model, NULL for
 * a common option.
 */
const struct sl_option *sl_option_of_all(size_t i, const struct sl_model **model);

/* The option with that full path, or NULL. *model is its model, NULL for a common option. */
const struct sl_option *sl_option_find(const char *path, const struct sl_model **model);

/*
 * Removes the item numbers from a path: "model.rays.objects[3].surface" becomes
 * "model.rays.objects[].surface", the path of its option. Returns pattern.
 */
const char *sl_key_pattern(const char *path, char pattern[SL_KEY_BYTES]);

/* Is the option a key of the items of a list, such as "objects[].surface"? */
bool sl_option_of_items(const struct sl_option *o);

/* The last component of path, after the last dot. */
const char *sl_key_leaf(const char *path);

/*
 * A setting is a text "KEY=VALUE", or "--OPTION KEY=VALUE" of an option that stands for a key.
 * sl_set_key() returns where KEY begins. sl_set_typed() returns what the user typed: "--set
 * KEY=VALUE" or "--OPTION VALUE", with the quotes that YAML needs (sl_message_part()).
 */
const char *sl_set_key(const char *set);
const char *sl_set_typed(const char *set);

#endif
