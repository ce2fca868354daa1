/*
 * selection.c - properties of keys, bins and flights: keys keep the order of values, values are in
 * the bin that a division gives, and pieces of a flight are where it is.
 */
#include <float.h>
#include <math.h>

#include "stages/selection/flight_score.h"
#include "stages/selection/grid.h"
#include "stages/selection/key.h"
#include "tests/support/property/property.h"

/* Ranges of all signs and sizes. */
static const double ranges[][2] = {
	{-1, 1}, {0, 1}, {-3, -2}, {0, 1e-3}, {1e6, 2e6}, {-1e30, 1e30}, {-1e-30, 0}, {0.1, 0.3}};

#define any_range(g) rnd_of(g, ranges)

/* --- keys ------------------------------------------------------------------------------------- */

/* A field of floats in the column x. */
static struct sl_key_field float_field(struct rnd *g, const double *range)
{
	struct sl_key_field f = {.column = SL_COLUMN_x,
		.bits = 1 + rnd_below(g, 32),
		.lo = range[0],
		.hi = range[1]};

	f.exact = rnd_one_in(g, 4);
	f.logarithmic = !f.exact && rnd_one_in(g, 4);
	f.bits = f.exact ? 32 : f.bits;
	if (f.logarithmic) {
		f.lo = rnd_one_in(g, 2) ? 0 : ldexp(1, (int)rnd_below(g, 100) - 50);
		f.hi = rnd_one_in(g, 2) ? (double)INFINITY
		                        : f.lo + ldexp(1, (int)rnd_below(g, 100) - 40);
	}
	return f;
}

/*
 * NaN has the key 0; the key of a greater float is not less, and of an exact field it is greater.
 */
PROPERTY(floats_keep_their_order, 600)
{
	const double *range = any_range(g);
	const struct sl_key_field field = float_field(g, range);
	const struct sl_key_rule f = sl_key_rule_make(&field);
	const uint64_t most = (UINT64_C(1) << field.bits) - 1;

	assert_int_equal(f.most, most);
	assert_int_equal(sl_key_of_real(&f, NAN), 0);
	assert_int_equal(sl_key_of_real(&f, -NAN), 0);
	for (int i = 0; i < 2000; i++) {
		float a =
			rnd_one_in(g, 2) ? rnd_float(g) : (float)rnd_between(g, range[0], range[1]);
		float b = rnd_one_in(g, 2) ? rnd_float(g) : nextafterf(a, INFINITY);
		uint64_t key_a = sl_key_of_real(&f, a), key_b = sl_key_of_real(&f, b);

		if (isnan(a) || isnan(b))
			continue;
		if (key_a > most || key_b > most || (a < b && key_a > key_b) ||
			(a > b && key_a < key_b) || (field.exact && (a == b) != (key_a == key_b)) ||
			(field.exact && key_a == 0))
			fail_msg("%.9g and %.9g have the keys %llx and %llx", (double)a, (double)b,
				(unsigned long long)key_a, (unsigned long long)key_b);
	}
}

/*
 * Values outside of the range of a linear field have the keys of its ends, and its steps are equal.
 */
PROPERTY(values_outside_the_range_are_clamped, 300)
{
	const double *r = any_range(g);
	const struct sl_key_field field = {
		.column = SL_COLUMN_x, .bits = 1 + rnd_below(g, 32), .lo = r[0], .hi = r[1]};
	const struct sl_key_rule f = sl_key_rule_make(&field);
	const double width = r[1] - r[0], steps = ldexp(1, (int)field.bits);
	const float below[] = {-INFINITY, -FLT_MAX, (float)(r[0] - 0.1 * width), (float)r[0]};
	const float above[] = {INFINITY, FLT_MAX, (float)(r[1] + 0.1 * width)};

	for (int i = 0; i < 4; i++)
		assert_int_equal(sl_key_of_float(&f, below[i]), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sl_key_of_float(&f, above[i]), f.most);
	/* rounding of lo and of the steps may lose the last few values near hi */
	assert_true(sl_key_of_float(&f, (float)r[1]) >= f.most - f.most / 1000000);
	for (int i = 0; i < 300 && steps / width < FLT_MAX; i++) {
		float v = (float)rnd_between(g, r[0], r[1]);
		double want = ((double)v - (double)(float)r[0]) / width * steps;

		if (fabs((double)sl_key_of_float(&f, v) - want) > 1 + steps * 2e-6)
			fail_msg("%.9g has the key %llu, expected about %g", (double)v,
				(unsigned long long)sl_key_of_float(&f, v), want);
	}
}

/* A particle with any values in the columns of keys. */
static struct sl_particle any_particle(struct rnd *g)
{
	return (struct sl_particle){.x = rnd_float(g),
		.w = (float)rnd_between(g, -1.5, 1.5),
		.pdg = (int32_t)(rnd_bits(g) >> rnd_below(g, 32)),
		.pixel = (uint32_t)rnd_bits(g) >> rnd_below(g, 32),
		.steps = rnd_below(g, 300),
		.fate = (uint8_t)rnd_below(g, 16),
		.id = rnd_bits(g) >> rnd_below(g, 64)};
}

/* A field of integers in a part of the range of its column. */
static struct sl_key_field integer_field(struct rnd *g)
{
	static const struct {
		enum sl_column column;
		double lo, range;
	} columns[] = {{SL_COLUMN_pdg, -0x1p31, 0x1p32 - 1}, {SL_COLUMN_pixel, 0, 0x1p32 - 1},
		{SL_COLUMN_steps, 0, 300}, {SL_COLUMN_fate, 0, 254}, {SL_COLUMN_id, 0, 0x1p63}};
	const uint32_t k = rnd_below(g, sizeof(columns) / sizeof(columns[0]));
	const double lo = columns[k].lo + (rnd_one_in(g, 2) ? 0 : rnd_below(g, 100));

	return (struct sl_key_field){.column = columns[k].column,
		.bits = 1 + rnd_below(g, columns[k].column == SL_COLUMN_id ? 64 : 32),
		.lo = lo,
		.hi = lo + floor(columns[k].range * (rnd_one_in(g, 2) ? 1 : rnd_between(g, 0, 1)))};
}

/* The value of a field of integers, counted from the least number of its column. */
static uint64_t counted(struct sl_particle p, enum sl_column column)
{
	const struct sl_columns c = sl_columns_of(&p);
	uint64_t value = 0;

	if (column == SL_COLUMN_id)
		return p.id;
	memcpy(&value, sl_column_at(&c, column), sl_column_facts[column].bytes);
	return column == SL_COLUMN_pdg ? (uint32_t)value ^ 0x80000000u : value;
}

/*
 * The key of one field of integers: the distance from lo, shifted until the range fits in its bits.
 */
static uint64_t integer_key(const struct sl_particle *p, const struct sl_key_field *f)
{
	const double least = f->column == SL_COLUMN_pdg ? -0x1p31 : 0;
	const uint64_t most = f->bits < 64 ? (UINT64_C(1) << f->bits) - 1 : UINT64_MAX;
	const uint64_t lo = (uint64_t)(f->lo - least), range = (uint64_t)(f->hi - f->lo);
	uint64_t value = counted(*p, f->column), key;
	uint32_t shift = 0;

	while (range >> shift > most)
		shift++;
	key = value < lo ? 0 : (value - lo) >> shift;
	return key < most ? key : most;
}

/*
 * Fields are packed from the most significant one on; descending ones are reversed within their
 * bits.
 */
PROPERTY(keys_are_packed_in_the_order_of_fields, 2000)
{
	struct sl_key_field field[SL_KEY_FIELDS_MAX];
	struct sl_key_rule rule[SL_KEY_FIELDS_MAX];
	const struct sl_particle p = any_particle(g);
	struct sl_particle copy = p;
	const struct sl_columns c = sl_columns_of(&copy);
	uint32_t n = 0, bits = 0;
	uint64_t key = 0;

	for (int i = 0; i < SL_KEY_FIELDS_MAX; i++) {
		struct sl_key_field f =
			rnd_one_in(g, 3) ? float_field(g, any_range(g)) : integer_field(g);
		uint64_t part, most = f.bits < 64 ? (UINT64_C(1) << f.bits) - 1 : UINT64_MAX;

		f.descending = rnd_one_in(g, 2);
		if (bits + f.bits > 64 || f.hi < f.lo)
			continue;
		bits += f.bits;
		field[n] = f;
		rule[n] = sl_key_rule_make(&f);
		part = f.column == SL_COLUMN_x ? sl_key_of_real(&rule[n], p.x)
		                               : integer_key(&p, &field[n]);
		part = f.descending ? most - part : part;
		key = f.bits < 64 ? key << f.bits | part : part;
		n++;
		if (sl_key_pack(rule, n, &c, 0, p.id) != key)
			fail_msg("%u fields, the last of %s %g..%g in %u bits: %llx, expected %llx",
				n, sl_column_facts[f.column].name, f.lo, f.hi, f.bits,
				(unsigned long long)sl_key_pack(rule, n, &c, 0, p.id),
				(unsigned long long)key);
	}
}

/* --- bins ------------------------------------------------------------------------------------- */

static const double pool[SL_GRID_EDGES_MAX] = {-2, -0.5, 0.25, 0.375, 1.5};

static struct sl_grid_axis even(enum sl_column column, uint32_t bins, double lo, double hi)
{
	return (struct sl_grid_axis){.column = column, .bins = bins, .lo = lo, .hi = hi};
}

/* Bins between the edges of the pool from the first one on. */
static struct sl_grid_axis edges_from(enum sl_column column, uint32_t first, uint32_t bins)
{
	return (struct sl_grid_axis){
		column, SL_SPACING_EDGES, bins, pool[first], pool[first + bins], first};
}

static struct sl_grid_axis edges(enum sl_column column)
{
	return edges_from(column, 0, 4);
}

/* Makes the tally of an axis. */
static const struct sl_grid_set *set_of(const struct sl_grid_axis *axis)
{
	struct sl_grid_field f = {.n_axes = 1, .axis = {*axis}, .fates = SL_FATE_BIT(SL_FATE_hit)};
	static struct sl_grid_set set;

	assert_null(sl_grid_axis_problem(axis, pool));
	sl_grid_make(&f, 1, pool, false, &set);
	return &set;
}

static struct sl_even_rule even_rule(const struct sl_grid_axis *axis)
{
	return set_of(axis)->grid[0].axis[0].even;
}

static uint32_t grid_bin(struct sl_grid_axis axis, float value)
{
	const struct sl_grid_set *set = set_of(&axis);

	return sl_grid_bin_of_float(&set->grid[0].axis[0], set->edge, value);
}

/*
 * Near an edge a float may be in the neighbour of the bin that a division in double gives. Even
 * grids do the same.
 */
PROPERTY(floats_are_in_the_bin_of_the_division, 500)
{
	static const uint32_t some_bins[] = {1, 2, 3, 7, 40, 64, 1000, SL_GRID_LISTED_MAX};
	const uint32_t bins = rnd_of(g, some_bins);
	const double *r = any_range(g);
	const float lo = (float)r[0], hi = (float)r[1];
	const struct sl_grid_axis grid = even(SL_COLUMN_x, bins, r[0], r[1]);
	const struct sl_even_rule t = even_rule(&grid);

	assert_int_equal(sl_bin_of_float(&t, lo), 1);
	assert_int_equal(sl_bin_of_float(&t, hi), bins);
	assert_int_equal(sl_bin_of_float(&t, nextafterf(lo, -INFINITY)), 0);
	assert_int_equal(sl_bin_of_float(&t, nextafterf(hi, INFINITY)), bins + 1);
	for (int i = 0; i < 1000; i++) {
		float v = (float)rnd_between(g, r[0], r[1]);
		double at = ((double)v - (double)lo) / ((double)hi - (double)lo) * bins;
		uint32_t bin = sl_bin_of_float(&t, v);

		if (bin < 1 || bin > bins || !(at > bin - 1 - 1e-3 && at < bin + 1e-3))
			fail_msg("%.9g in the range %g..%g is at %g of %u bins, but in bin %u",
				(double)v, r[0], r[1], at, bins, bin);
		if (i < 20)
			assert_int_equal(grid_bin(grid, v), bin);
	}
	for (uint32_t i = 0; i <= bins && i < 50; i++)
		assert_true(
			fabs(sl_grid_edge(&grid, pool, i) - (r[0] + (r[1] - r[0]) * i / bins)) <=
			1e-15 * (fabs(r[0]) + fabs(r[1])));
}

/*
 * Edges that are exact in single precision alone decide. The end of a range is in it; NaN is below
 * it.
 */
PROPERTY(edges_belong_to_the_bin_above, 200)
{
	const struct sl_grid_axis axes[] = {even(SL_COLUMN_w, 1u << rnd_below(g, 10), 0, 1),
		edges(SL_COLUMN_w), edges_from(SL_COLUMN_w, 2, 1)};
	const uint32_t which = rnd_below(g, 3);
	const struct sl_grid_axis a = axes[which];
	const struct sl_even_rule t = even_rule(&a);

	for (int i = 0; i < 100; i++) {
		float edge = (float)sl_grid_edge(&a, pool, rnd_below(g, a.bins + 1)), v = edge;
		uint32_t want = 0;

		if (i % 3)
			v = i % 3 == 1 ? rnd_float(g) : nextafterf(edge, -INFINITY);
		while (want <= a.bins && (double)v >= sl_grid_edge(&a, pool, want))
			want++;
		want = (double)v == a.hi ? a.bins : want;
		if (grid_bin(a, v) != want || (which == 0 && sl_bin_of_float(&t, v) != want))
			fail_msg("%.9g is in the bin %u, expected %u", (double)v, grid_bin(a, v),
				want);
	}
}

/* Edges that are computed for the reader are those that the rule uses, within rounding. */
PROPERTY(bins_of_equal_ratio_follow_their_edges, 200)
{
	static const double ratios[][2] = {{1e-3, 1e3}, {0.5, 0.75}, {1e-30, 1e30}, {2, 1e6}};
	const double *r = ratios[rnd_below(g, 4)];
	const uint32_t bins = 1 + rnd_below(g, 1000);
	const struct sl_grid_axis axis = {.column = SL_COLUMN_w,
		.spacing = SL_SPACING_RATIO,
		.bins = bins,
		.lo = r[0],
		.hi = r[1]};
	const double ratio = pow(r[1] / r[0], 1.0 / bins);

	for (uint32_t i = 0; i <= bins; i += 1 + rnd_below(g, 30)) {
		double edge = sl_grid_edge(&axis, pool, i);

		assert_true(fabs(edge / (r[0] * pow(ratio, i)) - 1) < 1e-9);
		if (i < bins)
			assert_int_equal(grid_bin(axis, (float)(edge * sqrt(ratio))), i + 1);
	}
	assert_int_equal(grid_bin(axis, (float)r[0]), 1);
	assert_int_equal(grid_bin(axis, (float)r[1]), bins);
	assert_int_equal(grid_bin(axis, nextafterf((float)r[1], INFINITY)), bins + 1);
	assert_int_equal(grid_bin(axis, 0), 0);
	assert_int_equal(grid_bin(axis, -1), 0);
	assert_int_equal(grid_bin(axis, NAN), 0);
}

/* Bins of whole numbers are exact; signed ones are counted from -2^31. */
PROPERTY(integers_are_in_the_bin_of_the_division, 500)
{
	const uint32_t bins = 1 + rnd_below(g, 300), width = 1 + rnd_below(g, 1000);
	const uint32_t lo = rnd_one_in(g, 2) ? 0 : rnd_below(g, 100000), hi = lo + bins * width;
	const uint32_t zero = rnd_one_in(g, 2) ? 0 : 50000;
	const struct sl_grid_axis axis = even(
		zero ? SL_COLUMN_pdg : SL_COLUMN_steps, bins, (double)lo - zero, (double)hi - zero);
	const struct sl_even_rule t = even_rule(&axis);

	assert_int_equal(sl_bin_of_integer(&t, UINT32_MAX), bins + 1);
	for (int i = 0; i < 500; i++) {
		uint32_t v = i % 2 ? lo + rnd_below(g, hi - lo + 10)
		                   : lo + rnd_below(g, bins + 1) * width - (uint32_t)i % 3;

		if ((int32_t)v < 0)
			continue;
		assert_int_equal(sl_bin_of_integer(&t, zero ? v + 0x80000000u - zero : v),
			v < lo    ? 0
			: v >= hi ? bins + 1
				  : (v - lo) / width + 1);
	}
}

/* --- flights ---------------------------------------------------------------------------------- */

enum { PLACES = 2000, CELLS_MAX = 4096 };

/* A flight of up to three cm, partly outside of the grids; some are along an axis. */
static struct sl_scored_flight any_flight(struct rnd *g)
{
	struct sl_scored_flight f = {.x = (float)rnd_between(g, -2, 2),
		.y = (float)rnd_between(g, -2, 2),
		.z = (float)rnd_between(g, -1, 2),
		.time = (float)rnd_between(g, 0, 1),
		.w = (float)rnd_between(g, -1, 1),
		.slowness = 0.05f,
		.length = (float)rnd_between(g, 0, 3),
		.weight = 1};
	const double angle = rnd_between(g, 0, 6.283185307);
	float s;

	if (rnd_one_in(g, 8))
		f.w = rnd_one_in(g, 2) ? 1 : -1;
	if (rnd_one_in(g, 8))
		f.x = f.y = 0;
	s = sqrtf(1 - f.w * f.w);
	f.u = s * (float)cos(angle);
	f.v = s * (float)sin(angle);
	f.end_z = fmaf(f.length, f.w, f.z);
	return f;
}

/* The counter of the place at a distance along a flight. */
static uint32_t cell_at(
	const struct sl_grid_set *set, const struct sl_scored_flight *f, double distance)
{
	struct sl_particle p = {.x = (float)((double)f->x + distance * (double)f->u),
		.y = (float)((double)f->y + distance * (double)f->v),
		.z = (float)((double)f->z + distance * (double)f->w),
		.time = (float)((double)f->time + distance * (double)f->slowness)};
	const struct sl_columns columns = sl_columns_of(&p);

	p.r = sl_grid_radius(p.x, p.y);
	return sl_grid_cell(&set->grid[0], set->edge, &columns, 0);
}

/*
 * Compares the pieces of a flight with places along it; each cell can be off by two of them per
 * piece.
 */
PROPERTY(pieces_are_where_the_flight_is, 12000)
{
	const struct sl_grid_axis sets[][SL_GRID_AXES_MAX] = {{even(SL_COLUMN_z, 16, -0.5, 1)},
		{even(SL_COLUMN_r, 16, 0, 2)}, {even(SL_COLUMN_r, 8, 0.3, 1)}, {edges(SL_COLUMN_x)},
		{edges(SL_COLUMN_r)}, {even(SL_COLUMN_time, 12, 0.2, 0.9)},
		{even(SL_COLUMN_r, 10, 0, 2), even(SL_COLUMN_z, 10, 0, 1)},
		{edges(SL_COLUMN_y), even(SL_COLUMN_r, 5, 0, 1.5), even(SL_COLUMN_time, 6, 0, 1)},
		{even(SL_COLUMN_x, 9, -1, 1), even(SL_COLUMN_y, 7, -1, 1), edges(SL_COLUMN_z)}};
	const struct sl_grid_axis *axis = sets[rnd_below(g, sizeof(sets) / sizeof(sets[0]))];
	const struct sl_scored_flight f = any_flight(g);
	const double length = (double)f.length;
	static struct sl_grid_set set;
	static double path[CELLS_MAX];
	struct sl_grid_field field = {.fates = SL_FATE_BIT(SL_SCORE_ROW), .score = SL_SCORE_TRACK};
	struct sl_track t;
	double sum = 0, off = 0;
	unsigned pieces = 0;

	for (; field.n_axes < SL_GRID_AXES_MAX && axis[field.n_axes].bins > 0; field.n_axes++)
		field.axis[field.n_axes] = axis[field.n_axes];
	sl_grid_make(&field, 1, pool, false, &set);
	assert_true(set.flights && set.grid[0].counters <= CELLS_MAX);
	memset(path, 0, sizeof(path));
	t = sl_track_begin(&set.grid[0], set.edge, &f);
	for (; sl_track_next(&set.grid[0], set.edge, &f, &t); pieces++) {
		assert_true(t.cell < set.grid[0].cells + SL_GRID_OUTSIDE && t.length >= 0);
		path[t.cell] += (double)t.length;
		sum += (double)t.length;
	}
	assert_true(pieces >= 1 && fabs(sum - length) < 1e-5);
	for (int k = 0; k < PLACES; k++)
		path[cell_at(&set, &f, (k + 0.5) / PLACES * length)] -= length / PLACES;
	for (uint32_t c = 0; c < set.grid[0].cells + SL_GRID_OUTSIDE; c++)
		off += fabs(path[c]);
	if (off > 2.0 * pieces * length / PLACES + 2e-3)
		fail_msg("cells differ by %g cm in %u pieces", off, pieces);
}

PROPERTY_FILE()
