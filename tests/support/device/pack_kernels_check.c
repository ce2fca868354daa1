/* pack_kernels_check.c - see pack_kernels_check.h. */
#include "pack_kernels_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host_and_device.h"
#include "pack_check.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/particle/digest.h"
#include "tests/support/basic/check.h"

/* --- bounds ----------------------------------------------------------------------------------- */

/* The number in row i of one of seven columns with which a bounding box is easily wrong. */
static float edge_case(int kind, uint32_t i)
{
	static const float zeros[] = {-0.0f, 0.0f}, tiny[] = {1e-45f, -1e-45f, 3e-39f},
			   far[] = {INFINITY, -3.4028235e38f, -INFINITY};
	const float number = (float)((double)(sl_digest_mix(i, 7) >> 40) / (1 << 22) - 2);
	const float numbers[] = {number, -3 - number /* all are negative */,
		i % 3 ? (i % 2 ? NAN : -NAN) : number, zeros[i % 2], tiny[i % 3], far[i % 3], NAN};

	return numbers[kind];
}

static uint32_t key_of(float v)
{
	uint32_t bits;

	v += 0.0f;
	memcpy(&bits, &v, sizeof(bits));
	return sl_key_from_f32_bits(bits);
}

/* Compares the bounds of a column y with those of a host loop, which ignores NaNs. */
static void check_bounds(int kind, uint32_t n)
{
	const struct sl_table_column y = {.column = SL_COLUMN_y}, w = {.column = SL_COLUMN_w};
	struct sl_batch b = {.n_survivors = n, .table = {.n_columns = 2, .column = {y, w}}};
	struct sl_pack_size_header *header =
		(struct sl_pack_size_header *)poisoned_get(SL_DEVICE, 2 * sizeof(*header));
	float *host = (float *)poisoned_get(SL_HOST, n * sizeof(float)), lo = INFINITY,
	      hi = -INFINITY;
	void *device = poisoned_get(SL_DEVICE, n * sizeof(float));
	struct sl_pack_size_header found[2], expected[2] = {{0}};

	for (uint32_t i = 0; i < n; i++) {
		host[i] = edge_case(kind, i);
		lo = host[i] < lo ? host[i] : lo;
		hi = host[i] > hi ? host[i] : hi;
	}
	b.table.column[0].data = b.table.column[1].data = device;
	assert_ok(sl_kernels_find()->fill(expected, sizeof(uint64_t),
		sizeof(*header) / sizeof(uint64_t), (uint64_t *)(void *)header, NULL));
	assert_ok(sl_copy(device, host, n * sizeof(float), NULL));
	assert_ok(sl_kernels_find()->bounds(&b, header, NULL));
	assert_ok(sl_copy(found, header, sizeof(found), NULL));
	assert_ok(sl_stream_wait(NULL));
	expected->below[1] = lo <= hi ? ~key_of(lo) : 0;
	expected->above[1] = lo <= hi ? key_of(hi) : 0;
	memset(expected + 1, 0xa5, sizeof(*expected)); /* is not filled */
	if (memcmp(found, expected, sizeof(found)) != 0)
		fail_msg("bounds of kind %d, %u rows", kind, n);
	sl_memory_give(SL_DEVICE, device);
	sl_memory_give(SL_HOST, host);
	sl_memory_give(SL_DEVICE, header);
}

/* Digests and copies of one value are checked with every packed batch. */
void pack_check_kernels(uint32_t most)
{
	const uint32_t sizes[] = {1, 2, 31, 33, 257, most};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int kind = 0; kind < 7; kind++)
			check_bounds(kind, sizes[i]);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Random bits; a quarter are special: NaN, infinity, zeros, the least and the largest number, 1. */
static uint32_t bits_of(uint64_t i)
{
	static const uint32_t special[] = {0x7f800001, 0xffc00123, 0x7fffffff, 0xff800000, 0,
		0x80000000, 1, 0x7f7fffff, 0x3f800000};
	uint64_t mixed = sl_digest_mix(i, 11);

	return mixed % 4 == 0 ? special[mixed / 4 % 9] : (uint32_t)(mixed >> 32);
}

/*
 * A table with all of its memory in two blocks: for each column room for n rows of 8 bytes, then
 * source records.
 */
struct two_tables {
	struct sl_table host, device;
	char *at[2]; /* host, device */
	size_t bytes;
};

enum { RECORD_MOST = 128, FIRST = 1000, GUARD_BYTES = 64 /* that the kernel must not change */ };

/* Constant columns are in host memory only. */
static struct two_tables make_tables(uint32_t n, sl_column_set columns, sl_column_set constants)
{
	struct two_tables b = {.host.n = n,
		.device.n = n,
		.bytes = (size_t)n * (SL_COLUMN_COUNT * sizeof(uint64_t) + RECORD_MOST)};

	b.at[0] = (char *)poisoned_get(SL_HOST, b.bytes);
	b.at[1] = (char *)poisoned_get(SL_DEVICE, b.bytes);
	for (size_t i = 0; i < b.bytes / sizeof(uint32_t); i++)
		((uint32_t *)b.at[0])[i] = bits_of(i);
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(columns, c))
			for (int k = 0; k < 2; k++) {
				struct sl_table *t = k ? &b.device : &b.host;
				bool constant = SL_HAS(constants, c);

				t->column[t->n_columns++] =
					(struct sl_table_column){.column = (enum sl_column)c,
						.constant = constant,
						.data = b.at[constant ? 0 : k] +
				                        (size_t)c * n * sizeof(uint64_t)};
			}
	return b;
}

/* Gives both tables source records of particles from number FIRST on, and ids in another order. */
static void add_source(struct two_tables *b)
{
	const size_t n = b->host.n, source = sizeof(uint64_t) * n * SL_COLUMN_COUNT;
	uint64_t *id = (uint64_t *)(void *)(b->at[0] + sizeof(uint64_t) * n * SL_COLUMN_id);

	for (size_t i = 0; i < n; i++)
		id[i] = FIRST + (i * UINT64_C(31) + 5) % n;
	b->host.source = (const uint32_t *)(void *)(b->at[0] + source);
	b->device.source = (const uint32_t *)(void *)(b->at[1] + source);
	b->host.first_id = b->device.first_id = FIRST;
}

static void check_table(struct two_tables *b, const struct sl_mcpl_facts *facts, bool counted)
{
	size_t bytes, used = counted ? 0 : 1;
	uint8_t *expected = records_of_host(&b->host, facts, &bytes), *found;
	struct sl_mcpl_record r;
	void *words, *count = poisoned_get(SL_DEVICE, sizeof(size_t));

	assert_ok(sl_copy(b->at[1], b->at[0], b->bytes, NULL));
	assert_ok(sl_mcpl_record_of(&b->device, facts, &r));
	assert_true(bytes == (size_t)b->host.n * r.bytes && r.bytes <= RECORD_MOST);
	words = poisoned_get(SL_DEVICE, bytes + GUARD_BYTES);
	found = (uint8_t *)poisoned_get(SL_HOST, bytes + GUARD_BYTES);
	assert_ok(sl_fill(count, 0, sizeof(size_t), NULL));
	assert_ok(sl_kernels_find()->records(&b->device, &r, b->host.n, (uint32_t *)words,
		counted ? (size_t *)count : NULL, NULL));
	assert_ok(sl_copy(&used, count, sizeof(used), NULL));
	assert_ok(sl_copy(found, words, bytes + GUARD_BYTES, NULL));
	assert_ok(sl_stream_wait(NULL));
	assert_memory_equal(found, expected, bytes);
	for (int i = 0; i < GUARD_BYTES; i++)
		assert_int_equal(found[bytes + (size_t)i], 0xa5);
	assert_true(used == (counted ? bytes : 0));
	sl_memory_give(SL_HOST, found);
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
		add_source(&b);
	check_table(&b, &facts, kind & 32);
	sl_memory_give(SL_HOST, b.at[0]);
	sl_memory_give(SL_DEVICE, b.at[1]);
}

void mcpl_pack_check_kernel(uint32_t most)
{
	const uint32_t sizes[] = {1, 31, 255, 256, 257, most};

	for (uint32_t kind = 0; kind < 128; kind++)
		check_kind(sizes[kind % 6], kind);
	for (uint32_t i = 0; i < 6; i++)
		check_kind(sizes[i], 63);
}
