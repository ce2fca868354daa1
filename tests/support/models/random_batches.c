/* random_batches.c - see random_batches.h. */
#include "tests/support/models/random_batches.h"

#include "stages/models/models.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/schedules.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/models/models.h"

enum { MAX_STEPS = 70 }; /* a few more than there are entries of rounds */

/* --- sizes ------------------------------------------------------------------------------------ */

/*
 * Particles of a batch. A warp processes 32 at a time, a block 256 or a multiple, the host 4096;
 * 320 items have no padding between columns. Larger sizes take longer on the emulated device, and
 * are rare.
 */
static uint32_t random_size(uint64_t *seed, uint32_t largest)
{
	static const uint32_t sizes[] = {1, 2, 31, 32, 33, 65, 255, 256, 257, 320, 511, 512, 513,
		575, 700, 1025, 2047, 2303, 4095, 4096, 4097, 8191, 8192, 8193};
	enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), SMALL = SIZES - 8 };
	uint32_t n = sizes[random_below(seed, random_below(seed, 8) ? SMALL : SIZES)];

	if (random_below(seed, 4) == 0)
		n = 1 + (uint32_t)random_below(seed, 1024);
	if (largest > 100000 && random_below(seed, 2))
		n = 1 + (uint32_t)random_below(seed, largest);
	return n <= largest ? n : 1 + n % largest;
}

/* One batch, or several of which the last one is half as large. */
static void choose_batches(struct sl_recipe *r, uint64_t *seed)
{
	if (random_below(seed, 3) > 0)
		return;
	r->n_batches = 2 + random_below(seed, 2);
	r->particles = (r->n_batches - 1) * r->batch + (r->batch + 1) / 2;
}

/* --- which particles survive ------------------------------------------------------------------ */

static void choose_keep(struct sl_recipe *r, uint64_t *seed)
{
	sl_fate_set some = random_below(seed, SL_EVERY_FATE) & r->model->fates;
	uint64_t kind = random_below(seed, 5);

	if (kind < 3)
		r->keep = kind == 0   ? 0
		          : kind == 1 ? SL_EVERY_FATE & ~SL_FATE_BIT(SL_FATE_dropped)
		                      : some;
}

/* A column of the model; not the fate, which conditions test differently. */
static enum sl_column random_column(const struct sl_recipe *r, uint64_t *seed)
{
	enum sl_column column;

	do {
		column = (enum sl_column)random_below(seed, SL_COLUMN_COUNT);
	} while (!SL_HAS(r->model->columns, column) || column == SL_COLUMN_fate);
	return column;
}

static bool is_real(enum sl_column column)
{
	return sl_column_facts[column].type == SL_TYPE_F32;
}

static void add_step(struct sl_program *k, uint64_t operation, uint64_t operand)
{
	k->operation[k->n] = (uint8_t)operation;
	k->operand[k->n++] = (uint8_t)operand;
}

/* Adds a column or a constant. */
static void add_number(const struct sl_recipe *r, struct sl_program *k, uint64_t *seed)
{
	enum sl_column column = random_column(r, seed);

	if (random_below(seed, 3)) {
		k->reads |= SL_BIT(column);
		add_step(k, SL_OP_column, column);
	} else {
		k->number[k->n_numbers] = (double)random_below(seed, 64) / 16 - 1;
		add_step(k, SL_OP_number, k->n_numbers++);
	}
}

/*
 * A postfix program: a comparison of up to two operations with a number, and perhaps another one or
 * a fate.
 */
static void choose_condition(struct sl_recipe *r, uint64_t *seed)
{
	struct sl_program *k = &r->condition;
	uint64_t comparisons = random_below(seed, 4);

	if (comparisons > 2)
		return;
	k->fates = random_below(seed, 2) ? SL_EVERY_FATE : r->keep;
	for (uint64_t i = 0; i <= comparisons && i < 2; i++) {
		add_number(r, k, seed);
		for (uint64_t n = random_below(seed, 3); n > 0; n--) {
			uint64_t operation =
				SL_OP_plus + random_below(seed, SL_OP_less - SL_OP_plus);

			if (sl_program_takes((enum sl_operation)operation) == 2)
				add_number(r, k, seed);
			add_step(k, operation, 1 + random_below(seed, 4));
		}
		add_number(r, k, seed);
		add_step(k, SL_OP_less + random_below(seed, SL_OP_both - SL_OP_less), 0);
		if (random_below(seed, 3) == 0)
			add_step(k, SL_OP_opposite, 0);
	}
	if (comparisons == 2)
		add_step(k, SL_OP_fate, random_below(seed, SL_FATE_COUNT));
	for (uint64_t i = 0; i < comparisons; i++)
		add_step(k, random_below(seed, 2) ? SL_OP_both : SL_OP_either, 0);
}

/* --- the table -------------------------------------------------------------------------------- */

/* The key of test_recipe(), none, or fields of any columns, of up to 64 bits. */
static void choose_key(struct sl_recipe *r, uint64_t *seed)
{
	uint64_t kind = random_below(seed, 4), fields = 1 + random_below(seed, SL_KEY_FIELDS_MAX);

	if (kind == 0)
		return;
	r->n_fields = r->key_bits = 0;
	while (kind > 1 && r->n_fields < fields && r->key_bits < 64) {
		enum sl_column column = random_column(r, seed);
		uint32_t bits = 1 + (uint32_t)random_below(seed, random_below(seed, 2) ? 7 : 32);
		struct sl_key_field f = {.column = column,
			.bits = bits < 64 - r->key_bits ? bits : 64 - r->key_bits,
			.lo = is_real(column) ? -3 : 0,
			.hi = is_real(column) ? 3 : r->batch,
			.descending = random_below(seed, 2)};

		r->field[r->n_fields++] = sl_key_rule_make(&f);
		r->key_bits += f.bits;
	}
}

/* All columns, some, or one, which can be constant. */
static void choose_columns(struct sl_recipe *r, uint64_t *seed)
{
	uint32_t all = r->n_columns, n = 0;

	switch (random_below(seed, 5)) {
	case 0:
		for (uint32_t k = 0; k < all; k++)
			if (random_below(seed, 2))
				r->column[n++] = r->column[k];
		r->n_columns = n > 0 ? n : 1;
		break;
	case 1:
		r->column[0] = random_below(seed, 2) ? SL_COLUMN_weight : SL_COLUMN_fate;
		r->n_columns = 1;
	}
}

/* r, the square root of the id, and rho, the quotient of r and the weight. */
static void derive_columns(struct sl_recipe *r)
{
	static const uint8_t steps[][2] = {{SL_OP_column, SL_COLUMN_id}, {SL_OP_sqrt, 0},
		{SL_OP_store, SL_COLUMN_r}, {SL_OP_column, SL_COLUMN_r},
		{SL_OP_column, SL_COLUMN_weight}, {SL_OP_over, 0}, {SL_OP_store, SL_COLUMN_rho}};
	struct sl_program *d = &r->derivation;

	d->stores = SL_BIT(SL_COLUMN_r) | SL_BIT(SL_COLUMN_rho);
	d->reads = SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_weight);
	for (; d->n < sizeof(steps) / sizeof(steps[0]); d->n++) {
		d->operation[d->n] = steps[d->n][0];
		d->operand[d->n] = steps[d->n][1];
	}
}

/* --- tallies ---------------------------------------------------------------------------------- */

static const double edges[SL_GRID_EDGES_MAX] = {-1, -0.25, 0.5, 0.75, 1};

/*
 * Up to twelve tallies of one axis, with values outside of their ranges: more than the counters of
 * a thread block are for. The last ones have brackets.
 */
static void choose_histograms(struct sl_recipe *r, uint64_t *seed)
{
	struct sl_grid_field field[12] = {{0}};
	const uint32_t plain = (uint32_t)random_below(seed, 13);
	bool weighted = random_below(seed, 2);
	uint32_t n = 0;

	while (n < 12 && (n == 0 || random_below(seed, 8))) {
		enum sl_column column = random_column(r, seed);
		bool real = is_real(column);

		if (column == SL_COLUMN_id)
			continue;
		field[n].n_axes = 1;
		field[n].axis[0] = (struct sl_grid_axis){column, SL_SPACING_EVEN, 5 + n,
			real ? -0.75 : 1, real ? 0.75 : 11 + 2 * n, 0};
		field[n].fates = random_below(seed, 2) ? SL_FATE_BIT(SL_FATE_transmitted) |
		                                                 SL_FATE_BIT(SL_FATE_hit)
		                                       : r->model->fates;
		field[n].bracketed = n >= plain;
		n++;
	}
	sl_grid_make(field, n, edges, weighted, &r->grids);
}

/* The most counters that a thread block has, or one more. */
static void make_largest_histogram(struct sl_recipe *r, bool weighted, bool fits)
{
	const uint32_t most = sl_block_counters_most(weighted) + !fits;
	const struct sl_grid_field field = {.n_axes = 1,
		.axis = {{SL_COLUMN_w, SL_SPACING_EVEN, most - SL_GRID_OUTSIDE, -1, 1, 0}},
		.fates = r->model->fates & -r->model->fates};

	sl_grid_make(&field, 1, edges, weighted, &r->grids);
	assert_int_equal(r->grids.grid[0].in_block, fits);
}

/*
 * Two grids: x by w, and the derived columns. Some values are outside of their ranges. The two
 * columns are neighbours in memory: a value after the end of r is the first one of rho.
 */
static void make_grids(struct sl_recipe *r, bool weighted)
{
	const struct sl_grid_axis x = {SL_COLUMN_x, SL_SPACING_EVEN, 4, -0.5, 0.5, 0},
				  w = {SL_COLUMN_w, SL_SPACING_EDGES, 4, -1, 1, 0},
				  rho = {SL_COLUMN_rho, SL_SPACING_EVEN, 5, 0, 15, 0},
				  root = {SL_COLUMN_r, SL_SPACING_RATIO, 7, 1.5,
					  sqrt(0.8 * r->batch + 4), 0};
	const struct sl_grid_field field[] = {
		{.n_axes = 2, .axis = {x, w}, .fates = SL_EVERY_FATE, .bracketed = true},
		{.n_axes = 2, .axis = {rho, root}, .fates = SL_EVERY_FATE, .bracketed = true}};

	derive_columns(r);
	sl_grid_make(field, 2, edges, weighted, &r->grids);
}

/*
 * Scores of the slab: of flights, which are the deposited weight, two estimators of the fluence and
 * the weight that crosses a plane, or only paths on planes of equal bins; or only of collisions,
 * with axes of equal bins or not, all of whose counters fit in shared memory.
 */
static void make_scores(struct sl_recipe *r, bool flights, bool even)
{
	const enum sl_spacing spacing = even ? SL_SPACING_EVEN : SL_SPACING_EDGES;
	const struct sl_grid_axis depth = {SL_COLUMN_z, SL_SPACING_EVEN, 5, 0.05, 0.4, 0},
				  radius = {SL_COLUMN_r, SL_SPACING_EVEN, 3, 0, 0.3, 0},
				  place = {SL_COLUMN_x, spacing, 4, -1, 1, 0};
	const sl_fate_set row = SL_FATE_BIT(SL_SCORE_ROW);
	const struct sl_grid_field of_flights[] = {
		{2, {depth, radius}, row, SL_SCORE_DEPOSIT, 0, 0, true},
		{2, {depth, radius}, row, SL_SCORE_FLUENCE, 0, 0, true},
		{2, {depth, radius}, row, SL_SCORE_TRACK, 0, 0, true},
		{1, {radius}, row, SL_SCORE_CROSSING, 0, 0.25, true},
		{2, {place, depth}, row, SL_SCORE_TRACK, 0, 0, true}};
	const struct sl_grid_field of_collisions[] = {
		{2, {depth, radius}, row, SL_SCORE_DEPOSIT, 0, 0, true},
		{2, {place, depth}, row, SL_SCORE_FLUENCE, 0, 0, true}};

	r->derivation = (struct sl_program){.n = 0}; /* a score sets r */
	if (flights)
		sl_grid_make(of_flights + (even ? 4 : 0), even ? 1 : 4, edges, false, &r->grids);
	else
		sl_grid_make(of_collisions, 2, edges, false, &r->grids);
}

void score_collisions(struct sl_recipe *r, bool even)
{
	make_scores(r, false, even);
}

static void choose_tallies(struct sl_recipe *r, bool scores, uint64_t *seed)
{
	uint64_t kind = random_below(seed, scores ? 14 : 8);

	if (kind < 2)
		choose_histograms(r, seed);
	else if (kind == 2)
		make_largest_histogram(r, random_below(seed, 2), random_below(seed, 2));
	else if (kind < 5)
		make_grids(r, random_below(seed, 2));
	else if (kind == 5)
		derive_columns(r);
	else if (kind > 7 && kind < 13)
		make_scores(r, kind < 11, random_below(seed, 2));
}

/* --- recipes ---------------------------------------------------------------------------------- */

/* One of the recipes of test_recipe(), or one with random options. */
static struct sl_recipe random_rules(uint64_t *seed, uint32_t n, bool *known)
{
	enum sl_model_number model =
		random_below(seed, 4) ? generating_model(random_below(seed, GENERATING_MODELS))
				      : SL_MODEL_slab; /* the only one with scores */
	struct sl_recipe r;

	*known = model < SL_MODEL_list && random_below(seed, 2);
	if (*known)
		return test_recipe(model, n);
	r = recipe_at_random(model, *seed, MAX_STEPS);
	r.keep = random_below(seed, SL_EVERY_FATE) & sl_models[model]->fates;
	complete_recipe(&r, n);
	return r;
}

struct sl_recipe random_batches(uint64_t seed, uint32_t largest)
{
	uint64_t state = seed;
	bool known;
	struct sl_recipe r = random_rules(&state, random_size(&state, largest), &known);

	choose_batches(&r, &state);
	choose_keep(&r, &state);
	choose_condition(&r, &state);
	choose_key(&r, &state);
	choose_columns(&r, &state);
	choose_tallies(&r, known && r.model == sl_models[SL_MODEL_slab], &state);
	if (r.model->steps && random_below(&state, 2))
		r.schedule = schedule_at((int)random_below(&state, SCHEDULES));
	return r;
}
