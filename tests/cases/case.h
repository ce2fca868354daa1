/*
 * case.h - a test case of a primitive: makes input, runs a backend and checks the whole answer.
 *
 * Tests check every backend with a case; the benchmark checks and then times the backends. Neither
 * depends on the name of a backend. (After nccl-tests' testColl.)
 *
 *	make(&t)  ->  sl_trial_load(&t, 0xa5)  ->  run(&t)  ->  sl_trial_right(c, &t)  ->  sl_trial_free(&t)
 *	                  ^----------------------------------------------------'
 */
#ifndef SL_TESTS_CASES_CASE_H
#define SL_TESTS_CASES_CASE_H

#include "guarded.h"
#include "inputs.h"
#include "primitives/primitives.h"

/* Columns that a compaction moves: n of them. bytes is the item size; 0 means all sizes in turn. */
struct sl_moved_columns {
	uint32_t n, bytes;
};

/* Parameters of one variant. A case reads only the fields that its primitive has. */
struct sl_setting {
	uint32_t n;
	enum sl_type type;               /* scan, sort, expand */
	enum sl_input input;             /* scan, sort */
	enum sl_alive alive;             /* compact; expand: the runs that have slots */
	struct sl_moved_columns columns; /* compact, expand */
	bool no_indices;                 /* compact, expand */
	uint32_t n_runs;                 /* expand; 0: n; n is the number of slots */
	enum sl_run_form form;           /* expand */
	bool inclusive;                  /* scan */
	bool in_place;                   /* scan, sort */
	bool sum;                        /* scan: also the sum, or with keys_only it alone */
	bool keys_only;                  /* sort */
	bool key_spent;                  /* sort: the output keys are not checked */
	uint32_t begin_bit, end_bit;     /* sort */
	const struct sl_backend *scan;   /* compact, sort, expand; NULL: the backend's choice */
	bool counted;                    /* n is in memory: n_on_device, of type n_type */
	enum sl_type n_type;
	uint32_t spare;          /* counted: the job may have so many more items than n ... */
	uint64_t excess;         /* ... or n_on_device is above the most, by this; else 0 */
	uint32_t off[2];         /* distance of the first two blocks from SL_ALIGN, in items */
	struct sl_tuning tuning; /* device; 0: the backend's choice */
};

/* Maximum: flags, indices and count of a compaction, n_on_device, and two blocks per column. */
enum { SL_TRIAL_BLOCKS = 4 + 2 * SL_COMPACT_COLUMNS_MAX };

struct sl_trial {
	const struct sl_backend *backend;
	struct sl_setting set;
	void *input; /* host memory: input of every run */
	int n_blocks;
	struct sl_guarded
		block[SL_TRIAL_BLOCKS]; /* in the backend's memory space: input and output of run */
	const void *given[SL_TRIAL_BLOCKS]; /* host memory: input of a block; NULL: an output */
	size_t unused[SL_TRIAL_BLOCKS];     /* bytes at the end of a block after item n - 1 */
	int poison;                         /* the contents of these, and of outputs before run */
	uint32_t most;                      /* n of the job: set.n and set.spare */
	uint64_t count;                     /* input of n_on_device */
	const void *n_on_device;            /* of the job; NULL: set.n is given */
	void *result[SL_TRIAL_BLOCKS];      /* host memory: the blocks, for right */
	struct sl_guarded scratch;          /* exactly the bytes that the backend requires */
	size_t scratch_bytes;               /* scratch size passed to the backend; make sets all */
};

struct sl_case {
	enum sl_primitive primitive;

	/* Describes the variant, for example "u32, random, inclusive". */
	void (*describe)(const struct sl_setting *set, char *text, size_t size);

	/* Allocates memory for t->backend and t->set, and makes the input. */
	enum sl_status (*make)(struct sl_trial *t);

	/* Calls the backend, and does nothing else. */
	enum sl_status (*run)(struct sl_trial *t);

	/*
	 * Returns SL_CHECK_FAILED and sets the error message unless the results are right. For
	 * sl_trial_right().
	 */
	enum sl_status (*right)(const struct sl_trial *t);

	/* Sets the bytes per block that are equal in all right answers. NULL: all bytes are. */
	void (*answer_bytes)(const struct sl_trial *t, uint64_t bytes[SL_TRIAL_BLOCKS]);

	/* Lower bound of the bytes that any backend reads and writes. */
	uint64_t (*bytes_moved)(const struct sl_trial *t);
};

extern const struct sl_case sl_case_scan, sl_case_compact, sl_case_sort, sl_case_expand;

/* Returns the case of a primitive, or NULL if it has none. */
const struct sl_case *sl_case_of(enum sl_primitive p);

/* Copies the input to its blocks, and fills outputs and scratch with the byte poison. */
enum sl_status sl_trial_load(struct sl_trial *t, int poison);

/*
 * Returns SL_CHECK_FAILED unless the whole answer is right, inputs are unchanged, and so is memory
 * about the blocks.
 */
enum sl_status sl_trial_right(const struct sl_case *c, struct sl_trial *t);

void sl_trial_free(struct sl_trial *t);

/* For the cases, first and last in make: sets t->most; allocates n_on_device, if any. */
void sl_trial_count(struct sl_trial *t);
enum sl_status sl_trial_count_block(struct sl_trial *t);

/* For the cases. Allocates scratch for shape; makes an exec that provides it. */
enum sl_status sl_trial_scratch(struct sl_trial *t, const struct sl_shape *shape);
struct sl_exec sl_trial_exec(const struct sl_trial *t);

/*
 * For the cases. Allocates the next block: n items that begin off items after an SL_ALIGN address.
 * given: its input in host memory, or NULL for an output. set.spare more items follow, which no
 * run may change.
 */
enum sl_status sl_trial_block(
	struct sl_trial *t, uint32_t n, size_t item_bytes, uint32_t off, const void *given);

/* For the cases. Appends for example ", 15 and 2 items off" to a description, or nothing. */
void sl_describe_offsets(const struct sl_setting *set, char *text, size_t size);

/* Checks all canaries of t. */
enum sl_status sl_trial_canaries(const struct sl_trial *t);

static inline uint64_t sl_item(const void *items, enum sl_type type, uint32_t i)
{
	return type == SL_U32 ? ((const uint32_t *)items)[i] : ((const uint64_t *)items)[i];
}

#endif
