/* inputs.c - see inputs.h. */
#include "inputs.h"

#include <math.h>
#include <string.h>

/* The items of a usual tile, and the flags of the largest single tile of compact/shared. */
enum { TILE = 4096, SINGLE = 1 << 14 };

const uint32_t sl_sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, TILE - 1, TILE, TILE + 1,
	SINGLE - 15, SINGLE, SINGLE + 1, (1 << 20) + 3, SL_SIZE_LARGE + 5};
const size_t sl_sizes_count = sizeof(sl_sizes) / sizeof(sl_sizes[0]);

const struct sl_backend *sl_backend_of(enum sl_primitive p, enum sl_space space, size_t k)
{
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (b->primitive == p && b->space == space && k-- == 0)
			break;
	return b;
}

const char *sl_distribution_name(enum sl_input input)
{
	static const char *const names[SL_INPUT_END] = {"zeros", "ones", "random", "sorted",
		"reversed", "few distinct", "all largest", "entropy 0.811", "entropy 0.544",
		"entropy 0.337", "entropy 0.201"};

	return names[input];
}

const char *sl_alive_name(enum sl_alive alive)
{
	static const char *const names[SL_ALIVE_END] = {"none alive", "one alive", "few alive",
		"half alive", "most alive", "all alive", "1 % alive", "10 % alive", "90 % alive"};

	return names[alive];
}

uint64_t sl_mixed(uint64_t i)
{
	uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Ascending with i over the whole range of type; steps of 3 make equal neighbours. */
static uint64_t ascending(uint64_t i, uint32_t n, enum sl_type type)
{
	uint64_t most = type == SL_U32 ? UINT32_MAX : UINT64_MAX;

	return most / n * (i - i % 3);
}

/*
 * AND of random words. Each word has its own stream (bits 32 and up of the argument), so its bits
 * are independent of the other words.
 */
static uint64_t and_of_random_words(uint32_t words, uint64_t i)
{
	uint64_t all = UINT64_MAX;

	for (uint64_t k = 0; k < words; k++)
		all &= sl_mixed(i | k << 32);
	return all;
}

static uint64_t item(enum sl_input input, enum sl_type type, uint32_t n, uint32_t i)
{
	if (input >= SL_INPUT_AND2)
		return and_of_random_words(2 + (uint32_t)(input - SL_INPUT_AND2), i);
	return input == SL_INPUT_ZEROS      ? 0
	       : input == SL_INPUT_ONES     ? 1
	       : input == SL_INPUT_RANDOM   ? sl_mixed(i)
	       : input == SL_INPUT_SORTED   ? ascending(i, n, type)
	       : input == SL_INPUT_REVERSED ? ascending(n - 1 - i, n, type)
	       : input == SL_INPUT_FEW      ? sl_mixed(sl_mixed(i) % 5)
	                                    : UINT64_MAX;
}

const char *sl_type_text(enum sl_type type)
{
	static const char *const names[] = {"u32", "u64", "f32", "f64"};

	return names[type];
}

/*
 * Numbers of both signs over the range of float, each followed by about its negative; small ones;
 * equal ones that overflow; and -0 and infinities of both signs.
 */
static double float_item(enum sl_input input, uint32_t n, uint32_t i)
{
	const uint64_t r = sl_mixed(i - i % 2);
	const double unit = (double)(sl_mixed(i) >> 11) * 0x1p-53;

	switch (input) {
	case SL_INPUT_ZEROS:
		return i % 3 ? -0.0 : 0;
	case SL_INPUT_ONES:
		return 1;
	case SL_INPUT_RANDOM:
		return (i % 2 ? -1 : 1) * (0.5 + 0x1p-20 * unit) * ldexp(1, (int)(r % 200) - 100);
	case SL_INPUT_SORTED:
		return ldexp(unit, (int)(100 * (uint64_t)i / n));
	case SL_INPUT_REVERSED:
		return ldexp(unit, -(int)(140 * (uint64_t)i / n));
	case SL_INPUT_FEW:
		return i == n / 8 * 7   ? -INFINITY
		       : i == n / 4 * 3 ? INFINITY
		                        : -0.0 + (double)(r % 3);
	default:
		return 3e38;
	}
}

void sl_input_fill(enum sl_input input, enum sl_type type, uint32_t n, void *items)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = item(input, type, n, i);

		if (type == SL_F32)
			((float *)items)[i] = (float)float_item(input, n, i);
		else if (type == SL_F64)
			((double *)items)[i] = float_item(input, n, i);
		else if (type == SL_U32)
			((uint32_t *)items)[i] = (uint32_t)v;
		else
			((uint64_t *)items)[i] = v;
	}
}

static bool is_alive(enum sl_alive alive, uint32_t n, uint32_t i)
{
	enum { CLUSTER = 50 };
	static const uint32_t percent[SL_ALIVE_END] = {0, 0, 0, 50, 99, 100, 1, 10, 90};

	if (alive == SL_ALIVE_ONE)
		return i == sl_mixed(n) % n;
	if (alive == SL_ALIVE_FEW)
		return sl_mixed(i / CLUSTER) % 100 < 2 && sl_mixed(i) % 2 == 0;
	return sl_mixed(i) % 100 < percent[alive];
}

void sl_alive_fill(enum sl_alive alive, uint32_t n, uint8_t *keep)
{
	for (uint32_t i = 0; i < n; i++)
		keep[i] = is_alive(alive, n, i) ? (uint8_t)(1 + sl_mixed(~i) % 255) : 0;
}
