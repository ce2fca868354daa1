/*
 * huffman.h - canonical codes of DEFLATE from counts, the best with no code longer than a limit.
 *
 * Package-merge (Larmore and Hirschberg, 1990): symbols in the order of their counts are a list;
 * neighbours in a list, two by two, become packages, and these merged with the symbols the next
 * list, as many times as a code has bits. Of the last list the first 2 n - 2 are taken, of each
 * before that what packages are made of; a code has a bit for each list that its symbol is taken
 * from. Where an item goes in a list is looked for by halves, so that all are merged at the same
 * time, by as many threads as there are.
 */
#ifndef SL_PRIMITIVES_DEFLATE_HUFFMAN_H
#define SL_PRIMITIVES_DEFLATE_HUFFMAN_H

#include "primitives/base/hd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SL_SYMBOLS_MAX = 286 + 30, /* of both alphabets, which may be made at a time */
	SL_CODE_MAX = 12 /* bits of a code, and lists; 15, as DEFLATE has, gains nothing here */
};

/* What making codes takes. An alphabet that begins at symbol base has its part of each. */
struct sl_huffman_work {
	uint32_t leaf[SL_SYMBOLS_MAX];        /* counts of symbols in use, the least first */
	uint16_t order[SL_SYMBOLS_MAX];       /* and which they are */
	uint32_t list[2][2 * SL_SYMBOLS_MAX]; /* weights: of one list, and of the next */
	uint16_t position[SL_CODE_MAX][SL_SYMBOLS_MAX]; /* of leaves, in each list */
};

/* An alphabet that is being made. */
struct sl_alphabet {
	struct sl_huffman_work *w;
	uint32_t base, used; /* its symbols in use: from base on; two at least */
	uint32_t limit;      /* bits of a code, and lists: fewer than symbols */
	uint32_t list;       /* that is merged, and the packages in it: none in the first */
	uint32_t packages;
};

/* Its symbols in use. */
SL_HD uint32_t sl_symbols_used(const uint32_t *count, uint32_t n)
{
	uint32_t used = 0;

	for (uint32_t s = 0; s < n; s++)
		used += count[s] > 0;
	return used;
}

/* Two symbols at least are given a code, so that it is complete, which readers ask for. */
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
 * Puts symbol s of n where it belongs in the order of an alphabet from base on: all of them, in any
 * turn, are a sort.
 */
SL_HD void sl_huffman_place(
	struct sl_huffman_work *w, const uint32_t *count, uint32_t base, uint32_t n, uint32_t s)
{
	uint32_t rank = base, less = count[s] - 1;

	if (count[s] == 0)
		return;
	for (uint32_t other = 0; other < n; other++) /* 0 less 1 is the most */
		rank += count[other] - 1 < less + (other < s);
	w->leaf[rank] = count[s];
	w->order[rank] = (uint16_t)s;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* An alphabet of which so many are in use, before its first list. */
SL_HD struct sl_alphabet sl_alphabet_of(
	struct sl_huffman_work *w, uint32_t base, uint32_t used, uint32_t limit)
{
	struct sl_alphabet a = {w, base, used, limit < used ? limit : used - 1, 0, 0};

	return a;
}

/* The weight of a package: of two neighbours in the list before. */
SL_HD uint32_t sl_huffman_package(const struct sl_alphabet *a, uint32_t p)
{
	const uint32_t *before = a->w->list[(a->list + 1) % 2] + 2 * (size_t)a->base;

	return before[2 * p] + before[2 * p + 1];
}

/* How many packages are lighter than a symbol. */
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

/* How many symbols are no heavier than a package: at the same weight they come first. */
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

/* Puts item i where it belongs in the list, symbols first, then packages: all, in any turn. */
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

/* Items of the list that is merged; 0: it was the last. */
SL_HD uint32_t sl_huffman_list_items(const struct sl_alphabet *a)
{
	return a->list < a->limit ? a->used + a->packages : 0;
}

/* On to the next list, when all items are in this one. */
SL_HD void sl_huffman_next_list(struct sl_alphabet *a)
{
	a->packages = (a->used + a->packages) / 2;
	a->list++;
}

/* --- codes ------------------------------------------------------------------------------------ */

/* How many symbols are among the first n items of a list. */
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

/* Bits of the code of the i-th symbol in order, when all lists are merged. */
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
 * The code of symbol s, its first bit lowest, by the lengths of all, of which so many have each:
 * behind the shorter ones, and those of the same length before it. (RFC 1951, 3.2.2.)
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
