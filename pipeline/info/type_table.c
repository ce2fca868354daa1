/*
 * type_table.c - sums by particle type.
 *
 * The rows are searched one by one: lists have a few types, and the number of rows is limited, so a
 * list of random codes cannot ask for more than a search of all rows for each particle.
 */
#include "pipeline/info/type_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pipeline/resolve/choices/species.h"

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

/* Weights that add up to 0 have no mean energy. */
static void print_row(const struct sl_type_row *r, const char *code, const char *name, FILE *out)
{
	fprintf(out, "%-12s %-12s %14" PRIu64 " %13.7g", code, name, r->particles, r->weight);
	if (r->weight != 0)
		fprintf(out, " %13.7g", r->energy / r->weight);
	else
		fprintf(out, " %13s", "-");
	fprintf(out, " %13.7g\n", r->energy);
}

void sl_type_table_print(struct sl_type_table *t, FILE *out)
{
	char code[16];

	if (t->n == 0)
		return;
	qsort(t->row, t->n, sizeof(*t->row), by_particles);
	fprintf(out, "%-12s %-12s %14s %13s %13s %13s\n", "pdg", "type", "particles", "weight",
		"mean keV", "sum keV");
	for (uint32_t i = 0; i < t->n; i++) {
		const char *name = sl_species_name(t->row[i].pdg);

		snprintf(code, sizeof(code), "%" PRId32, t->row[i].pdg);
		print_row(&t->row[i], code, name ? name : "", out);
	}
	if (t->other.particles > 0)
		print_row(&t->other, "other", "", out);
}
