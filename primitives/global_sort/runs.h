/*
 * runs.h - kernels for sorted runs of keys: how many keys are below a value, where the merge of two runs reaches a
 * rank, and the merge.
 *
 * All compare the bits of a key that a sort was for. Pointers are device memory; the calls queue on a stream.
 */
#ifndef SL_PRIMITIVES_GLOBAL_SORT_RUNS_H
#define SL_PRIMITIVES_GLOBAL_SORT_RUNS_H

#include "primitives/primitives.h"

SL_C_BEGIN

/* The bits of a key that are compared: key >> shift & mask. */
struct sl_key_bits {
	uint32_t shift;
	uint64_t mask;
};

/* Consecutive pairs in ascending order of those bits. */
struct sl_sorted_run {
	const void *key;       /* n keys */
	const uint32_t *index; /* n values; NULL: keys only */
	uint32_t n;
};

/* The keys of a run whose bits are less than a value, and those that are not more. */
struct sl_run_rank {
	uint32_t less, not_more;
};

/* Sets rank[k] to the ranks of value[k] in the run, for k < n_values. */
typedef enum sl_status sl_run_search_launcher(const struct sl_sorted_run *run, enum sl_type type,
	struct sl_key_bits bits, const uint64_t *value, uint32_t n_values, struct sl_run_rank *rank,
	sl_stream s);

/* Where the merge of two runs is cut: numbers of pairs before each cut. */
struct sl_run_cuts {
	uint32_t n;
	uint64_t at[SL_DEVICES_MAX - 1];
};

/*
 * Sets of_a[k] to how many of the first cuts->at[k] pairs of the merge are from a. Of equal keys those of a come first.
 * The runs may be in memory of other devices.
 */
typedef enum sl_status sl_run_split_launcher(const struct sl_sorted_run *a,
	const struct sl_sorted_run *b, enum sl_type type, struct sl_key_bits bits,
	const struct sl_run_cuts *cuts, uint64_t *of_a, sl_stream s);

/* Pairs of the output that a block of the merge writes, and the words of path that a merge of n pairs needs. */
enum { SL_MERGE_TILE = 2816 };
static inline uint64_t sl_merge_path_words(uint64_t n)
{
	return n / SL_MERGE_TILE + 2;
}

/*
 * Merges two runs, which may be in memory of other devices, into key_out and index_out. Of equal keys those of a
 * come first. a->n + b->n <= 2^32 - 1. The outputs overlap no input. path is scratch.
 */
typedef enum sl_status sl_run_merge_launcher(const struct sl_sorted_run *a,
	const struct sl_sorted_run *b, enum sl_type type, struct sl_key_bits bits, uint64_t *path,
	void *key_out, uint32_t *index_out, sl_stream s);

struct sl_run_kernels {
	sl_run_search_launcher *search;
	sl_run_split_launcher *split;
	sl_run_merge_launcher *merge;
};

extern const struct sl_run_kernels sl_run_kernels, sl_run_kernels_emulated;

SL_C_END

#endif
