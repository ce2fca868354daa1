/*
 * speed.c - tests that sort/cpu is faster than qsort for 2^22 random u32 pairs.
 *
 * The aim is a factor of 4. The test fails below 2, so that it passes on a busy machine, and only in an
 * optimised build without sanitizers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "primitives/primitives.h"
#include "tests/cases/inputs.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/program.h"

enum { N = 1 << 22, TRIES = 3 };

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const double least = 2;
#else
static const double least = 0; /* print only */
#endif

struct pair {
	uint32_t key, index;
};

static struct pair pairs[N];
static uint32_t key[N], index_of[N];

struct way {
	void (*fill)(void);
	void (*run)(void *scratch);
};

static void fill_columns(void)
{
	sl_input_fill(SL_INPUT_RANDOM, SL_U32, N, key);
	for (uint32_t i = 0; i < N; i++)
		index_of[i] = i;
}

static void fill_pairs(void)
{
	for (uint32_t i = 0; i < N; i++)
		pairs[i] = (struct pair){(uint32_t)sl_mixed(i), i};
}

static int by_key(const void *a, const void *b)
{
	uint32_t p = ((const struct pair *)a)->key, q = ((const struct pair *)b)->key;

	return (p > q) - (p < q);
}

static void run_qsort(void *scratch)
{
	(void)scratch;
	qsort(pairs, N, sizeof(pairs[0]), by_key);
}

static void run_radix(void *scratch)
{
	struct sl_shape shape = {.n = N, .type = SL_U32};
	struct sl_exec x = {
		.space = SL_HOST, .scratch = {scratch, 0, sl_scratch(&sl_sort_cpu, &shape)}};
	struct sl_sort_job job = {
		.key = key, .index = index_of, .n = N, .type = SL_U32, .end_bit = 32};

	assert_ok(sl_sort(&sl_sort_cpu, &x, &job));
}

static const struct way radix = {fill_columns, run_radix}, quick = {fill_pairs, run_qsort};

/* Seconds. */
static double best_of(struct way way, void *scratch)
{
	double best = 1e9;

	for (int i = 0; i < TRIES; i++) {
		double began, took;

		way.fill();
		began = seconds_now();
		way.run(scratch);
		took = seconds_now() - began;
		best = took < best ? took : best;
	}
	return best;
}

TEST(sort_beats_qsort)
{
	struct sl_shape shape = {.n = N, .type = SL_U32};
	double ours, theirs;
	void *scratch;

	assert_ok(sl_memory_get(SL_HOST, sl_scratch(&sl_sort_cpu, &shape), &scratch));
	ours = best_of(radix, scratch);
	theirs = best_of(quick, NULL);
	sl_memory_give(SL_HOST, scratch);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(key[i], pairs[i].key);
	printf("sort/cpu of %d u32 pairs: %.1f ms, qsort %.1f ms: %.1f times as fast (aim 4)\n", N,
		1e3 * ours, 1e3 * theirs, theirs / ours);
	assert_true(theirs >= least * ours);
}
