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
static struct sl_type_row *row_of(struct sl_type_table *t, int32_t pdg)
{
	uint32_t i = 0;

	while (i < t->n && t->row[i].pdg != pdg)
		i++;
	if (i == SL_TYPES_MOST)
		return &t->other;
	if (i == t->n)
		t->row[t->n++] = (struct sl_type_row){.pdg = pdg};
	return &t->row[i];
}

void sl_type_table_add(struct sl_type_table *t, int32_t pdg, double weight, double energy)
{
	struct sl_type_row *row = row_of(t, pdg);

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

static void write_row(const struct sl_type_row *r, const char *name, struct sl_json *j)
{
	char code[16];

	sl_json_object(j, NULL);
	if (name) {
		snprintf(code, sizeof(code), "%ld", (long)r->pdg);
		sl_json_formatted(j, "pdg", code);
		sl_json_text(j, "name", name);
	} else {
		sl_json_text(j, "pdg", "other");
	}
	sl_json_add(j, "particles %lu weight %g mean_kev %g sum_kev %g }", r->particles, r->weight,
		r->weight != 0 ? r->energy / r->weight : (double)NAN, r->energy);
}

void sl_type_table_json(struct sl_type_table *t, struct sl_json *j)
{
	qsort(t->row, t->n, sizeof(*t->row), by_particles);
	sl_json_array(j, "types");
	for (uint32_t i = 0; i < t->n; i++) {
		const char *name = sl_species_name(t->row[i].pdg);

		write_row(&t->row[i], name ? name : "", j);
	}
	if (t->other.particles > 0)
		write_row(&t->other, NULL, j);
	sl_json_close(j);
}
