/*
 * encoder/huffman.h - optimal length-limited canonical Huffman codes from symbol counts; shared by
 * host and device.
 *
 * Package-merge (Larmore and Hirschberg, A fast algorithm for optimal length-limited Huffman codes,
 * 1990). The first list contains the symbols by ascending count. Adjacent pairs of a list become
 * packages; the packages merged with the symbols are the next list; there are as many lists as a
 * code may have bits. From the last list the first 2 n - 2 items are selected; a selected package
 * selects its two items in the list before. The length of a code is the number of lists in which
 * its symbol is selected.
 *
 * The position of an item in a merged list is found by binary search, so all items of a list can be
 * merged in parallel by any number of threads; the host runs the same functions in a loop.
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_HUFFMAN_H
#define SL_PRIMITIVES_DEFLATE_ENCODER_HUFFMAN_H

#include "primitives/base/hd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SL_SYMBOLS_MAX = 286 + 30, /* both alphabets */
	SL_CODE_MAX = 12           /* longest code; the 15 of DEFLATE save nothing here */
};

/*
 * Working memory. An alphabet whose symbols start at index base uses its own range of each array.
 */
struct sl_huffman_work {
	uint32_t leaf[SL_SYMBOLS_MAX];                  /* counts of the used symbols, ascending */
	uint16_t order[SL_SYMBOLS_MAX];                 /* the symbols in that order */
	uint32_t list[2][2 * SL_SYMBOLS_MAX];           /* weights of one list and of the next */
	uint16_t position[SL_CODE_MAX][SL_SYMBOLS_MAX]; /* positions of the symbols in each list */
};

/* An alphabet under construction. */
struct sl_alphabet {
	struct sl_huffman_work *w;
	uint32_t base, used; /* its used symbols are base .. base + used - 1; at least two */
	uint32_t limit;      /* bits of a code, and number of lists: fewer than symbols */
	uint32_t list;       /* the list being merged, and its packages; none in the first */
	uint32_t packages;
};

/* Number of symbols with a non-zero count. */
SL_HD uint32_t sl_symbols_used(const uint32_t *count, uint32_t n)
{
	uint32_t used = 0;

	for (uint32_t s = 0; s < n; s++)
		used += count[s] > 0;
	return used;
}

/*
 * Gives a count to unused symbols until two are used, so that the code is complete, as decoders
 * require.
 */
SL_HD void sl_huffman_use_two(uint32_t *count, uint32_t n)
{
	uint32_t used = sl_symbols_used(count, n);

	for (uint32_t s = 0; used < 2; s++)
		if (count[s] == 0) {
			count[s] = 1;
			used++;
		}
}

/*
 * Inserts symbol s of n into the order by count, by rank: calls for all s, in any order, sort the
 * alphabet.
 */
SL_HD void sl_huffman_place(
	struct sl_huffman_work *w, const uint32_t *count, uint32_t base, uint32_t n, uint32_t s)
{
	uint32_t rank = base, less = count[s] - 1;

	if (count[s] == 0)
		return;
	/* for an unused symbol, 0 - 1 is the largest number */
	for (uint32_t other = 0; other < n; other++)
		rank += count[other] - 1 < less + (other < s);
	w->leaf[rank] = count[s];
	w->order[rank] = (uint16_t)s;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* An alphabet of which `used` symbols occur, before its first list. */
SL_HD struct sl_alphabet sl_alphabet_of(
	struct sl_huffman_work *w, uint32_t base, uint32_t used, uint32_t limit)
{
	struct sl_alphabet a = {w, base, used, limit < used ? limit : used - 1, 0, 0};

	return a;
}

/* Weight of package p: items 2p and 2p + 1 of the previous list. */
SL_HD uint32_t sl_huffman_package(const struct sl_alphabet *a, uint32_t p)
{
	const uint32_t *before = a->w->list[(a->list + 1) % 2] + 2 * (size_t)a->base;

	return before[2 * p] + before[2 * p + 1];
}

/* Number of packages that are lighter than weight, by binary search. */
SL_HD uint32_t sl_huffman_packages_below(const struct sl_alphabet *a, uint32_t weight)
{
	uint32_t from = 0, n = a->packages;

	while (n > 0) {
		uint32_t half = n / 2;
		bool below = sl_huffman_package(a, from + half) < weight;

		from = below ? from + half + 1 : from;
		n = below ? n - half - 1 : half;
	}
	return from;
}

/* Number of symbols that are not heavier than weight: on a tie symbols precede packages. */
SL_HD uint32_t sl_huffman_leaves_below(const struct sl_alphabet *a, uint32_t weight)
{
	uint32_t from = 0, n = a->used;

	while (n > 0) {
		uint32_t half = n / 2;
		bool below = a->w->leaf[a->base + from + half] <= weight;

		from = below ? from + half + 1 : from;
		n = below ? n - half - 1 : half;
	}
	return from;
}

/*
 * Stores item i of the list at its position (symbols are items first, then packages); any order of
 * calls.
 */
SL_HD void sl_huffman_merge(const struct sl_alphabet *a, uint32_t i)
{
	uint32_t *to = a->w->list[a->list % 2] + 2 * (size_t)a->base, weight, position;

	if (i < a->used) {
		weight = a->w->leaf[a->base + i];
		position = i + sl_huffman_packages_below(a, weight);
		a->w->position[a->list][a->base + i] = (uint16_t)position;
	} else {
		weight = sl_huffman_package(a, i - a->used);
		position = i - a->used + sl_huffman_leaves_below(a, weight);
	}
	to[position] = weight;
}

/* Items of the current list; 0 after the last list. */
SL_HD uint32_t sl_huffman_list_items(const struct sl_alphabet *a)
{
	return a->list < a->limit ? a->used + a->packages : 0;
}

/* Proceeds to the next list after all items of this one are merged. */
SL_HD void sl_huffman_next_list(struct sl_alphabet *a)
{
	a->packages = (a->used + a->packages) / 2;
	a->list++;
}

/* --- codes ------------------------------------------------------------------------------------ */

/* Number of symbols among the first n items of a list. */
SL_HD uint32_t sl_huffman_leaves_among(const struct sl_alphabet *a, uint32_t list, uint32_t n)
{
	const uint16_t *position = a->w->position[list] + a->base;
	uint32_t from = 0, left = a->used;

	while (left > 0) {
		uint32_t half = left / 2;
		bool among = position[from + half] < n;

		from = among ? from + half + 1 : from;
		left = among ? left - half - 1 : half;
	}
	return from;
}

/* Code length of the i-th symbol in order, after all lists are merged. */
SL_HD uint8_t sl_huffman_length(const struct sl_alphabet *a, uint32_t i)
{
	uint32_t items = 2 * a->used - 2, length = 0;

	for (uint32_t list = a->limit; list-- > 0;) {
		uint32_t leaves = sl_huffman_leaves_among(a, list, items);

		length += i < leaves;
		items = 2 * (items - leaves);
	}
	return (uint8_t)length;
}

/* The lowest n bits in reverse order, n > 0. */
SL_HD uint32_t sl_reverse_bits(uint32_t x, uint32_t n)
{
#ifdef __CUDA_ARCH__
	return __brev(x) >> (32 - n);
#else
	uint32_t back = 0;

	for (uint32_t bit = 0; bit < n; bit++)
		back |= (x >> bit & 1) << (n - 1 - bit);
	return back;
#endif
}

/*
 * Canonical code of symbol s, bit-reversed as DEFLATE writes it; length: of all symbols; of_length:
 * number of symbols of each length. It follows all shorter codes, and those of the same length of
 * smaller symbols. (RFC 1951, 3.2.2.)
 */
SL_HD uint16_t sl_huffman_code(const uint8_t *length, const uint32_t *of_length, uint32_t s)
{
	uint32_t mine = length[s], code = 0;

	if (mine == 0)
		return 0;
	for (uint32_t shorter = 1; shorter < mine; shorter++)
		code += of_length[shorter] << (mine - shorter);
	for (uint32_t other = 0; other < s; other++)
		code += length[other] == mine;
	return (uint16_t)sl_reverse_bits(code, mine);
}

#endif
