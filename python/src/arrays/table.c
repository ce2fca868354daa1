/* table.c - see arrays.h. */
#include "python/src/arrays/arrays.h"

#include <math.h>
#include <string.h>

/* --- types and sizes -------------------------------------------------------------------------- */

enum sl_status sl_py_table_check(struct sl_py_table *t)
{
	const char *first = NULL;
	size_t n = 0;

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (sl_py_table_has(t, c))
			SL_TRY(sl_py_column_check(&t->column[c], sl_column_facts[c].name,
				sl_py_column_is_real(c), &first, &n));
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
	if (sl_py_column_is_real(column))
		return sl_fail(SL_USAGE, "%s[%zu] is %g, which is not finite in single precision",
			sl_column_facts[column].name, i, value);
	return sl_fail(SL_USAGE, "%s[%zu] is %.17g, but the column has numbers from %.17g to %.17g",
		sl_column_facts[column].name, i, value, sl_least_whole((enum sl_column)column),
		sl_py_most_whole(column));
}

/* Rounds doubles as reading a list does. */
static enum sl_status round_reals(int column, size_t from, uint32_t n, const double *v, float *to)
{
	int infinite = 0;

	for (uint32_t i = 0; i < n; i++) {
		to[i] = (float)v[i];
		infinite |= isinf(to[i]) & !isinf(v[i]);
	}
	for (uint32_t i = 0; infinite && i < n; i++)
		if (isinf(to[i]) && !isinf(v[i]))
			return sl_py_table_refuse(column, from + i, v[i]);
	return SL_OK;
}

static enum sl_status check_wholes(int column, size_t from, uint32_t n, const double *v)
{
	const double lo = sl_least_whole((enum sl_column)column), hi = sl_py_most_whole(column);
	int outside = 0;

	for (uint32_t i = 0; i < n; i++)
		outside |= (v[i] < lo) | (v[i] > hi);
	for (uint32_t i = 0; outside && i < n; i++)
		if (v[i] < lo || v[i] > hi)
			return sl_py_table_refuse(column, from + i, v[i]);
	return SL_OK;
}

/* Particles of a tile, whose numbers stay in the caches. */
enum { TILE = 512 };

static enum sl_status convert_tile(
	const struct sl_py_array *a, int column, size_t from, uint32_t n, char *to)
{
	double real[TILE];
	int64_t whole[TILE];
	const uint32_t bytes = sl_column_facts[column].bytes;

	sl_py_load_real(a, from, n, real);
	if (sl_py_column_is_real(column))
		return round_reals(column, from, n, real, (float *)(void *)to);
	SL_TRY(check_wholes(column, from, n, real));
	sl_py_load_whole(a, from, n, whole);
	/* little-endian: the low bytes come first; a constant number of bytes is one store */
	for (uint32_t i = 0; bytes == sizeof(uint32_t) && i < n; i++)
		memcpy(to + (size_t)i * sizeof(uint32_t), &whole[i], sizeof(uint32_t));
	for (uint32_t i = 0; bytes != sizeof(uint32_t) && i < n; i++)
		memcpy(to + (size_t)i * bytes, &whole[i], bytes);
	return SL_OK;
}

enum sl_status sl_py_table_convert(
	const struct sl_py_table *t, int column, size_t from, uint32_t n, void *to)
{
	const uint32_t bytes = sl_column_facts[column].bytes;

	for (uint32_t at = 0, some; at < n; at += some) {
		some = n - at < TILE ? n - at : (uint32_t)TILE;
		SL_TRY(convert_tile(&t->column[column], column, from + at, some,
			(char *)to + (size_t)at * bytes));
	}
	return SL_OK;
}
