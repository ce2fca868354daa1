/* shares.h - the state of a global sort, and the checks of its arguments. */
#ifndef SL_PRIMITIVES_GLOBAL_SORT_SHARES_H
#define SL_PRIMITIVES_GLOBAL_SORT_SHARES_H

#include "primitives/global_sort/boundaries.h"
#include "primitives/global_sort/global_sort.h"

/* The sort of all phases: arguments and what follows from them. */
struct sl_sort_phases {
	const struct sl_global_sort *sort;
	const struct sl_global_share *share;
	uint32_t n;
	uint64_t keys; /* of all shares */
	struct sl_key_bits bits;
	const struct sl_run_kernels *kernels;
	/*
	 * The sorted array is cut into so many parts: one for each share, or several (exchange.h). Part i has the pairs
	 * begin[i][k] to begin[i + 1][k] - 1 of share k.
	 */
	uint32_t parts;
	uint32_t begin[SL_DEVICES_MAX + 1][SL_DEVICES_MAX];
	/*
	 * Of one round of the search, or the boundaries of two shares. Here, because after a failure copies may still be
	 * queued.
	 */
	uint64_t value[SL_RANKS_MOST];
	struct sl_run_rank rank[SL_RANKS_MOST];
	/* Streams of the two devices for the copies of exchange.h, or NULL. */
	sl_stream copies[2];
};

/* The scratch of a share after its sort. */
struct sl_share_scratch {
	uint64_t *value; /* SL_RANKS_MOST; or the boundaries of the parts of two shares */
	struct sl_run_rank *rank;
	uint64_t *path;  /* of a merge */
	void *key;       /* as many pairs as the part of the share has */
	uint32_t *index; /* NULL: keys only */
};

/* Memory for pairs. */
struct sl_pairs {
	void *key;
	uint32_t *index; /* NULL: keys only */
};

/* Cuts the scratch of a share whose part has so many keys. */
struct sl_share_scratch sl_share_lay_out(
	struct sl_arena *a, uint64_t part, enum sl_type type, bool keys_only);
struct sl_share_scratch sl_share_scratch_of(const struct sl_sort_phases *p, uint32_t i);

/* The pairs begin to end - 1 of share i, which is sorted. */
struct sl_sorted_run sl_share_run(
	const struct sl_sort_phases *p, uint32_t i, uint32_t begin, uint32_t end);

/* The memory from pair number i on. */
struct sl_pairs sl_pairs_at(const struct sl_sort_phases *p, struct sl_pairs pairs, uint64_t i);

/* Queues a copy of a run, which may be in memory of another device. *run is the copy then. */
enum sl_status sl_run_copy(
	const struct sl_sort_phases *p, struct sl_sorted_run *run, struct sl_pairs to, sl_stream s);

/* Where the sort of a share runs. */
struct sl_exec sl_share_exec(const struct sl_sort_phases *p, const struct sl_global_share *s);

/* Makes the device of a share current. */
enum sl_status sl_share_switch(const struct sl_global_share *s);

/* Checks sort, share and n of p, and sets keys. SL_USAGE if they are wrong; nothing is changed then. */
enum sl_status sl_shares_check(struct sl_sort_phases *p);

#endif
