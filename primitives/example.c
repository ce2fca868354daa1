/*
 * example.c - scan, compact and sort called from plain C, on memory of the caller's.
 *
 *	cc example.c $(pkg-config --cflags --libs sluice)
 *
 * Particles have energies; those above a threshold are kept and put in order of energy. Prints what
 * it finds, and ends with 1 when an answer is wrong.
 */
#include <stdio.h>

#include "primitives/primitives.h"

enum { N = 1000 };

/* The columns: what is given, and what each primitive makes of it. */
static uint32_t energy[N];
static uint8_t keep[N];
static uint32_t before[N]; /* sum of the energies before this one */
static uint32_t alive[N], n_alive;
static uint32_t key[N];

/* One block of scratch, as large as the most that any of the calls asks for. */
static enum sl_status get_scratch(const struct sl_backend *const b[3], struct sl_arena *scratch)
{
	const struct sl_shape shape = {.n = N, .type = SL_U32};

	for (int i = 0; i < 3; i++) {
		size_t bytes = sl_scratch(b[i], &shape);

		scratch->size = bytes > scratch->size ? bytes : scratch->size;
	}
	return sl_memory_get(SL_HOST, scratch->size, &scratch->base);
}

static enum sl_status work(const struct sl_backend *const b[3], struct sl_exec *x)
{
	const struct sl_scan_job scan = {.in = energy, .out = before, .n = N, .type = SL_U32};
	const struct sl_compact_job compact = {
		.keep = keep, .out = alive, .n_out = &n_alive, .n = N};
	struct sl_sort_job sort = {.key = key, .index = alive, .type = SL_U32, .end_bit = 32};

	SL_TRY(sl_scan(b[0], x, &scan));
	SL_TRY(sl_compact(b[1], x, &compact));
	for (uint32_t i = 0; i < n_alive; i++)
		key[i] = energy[alive[i]];
	sort.n = n_alive;
	return sl_sort(b[2], x, &sort);
}

static enum sl_status run(void)
{
	const struct sl_backend *b[3];
	struct sl_exec x = {.space = SL_HOST};
	enum sl_status s;

	SL_TRY(sl_find(SL_SCAN, "cpu", &b[0]));
	SL_TRY(sl_find(SL_COMPACT, "cpu", &b[1]));
	SL_TRY(sl_find(SL_SORT, "cpu", &b[2]));
	SL_TRY(get_scratch(b, &x.scratch));
	s = work(b, &x);
	sl_memory_give(SL_HOST, x.scratch.base);
	return s;
}

/* What the answers must be, worked out in the plainest way. */
static int is_right(void)
{
	uint32_t sum = 0, n_kept = 0;

	for (uint32_t i = 0; i < N; i++) {
		if (before[i] != sum)
			return 0;
		sum += energy[i];
		n_kept += keep[i];
	}
	for (uint32_t i = 0; i < n_alive; i++)
		if (key[i] != energy[alive[i]] || !keep[alive[i]] || (i > 0 && key[i - 1] > key[i]))
			return 0;
	return n_kept == n_alive;
}

int main(void)
{
	for (uint32_t i = 0; i < N; i++) {
		energy[i] = i * 7919u % 1009u;
		keep[i] = energy[i] > 500;
	}
	if (run() != SL_OK) {
		fprintf(stderr, "example: %s\n", sl_story());
		return 1;
	}
	printf("%u of %d are alive; the least energy is %u, of particle %u\n", n_alive, N, key[0],
		alive[0]);
	if (!is_right()) {
		fprintf(stderr, "example: an answer is wrong\n");
		return 1;
	}
	return 0;
}
