/*
 * specification.c - compares the cpu backends with answers worked out by hand and with qsort.
 *
 * All other backends are compared with the cpu backends, so this test must not use them.
 */
#include <stdlib.h>

#include "tests/cases/inputs.h"
#include "tests/support/basic/check.h"

/* Scratch for the largest job here. */
static _Alignas(SL_ALIGN) char block[1 << 18];

static struct sl_exec exec(void)
{
	struct sl_exec x = {.space = SL_HOST, .scratch = {block, 0, sizeof(block)}};

	return x;
}

TEST(scan_by_hand)
{
	const uint32_t in[] = {3, 1, 7, 0, 4, 1, 6, 3};
	const uint32_t exclusive[] = {0, 3, 4, 11, 11, 15, 16, 22};
	const uint32_t inclusive[] = {3, 4, 11, 11, 15, 16, 22, 25};
	uint32_t out[8];
	struct sl_exec x = exec();
	struct sl_scan_job job = {.in = in, .out = out, .n = 8, .type = SL_U32};

	assert_ok(sl_scan(&sl_scan_cpu, &x, &job));
	assert_memory_equal(out, exclusive, sizeof(out));
	job.inclusive = true;
	assert_ok(sl_scan(&sl_scan_cpu, &x, &job));
	assert_memory_equal(out, inclusive, sizeof(out));
}

TEST(scan_wraps_at_the_width_of_the_type)
{
	const uint32_t in32[] = {UINT32_MAX, 2, 5};
	const uint64_t in64[] = {UINT32_MAX, 2, UINT64_MAX, 7};
	const uint64_t want64[] = {0, UINT32_MAX, UINT64_C(0x100000001), UINT64_C(0x100000000)};
	uint32_t out32[3];
	uint64_t out64[4];
	struct sl_exec x = exec();
	struct sl_scan_job job = {.in = in32, .out = out32, .n = 3, .type = SL_U32};
	struct sl_scan_job wide = {.in = in64, .out = out64, .n = 4, .type = SL_U64};

	assert_ok(sl_scan(&sl_scan_cpu, &x, &job));
	assert_int_equal(out32[1], UINT32_MAX);
	assert_int_equal(out32[2], 1);
	assert_ok(sl_scan(&sl_scan_cpu, &x, &wide));
	assert_memory_equal(out64, want64, sizeof(want64));
}

TEST(compact_by_hand)
{
	const struct sl_backend *const backends[] = {&sl_compact_cpu, &sl_compact_cpu_scan};
	const uint8_t keep[] = {0, 1, 1, 0, 0, 1, 0, 1, 1};
	const uint32_t want[] = {1, 2, 5, 7, 8};

	for (int i = 0; i < 2; i++) {
		uint32_t out[9] = {0}, n_out = 99;
		struct sl_exec x = exec();
		struct sl_compact_job job = {.keep = keep, .out = out, .n_out = &n_out, .n = 9};

		assert_ok(sl_compact(backends[i], &x, &job));
		assert_int_equal(n_out, 5);
		assert_memory_equal(out, want, sizeof(want));
		job.n = 0;
		assert_ok(sl_compact(backends[i], &x, &job));
		assert_int_equal(n_out, 0);
	}
}

TEST(columns_by_hand)
{
	const struct sl_backend *const backends[] = {&sl_compact_cpu, &sl_compact_cpu_scan};
	const uint8_t keep[] = {0, 1, 7, 0, 1};
	const char letter[] = "abcde";
	const double number[] = {0.5, 1.5, 2.5, 3.5, 4.5}, want[] = {1.5, 2.5, 4.5};

	for (int i = 0; i < 2; i++) {
		char letters[5] = {0};
		double numbers[5] = {0};
		uint32_t n_out = 99;
		struct sl_exec x = exec();
		const struct sl_compact_column column[] = {
			{letter, letters, sizeof(char)}, {number, numbers, sizeof(double)}};
		struct sl_compact_job job = {
			.keep = keep, .n_out = &n_out, .n = 5, .n_columns = 2, .column = column};

		assert_ok(sl_compact(backends[i], &x, &job));
		assert_int_equal(n_out, 3);
		assert_memory_equal(letters, "bce", 3);
		assert_memory_equal(numbers, want, sizeof(want));
	}
}

TEST(sort_by_hand)
{
	uint32_t key[] = {0x2b, 0x1a, 0x2a, 0x1b, 0x2a};
	uint32_t index[] = {10, 11, 12, 13, 14};
	const uint32_t by_all[] = {0x1a, 0x1b, 0x2a, 0x2a, 0x2b};
	const uint32_t by_all_index[] = {11, 13, 12, 14, 10};
	const uint32_t by_low[] = {0x1a, 0x2a, 0x2a, 0x1b, 0x2b};
	const uint32_t by_low_index[] = {11, 12, 14, 13, 10};
	struct sl_exec x = exec();
	struct sl_sort_job job = {
		.key = key, .index = index, .n = 5, .type = SL_U32, .end_bit = 32};

	assert_ok(sl_sort(&sl_sort_cpu, &x, &job));
	assert_memory_equal(key, by_all, sizeof(key));
	assert_memory_equal(index, by_all_index, sizeof(index));
	job.end_bit = 4; /* the low digit only: what is above keeps its order */
	assert_ok(sl_sort(&sl_sort_cpu, &x, &job));
	assert_memory_equal(key, by_low, sizeof(key));
	assert_memory_equal(index, by_low_index, sizeof(index));
}

struct pair {
	uint64_t key;
	uint32_t index;
};

/* qsort is not stable, so equal keys are ordered by index. */
static int by_key_then_index(const void *a, const void *b)
{
	const struct pair *p = (const struct pair *)a, *q = (const struct pair *)b;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return (p->index > q->index) - (p->index < q->index);
}

enum { N = 5000 };

static void sort_agrees_with_qsort(enum sl_type type, enum sl_input input)
{
	static struct pair pairs[N];
	static uint64_t key[N], alone[N];
	static uint32_t index[N];
	struct sl_sort_job keys;
	const uint32_t *key32 = (const uint32_t *)key;
	struct sl_exec x = exec();
	struct sl_sort_job job = {.key = key,
		.index = index,
		.n = N,
		.type = type,
		.end_bit = type == SL_U32 ? 32 : 64};

	sl_input_fill(input, type, N, key);
	for (uint32_t i = 0; i < N; i++) {
		index[i] = i;
		pairs[i] = (struct pair){type == SL_U32 ? key32[i] : key[i], i};
	}
	qsort(pairs, N, sizeof(pairs[0]), by_key_then_index);
	keys = job;
	keys.index = NULL;
	keys.key_out = alone;
	assert_ok(sl_sort(&sl_sort_cpu, &x, &keys));
	assert_ok(sl_sort(&sl_sort_cpu, &x, &job));
	assert_memory_equal(alone, key, N * (type == SL_U32 ? sizeof(uint32_t) : sizeof(*key)));
	for (uint32_t i = 0; i < N; i++) {
		assert_true(pairs[i].key == (type == SL_U32 ? key32[i] : key[i]));
		assert_int_equal(pairs[i].index, index[i]);
	}
}

TEST(all_sorts_agree_with_qsort)
{
	for (int input = 0; input < SL_INPUT_COUNT; input++) {
		sort_agrees_with_qsort(SL_U32, (enum sl_input)input);
		sort_agrees_with_qsort(SL_U64, (enum sl_input)input);
	}
}
