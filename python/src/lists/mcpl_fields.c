/*
 * mcpl_fields.c - see lists.h.
 *
 * A tile of particles is loaded and checked field by field: the inner loops have one type each, so
 * that the compiler vectorises them. Then each particle becomes a record.
 */
#include "python/src/lists/lists.h"

#include <float.h>
#include <math.h>

#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/selection/functions.h"

/* Particles of a tile: its doubles stay in the first-level cache. */
enum { TILE = 256 };

/* Rows of a tile: those of columns, and one for what is computed on the way. */
enum { LENGTH = SL_COLUMN_pol_z + 1, ROWS };

/* By how much the square of the length of a direction may differ from 1, as in MCPL itself. */
#define LENGTH_TOLERANCE 1e-5

static const char *name_of(int column)
{
	return sl_column_facts[column].name;
}

/* --- the header ------------------------------------------------------------------------------- */

/* Polarisation and user flags are optional; polarisation has three components. */
static enum sl_status check_fields(const struct sl_py_mcpl *l, size_t *n)
{
	const struct sl_py_table *table = &l->table;
	const char *first = NULL;
	bool polarised = sl_py_table_has(table, SL_COLUMN_pol_x) ||
	                 sl_py_table_has(table, SL_COLUMN_pol_y) ||
	                 sl_py_table_has(table, SL_COLUMN_pol_z);

	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		bool optional =
			c == SL_COLUMN_userflags || (SL_HAS(SL_MCPL_POLARISATION, c) && !polarised);

		if (!SL_HAS(SL_MCPL_LIST, c))
			continue;
		if (sl_py_table_has(table, c))
			SL_TRY(sl_py_column_check(
				&table->column[c], name_of(c), sl_py_column_is_real(c), &first, n));
		else if (!optional)
			return sl_fail(SL_USAGE,
				"%s: the column is missing, and MCPL needs it; add it, or a number "
				"for all particles: %s=%s",
				name_of(c), name_of(c),
				c == SL_COLUMN_pdg      ? "2112"
				: c == SL_COLUMN_weight ? "1.0"
							: "0.0");
	}
	if (!first)
		return sl_fail(SL_USAGE,
			"columns: all of them are numbers, so the number of particles is "
			"unknown; give at least one array");
	return SL_OK;
}

enum sl_status sl_py_mcpl_header(const struct sl_py_mcpl *l, struct sl_mcpl_header *h)
{
	const struct sl_mcpl_metadata *c = l->metadata;
	const struct sl_py_array *weights = &l->table.column[SL_COLUMN_weight];
	int32_t pdg = 0;
	double weight = 0;
	size_t n = 0;

	SL_TRY(check_fields(l, &n));
	if (l->table.column[SL_COLUMN_pdg].constant)
		SL_TRY(sl_py_table_convert(&l->table, SL_COLUMN_pdg, 0, 1, &pdg));
	if (weights->constant)
		sl_py_load_real(weights, 0, 1, &weight);
	if (l->n_comments > SL_MCPL_STRINGS_MOST)
		return sl_fail(SL_USAGE, "comment: %zu comments are more than a header can have",
			l->n_comments);
	if (!isfinite(weight))
		return sl_fail(SL_USAGE, "weight: %g is not finite; use a finite number", weight);
	*h = (struct sl_mcpl_header){.version = 3,
		.particles = n,
		.comments = (uint32_t)l->n_comments +
	                    (c ? c->sums.n + c->sources.n + c->comments.n : 0),
		.blobs = c ? c->blobs.n : 0,
		.flags = sl_py_table_has(&l->table, SL_COLUMN_userflags),
		.polarised = sl_py_table_has(&l->table, SL_COLUMN_pol_x),
		.single = l->single,
		.pdg = pdg,
		.weight = weight};
	h->record_bytes = sl_mcpl_record_bytes(h);
	return SL_OK;
}

/* --- checks ----------------------------------------------------------------------------------- */

/*
 * Whether some number may be outside of [lo, hi]; lo is at least 0, or -hi. The bits of positive
 * numbers have the order of the numbers, with NaN last, so that the sign of a difference of bits
 * answers: integers are vectorised, comparisons, which can trap, are not.
 */
static bool may_be_outside(const double *v, uint32_t n, double lo, double hi)
{
	const uint64_t sign = UINT64_C(1) << 63, least = lo < 0 ? 0 : sl_double_bits(lo),
		       most = sl_double_bits(hi);
	const uint64_t mask = lo < 0 ? ~sign : ~UINT64_C(0);
	uint64_t outside = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bits = sl_double_bits(v[i]) & mask;

		outside |= (bits - least) | (most - bits) | bits;
	}
	return (outside & sign) != 0;
}

/* The first of n numbers that is not in [lo, hi], or n. NaN is in no range. */
static uint32_t find_outside(const double *v, uint32_t n, double lo, double hi)
{
	bool search = may_be_outside(v, n, lo, hi);

	for (uint32_t i = 0; search && i < n; i++)
		if (!(v[i] >= lo) || !(v[i] <= hi))
			return i;
	return n;
}

static enum sl_status check_numbers(
	const struct sl_py_mcpl *l, int c, size_t from, uint32_t n, const double *v)
{
	double most = l->single ? (double)FLT_MAX : DBL_MAX;
	uint32_t i = find_outside(v, n, c == SL_COLUMN_energy ? 0 : -most, most);

	for (uint32_t k = 0; l->single && c == SL_COLUMN_weight && i == n && k < n; k++)
		if (sl_mcpl_is_beyond(v[k], 1, true))
			return sl_fail(SL_USAGE,
				"weight[%zu] is %g, which is 0 in single precision; scale the weights, "
				"or use precision='double'",
				from + k, v[k]);
	if (i == n)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"%s[%zu] is %g, but must be %s%s; remove the particle or correct it", name_of(c),
		from + i, v[i], c == SL_COLUMN_energy ? "at least 0 and finite" : "finite",
		l->single ? " in single precision" : "");
}

/* --- records ---------------------------------------------------------------------------------- */

/* Loads and checks the numbers of a tile. */
static enum sl_status load_numbers(
	const struct sl_py_mcpl *l, size_t from, uint32_t n, double v[][TILE])
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(SL_MCPL_LIST, c) && sl_py_column_is_real(c) &&
			sl_py_table_has(&l->table, c)) {
			sl_py_load_real(&l->table.column[c], from, n, v[c]);
			SL_TRY(check_numbers(l, c, from, n, v[c]));
		}
	return SL_OK;
}

static enum sl_status check_directions(size_t from, uint32_t n, double v[][TILE])
{
	const double *x = v[SL_COLUMN_u], *y = v[SL_COLUMN_v], *z = v[SL_COLUMN_w];
	double *length = v[LENGTH];
	uint32_t wrong;

	for (uint32_t i = 0; i < n; i++)
		length[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
	wrong = find_outside(length, n, 1 - LENGTH_TOLERANCE, 1 + LENGTH_TOLERANCE);
	if (wrong < n)
		return sl_fail(SL_USAGE,
			"u, v, w of particle %zu are %g, %g, %g, which is no direction (the length "
			"is not 1); divide them by their length",
			from + wrong, x[wrong], y[wrong], z[wrong]);
	return SL_OK;
}

static enum sl_status put_tile(const struct sl_py_mcpl *l, const struct sl_mcpl_record *r,
	size_t from, uint32_t n, double v[][TILE], unsigned char *to)
{
	int32_t pdg[TILE];
	uint32_t flags[TILE] = {0};

	SL_TRY(load_numbers(l, from, n, v));
	SL_TRY(check_directions(from, n, v));
	SL_TRY(sl_py_table_convert(&l->table, SL_COLUMN_pdg, from, n, pdg));
	if (sl_py_table_has(&l->table, SL_COLUMN_userflags))
		SL_TRY(sl_py_table_convert(&l->table, SL_COLUMN_userflags, from, n, flags));
	for (uint32_t i = 0; i < n; i++) {
		const struct sl_mcpl_particle p = {
			{v[SL_COLUMN_pol_x][i], v[SL_COLUMN_pol_y][i], v[SL_COLUMN_pol_z][i]},
			{v[SL_COLUMN_x][i], v[SL_COLUMN_y][i], v[SL_COLUMN_z][i]},
			{v[SL_COLUMN_u][i], v[SL_COLUMN_v][i], v[SL_COLUMN_w][i]},
			v[SL_COLUMN_energy][i] / SL_MCPL_KEV, v[SL_COLUMN_time][i] / SL_MCPL_NS,
			v[SL_COLUMN_weight][i], pdg[i], flags[i]};

		sl_mcpl_encode(r, &p, (uint32_t *)(void *)(to + i * r->bytes));
	}
	return SL_OK;
}

enum sl_status sl_py_mcpl_records(const struct sl_py_mcpl *l, const struct sl_mcpl_header *h,
	size_t from, size_t n, unsigned char *to)
{
	const struct sl_mcpl_record r = sl_mcpl_record_of_header(h);
	double v[ROWS][TILE] = {{0}}; /* fields that the list lacks stay 0 */

	for (size_t done = 0; done < n; done += TILE)
		SL_TRY(put_tile(l, &r, from + done, (uint32_t)(n - done < TILE ? n - done : TILE),
			v, to + done * r.bytes));
	return SL_OK;
}
