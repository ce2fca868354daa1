/*
 * sort_key.c - parses the items of key into the fields of a sort key.
 *
 *	w:16                    a column in 16 bits, over the range that the model states
 *	x:12:-5 mm..5 mm        over this range; a plain number is in the unit of the column
 *	energy_log:16           by the logarithm, over all positive numbers or a range
 *	energy:float            in the order of all floats, which takes 32 bits
 *	-w:16                   the largest first
 *	id                      as the last item: no field, because ties are in id order already
 */
#include "pipeline/resolve/output/output.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BITS_MAX = 64, FLOAT_BITS_MAX = 32, REAL_EXAMPLE = 16, WHOLE_EXAMPLE = 32 };

static const char logarithm[] = "_log";

/* Is the column a single-precision number? The others are integers. */
static bool is_float(enum sl_column column)
{
	return sl_column_facts[column].type == SL_TYPE_F32;
}

/* Writes the name of a column without the suffix _log; true if there was one. */
static bool cut_log(const char *column, char name[SL_WORD_BYTES])
{
	size_t n = strlen(column), log = strlen(logarithm);
	bool is_log = n > log && strcmp(column + n - log, logarithm) == 0;

	snprintf(name, SL_WORD_BYTES, "%.*s", (int)(n - is_log * log), column);
	return is_log;
}

/* --- the parts -------------------------------------------------------------------------------- */

/* Why the field cannot divide its range into 2^bits steps, as a part of a sentence; or NULL. */
static const char *range_problem(const struct sl_key_field *f)
{
	double scale = ldexp(1, (int)f->bits) / (f->hi - f->lo);
	double least = sl_least_whole(f->column), most = least < 0 ? 0x1p31 : 0x1p64;

	if (f->logarithmic)
		return f->lo > 0 && (float)f->lo < (float)f->hi && f->hi <= FLT_MAX
		               ? NULL
		               : "has no logarithm: its ends must be above 0 and in ascending order";
	if (!is_float(f->column)) {
		if (!(f->lo >= least) || !(f->hi < most) || f->lo != floor(f->lo) ||
			f->hi != floor(f->hi))
			return SL_NOT_WHOLE(least);
		return f->lo <= f->hi ? NULL : "is empty: its ends are in the wrong order";
	}
	if (!(fabs(f->lo) <= FLT_MAX) || !(fabs(f->hi) <= FLT_MAX))
		return "is not finite in single precision, the type of the column";
	if (!(f->lo < f->hi))
		return "is empty: the first end must be below the second";
	return scale <= FLT_MAX && scale >= FLT_MIN
	               ? NULL
	               : "cannot be divided into that many steps in single precision";
}

/* The range when none is given: the number of particles for id, else from the model. */
static bool own_range(
	struct sl_resolver *v, const struct sl_column_item *it, struct sl_key_field *f)
{
	if (f->exact)
		return true;
	if (f->logarithmic) {
		f->lo = 0;
		f->hi = (double)INFINITY;
		return true;
	}
	if (f->column == SL_COLUMN_id) {
		f->lo = 0;
		f->hi = (double)(v->c->run.particles - (v->c->run.particles > 0));
		return true;
	}
	if (sl_column_range(v->to, f->column, &f->lo, &f->hi) && !range_problem(f))
		return true;
	return sl_column_item_needs_range(v, it, f->column, f->bits, 1);
}

/* --- the items -------------------------------------------------------------------------------- */

/*
 * Reads what follows the column: bits or float. In messages the item starts with the sign and the
 * name that the user wrote.
 */
static bool resolve_bits(
	struct sl_resolver *v, const struct sl_column_item *it, bool known, struct sl_key_field *f)
{
	bool real = is_float(f->column);

	f->exact = it->count && strcmp(it->count, "float") == 0;
	if (!it->count && real && !f->logarithmic && !known)
		return sl_config_add_problem(v->r, it->key,
			"'%s' lacks the number of bits; write %s_log:32, or %s:float for the order of all numbers",
			it->column, it->column, it->column);
	if (!f->exact)
		return sl_column_item_count(v, it, "bits", real ? FLOAT_BITS_MAX : KEY_BITS_MAX,
			real ? REAL_EXAMPLE : WHOLE_EXAMPLE, &f->bits);
	f->bits = FLOAT_BITS_MAX;
	if (!real)
		return sl_config_add_problem(v->r, it->key,
			"'%s' has integer values, for which bits are exact; write %s:32",
			it->column, it->column);
	if (f->logarithmic)
		return sl_config_add_problem(v->r, it->key,
			"'%s' has the order of the numbers with float; write %s:32 or remove _log",
			it->column, it->column);
	if (it->rest)
		return sl_config_add_problem(v->r, it->key,
			"'%s:float' takes no range, because it is the order of all numbers; remove the range",
			it->column);
	return true;
}

/* Refuses the descending order of a column with one value, which has no effect. */
static bool check_descending(
	struct sl_resolver *v, const struct sl_column_item *it, const struct sl_key_field *f)
{
	struct sl_particle values;

	if (!f->descending ||
		!SL_HAS(v->to->model->constants(v->to->rules.bytes, &values), f->column))
		return true;
	return sl_config_add_problem(v->r, it->key,
		"'%s' is the same for all particles, so it cannot be sorted in descending order; remove it",
		it->column);
}

/* Resolves one item. */
static bool resolve_field(
	struct sl_resolver *v, const struct sl_column_item *it, struct sl_key_field *f)
{
	const struct sl_model *m = v->to->model;
	char name[SL_WORD_BYTES];
	bool known;

	f->descending = it->column[0] == '-';
	f->logarithmic = cut_log(it->column + f->descending, name);
	if (!sl_resolve_any_column(v, it->key, name, m->columns | SL_BIT(SL_COLUMN_id), &f->column))
		return false;
	if (f->logarithmic && !is_float(f->column))
		return sl_config_add_problem(v->r, it->key,
			"'%s' has integer values, which are not sorted by logarithm; write %s:32",
			name, name);
	known = !v->ranges || sl_column_range(v->to, f->column, &f->lo, &f->hi);
	if (!resolve_bits(v, it, known, f) || (v->ranges && !check_descending(v, it, f)))
		return false;
	if (it->rest)
		return sl_column_item_range(v, it, it->rest, f->column, &f->lo, &f->hi) &&
		       sl_column_item_check(v, it, it->rest, range_problem(f));
	return !v->ranges || own_range(v, it, f);
}

/* Is there a field of the column already? A second one would have no effect. */
static bool is_repeated(const struct sl_choices *choices, enum sl_column column)
{
	for (uint32_t i = 0; i < choices->n_fields; i++)
		if (choices->field[i].column == column)
			return true;
	return false;
}

void sl_resolve_key(struct sl_resolver *v)
{
	static const char key[] = "key";

	v->to->n_fields = v->to->key_bits = 0;
	for (uint32_t k = 0; k < v->c->key.n; k++) {
		struct sl_column_item it;
		struct sl_key_field f = {.bits = 0};

		sl_column_item_split(key, v->c->key.at[k], k, &it);
		if (k + 1 == v->c->key.n && !it.count && strcmp(it.column, "id") == 0)
			continue;
		if (!resolve_field(v, &it, &f))
			continue;
		if (is_repeated(v->to, f.column)) {
			sl_config_add_problem(v->r, it.key,
				"'%s' is repeated, and the second one has no effect; remove it",
				it.column);
			continue;
		}
		if (v->to->n_fields == SL_KEY_FIELDS_MAX) {
			sl_config_add_problem(v->r, key,
				"has more than %d fields, which is the limit; use fewer",
				SL_KEY_FIELDS_MAX);
			continue;
		}
		v->to->field[v->to->n_fields++] = f;
		v->to->key_bits += f.bits;
	}
	if (v->to->key_bits > KEY_BITS_MAX)
		sl_config_add_problem(v->r, key,
			"has %u bits in total, at most %d are allowed; use fewer per field",
			v->to->key_bits, KEY_BITS_MAX);
}
