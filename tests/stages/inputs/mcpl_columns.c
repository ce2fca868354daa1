/*
 * mcpl_columns.c - records decoded column by column have the bits of records decoded one by one: all
 * layouts, both versions, random bits, and NaNs of both kinds.
 */
#include <stdlib.h>
#include <string.h>

#include "stages/formats/mcpl/mcpl_stream.h"
#include "stages/inputs/mcpl_columns.h"
#include "tests/support/basic/check.h"

enum { RECORDS = 500, RECORD_MOST = 100, PLACE = 3 };

/* Random bits; every fourth word is one of numbers that need care. */
static uint32_t next_word(uint32_t *state)
{
	static const uint32_t special[] = {0x7f800001, 0x7fc00000, 0xffa00000, 0xff800000, 0, 1,
		0x80000000, 0x3f800000, 0xbf800001, 0x7ff00000, 0x7ff80000, 0xfff00001};

	*state = *state * 1664525 + 1013904223;
	return *state >> 30 == 0 ? special[(*state >> 8) % 12] : *state >> 16 | *state << 16;
}

/* The columns of a list, each with space for all records. */
static struct sl_columns make_columns(void)
{
	struct sl_columns c;

#define COLUMN(name, type, unit, record, component, help) \
	c.name = (type *)calloc(PLACE + RECORDS, sizeof(type));
#include "stages/particle/columns.def"
#undef COLUMN
	return c;
}

static void free_columns(struct sl_columns *c)
{
#define COLUMN(name, type, unit, record, component, help) free(c->name);
#include "stages/particle/columns.def"
#undef COLUMN
}

static void expect_same(const struct sl_columns *c, uint32_t i, const struct sl_particle *p)
{
#define SAME(name) assert_memory_equal(&c->name[i], &p->name, sizeof(p->name))
	SAME(x);
	SAME(y);
	SAME(z);
	SAME(u);
	SAME(v);
	SAME(w);
	SAME(energy);
	SAME(time);
	SAME(weight);
	SAME(pdg);
	SAME(userflags);
	SAME(pol_x);
	SAME(pol_y);
	SAME(pol_z);
#undef SAME
}

/* Decodes two of three records; all has the columns of all records. */
static void check_places(
	const struct sl_mcpl_header *h, const uint8_t *records, const struct sl_columns *all)
{
	struct sl_columns c = make_columns();
	uint32_t place[RECORDS], n = 0;

	for (uint32_t i = 0; i < RECORDS; i++)
		if (i % 3 > 0)
			place[n++] = i;
	sl_mcpl_to_columns_from(h, records, place, n, &c);
	for (uint32_t k = 0; k < n; k++) {
		struct sl_particle p = sl_load(all, SL_EVERY_COLUMN, PLACE + place[k]);

		expect_same(&c, k, &p);
	}
	free_columns(&c);
}

/* Decodes random records of a layout in both ways. */
static void check_layout(const struct sl_mcpl_header *h, uint32_t *state)
{
	static uint32_t words[RECORDS * RECORD_MOST / sizeof(uint32_t)];
	struct sl_columns c = make_columns();
	const uint8_t *records = (const uint8_t *)words;

	for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
		words[k] = next_word(state);
	sl_mcpl_to_columns(h, records, RECORDS, &c, PLACE);
	for (uint32_t i = 0; i < RECORDS; i++) {
		struct sl_mcpl_particle from;
		struct sl_particle p;

		sl_mcpl_decode(h, records + (size_t)i * h->record_bytes, &from);
		p = sl_mcpl_to_particle(&from);
		expect_same(&c, PLACE + i, &p);
	}
	check_places(h, records, &c);
	free_columns(&c);
}

TEST(columns_are_those_of_single_records)
{
	uint32_t state = 1;

	for (uint32_t bits = 0; bits < 64; bits++) {
		struct sl_mcpl_header h = {.version = bits & 1 ? 2 : 3,
			.flags = bits & 2,
			.polarised = bits & 4,
			.single = bits & 8,
			.pdg = bits & 16 ? 2112 : 0,
			.weight = bits & 32 ? 0.1 : 0};

		h.record_bytes = sl_mcpl_record_bytes(&h);
		assert_true(h.record_bytes <= RECORD_MOST);
		check_layout(&h, &state);
	}
}
