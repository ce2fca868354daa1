/* pack_kernels_check.c - see pack_kernels_check.h. */
#include "pack_kernels_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"
#include "host_and_device.h"
#include "pack_check.h"
#include "stages/particle/digest.h"
#include "stages/formats/mcpl/mcpl_header.h"

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

/* --- tables of records ----------------------------------------------------------------------------------- */

/* The same table in host memory and in device memory. Constant columns are in host memory only. */
struct two_tables {
	struct sl_table host, device;
};

/* Random bits; a quarter are special: NaN, infinity, zeros, the least and the largest number, 1. */
static uint32_t bits_of(uint64_t i)
{
	static const uint32_t special[] = {0x7f800001, 0xffc00123, 0x7fffffff, 0xff800000, 0,
		0x80000000, 1, 0x7f7fffff, 0x3f800000};
	uint64_t mixed = sl_digest_mix(i, 11);

	return mixed % 4 == 0 ? special[mixed / 4 % 9] : (uint32_t)(mixed >> 32);
}

static void add_column(struct two_tables *b, enum sl_column column, uint32_t n, bool constant)
{
	size_t words = (size_t)(constant ? 1 : n) * sl_column_facts[column].bytes / 4 + 1;
	uint32_t *host = (uint32_t *)malloc(words * 4);
	void *device = host;

	assert_non_null(host);
	for (size_t i = 0; i < words; i++)
		host[i] = bits_of(i + column * UINT64_C(1000003));
	if (!constant) {
		assert_ok(sl_memory_get(SL_DEVICE, words * 4, &device));
		assert_ok(sl_copy(device, host, words * 4, NULL));
	}
	b->host.column[b->host.n_columns++] =
		(struct sl_table_column){.column = column, .constant = constant, .data = host};
	b->device.column[b->device.n_columns++] =
		(struct sl_table_column){.column = column, .constant = constant, .data = device};
}

static struct two_tables make_tables(uint32_t n, sl_column_set columns, sl_column_set constants)
{
	struct two_tables b = {{.n = n}, {.n = n}};

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(columns, c))
			add_column(&b, (enum sl_column)c, n, SL_HAS(constants, c));
	return b;
}

/*
 * Gives both tables source records of n particles, from number 1000 on, and ids in another order. The
 * table has the column id.
 */
static void add_source(struct two_tables *b, const struct sl_mcpl_facts *facts)
{
	enum { FIRST = 1000 };
	uint32_t n = b->host.n;
	struct sl_mcpl_record r;
	uint32_t *host;
	void *device;

	assert_ok(sl_mcpl_record_of(&b->host, facts, &r));
	host = (uint32_t *)malloc((size_t)n * r.bytes);
	assert_non_null(host);
	for (size_t i = 0; i < (size_t)n * r.bytes / 4; i++)
		host[i] = bits_of(i);
	assert_ok(sl_memory_get(SL_DEVICE, (size_t)n * r.bytes, &device));
	assert_ok(sl_copy(device, host, (size_t)n * r.bytes, NULL));
	for (uint32_t k = 0; k < b->host.n_columns; k++) {
		uint64_t *id = (uint64_t *)b->host.column[k].data;

		if (b->host.column[k].column != SL_COLUMN_id)
			continue;
		for (uint32_t i = 0; i < n; i++)
			id[i] = FIRST + (i * UINT64_C(31) + 5) % n;
		assert_ok(sl_copy(b->device.column[k].data, id, n * sizeof(*id), NULL));
	}
	b->host.source = host;
	b->device.source = (const uint32_t *)device;
	b->host.first_id = b->device.first_id = FIRST;
}

static void free_tables(struct two_tables *b)
{
	if (b->host.source) {
		sl_memory_give(SL_DEVICE, (void *)(uintptr_t)b->device.source);
		free((void *)(uintptr_t)b->host.source);
	}
	for (uint32_t k = 0; k < b->host.n_columns; k++) {
		if (!b->host.column[k].constant)
			sl_memory_give(SL_DEVICE, b->device.column[k].data);
		free(b->host.column[k].data);
	}
}

/* --- the kernel of records ------------------------------------------------------------------------------ */

enum { GUARD_BYTES = 64 }; /* bytes after the records that the kernel must not change */

static void check_bytes(const uint8_t *words, const uint8_t *expected, size_t bytes)
{
	uint8_t *found = (uint8_t *)malloc(bytes + GUARD_BYTES);

	assert_non_null(found);
	assert_ok(sl_copy(found, words, bytes + GUARD_BYTES, NULL));
	assert_ok(sl_stream_wait(NULL));
	assert_memory_equal(found, expected, bytes);
	for (int i = 0; i < GUARD_BYTES; i++)
		assert_int_equal(found[bytes + (size_t)i], 0xa5);
	free(found);
}

static void check_table(struct two_tables *b, const struct sl_mcpl_facts *facts, bool counted)
{
	size_t bytes, used;
	uint8_t *expected = records_of_host(&b->host, facts, &bytes);
	struct sl_mcpl_record r;
	void *words, *count;

	assert_ok(sl_mcpl_record_of(&b->device, facts, &r));
	assert_true(bytes == (size_t)b->host.n * r.bytes);
	assert_ok(sl_memory_get(SL_DEVICE, bytes + GUARD_BYTES, &words));
	assert_ok(sl_memory_get(SL_DEVICE, sizeof(size_t), &count));
	assert_ok(sl_fill(words, 0xa5, bytes + GUARD_BYTES, NULL));
	assert_ok(sl_fill(count, 0, sizeof(size_t), NULL));
	assert_ok(sl_kernels_find()->records(&b->device, &r, b->host.n, (uint32_t *)words,
		counted ? (size_t *)count : NULL, NULL));
	assert_ok(sl_copy(&used, count, sizeof(used), NULL));
	check_bytes((const uint8_t *)words, expected, bytes);
	assert_true(used == (counted ? bytes : 0));
	sl_memory_give(SL_DEVICE, count);
	sl_memory_give(SL_DEVICE, words);
	free(expected);
}

/* Checks n rows of one of 128 kinds of record. Each bit of kind is one property of the record. */
static void check_kind(uint32_t n, uint32_t kind)
{
	static const enum sl_column flags[] = {SL_COLUMN_COUNT, SL_COLUMN_id, SL_COLUMN_userflags,
		SL_COLUMN_fate, SL_COLUMN_pixel, SL_COLUMN_steps, SL_COLUMN_collisions};
	bool copied = kind & 64, polarised = kind & 2, weighted = kind & 4, typed = kind & 8,
	     one_energy = kind & 16;
	const struct sl_mcpl_facts facts = {.wide = kind & 1,
		.pdg = typed ? 0 : 2112,
		.energy = one_energy ? 1e-3 : (double)NAN,
		.flags = flags[kind % 7]};
	sl_column_set columns = SL_MCPL_NEEDED | (polarised ? SL_MCPL_POLARISATION : 0) |
	                        (typed ? SL_BIT(SL_COLUMN_pdg) : 0) |
	                        (one_energy ? 0 : SL_BIT(SL_COLUMN_energy)) |
	                        (facts.flags < SL_COLUMN_COUNT ? SL_BIT(facts.flags) : 0) |
	                        (copied ? SL_BIT(SL_COLUMN_id) : 0);
	sl_column_set constants = SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_pol_z) |
	                          (weighted ? 0 : SL_BIT(SL_COLUMN_weight));
	struct two_tables b = make_tables(n, columns, constants);

	if (copied)
		add_source(&b, &facts);
	check_table(&b, &facts, kind & 32);
	free_tables(&b);
}

void mcpl_pack_check_kernel(uint32_t most)
{
	const uint32_t sizes[] = {1, 31, 255, 256, 257, most};

	for (uint32_t kind = 0; kind < 128; kind++)
		check_kind(sizes[kind % 6], kind);
	for (uint32_t i = 0; i < 6; i++)
		check_kind(sizes[i], 63);
}
