/*
 * flight_score.c - tests scores of flights: the pieces of random flights are compared with places along
 * the flight, which the rules of grids put into cells.
 */
#include "stages/selection/flight_score.h"

#include <math.h>

#include "stages/particle/random.h"
#include "tests/support/basic/check.h"

enum { FLIGHTS = 2000, PLACES = 2000, CELLS_MAX = 4096 };

static const double pool[SL_GRID_EDGES_MAX] = {-2, -0.5, 0.25, 0.3, 1.5};

/* A number of flight i that is uniform in 0..1. */
static float uniform(uint64_t i, uint32_t k)
{
	return sl_uniform(sl_draw(7, i, k / 4).at[k % 4]);
}

static struct sl_grid_axis even(enum sl_column column, uint32_t bins, double lo, double hi)
{
	return (struct sl_grid_axis){.column = column, .bins = bins, .lo = lo, .hi = hi};
}

static struct sl_grid_axis edges(enum sl_column column)
{
	return (struct sl_grid_axis){.column = column,
		.spacing = SL_SPACING_EDGES,
		.bins = 4,
		.lo = pool[0],
		.hi = pool[4]};
}

/* A random flight of up to three cm, partly outside of the grids; some are along an axis. */
static struct sl_scored_flight random_flight(uint64_t i)
{
	struct sl_scored_flight f = {.x = 4 * uniform(i, 0) - 2,
		.y = 4 * uniform(i, 1) - 2,
		.z = 3 * uniform(i, 2) - 1,
		.time = uniform(i, 3),
		.w = 2 * uniform(i, 4) - 1,
		.slowness = 0.05f,
		.length = 3 * uniform(i, 5),
		.weight = 1};
	float sine, cosine;

	if (i % 8 == 0)
		f.w = i % 16 ? 1 : -1;
	if (i % 8 == 1)
		f.x = f.y = 0;
	sl_sincospi(2 * uniform(i, 6), &sine, &cosine);
	f.u = sqrtf(1 - f.w * f.w) * cosine;
	f.v = sqrtf(1 - f.w * f.w) * sine;
	f.end_z = fmaf(f.length, f.w, f.z);
	return f;
}

/* The counter of the place at a distance along a flight. */
static uint32_t cell_at(
	const struct sl_grid_set *g, const struct sl_scored_flight *f, double distance)
{
	struct sl_particle p = {.x = (float)(f->x + distance * f->u),
		.y = (float)(f->y + distance * f->v),
		.z = (float)(f->z + distance * f->w),
		.time = (float)(f->time + distance * f->slowness)};
	const struct sl_columns columns = sl_columns_of(&p);

	p.r = sl_grid_radius(p.x, p.y);
	return sl_grid_cell(&g->grid[0], g->edge, &columns, 0);
}

/* Compares the pieces of flight i with PLACES places; each cell can be off by two of them per piece. */
static void compare(const struct sl_grid_set *g, uint64_t i)
{
	static double path[CELLS_MAX];
	struct sl_scored_flight f = random_flight(i);
	struct sl_track t = sl_track_begin(&g->grid[0], g->edge, &f);
	double sum = 0, off = 0;
	unsigned pieces = 0;

	memset(path, 0, sizeof(path));
	for (; sl_track_next(&g->grid[0], g->edge, &f, &t); pieces++) {
		assert_true(t.cell < g->grid[0].cells + SL_GRID_OUTSIDE && t.length >= 0);
		path[t.cell] += t.length;
		sum += t.length;
	}
	assert_true(pieces >= 1 && fabs(sum - f.length) < 1e-5);
	for (int k = 0; k < PLACES; k++)
		path[cell_at(g, &f, (k + 0.5) / PLACES * f.length)] -= f.length / PLACES;
	for (uint32_t c = 0; c < g->grid[0].cells + SL_GRID_OUTSIDE; c++)
		off += fabs(path[c]);
	if (off > 2.0 * pieces * f.length / PLACES + 2e-3)
		fail_msg("flight %d: cells differ by %g cm in %u pieces", (int)i, off, pieces);
}

TEST(pieces_are_where_the_flight_is)
{
	const struct sl_grid_axis sets[][SL_GRID_AXES_MAX] = {{even(SL_COLUMN_z, 16, -0.5, 1)},
		{even(SL_COLUMN_r, 16, 0, 2)}, {even(SL_COLUMN_r, 8, 0.3, 1)}, {edges(SL_COLUMN_x)},
		{edges(SL_COLUMN_r)}, {even(SL_COLUMN_time, 12, 0.2, 0.9)},
		{even(SL_COLUMN_r, 10, 0, 2), even(SL_COLUMN_z, 10, 0, 1)},
		{edges(SL_COLUMN_y), even(SL_COLUMN_r, 5, 0, 1.5), even(SL_COLUMN_time, 6, 0, 1)},
		{even(SL_COLUMN_x, 9, -1, 1), even(SL_COLUMN_y, 7, -1, 1), edges(SL_COLUMN_z)}};
	static struct sl_grid_set g;

	for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++) {
		struct sl_grid_field f = {
			.fates = SL_FATE_BIT(SL_SCORE_ROW), .score = SL_SCORE_TRACK};

		for (; f.n_axes < SL_GRID_AXES_MAX && sets[s][f.n_axes].bins > 0; f.n_axes++)
			f.axis[f.n_axes] = sets[s][f.n_axes];
		sl_grid_make(&f, 1, pool, false, 1, &g);
		assert_true(g.flights && g.grid[0].counters <= CELLS_MAX);
		for (uint64_t i = 0; i < FLIGHTS; i++)
			compare(&g, i);
	}
}

/* Pieces of 1 to 2^32 units count as many times as they have begun units. */
TEST(long_pieces_count_several_times)
{
	const struct sl_grid_rule g = {.score_scale = 0.25f};
	uint64_t count;

	assert_int_equal(sl_track_fixed(&g, 1, 1, &count), UINT64_C(1) << 30);
	assert_int_equal(count, 1);
	assert_int_equal(sl_track_fixed(&g, 0.5f, 20, &count), UINT64_C(5) << 31);
	assert_int_equal(count, 3);
	assert_int_equal(sl_track_fixed(&g, 1, 3e38f, &count), UINT64_C(1) << 62);
	assert_int_equal(count, (1 << 30) + 1);
}

TEST(a_plane_has_two_sides)
{
	const struct sl_grid_rule g = {.plane = 0.5f};
	struct sl_scored_flight f = {
		.z = 0.25f, .w = 0.5f, .u = 0.6f, .slowness = 2, .length = 1, .end_z = 0.75f};
	struct sl_particle p = {0};

	assert_true(sl_flight_crosses(&g, &f, &p));
	assert_true(fabsf(p.x - 0.3f) < 1e-6f && fabsf(p.time - 1) < 1e-6f &&
		    fabsf(p.r - 0.3f) < 1e-6f);
	f.end_z = 0.5f; /* it ends on the plane */
	assert_true(sl_flight_crosses(&g, &f, &p));
	f.end_z = 0.499f;
	assert_false(sl_flight_crosses(&g, &f, &p));
	f.z = 0.5f; /* reflected there, it goes back */
	f.w = -0.5f;
	assert_true(sl_flight_crosses(&g, &f, &p));
	assert_true(fabsf(p.time) < 1e-6f);
	f.w = 0.5f; /* or on */
	f.end_z = 0.75f;
	assert_false(sl_flight_crosses(&g, &f, &p));
}
