/* splitters.c - see splitters.h. */
#include "pipeline/output/source/splitters.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "keys are read as they lie in the file, which is little-endian"
#endif

static uint64_t key_at(const struct sl_sorted_keys *s, uint64_t i)
{
	uint64_t key;

	memcpy(&key, s->at + i * sizeof(key), sizeof(key));
	return key;
}

/* The number of keys that are at most `key`, which is known to be from low to high. */
static uint64_t count_up_to(
	const struct sl_sorted_keys *s, uint64_t key, uint64_t low, uint64_t high)
{
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (key_at(s, middle) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Fills s->middle for a key; returns the sum. */
static uint64_t count_all(const struct sl_sorted_keys *sequence, uint32_t n, uint64_t key,
	const struct sl_splitters *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		s->middle[i] = count_up_to(&sequence[i], key, s->before[i], s->above[i]);
		sum += s->middle[i];
	}
	return sum;
}

/*
 * Finds the least key that has so many records up to it, by bisection. Then s->before has the records with
 * smaller keys, and s->above also those with this key.
 */
static void find_key(const struct sl_sorted_keys *sequence, uint32_t n, uint64_t records,
	const struct sl_splitters *s)
{
	uint64_t least = 0, most = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		s->before[i] = 0;
		s->above[i] = sequence[i].n;
	}
	while (least < most) {
		uint64_t key = least + (most - least) / 2;

		if (count_all(sequence, n, key, s) >= records) {
			most = key;
			memcpy(s->above, s->middle, n * sizeof(*s->above));
		} else {
			least = key + 1;
			memcpy(s->before, s->middle, n * sizeof(*s->before));
		}
	}
}

void sl_splitters_find(
	const struct sl_sorted_keys *sequence, uint32_t n, uint64_t records, struct sl_splitters *s)
{
	uint64_t left = records;

	find_key(sequence, n, records, s);
	for (uint32_t i = 0; i < n; i++)
		left -= s->before[i] < left ? s->before[i] : left;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t equal = s->above[i] - s->before[i], taken = equal < left ? equal : left;

		s->before[i] += taken;
		left -= taken;
	}
}
