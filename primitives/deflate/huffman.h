/*
 * huffman.h - canonical codes of DEFLATE from counts, with no code longer than a limit.
 *
 * Symbols are sorted by count, trees made with two queues (van Leeuwen, 1976); what is deeper than
 * the limit is brought up to it, and paid for by codes that are shorter, as many fast encoders do:
 * the loss is far below 1 in 1000. One thread each, but for the sort. Whoever follows the same
 * steps gets the same codes, and a device and a host do.
 */
#ifndef SL_DEFLATE_HUFFMAN_H
#define SL_DEFLATE_HUFFMAN_H

#include "primitives/base/hd.h"

#include <stdint.h>

enum {
	SL_SYMBOLS_MOST = 286, /* of an alphabet: literals, the end, lengths */
	SL_CODE_MOST = 15      /* bits of a code */
};

/* What making a code takes: symbols in use, least count first; and the nodes of the tree. */
struct sl_huffman_work {
	uint16_t order[SL_SYMBOLS_MOST];
	uint16_t weight[2 * SL_SYMBOLS_MOST];
	uint16_t parent[2 * SL_SYMBOLS_MOST]; /* then the depth */
};

/* Two symbols at least are given a code, so that it is complete, which readers ask for. */
SL_HD void sl_huffman_two(uint32_t *count, uint32_t n)
{
	uint32_t used = 0;

	for (uint32_t s = 0; s < n; s++)
		used += count[s] > 0;
	for (uint32_t s = 0; used < 2; s++)
		if (count[s] == 0) {
			count[s] = 1;
			used++;
		}
}

/* Puts a symbol where it belongs in the order: all of them, in any turn, are a sort. */
SL_HD void sl_huffman_place(const uint32_t *count, uint32_t n, uint32_t s, uint16_t *order)
{
	uint32_t rank = 0;

	if (count[s] == 0)
		return;
	for (uint32_t other = 0; other < n; other++)
		rank += count[other] > 0 &&
		        (count[other] < count[s] || (count[other] == count[s] && other < s));
	order[rank] = (uint16_t)s;
}

/* Parents of 2 * used - 1 nodes: leaves in their order, then inner nodes as they are made. */
SL_HD void sl_huffman_tree(const uint32_t *count, uint32_t used, struct sl_huffman_work *w)
{
	uint32_t leaf = 0, inner = used;

	for (uint32_t i = 0; i < used; i++)
		w->weight[i] = (uint16_t)count[w->order[i]];
	for (uint32_t node = used; node < 2 * used - 1; node++) {
		uint32_t sum = 0;

		for (int child = 0; child < 2; child++) {
			uint32_t least = leaf < used && (inner == node ||
								w->weight[leaf] <= w->weight[inner])
			                         ? leaf++
			                         : inner++;

			sum += w->weight[least];
			w->parent[least] = (uint16_t)node;
		}
		w->weight[node] = (uint16_t)sum;
	}
}

/* How many codes have each length, at most limit, from the tree. */
SL_HD void sl_huffman_depths(uint32_t used, uint32_t limit, struct sl_huffman_work *w,
	uint32_t of_length[SL_CODE_MOST + 1])
{
	uint32_t total = 0;

	for (uint32_t l = 0; l <= limit; l++)
		of_length[l] = 0;
	w->parent[2 * used - 2] = 0;
	for (uint32_t node = 2 * used - 2; node-- > 0;) {
		uint32_t depth = w->parent[w->parent[node]] + 1u;

		w->parent[node] = (uint16_t)depth;
		if (node < used)
			of_length[depth < limit ? depth : limit]++;
	}
	for (uint32_t l = 1; l <= limit; l++)
		total += of_length[l] << (limit - l);
	for (; total > 1u << limit; total--) {
		uint32_t l = limit - 1;

		while (of_length[l] == 0)
			l--;
		of_length[limit]--;
		of_length[l]--;
		of_length[l + 1] += 2;
	}
}

/*
 * Lengths of all codes; 0: none. Counts add up to 2^16 - 1 at most, w->order is that of the used
 * symbols, two at least.
 */
SL_HD void sl_huffman_lengths(const uint32_t *count, uint32_t n, uint32_t limit,
	struct sl_huffman_work *w, uint8_t *length)
{
	uint32_t of_length[SL_CODE_MOST + 1], used = 0, i = 0;

	for (uint32_t s = 0; s < n; s++) {
		used += count[s] > 0;
		length[s] = 0;
	}
	sl_huffman_tree(count, used, w);
	sl_huffman_depths(used, limit, w, of_length);
	for (uint32_t l = limit; l > 0; l--)
		for (uint32_t k = of_length[l]; k > 0; k--)
			length[w->order[i++]] = (uint8_t)l;
}

/* Codes by lengths, their first bit lowest. (RFC 1951, 3.2.2.) */
SL_HD void sl_huffman_codes(const uint8_t *length, uint32_t n, uint16_t *code)
{
	uint32_t next[SL_CODE_MOST + 1] = {0}, first = 0;

	for (uint32_t s = 0; s < n; s++)
		next[length[s]]++;
	next[0] = 0;
	for (uint32_t l = 1; l <= SL_CODE_MOST; l++) {
		uint32_t codes = next[l];

		next[l] = first;
		first = (first + codes) << 1;
	}
	for (uint32_t s = 0; s < n; s++) {
		uint32_t forward = next[length[s]]++, back = 0;

		for (uint32_t bit = 0; bit < length[s]; bit++)
			back |= (forward >> bit & 1) << (length[s] - 1u - bit);
		code[s] = (uint16_t)back;
	}
}

#endif
