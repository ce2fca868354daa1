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

/* A table here, and what a device has of it. */
struct both {
	struct sl_table here, there;
};

/* Any bits, and now and then those of a NaN or of a number that is no direction's. */
static uint32_t bits_of(uint64_t i)
{
	static const uint32_t special[] = {0x7f800001, 0xffc00123, 0x7fffffff, 0xff800000, 0,
		0x80000000, 1, 0x7f7fffff, 0x3f800000};
	uint64_t mixed = sl_digest_mix(i, 11);

	return mixed % 4 == 0 ? special[mixed / 4 % 9] : (uint32_t)(mixed >> 32);
}

static void add_column(struct both *b, enum sl_column column, uint32_t n, bool constant)
{
	size_t words = (size_t)(constant ? 1 : n) * sl_column_facts[column].bytes / 4 + 1;
	uint32_t *here = (uint32_t *)malloc(words * 4);
	void *there = here;

	assert_non_null(here);
	for (size_t i = 0; i < words; i++)
		here[i] = bits_of(i + column * UINT64_C(1000003));
	if (!constant) {
		assert_ok(sl_memory_get(SL_DEVICE, words * 4, &there));
		assert_ok(sl_copy(there, here, words * 4, NULL));
	}
	b->here.column[b->here.n_columns++] =
		(struct sl_table_column){.column = column, .constant = constant, .data = here};
	b->there.column[b->there.n_columns++] =
		(struct sl_table_column){.column = column, .constant = constant, .data = there};
}

static struct both both_of(uint32_t n, uint32_t columns, uint32_t constants)
{
	struct both b = {{.n = n}, {.n = n}};

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(columns, c))
			add_column(&b, (enum sl_column)c, n, SL_HAS(constants, c));
	return b;
}

static void free_both(struct both *b)
{
	for (uint32_t k = 0; k < b->here.n_columns; k++) {
		if (!b->here.column[k].constant)
			sl_memory_give(SL_DEVICE, b->there.column[k].data);
		free(b->here.column[k].data);
	}
}

/* --- the kernel ------------------------------------------------------------------------------- */

enum { BEHIND = 64 }; /* bytes that must stay as they are */

static void check_bytes(const uint8_t *words, const uint8_t *expected, size_t bytes)
{
	uint8_t *seen = (uint8_t *)malloc(bytes + BEHIND);

	assert_non_null(seen);
	assert_ok(sl_copy(seen, words, bytes + BEHIND, NULL));
	assert_ok(sl_stream_wait(NULL));
	assert_memory_equal(seen, expected, bytes);
	for (int i = 0; i < BEHIND; i++)
		assert_int_equal(seen[bytes + (size_t)i], 0xa5);
	free(seen);
}

static void check_table(struct both *b, const struct sl_mcpl_facts *facts, bool counted)
{
	size_t bytes, used;
	uint8_t *expected = records_of_host(&b->here, facts, &bytes);
	struct sl_mcpl_record r;
	void *words, *count;

	assert_ok(sl_mcpl_record_of(&b->there, facts, &r));
	assert_true(bytes == (size_t)b->here.n * r.bytes);
	assert_ok(sl_memory_get(SL_DEVICE, bytes + BEHIND, &words));
	assert_ok(sl_memory_get(SL_DEVICE, sizeof(size_t), &count));
	assert_ok(sl_fill(words, 0xa5, bytes + BEHIND, NULL));
	assert_ok(sl_fill(count, 0, sizeof(size_t), NULL));
	assert_ok(sl_kernels_find()->records(&b->there, &r, b->here.n, (uint32_t *)words,
		counted ? (size_t *)count : NULL, NULL));
	assert_ok(sl_copy(&used, count, sizeof(used), NULL));
	check_bytes((const uint8_t *)words, expected, bytes);
	assert_true(used == (counted ? bytes : 0));
	sl_memory_give(SL_DEVICE, count);
	sl_memory_give(SL_DEVICE, words);
	free(expected);
}

/* Of n rows, a kind of record by the bits of a number; of all there are 64. */
static void check_kind(uint32_t n, uint32_t kind)
{
	static const enum sl_column flags[] = {SL_COLUMN_COUNT, SL_COLUMN_id, SL_COLUMN_userflags,
		SL_COLUMN_fate, SL_COLUMN_pixel, SL_COLUMN_steps, SL_COLUMN_collisions};
	bool polarised = kind & 2, weighs = kind & 4, typed = kind & 8, of_all = kind & 16;
	const struct sl_mcpl_facts facts = {.wide = kind & 1,
		.pdg = typed ? 0 : 2112,
		.energy = of_all ? 1e-3 : (double)NAN,
		.flags = flags[kind % 7]};
	uint32_t columns = SL_MCPL_NEEDED | (polarised ? SL_MCPL_POLARISATION : 0) |
	                   (typed ? SL_BIT(SL_COLUMN_pdg) : 0) |
	                   (of_all ? 0 : SL_BIT(SL_COLUMN_energy)) |
	                   (facts.flags < SL_COLUMN_COUNT ? SL_BIT(facts.flags) : 0);
	uint32_t constants = SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_pol_z) |
	                     (weighs ? 0 : SL_BIT(SL_COLUMN_weight));
	struct both b = both_of(n, columns, constants);

	check_table(&b, &facts, kind & 32);
	free_both(&b);
}

void mcpl_pack_check_kernel(uint32_t most)
{
	const uint32_t sizes[] = {1, 31, 255, 256, 257, most};

	for (uint32_t kind = 0; kind < 64; kind++)
		check_kind(sizes[kind % 6], kind);
	for (uint32_t i = 0; i < 6; i++)
		check_kind(sizes[i], 63);
}
