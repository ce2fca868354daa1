/*
 * loser_tree.h - finds the least of the records at hand of n sources.
 *
 * A tree of losers (Knuth, The Art of Computer Programming, vol. 3, 5.4.1): the sources are its
 * leaves, and each node has the later one of the two records that met there. at[0] is the least
 * record. A new record of its source meets the records on the path to the root.
 */
#ifndef SL_PIPELINE_OUTPUT_SOURCE_LOSER_TREE_H
#define SL_PIPELINE_OUTPUT_SOURCE_LOSER_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The record at hand of a source: its key, and the number of the source from 1 on. */
struct sl_loser_head {
	uint64_t key, source;
};

/* Added to the number of a source without a record: it comes after all others. */
#define SL_LOSER_ENDED (UINT64_C(1) << 32)

struct sl_loser_tree {
	struct sl_loser_head *at; /* n */
	uint32_t n;
	uint32_t left; /* sources with a record */
};

/*
 * Begins with records that come before all others. The caller enters one record, or the end, of
 * each source.
 */
static inline void sl_loser_tree_begin(struct sl_loser_tree *t, uint32_t n)
{
	t->n = t->left = n;
	memset(t->at, 0, n * sizeof(*t->at));
}

/* The source, from 0 on, of the least record, while left > 0. */
static inline uint32_t sl_loser_tree_least(const struct sl_loser_tree *t)
{
	return (uint32_t)t->at[0].source - 1;
}

/*
 * Written without branches, which no processor could predict. Records with equal keys keep their
 * order.
 */
static inline bool sl_loser_is_before(const struct sl_loser_head *a, const struct sl_loser_head *b)
{
	return (a->key < b->key) | ((a->key == b->key) & (a->source < b->source));
}

/* Enters the next record of a source, or its end (more is false). */
static inline void sl_loser_tree_enter(
	struct sl_loser_tree *t, uint32_t source, bool more, uint64_t key)
{
	struct sl_loser_head item = {UINT64_MAX, SL_LOSER_ENDED + source};

	if (more)
		item = (struct sl_loser_head){key, source + 1};
	else
		t->left--;
	for (uint32_t i = (source + t->n) / 2; i > 0; i /= 2) {
		struct sl_loser_head other = t->at[i];
		bool loses = sl_loser_is_before(&other, &item);

		t->at[i].key = loses ? item.key : other.key;
		t->at[i].source = loses ? item.source : other.source;
		item.key = loses ? other.key : item.key;
		item.source = loses ? other.source : item.source;
	}
	t->at[0] = item;
}

#endif
