/* splitters.c - places of the merged order of sorted sequences, against a merge of all records. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/output/source/splitters.h"
#include "tests/support/basic/check.h"

enum { SEQUENCES = 7, LONGEST = 60 };

/* Sequences at odd addresses, as in a file. */
struct sequences {
	uint8_t bytes[SEQUENCES][1 + 8 * LONGEST];
	struct sl_sorted_keys keys[SEQUENCES];
	uint64_t total;
};

static int ascending(const void *a, const void *b)
{
	const uint64_t *p = (const uint64_t *)a, *q = (const uint64_t *)b;

	return (*p > *q) - (*p < *q);
}

/* Makes sequences of up to `longest` keys, some empty, of so many distinct values from all 64 bits. */
static void make(struct sequences *s, unsigned longest, unsigned distinct, bool sorted)
{
	static const uint64_t extreme[] = {0, UINT64_MAX, 1, UINT64_MAX - 1, UINT64_C(1) << 63};
	uint64_t key[LONGEST];

	s->total = 0;
	for (int i = 0; i < SEQUENCES; i++) {
		uint64_t n = rand() % 4 == 0 ? 0 : (unsigned)rand() % (longest + 1);

		for (uint64_t k = 0; k < n; k++) {
			unsigned value = (unsigned)rand() % distinct;

			key[k] = value < 5 ? extreme[value] : value * UINT64_C(0x9e3779b97f4a7c15);
		}
		if (sorted)
			qsort(key, n, sizeof(*key), ascending);
		memcpy(s->bytes[i] + 1, key, n * sizeof(*key));
		s->keys[i] = (struct sl_sorted_keys){s->bytes[i] + 1, n};
		s->total += n;
	}
}

static uint64_t key_of(const struct sequences *s, int i, uint64_t row)
{
	uint64_t key;

	memcpy(&key, s->keys[i].at + 8 * row, sizeof(key));
	return key;
}

/* Moves to the next record of the merge: the least key, of the first sequence that has it. */
static void step(const struct sequences *s, uint64_t row[SEQUENCES])
{
	int least = -1;

	for (int i = 0; i < SEQUENCES; i++)
		if (row[i] < s->keys[i].n &&
			(least < 0 || key_of(s, i, row[i]) < key_of(s, least, row[least])))
			least = i;
	assert_true(least >= 0);
	row[least]++;
}

static void find(const struct sequences *s, uint64_t records, uint64_t before[SEQUENCES])
{
	uint64_t middle[SEQUENCES], above[SEQUENCES];
	struct sl_splitters found = {before, middle, above};

	sl_splitters_find(s->keys, SEQUENCES, records, &found);
}

TEST(places_are_those_of_a_merge)
{
	static const unsigned distinct[] = {1, 2, 5, 9, 1000};
	struct sequences s;

	srand(1);
	for (unsigned trial = 0; trial < 400; trial++) {
		uint64_t row[SEQUENCES] = {0}, before[SEQUENCES];

		make(&s, 1 + trial % LONGEST, distinct[trial % 5], true);
		for (uint64_t records = 0; records <= s.total; records++) {
			find(&s, records, before);
			assert_memory_equal(before, row, sizeof(row));
			if (records < s.total)
				step(&s, row);
		}
		find(&s, s.total + 1, before);
		assert_memory_equal(before, row, sizeof(row));
	}
}

/* Foreign files can have any keys. */
TEST(unsorted_keys_give_numbers_with_the_same_sum)
{
	struct sequences s;

	srand(2);
	for (unsigned trial = 0; trial < 400; trial++) {
		make(&s, LONGEST, trial % 2 ? 9 : 1000, false);
		for (uint64_t records = 0; records <= s.total; records++) {
			uint64_t before[SEQUENCES], sum = 0;

			find(&s, records, before);
			for (int i = 0; i < SEQUENCES; i++) {
				assert_true(before[i] <= s.keys[i].n);
				sum += before[i];
			}
			assert_int_equal(sum, records);
		}
	}
}
