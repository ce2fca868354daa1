/*
 * splitters.h - divides sorted sequences at a place of their merged order, without merging them.
 *
 * The order is that of a merge of the batches: by key, records with equal keys by number of the sequence and
 * then by row. The splitter is the key at the place; records with equal keys before it are counted exactly. So
 * ranges of records between such places have the sizes that the caller wants, and each record is in one of them,
 * however many keys are equal. (A multisequence selection: Varman et al., Merging multiple lists on
 * hierarchical-memory multiprocessors, J. Parallel Distrib. Comput. 12 (1991) 171.)
 *
 * Time: at most 64 steps, each a binary search in the part of each sequence that the steps before have left.
 */
#ifndef SL_PIPELINE_OUTPUT_SOURCE_SPLITTERS_H
#define SL_PIPELINE_OUTPUT_SOURCE_SPLITTERS_H

#include <stdint.h>

/* Ascending keys of 8 bytes, the least significant byte first, at any address: an order file without priorities. */
struct sl_sorted_keys {
	const uint8_t *at;
	uint64_t n;
};

/* Results and memory for n sequences: each array has n members. */
struct sl_splitters {
	uint64_t *before; /* result: records of each sequence before the place */
	uint64_t *middle, *above;
};

/*
 * Finds the place that has so many records before it; with fewer records, the end. If the keys are not sorted,
 * the numbers still have that sum, and are at most the lengths of the sequences.
 */
void sl_splitters_find(const struct sl_sorted_keys *sequence, uint32_t n, uint64_t records,
	struct sl_splitters *s);

#endif
