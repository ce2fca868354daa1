/* pack_kernels_check.c - see pack_kernels_check.h. */
#include "pack_kernels_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"
#include "host_and_device.h"
#include "stages/particle/digest.h"
#include "stages/device/device_pipeline.h"

/* Returns the size header that a kernel wrote, and clears it for the next kernel. */
static struct sl_pack_size_header read_and_clear_header(struct sl_pack_size_header *header)
{
	struct sl_pack_size_header found;

	assert_ok(sl_copy(&found, header, sizeof(found), NULL));
	assert_ok(sl_stream_wait(NULL));
	assert_ok(sl_fill(header, 0, sizeof(*header), NULL));
	return found;
}

/* The number in row i of one of seven columns with which a bounding box is easily wrong. */
static float edge_case(int kind, uint32_t i)
{
	static const float zeros[] = {-0.0f, 0.0f}, tiny[] = {1e-45f, -1e-45f, 3e-39f},
			   far[] = {INFINITY, -3.4028235e38f, -INFINITY};
	const float number = (float)((double)(sl_digest_mix(i, 7) >> 40) / (1 << 22) - 2);

	switch (kind) {
	case 0:
		return number;
	case 1:
		return -3 - number; /* all are negative */
	case 2:
		return i % 3 ? (i % 2 ? NAN : -NAN) : number;
	case 3:
		return zeros[i % 2];
	case 4:
		return tiny[i % 3];
	case 5:
		return far[i % 3];
	default:
		return NAN;
	}
}

/* The sort key of a number, complemented for the least number (struct sl_pack_size_header). */
static uint32_t key_of(float v, bool complemented)
{
	uint32_t bits, key;

	v += 0.0f;
	memcpy(&bits, &v, sizeof(bits));
	key = sl_key_from_f32_bits(bits);
	return complemented ? ~key : key;
}

/* Compares the bounds with those of a host loop, which ignores NaNs. */
static void check_bounds(const struct sl_kernels *kernels, struct sl_pack_size_header *header,
	float *device, int kind, uint32_t n)
{
	struct sl_batch b = {.n_survivors = n, .table = {.n_columns = 2}};
	float *host = (float *)malloc(n * sizeof(float)), lo = INFINITY, hi = -INFINITY;
	struct sl_pack_size_header found;
	bool any = false;

	assert_non_null(host);
	for (uint32_t i = 0; i < n; i++) {
		host[i] = edge_case(kind, i);
		any |= !isnan(host[i]);
		lo = host[i] < lo ? host[i] : lo;
		hi = host[i] > hi ? host[i] : hi;
	}
	assert_ok(sl_copy(device, host, n * sizeof(float), NULL));
	b.table.column[0] = (struct sl_table_column){.column = SL_COLUMN_y, .data = device};
	b.table.column[1] = (struct sl_table_column){.column = SL_COLUMN_w, .data = device};
	assert_ok(kernels->bounds(&b, header, NULL));
	found = read_and_clear_header(header);
	assert_int_equal(found.below[1], any ? key_of(lo, true) : 0);
	assert_int_equal(found.above[1], any ? key_of(hi, false) : 0);
	assert_true(found.below[0] == 0 && found.above[0] == 0);
	assert_true(found.below[2] == 0 && found.above[2] == 0);
	free(host);
}

/* Compares the digest of the first n bytes with one that is summed byte by byte. */
static void check_digest(const struct sl_kernels *kernels, struct sl_pack_size_header *header,
	uint8_t *device, size_t n, size_t capacity)
{
	uint8_t *host = (uint8_t *)malloc(capacity);
	struct sl_pack_size_header request = {.used = n}, found;
	uint64_t digest = 0;

	assert_non_null(host);
	for (size_t i = 0; i < capacity; i++)
		host[i] = (uint8_t)(sl_digest_mix(i, 9) | 1);
	for (size_t i = 0; i < n; i++)
		digest += sl_digest_weight(i / 4096) * sl_digest_item(sl_digest_weight(i / 8 % 512),
							       (uint64_t)host[i] << i % 8 * 8);
	assert_true(sl_digest_bytes(host, n) == digest);
	assert_ok(sl_copy(device, host, capacity, NULL));
	assert_ok(sl_copy(header, &request, sizeof(request), NULL));
	assert_ok(kernels->digest(device, capacity, header, NULL));
	found = read_and_clear_header(header);
	assert_true(found.digest == digest);
	free(host);
}

/* Expects n copies of a value, padded to whole words, and no change after them. */
static void check_fill(const struct sl_kernels *kernels, uint32_t bytes, uint32_t n)
{
	static const uint8_t value[] = {1, 2, 3, 4, 5, 6, 7, 8};
	size_t all = sl_round_up((size_t)n * bytes, sizeof(uint64_t));
	void *device = poisoned_get(SL_DEVICE, all + sizeof(uint64_t));
	uint8_t *host = (uint8_t *)poisoned_get(SL_HOST, all + sizeof(uint64_t));

	assert_ok(kernels->fill(value, bytes, n, (uint64_t *)device, NULL));
	assert_ok(sl_copy(host, device, all + sizeof(uint64_t), NULL));
	assert_ok(sl_stream_wait(NULL));
	for (size_t i = 0; i < all; i++)
		if (host[i] != value[i % bytes])
			fail_msg("byte %zu of %u values of %u bytes differs from that of the host",
				i, n, bytes);
	for (size_t i = all; i < all + sizeof(uint64_t); i++)
		assert_int_equal(host[i], 0xa5);
	sl_memory_give(SL_HOST, host);
	sl_memory_give(SL_DEVICE, device);
}

void pack_check_kernels(uint32_t most)
{
	const struct sl_kernels *kernels = sl_kernels_find();
	struct sl_pack_size_header *header =
		(struct sl_pack_size_header *)poisoned_get(SL_DEVICE, sizeof(*header));
	const uint32_t sizes[] = {1, 2, 31, 33, 257, most};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint32_t bytes = 1; bytes <= 8; bytes *= bytes == 1 ? 4 : 2)
			check_fill(kernels, bytes, sizes[i]);
	read_and_clear_header(header);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int kind = 0; kind < 7; kind++) {
			void *device = poisoned_get(SL_DEVICE, sizes[i] * sizeof(float));

			check_bounds(kernels, header, (float *)device, kind, sizes[i]);
			sl_memory_give(SL_DEVICE, device);
		}
	for (size_t i = 0; i < 20; i++) {
		size_t n = i < 10 ? i : most - (i - 10);
		void *device = poisoned_get(SL_DEVICE, n + 9);

		check_digest(kernels, header, (uint8_t *)device, n, n + 9);
		sl_memory_give(SL_DEVICE, device);
	}
	sl_memory_give(SL_DEVICE, header);
}
