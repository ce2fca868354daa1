/* deflate_inputs.c - see deflate_inputs.h. */
#include "tests/support/formats/deflate_inputs.h"

#include <stdint.h>
#include <string.h>

#include "tests/cases/inputs.h"

static uint8_t text_at(size_t i)
{
	static const char words[] = "the weight of a particle is the weight it was born with ";

	return (uint8_t)words[(i + sl_mixed(i / 97) % 8) % (sizeof(words) - 1)];
}

/* 22 symbols with the counts 1, 1, 2, 3, 5, 8, ..., the most that fit in a segment, shuffled and repeated. */
static uint8_t fibonacci_at(size_t i)
{
	uint32_t a = 1, b = 1, symbol = 0, place = (uint32_t)(i * 8191 % 28656);

	while (place >= a) {
		uint32_t next = a + b;

		place -= a;
		a = b;
		b = next;
		symbol++;
	}
	return (uint8_t)(7 * symbol);
}

static void make_runs(size_t bytes, uint8_t *to)
{
	for (size_t i = 0, run = 0; i < bytes; run++) {
		uint64_t r = sl_mixed(run);
		size_t n = 1 + (r >> 8) % (r % 4 ? 9 : 600);

		for (; n > 0 && i < bytes; n--)
			to[i++] = (uint8_t)(r >> 32 & 7);
	}
}

static void make_repeats(size_t bytes, uint8_t *to)
{
	for (size_t i = 0, part = 0; i < bytes; part++) {
		uint64_t r = sl_mixed(part);
		size_t n = 1 + r % 60, inflated = 1 + (r >> 8) % (r >> 62 ? 40000 : 300);

		for (; n > 0 && i < bytes; n--, i++)
			to[i] = part % 3 && inflated <= i ? to[i - inflated] : (uint8_t)sl_mixed(i);
	}
}

/* Items of 4 or 8 bytes; bytes after the last complete item are 0. */
static void make_items(enum deflate_input kind, size_t bytes, uint8_t *to)
{
	size_t item = kind == DEFLATE_IDS ? 8 : 4;
	uint64_t word = 0;

	memset(to, 0, bytes);
	for (size_t i = 0; i < bytes / item; i++) {
		float number = (float)(sl_mixed(i) >> 40) * 0x1p-24f;

		word += kind == DEFLATE_IDS ? 1 + (uint64_t)__builtin_ctzll(sl_mixed(i))
		                            : sl_mixed(i) % 512;
		if (kind == DEFLATE_FLOATS)
			memcpy(to + i * item, &number, item);
		else
			memcpy(to + i * item, &word, item);
	}
}

void deflate_input_make(enum deflate_input kind, size_t bytes, void *to)
{
	uint8_t *out = (uint8_t *)to;

	if (kind == DEFLATE_RUNS)
		make_runs(bytes, out);
	else if (kind == DEFLATE_REPEATS)
		make_repeats(bytes, out);
	else if (kind >= DEFLATE_IDS)
		make_items(kind, bytes, out);
	else
		for (size_t i = 0; i < bytes; i++)
			out[i] = kind == DEFLATE_CONSTANT    ? 'c'
			         : kind == DEFLATE_RANDOM    ? (uint8_t)sl_mixed(i)
			         : kind == DEFLATE_TEXT      ? text_at(i)
			         : kind == DEFLATE_FIBONACCI ? fibonacci_at(i)
			                                     : (uint8_t)(sl_mixed(i) % 2);
}
