/*
 * sums.c - weighted sums of values, what follows from them, and sums by particle type.
 *
 *	mean   sum of weight * value, divided by the sum of the weights
 *	rms    root of the weighted mean of (value - mean)^2, as in ROOT and mcpltool
 *	sum    of weight * value
 *
 * Values are added as differences from the first one. Without that, the rms of values that are far
 * from 0 and close together, such as times of flight, would be lost in rounding.
 */
#include "pipeline/info/info.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/resolve/choices/choices.h"

/* NaN changes the sums, but neither least nor most unless it is the first value. */
void sl_weighted_stats_add(struct sl_weighted_stats *s, double value, double weight)
{
	double difference;

	if (s->n == 0)
		*s = (struct sl_weighted_stats){.least = value, .most = value, .origin = value};
	difference = value == s->origin ? 0 : value - s->origin; /* inf - inf is NaN */
	s->least = value < s->least ? value : s->least;
	s->most = value > s->most ? value : s->most;
	s->weight += weight;
	s->sum += weight * difference;
	s->square += weight * difference * difference;
	s->n++;
}

/*
 * A mean needs weights that do not add up to 0: without them, it and the rms are missing. Rounding
 * makes a variance of 0 less than it, and a negative sum of weights makes it -0.
 */
void sl_weighted_stats_json(const struct sl_weighted_stats *s, bool code, struct sl_json *j)
{
	double shift = s->sum / s->weight, variance = s->square / s->weight - shift * shift;
	const double none = (double)NAN;
	bool known = !code && s->n > 0 && s->weight != 0;

	sl_json_add(j, "least %g mean %g rms %g largest %g sum %g", s->n > 0 ? s->least : none,
		known ? s->origin + shift : none, known ? sqrt(variance <= 0 ? 0 : variance) : none,
		s->n > 0 ? s->most : none, code ? none : s->origin * s->weight + s->sum);
}

/* --- particle types --------------------------------------------------------------------------- */

/*
 * The rows are searched one by one: lists have a few types, and the number of rows is limited, so a
 * list of random codes cannot ask for more than a search of all rows for each particle.
 */

/* The row of a type, which is made if there is room for it. */
static struct sl_type_row *row_of(struct sl_row_sums *all, int32_t pdg)
{
	uint32_t i = 0;

	while (i < all->n_types && all->type[i].pdg != pdg)
		i++;
	if (i == SL_TYPES_MOST)
		return &all->other;
	if (i == all->n_types)
		all->type[all->n_types++] = (struct sl_type_row){.pdg = pdg};
	return &all->type[i];
}

static void add_type(struct sl_row_sums *all, int32_t pdg, double weight, double energy)
{
	struct sl_type_row *row = row_of(all, pdg);

	row->particles++;
	row->weight += weight;
	row->energy += weight * energy;
}

/* Orders rows by particles, most first, and equal ones by code, for qsort(). */
static int by_particles(const void *a, const void *b)
{
	const struct sl_type_row *x = (const struct sl_type_row *)a,
				 *y = (const struct sl_type_row *)b;

	if (x->particles != y->particles)
		return x->particles < y->particles ? 1 : -1;
	return (x->pdg > y->pdg) - (x->pdg < y->pdg);
}

static void write_type(const struct sl_type_row *r, const char *name, struct sl_json *j)
{
	sl_json_object(j, NULL);
	if (name) {
		sl_json_formatted(j, "pdg", sl_said("%ld", (long)r->pdg));
		sl_json_text(j, "name", name);
	} else {
		sl_json_text(j, "pdg", "other");
	}
	sl_json_add(j, "particles %lu weight %g mean_kev %g sum_kev %g }", r->particles, r->weight,
		r->weight != 0 ? r->energy / r->weight : (double)NAN, r->energy);
}

static void write_types(struct sl_row_sums *all, struct sl_json *j)
{
	qsort(all->type, all->n_types, sizeof(*all->type), by_particles);
	sl_json_array(j, "types");
	for (uint32_t i = 0; i < all->n_types; i++) {
		const char *name = sl_species_name(all->type[i].pdg);

		write_type(&all->type[i], name ? name : "", j);
	}
	if (all->other.particles > 0)
		write_type(&all->other, NULL, j);
	sl_json_close(j);
}

/* --- rows ------------------------------------------------------------------------------------- */

void sl_row_sums_add(struct sl_row_sums *all, const struct sl_table *t,
	const double value[SL_COLUMN_COUNT], struct sl_json *j)
{
	const double weight = value[SL_COLUMN_weight];

	if (all->head > 0)
		sl_json_object(j, NULL);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		enum sl_column c = t->column[k].column;

		if (all->head > 0)
			sl_json_real(j, sl_table_name(t, k), value[c]);
		sl_weighted_stats_add(&all->stats[c], value[c], c == SL_COLUMN_weight ? 1 : weight);
		if (c == SL_COLUMN_pdg)
			add_type(all, (int32_t)value[c], weight, value[SL_COLUMN_energy]);
	}
	if (all->head > 0) {
		sl_json_close(j);
		all->head--;
	}
}

/* Columns whose numbers are names. */
#define CODES                                                                         \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_pdg) | SL_BIT(SL_COLUMN_userflags) | \
		SL_BIT(SL_COLUMN_pixel) | SL_BIT(SL_COLUMN_fate))

void sl_row_sums_json(struct sl_row_sums *all, const struct sl_table *t, bool stored, bool digests,
	struct sl_json *j)
{
	static const char *const type_names[] = {"f32", "u32", "u64", "u8", "i32"};

	sl_json_array(j, "columns");
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];

		sl_json_add(j, "{ name %s", sl_table_name(t, k));
		if (stored)
			sl_json_add(j, "type %s", type_names[sl_facts_of(c)->type]);
		sl_json_add(j, "unit %s", sl_units[sl_table_unit(t, k)].text);
		sl_weighted_stats_json(&all->stats[c->column], SL_HAS(CODES, c->column), j);
		if (digests)
			sl_json_hex(j, "digest", c->digest, 16);
		if (digests && c->constant)
			sl_json_bool(j, "constant", true);
		sl_json_close(j);
	}
	sl_json_close(j);
	write_types(all, j);
}
