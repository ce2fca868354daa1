/*
 * sort_key.c - the items of key: as fields of a sort key.
 *
 *	w:16                    a column in 16 bits, over the range that the model tells
 *	x:12:-5 mm..5 mm        over a range of one's own; without units, in the column's
 *	energy_log:16           by the logarithm, over all numbers above 0 or a range of them
 *	id                      as the last: nothing to do, as ties are in id order anyway
 */
#include "pipeline/resolve/output/sort_key.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/values.h"
#include "pipeline/resolve/choices/names.h"
#include "pipeline/resolve/choices/range.h"
#include "pipeline/text/messages.h"

enum { KEY_BITS_MAX = 64, FLOAT_BITS_MAX = 32, ITEM_BYTES = 24 };

static const char logarithm[] = "_log";

/* An item while it is taken apart. */
struct item {
	char key[ITEM_BYTES]; /* "key[2]", for complaints */
	char text[SL_WORD_BYTES];
	char *column;             /* part of text, as the next */
	const char *bits, *range; /* NULL when left out */
};

/* In place, as the parts point into the item itself. */
static void split(const char *key, const struct sl_texts *list, uint32_t k, struct item *it)
{
	char *colon;

	memset(it, 0, sizeof(*it));
	snprintf(it->key, sizeof(it->key), "%s[%u]", key, k);
	memcpy(it->text, list->at[k], sizeof(it->text));
	it->column = it->text;
	colon = strchr(it->text, ':');
	if (colon) {
		*colon = '\0';
		it->bits = colon + 1;
		colon = strchr(colon + 1, ':');
	}
	if (colon) {
		*colon = '\0';
		it->range = colon + 1;
	}
}

static bool is_float(enum sl_column column)
{
	return sl_column_facts[column].type == SL_TYPE_F32;
}

/* Is it ekin_log, or another column's? Its column is then what stands before. */
static bool cut_log(char *column)
{
	size_t n = strlen(column), log = strlen(logarithm);
	bool is_log = n > log && strcmp(column + n - log, logarithm) == 0;

	if (is_log)
		column[n - log] = '\0';
	return is_log;
}

/* --- the parts -------------------------------------------------------------------------------- */

static bool resolve_bits(struct sl_reader *r, const struct item *it, struct sl_key_field *f)
{
	uint64_t bits, most = is_float(f->column) ? FLOAT_BITS_MAX : KEY_BITS_MAX;
	char why[SL_WHY_BYTES];

	if (!it->bits) {
		sl_config_complain(r, it->key,
			"'%s' has no bits (the key must know how finely to sort), try %s:16",
			it->column, it->column);
		return false;
	}
	if (!sl_count_parse(it->bits, &bits, why) || bits < 1 || bits > most) {
		sl_config_complain(r, it->key,
			"'%s' is no number of bits (1 to %u can be had), try %s:16", it->bits,
			(unsigned)most, it->column);
		return false;
	}
	f->bits = (uint32_t)bits;
	return true;
}

/* Can the rule tell values of that range apart? Words why not, or NULL. */
static const char *range_flaw(const struct sl_key_field *f)
{
	double scale = ldexp(1, (int)f->bits) / (f->hi - f->lo);
	double least = sl_least_whole(f->column), most = least < 0 ? 0x1p31 : 0x1p64;

	if (f->logarithmic)
		return f->lo > 0 && (float)f->lo < (float)f->hi && f->hi <= FLT_MAX
		               ? NULL
		               : "has no logarithms (its ends must be above 0, the first the lesser)";
	if (!is_float(f->column)) {
		if (!(f->lo >= least) || !(f->hi < most) || f->lo != floor(f->lo) ||
			f->hi != floor(f->hi))
			return SL_NOT_WHOLE(least);
		return f->lo <= f->hi ? NULL : "is empty (its ends are in the wrong order)";
	}
	if (!(fabs(f->lo) <= FLT_MAX) || !(fabs(f->hi) <= FLT_MAX))
		return "is not finite (in single precision, as the column)";
	if (!(f->lo < f->hi))
		return "is empty (its first end must be below its second)";
	return scale <= FLT_MAX && scale >= FLT_MIN
	               ? NULL
	               : "cannot be divided so (steps would be out of single precision)";
}

static bool stated_range(struct sl_reader *r, const struct item *it, struct sl_key_field *f)
{
	char why[SL_WHY_BYTES];
	const char *flaw;

	if (!sl_range_parse(it->range, f->column, &f->lo, &f->hi, why)) {
		sl_config_complain(r, it->key, "its range %s", why);
		return false;
	}
	flaw = range_flaw(f);
	if (flaw)
		sl_config_complain(r, it->key, "its range '%s' %s, try another", it->range, flaw);
	return !flaw;
}

/* The range by itself: ids count the particles, the model knows its own columns. */
static bool own_range(const struct sl_config *c, struct sl_reader *r, const struct item *it,
	const struct sl_choices *choices, struct sl_key_field *f)
{
	const char *unit = sl_units[sl_column_facts[f->column].unit].text;

	if (f->logarithmic) {
		f->lo = 0;
		f->hi = (double)INFINITY;
		return true;
	}
	if (f->column == SL_COLUMN_id) {
		f->lo = 0;
		f->hi = (double)(c->run.particles - (c->run.particles > 0));
		return true;
	}
	if (choices->model->range(choices->rules.bytes, f->column, &f->lo, &f->hi) &&
		!range_flaw(f))
		return true;
	sl_config_complain(r, it->key,
		"'%s' has no range of its own here (bits must be spread over one), try "
		"%s:%u:0%s%s..1%s%s",
		it->column, it->column, f->bits, *unit ? " " : "", unit, *unit ? " " : "", unit);
	return false;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool resolve_field(const struct sl_config *c, struct sl_reader *r, struct item *it,
	const struct sl_choices *choices, bool ranges, struct sl_key_field *f)
{
	const struct sl_model *m = choices->model;

	f->logarithmic = cut_log(it->column);
	if (!sl_resolve_column(
		    r, it->key, it->column, m, m->columns | SL_BIT(SL_COLUMN_id), &f->column))
		return false;
	if (f->logarithmic && !is_float(f->column)) {
		sl_config_complain(r, it->key,
			"'%s' has no logarithm (its numbers are whole), try %s:16", it->column,
			it->column);
		return false;
	}
	if (f->logarithmic) /* complaints tell the whole name */
		it->column[strlen(it->column)] = logarithm[0];
	if (!resolve_bits(r, it, f))
		return false;
	if (it->range)
		return stated_range(r, it, f);
	return !ranges || own_range(c, r, it, choices, f);
}

/* A second field of a column would never decide. */
static bool is_repeated(const struct sl_key_fields *fields, enum sl_column column)
{
	for (uint32_t i = 0; i < fields->n; i++)
		if (fields->field[i].column == column)
			return true;
	return false;
}

void sl_resolve_fields(const struct sl_config *c, struct sl_reader *r,
	const struct sl_choices *choices, const char *key, const struct sl_texts *list, bool ranges,
	struct sl_key_fields *fields)
{
	for (uint32_t k = 0; k < list->n; k++) {
		struct item it;
		struct sl_key_field f = {.bits = 0};

		split(key, list, k, &it);
		if (k + 1 == list->n && !it.bits && strcmp(it.column, "id") == 0)
			continue;
		if (!resolve_field(c, r, &it, choices, ranges, &f))
			continue;
		if (is_repeated(fields, f.column)) {
			sl_config_complain(r, it.key,
				"'%s' is repeated (its second place would decide nothing), try "
				"removing it",
				it.column);
			continue;
		}
		if (fields->n == SL_KEY_FIELDS_MAX) {
			sl_config_complain(r, key, "has too many fields (at most %d), try fewer",
				SL_KEY_FIELDS_MAX);
			continue;
		}
		fields->field[fields->n++] = f;
		fields->bits += f.bits;
	}
}

void sl_resolve_key(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool ranges)
{
	struct sl_key_fields fields = {.n = 0};

	sl_resolve_fields(c, r, choices, "key", &c->key, ranges, &fields);
	choices->n_fields = fields.n;
	choices->key_bits = fields.bits;
	memcpy(choices->field, fields.field, sizeof(choices->field));
	if (fields.bits > KEY_BITS_MAX)
		sl_config_complain(r, "key", "has %u bits in all (at most %d), try fewer a field",
			fields.bits, KEY_BITS_MAX);
}
