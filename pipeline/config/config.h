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

#include "pipeline/config/part.h"
#include "pipeline/config/share.h"
#include "primitives/base/status.h"
#include "stages/models/model.h"
#include "stages/models/option.h"

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
	int model; /* enum sl_model_number; SL_MODEL_COUNT: none was given */
	/* model: only the model knows the type; sl_models[model]->options describes the members */
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

#endif
