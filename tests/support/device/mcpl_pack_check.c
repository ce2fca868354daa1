/* mcpl_pack_check.c - see mcpl_pack_check.h. */
#include "mcpl_pack_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"
#include "stages/particle/digest.h"
#include "stages/device/kernels.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_header.h"

uint8_t *records_of_host(const struct sl_table *t, const struct sl_mcpl_facts *facts, size_t *bytes)
{
	struct sl_file_facts run = {.run_name = NULL};
	struct sl_exec x = {.space = SL_HOST};
	struct sl_arena a = {0};
	struct sl_packed p;
	uint8_t *records;

	sl_mcpl_set_facts(&run, facts);
	sl_format_mcpl.lay_out(&a, t, &run, &p);
	a = (struct sl_arena){
		.base = aligned_alloc(SL_ALIGN, sl_round_up(a.used, SL_ALIGN)), .size = a.used};
	assert_non_null(a.base);
	sl_format_mcpl.lay_out(&a, t, &run, &p);
	assert_ok(sl_format_mcpl.pack(&x, &run, t, &p));
	*bytes = p.used;
	records = (uint8_t *)malloc(p.used + 1);
	assert_non_null(records);
	memcpy(records, p.bytes, p.used);
	free(a.base);
	return records;
}

/* --- tables ----------------------------------------------------------------------------------- */

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

/* --- the kernel ------------------------------------------------------------------------------- */

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
