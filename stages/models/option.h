/*
 * option.h - one line of an option table.
 *
 * The pipeline has one table for the settings common to all runs, and each model one for its own
 * parameters. The reader of configurations, its error messages, the defaults, --print-config and
 * the help texts all follow from these tables.
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
	SL_KIND_REAL,   /* double, in the internal unit of the dimension: "0.02 cm", "inf" */
	SL_KIND_BOOL,   /* bool: true, false */
	SL_KIND_CHOICE, /* int: the index of the word in choices */
	SL_KIND_TEXT,   /* char[SL_TEXT_BYTES] */
	SL_KIND_TEXTS,  /* struct sl_texts: a list of words, or a single word */
	SL_KIND_LINES,  /* struct sl_lines: the same for longer texts */
	SL_KIND_COUNTS, /* struct sl_counts: a list of counts, or a single one */
	SL_KIND_REALS,  /* struct sl_reals: a list of numbers, or a single one */
	SL_KIND_VECTOR, /* struct sl_vector: a list of three numbers */
	SL_KIND_NAMED,  /* struct sl_named: a mapping of names to texts */
	SL_KIND_ITEMS   /* uint64_t: the length of a list whose items have keys */
};

enum {
	SL_TEXT_BYTES = 1024,
	SL_WORD_BYTES = 64,
	SL_NAME_BYTES = 32,
	SL_LIST_MAX = 32,
	SL_NAMED_MAX = 9 /* names of a mapping */
};

struct sl_texts {
	uint32_t n;
	char at[SL_LIST_MAX][SL_WORD_BYTES];
};

struct sl_lines {
	uint32_t n;
	char at[SL_LIST_MAX][SL_TEXT_BYTES];
};

struct sl_named_text {
	char name[SL_NAME_BYTES];
	char text[SL_TEXT_BYTES];
};

struct sl_named {
	uint32_t n;
	struct sl_named_text at[SL_NAMED_MAX];
};

struct sl_counts {
	uint32_t n;
	uint64_t at[SL_LIST_MAX];
};

struct sl_reals {
	uint32_t n;
	double at[SL_LIST_MAX];
	uint32_t rows; /* of a list that is written as a matrix; else 0 */
};

struct sl_vector {
	double at[3]; /* x, y, z */
};

/*
 * In a table, a list of items with keys (SL_KIND_ITEMS, "objects") is followed by those keys
 * ("objects[].sphere.radius"). Their values are in an array of structs: offset is the offset of the
 * value in the first struct, stride the size of one struct.
 */
struct sl_option {
	const char *key; /* "run.seed"; of a model: "source.radius", below model.NAME */
	enum sl_kind kind;
	size_t offset;               /* of the value in the struct that the table describes */
	size_t stride;               /* bytes; only for keys of items */
	enum sl_dimension dimension; /* of REAL, REALS and VECTOR */
	const char *fallback; /* the default, as a user would write it; NULL: none, see required */
	bool required; /* the user must set it. Without this and without a default, an absent key
	                  reads as 0 (COUNT), the first word (CHOICE), NaN, "" or an empty list */
	double lo, hi; /* REAL, REALS, VECTOR, COUNT, COUNTS: the allowed range, both ends
	                  included, in internal units; ITEMS: the allowed length */
	const char *const *choices; /* CHOICE: the words, NULL-terminated */
	const char *help;
	bool automatic; /* COUNT: "auto" is allowed and reads as 0 */
	bool free;      /* does not change a byte of the results: not compared on resume */
	bool nested;    /* LINES: an item can be a list of texts, which reads as "[a, b]" */
	bool shorthand; /* SECTION: VALUE is short for SECTION: {KEY: VALUE} */
};

/*
 * A line of an option table for the member path of struct config. sort completes SL_KIND_, measure
 * completes SL_DIM_, least and most are the allowed range. Further members of struct sl_option
 * follow, at least .help. SL_OPTION_NAMED() is for keys that differ from the path of the member.
 */
#define SL_OPTION(config, path, ...) SL_OPTION_NAMED(#path, config, path, __VA_ARGS__)
#define SL_OPTION_NAMED(name, config, path, sort, measure, least, most, ...)                  \
	{                                                                                     \
		.key = name, .kind = SL_KIND_##sort, .offset = offsetof(struct config, path), \
		.dimension = SL_DIM_##measure, .lo = least, .hi = most, __VA_ARGS__           \
	}

SL_C_END

#endif
