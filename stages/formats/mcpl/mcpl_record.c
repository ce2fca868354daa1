/* mcpl_record.c - what the records of a table are made of. */
#include "stages/formats/mcpl/mcpl_record.h"

#include "stages/formats/mcpl/mcpl.h"

struct sl_mcpl_rows sl_mcpl_rows_of(const struct sl_table *t)
{
	struct sl_mcpl_rows rows = {.set = 0};

	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const struct sl_column_facts *f = &sl_column_facts[c->column];

		if (c->constant) {
			memcpy((char *)&rows.constant + f->in_particle, c->data, f->bytes);
		} else {
			rows.set |= SL_BIT(c->column);
			*(void **)(void *)((char *)&rows.at + f->offset) = c->data;
		}
	}
	return rows;
}

double sl_mcpl_common_weight(const struct sl_table *t)
{
	const struct sl_table_column *c = sl_table_find(t, SL_COLUMN_weight);
	double weight = c && c->constant ? (double)*(const float *)c->data : 0;

	return isfinite(weight) ? weight : 0;
}

/* The columns that a record is made of, as a set. */
static uint32_t needed(const struct sl_mcpl_record *r)
{
	return SL_MCPL_NEEDED | (r->polarised ? SL_MCPL_POLARISATION : 0) |
	       (r->typed ? SL_BIT(SL_COLUMN_pdg) : 0) |
	       (isnan(r->energy) ? SL_BIT(SL_COLUMN_energy) : 0) |
	       (r->flags < SL_COLUMN_COUNT ? SL_BIT(r->flags) : 0);
}

enum sl_status sl_mcpl_record_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, struct sl_mcpl_record *r)
{
	struct sl_mcpl_header h = sl_mcpl_header_of(t, facts, sl_mcpl_common_weight(t));

	*r = (struct sl_mcpl_record){.bytes = h.record_bytes,
		.single = h.single,
		.polarised = h.polarised,
		.weighs = h.weight == 0,
		.typed = h.pdg == 0,
		.flags = facts->flags,
		.energy = facts->energy / SL_MCPL_KEV};
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(needed(r), c) && !sl_table_find(t, (enum sl_column)c))
			return sl_fail(SL_USAGE,
				"a particle of mcpl has the column %s, and the table does not; add "
				"it",
				sl_column_facts[c].name);
	return SL_OK;
}
