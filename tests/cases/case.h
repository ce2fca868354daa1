/*
 * case.h - a primitive's job with its data, a way to run it and the proof that its answer is right.
 *
 * Written once per primitive and used twice: tests check every backend with it, a bench checks and
 * then times them. Neither knows the name of a backend. (After nccl-tests' testColl.)
 *
 *	make(&t)  ->  load(&t, 0xa5)  ->  run(&t)  ->  right(&t)  ->  sl_trial_free(&t)
 *	                  ^------------------------------'
 */
#ifndef SL_TESTS_CASES_CASE_H
#define SL_TESTS_CASES_CASE_H

#include "guarded.h"
#include "inputs.h"
#include "primitives/primitives.h"

/* What a compaction takes along: n columns; bytes an item, 0: each of all sizes in turn. */
struct sl_taken {
	uint32_t n, bytes;
};

/* One point of the matrix. A case reads the fields that its primitive has. */
struct sl_setting {
	uint32_t n;
	enum sl_type type;             /* scan, sort */
	enum sl_input input;           /* scan, sort */
	enum sl_alive alive;           /* compact */
	struct sl_taken columns;       /* compact */
	bool no_indices;               /* compact */
	bool inclusive;                /* scan */
	bool in_place;                 /* scan, sort */
	bool keys_only;                /* sort */
	bool key_spent;                /* sort: keys of the answer are not looked at */
	uint32_t begin_bit, end_bit;   /* sort */
	const struct sl_backend *scan; /* compact, sort; NULL: the backend's choice */
	uint32_t off[2];               /* items that the first two blocks begin off SL_ALIGN */
	struct sl_tuning tuning;       /* device; 0: the backend's choice */
};

/* The most: flags, indices and count of a compaction, and two a column. */
enum { SL_TRIAL_BLOCKS = 3 + 2 * SL_COMPACT_COLUMNS_MAX, SL_OFFS = 4 };

struct sl_trial {
	const struct sl_backend *backend;
	struct sl_setting set;
	void *input; /* on the host: what every run begins with */
	int n_blocks;
	struct sl_guarded block[SL_TRIAL_BLOCKS]; /* in the backend's space: what run works on */
	struct sl_guarded scratch;                /* exactly what the backend asks for */
	size_t scratch_bytes;                     /* what it is told it has; make: all */
};

struct sl_case {
	enum sl_primitive primitive;

	/* The i-th variant of a setting, by its fields but n; false past the last. */
	bool (*variant)(size_t i, struct sl_setting *set);

	/* The variant in words, "u32, random, inclusive". */
	void (*describe)(const struct sl_setting *set, char *text, size_t size);

	/* Gets memory for t->backend and t->set, and makes the input. */
	enum sl_status (*make)(struct sl_trial *t);

	/* Puts the input in place and fills what will be overwritten, and scratch, with poison. */
	enum sl_status (*load)(struct sl_trial *t, int poison);

	/* The call alone. */
	enum sl_status (*run)(struct sl_trial *t);

	/* SL_CHECK_FAILED, and what is wrong, unless the whole answer is right. */
	enum sl_status (*right)(struct sl_trial *t);

	/* Of each block of a right answer, the bytes that are the same in all. NULL: all are. */
	enum sl_status (*answer_bytes)(struct sl_trial *t, uint64_t bytes[SL_TRIAL_BLOCKS]);

	/* The least that any backend must read and write. */
	uint64_t (*bytes_moved)(const struct sl_trial *t);
};

extern const struct sl_case sl_case_scan, sl_case_compact, sl_case_sort;

/* The case of a primitive; NULL when it has none. */
const struct sl_case *sl_case_of(enum sl_primitive p);

void sl_trial_free(struct sl_trial *t);

/* For the cases. Scratch for shape, and an exec that hands it out. */
enum sl_status sl_trial_scratch(struct sl_trial *t, const struct sl_shape *shape);
struct sl_exec sl_trial_exec(const struct sl_trial *t);

/* For the cases. Sets the i-th alignment of SL_OFFS: none off, first, second, both; false past. */
bool sl_set_off(size_t i, struct sl_setting *set);

/* For the cases. Gets the next block, of n items that begin so many off SL_ALIGN. */
enum sl_status sl_trial_block(struct sl_trial *t, uint32_t n, size_t item_bytes, uint32_t off);

/* For the cases. ", 15 and 2 items off" behind a description, or nothing. */
void sl_describe_off(const struct sl_setting *set, char *text, size_t size);

/* For the cases. A copy of g's bytes on the host, which the caller gives back. */
enum sl_status sl_trial_fetch(const struct sl_guarded *g, void **bytes);

/* For the cases. Checks all canaries of t. */
enum sl_status sl_trial_canaries(const struct sl_trial *t);

static inline uint64_t sl_item(const void *items, enum sl_type type, uint32_t i)
{
	return type == SL_U32 ? ((const uint32_t *)items)[i] : ((const uint64_t *)items)[i];
}

#endif
