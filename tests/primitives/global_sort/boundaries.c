/* boundaries.c - tests the search for the keys at ranks, and how equal keys are divided. */
#include "primitives/global_sort/boundaries.h"

#include <stdlib.h>

#include "primitives/global_sort/global_sort.h"
#include "stages/particle/random.h"
#include "tests/support/basic/check.h"

enum { KEYS = 300 };

static uint64_t count_not_more(const uint64_t *key, uint64_t value)
{
	uint64_t n = 0;

	for (int i = 0; i < KEYS; i++)
		n += key[i] <= value;
	return n;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;

	return (*x > *y) - (*x < *y);
}

/* Finds the key at each rank among keys of so many bits, with n_values in a round; returns the most rounds. */
static int find_every_rank(int bits, uint32_t n_values)
{
	uint64_t key[KEYS], value[SL_RANKS_MOST], not_more[SL_RANKS_MOST];
	int most = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		key[i] = (sl_draw(5, i, 0).at[0] | (uint64_t)sl_draw(5, i, 0).at[1] << 32) >>
		         (64 - bits);
	qsort(key, KEYS, sizeof(key[0]), compare);
	for (uint64_t rank = 0; rank < KEYS; rank++) {
		struct sl_rank_range r = {rank, 0, UINT64_MAX >> (64 - bits)};
		uint32_t n;
		int rounds = 0;

		for (; (n = sl_rank_values(&r, n_values, value)) > 0; rounds++) {
			for (uint32_t k = 0; k < n; k++) {
				assert_true(value[k] >= r.low && value[k] < r.high);
				not_more[k] = count_not_more(key, value[k]);
			}
			sl_rank_narrow(&r, value, not_more, n);
		}
		assert_true(r.low == r.high && r.low == key[rank]);
		most = rounds > most ? rounds : most;
	}
	return most;
}

/* A round of m values determines about log2(m + 1) bits. */
TEST(the_key_at_each_rank_is_found)
{
	static const struct {
		int bits;
		uint32_t n_values;
		int rounds; /* at most */
	} cases[] = {{1, 31, 1}, {5, 31, 1}, {6, 31, 2}, {9, 31, 3}, {31, 31, 7}, {32, 31, 7},
		{63, 31, 13}, {64, 31, 14}, {9, 1, 9}, {32, 66, 6}, {64, 66, 11}, {32, 2047, 3},
		{64, 2047, 6}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_in_range(
			find_every_rank(cases[i].bits, cases[i].n_values), 1, cases[i].rounds);
}

TEST(without_keys_the_search_ends)
{
	const uint64_t none[SL_RANKS_MOST] = {0};
	struct sl_rank_range r = {0, 0, UINT64_MAX};
	uint64_t value[SL_RANKS_MOST];
	uint32_t n;

	while ((n = sl_rank_values(&r, SL_RANKS_MOST, value)) > 0)
		sl_rank_narrow(&r, value, none, n);
	assert_true(r.low == UINT64_MAX);
}

TEST(equal_keys_come_from_the_first_shares)
{
	const struct sl_run_rank of[] = {{2, 4}, {0, 0}, {1, 6}, {3, 4}};
	static const uint32_t expected[][4] = {
		{2, 0, 1, 3}, {3, 0, 1, 3}, {4, 0, 1, 3}, {4, 0, 2, 3}, {4, 0, 6, 3}, {4, 0, 6, 4}};
	static const uint64_t rank[] = {6, 7, 8, 9, 13, 14};
	uint32_t at[4];

	for (int i = 0; i < 6; i++) {
		sl_rank_divide(rank[i], of, 4, at);
		assert_memory_equal(at, expected[i], sizeof(at));
	}
}

TEST(parts_differ_by_at_most_one_key)
{
	static const uint64_t sizes[] = {
		0, 1, 31, 32, 33, 1000003, UINT64_C(1) << 33, UINT64_MAX / 64};

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		for (uint32_t n = 1; n <= SL_DEVICES_MAX; n++) {
			uint64_t sum = 0;

			for (uint32_t i = 0; i < n; i++) {
				uint64_t part = sl_global_sort_part(sizes[k], n, i);

				assert_true(part >= sizes[k] / n && part <= sizes[k] / n + 1);
				sum += part;
				assert_true(sum == (sizes[k] / n) * (i + 1) +
							   (sizes[k] % n) * (i + 1) / n);
			}
			assert_true(sum == sizes[k]);
		}
}
