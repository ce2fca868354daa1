/* table.c - see filter.h. */
#include "python/src/filter/filter.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- types and sizes -------------------------------------------------------------------------- */

static bool is_real(int column)
{
	return sl_column_facts[column].type == SL_TYPE_F32;
}

static enum sl_status check_type(const struct sl_py_table *t, int c)
{
	const struct sl_py_array *a = &t->column[c];

	if (is_real(c) ? sl_py_is_real(a) || sl_py_is_whole(a) : sl_py_is_whole(a))
		return SL_OK;
	return sl_fail(SL_USAGE, "%s: the array has items of %s; convert them to %s",
		sl_column_facts[c].name, sl_py_type_name(a),
		is_real(c) ? "float32 or float64" : "integers");
}

enum sl_status sl_py_table_check(struct sl_py_table *t)
{
	const char *first = NULL;
	size_t n = 0;

	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const struct sl_py_array *a = &t->column[c];

		if (!sl_py_table_has(t, c))
			continue;
		SL_TRY(check_type(t, c));
		if (first && !a->constant && a->n != n)
			return sl_fail(SL_USAGE,
				"%s: the array has %zu items, and %s has %zu; all columns must "
				"have one item for each particle",
				sl_column_facts[c].name, a->n, first, n);
		if (!a->constant && !first) {
			first = sl_column_facts[c].name;
			n = a->n;
		}
	}
	if (!first)
		return sl_fail(SL_USAGE, "columns: there is no array of a column of particles "
					 "(sluice.COLUMNS); add one");
	if (n >= UINT32_MAX)
		return sl_fail(SL_USAGE,
			"columns: %zu particles are too many, at most %u are allowed; "
			"filter them in parts",
			n, UINT32_MAX - 1);
	t->n = (uint32_t)n;
	return SL_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

/* The ends of the type of a column of integers. */
static double least(int column)
{
	return sl_least_whole((enum sl_column)column);
}

double sl_py_most_whole(int column)
{
	switch (sl_column_facts[column].type) {
	case SL_TYPE_U8:
		return UINT8_MAX;
	case SL_TYPE_I32:
		return INT32_MAX;
	case SL_TYPE_U32:
		return UINT32_MAX;
	default:
		return 0x1p64;
	}
}

enum sl_status sl_py_table_refuse(int column, size_t i, double value)
{
	if (is_real(column))
		return sl_fail(SL_USAGE, "%s[%zu] is %g, which is not finite in single precision",
			sl_column_facts[column].name, i, value);
	return sl_fail(SL_USAGE, "%s[%zu] is %.17g, but the column has numbers from %.17g to %.17g",
		sl_column_facts[column].name, i, value, least(column), sl_py_most_whole(column));
}

/* Rounds doubles as reading a list does. */
static enum sl_status round_reals(int column, size_t from, uint32_t n, double *v)
{
	int infinite = 0;

	for (uint32_t i = 0; i < n; i++)
		infinite |= fabs(v[i]) > (double)FLT_MAX && !isinf(v[i]);
	for (uint32_t i = 0; infinite && i < n; i++)
		if (isinf((float)v[i]) && !isinf(v[i]))
			return sl_py_table_refuse(column, from + i, v[i]);
	for (uint32_t i = 0; i < n; i++)
		v[i] = (double)(float)v[i];
	return SL_OK;
}

static enum sl_status check_wholes(int column, size_t from, uint32_t n, const double *v)
{
	const double lo = least(column), hi = sl_py_most_whole(column);
	int outside = 0;

	for (uint32_t i = 0; i < n; i++)
		outside |= (v[i] < lo) | (v[i] > hi);
	for (uint32_t i = 0; outside && i < n; i++)
		if (v[i] < lo || v[i] > hi)
			return sl_py_table_refuse(column, from + i, v[i]);
	return SL_OK;
}

enum sl_status sl_py_table_load(
	const struct sl_py_table *t, int column, size_t from, uint32_t n, double *to)
{
	const struct sl_py_array *a = &t->column[column];

	if (!sl_py_table_has(t, column)) { /* id */
		for (uint32_t i = 0; i < n; i++)
			to[i] = (double)(from + i);
		return SL_OK;
	}
	sl_py_load_real(a, from, n, to);
	if (!is_real(column))
		return check_wholes(column, from, n, to);
	return a->kind == 'f' && a->bytes == 4 ? SL_OK : round_reals(column, from, n, to);
}

enum sl_status sl_py_table_get(
	const struct sl_py_table *t, int column, size_t i, struct sl_particle *p)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	char *at = (char *)p + f->in_particle;
	int64_t whole = (int64_t)i;
	double value;
	float real;

	SL_TRY(sl_py_table_load(t, column, i, 1, &value));
	if (is_real(column)) {
		real = (float)value;
		memcpy(at, &real, sizeof(real));
		return SL_OK;
	}
	if (sl_py_table_has(t, column))
		sl_py_load_whole(&t->column[column], i, 1, &whole);
	memcpy(at, &whole, f->bytes); /* little-endian: the low bytes come first */
	return SL_OK;
}
