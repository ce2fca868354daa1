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

/* The most assignments "key=value" (--set and flags) of a command line. */
enum { SL_SETS_MAX = 64 };

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

#endif
