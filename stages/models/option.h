/*
 * option.h - one line of the table that a configuration is read against.
 *
 * The pipeline has such a table for what is common to all runs, each model one for its
 * own parameters. From it are made: the reader and its refusals, the defaults, --print-config,
 * help.
 */
#ifndef SL_STAGES_MODELS_OPTION_H
#define SL_STAGES_MODELS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stages/particle/units.h"

SL_C_BEGIN

enum sl_kind {
	SL_KIND_COUNT,  /* uint64_t: "1e8", "1_000_000"; must be integral */
	SL_KIND_REAL,   /* double, in the unit inside of the dimension: "0.02 cm", "inf" */
	SL_KIND_BOOL,   /* bool: true, false */
	SL_KIND_CHOICE, /* int: the place of the word in choices */
	SL_KIND_TEXT,   /* char[SL_TEXT_BYTES] */
	SL_KIND_TEXTS,  /* struct sl_texts: a list, or one word alone */
	SL_KIND_LINES,  /* struct sl_lines: the same of longer texts */
	SL_KIND_COUNTS, /* struct sl_counts: a list, or one alone */
	SL_KIND_REALS,  /* struct sl_reals: a list, or one alone */
	SL_KIND_VECTOR, /* struct sl_vector: a list of three numbers */
	SL_KIND_ITEMS   /* uint64_t: how many items a list has, each with keys of its own */
};

enum { SL_TEXT_BYTES = 1024, SL_WORD_BYTES = 64, SL_LIST_MAX = 32 };

struct sl_texts {
	uint32_t n;
	char at[SL_LIST_MAX][SL_WORD_BYTES];
};

struct sl_lines {
	uint32_t n;
	char at[SL_LIST_MAX][SL_TEXT_BYTES];
};

struct sl_counts {
	uint32_t n;
	uint64_t at[SL_LIST_MAX];
};

struct sl_reals {
	uint32_t n;
	double at[SL_LIST_MAX];
};

struct sl_vector {
	double at[3]; /* x, y, z */
};

/*
 * A list of things with keys of their own (KIND_ITEMS, "objects") is followed in its table by these
 * keys, "objects[].sphere.radius". Their values stand in an array of structs: offset is that in the
 * first, stride the size of one.
 */
struct sl_option {
	const char *key; /* "run.seed"; a model's: "source.radius", below model.NAME */
	enum sl_kind kind;
	size_t offset;               /* of the value in the struct that the table fills */
	size_t stride;               /* of keys of items */
	enum sl_dimension dimension; /* of REAL, REALS and VECTOR */
	const char *fallback; /* the default, as one would write it; NULL: none, see required */
	bool required; /* no default: must be given. Neither: absent reads as 0 (COUNT), NaN, "" or
	                  an empty list */
	double lo, hi; /* REAL, REALS, VECTOR, COUNT, COUNTS: the allowed range, both ends
	                  included, in units inside; of ITEMS, of how many */
	const char *const *choices; /* CHOICE: the words, NULL-terminated */
	const char *help;
	bool automatic; /* COUNT: "auto" is allowed and reads as 0 */
	bool free;      /* does not change a byte of the results: not compared on resume */
	bool shorthand; /* SECTION: VALUE is short for SECTION: {KEY: VALUE} */
};

/*
 * The line of a table for the member path of struct config; sort and measure are the ends of its
 * kind's and its dimension's names. What follows are members of the line, .help at least. The
 * second one is for keys with names of their own.
 */
#define SL_OPTION(config, path, ...) SL_OPTION_NAMED(#path, config, path, __VA_ARGS__)
#define SL_OPTION_NAMED(name, config, path, sort, measure, least, most, ...)                  \
	{                                                                                     \
		.key = name, .kind = SL_KIND_##sort, .offset = offsetof(struct config, path), \
		.dimension = SL_DIM_##measure, .lo = least, .hi = most, __VA_ARGS__           \
	}

SL_C_END

#endif
