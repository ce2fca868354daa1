/* particle_table.c - see phase_space.h. */
#include "stages/formats/phase_space/phase_space.h"

#include <stdio.h>
#include <string.h>

#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "stages/formats/mcpl/mcpl.h"

enum { PHOTON = 22, NEEDED = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) };

/* Fails with the columns that a particle needs and the file lacks. */
static enum sl_status check_columns(const struct sl_particle_table *t)
{
	char names[128] = "";

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS((sl_column_set)NEEDED, c) && !t->at[c]) {
			size_t used = strlen(names);

			snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
				sl_column_facts[c].name);
		}
	if (!*names)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"the file lacks columns that a list needs (%s); write them with output.columns, or "
		"convert the file to MCPL with sluice convert --set output.mcpl.energy=...",
		names);
}

enum sl_status sl_particle_table_open(
	sl_format_reader *read, const void *file, size_t bytes, struct sl_particle_table *t)
{
	*t = (struct sl_particle_table){.block = NULL};
	SL_TRY(sl_format_load(read, file, bytes, &t->table, &t->block, &t->block_bytes));
	for (uint32_t k = 0; k < t->table.n_columns; k++) {
		const struct sl_table_column *c = &t->table.column[k];

		t->at[c->column] = c->data;
		t->constants |= c->constant ? SL_BIT(c->column) : 0;
	}
	return check_columns(t);
}

void sl_particle_table_close(struct sl_particle_table *t)
{
	sl_memory_give(SL_HOST, t->block);
	t->block = NULL;
}

bool sl_particle_table_has(const struct sl_particle_table *t, enum sl_column column)
{
	return t->at[column] != NULL;
}

/* The value of a column in row i; 0 without the column. */
static double value(const struct sl_particle_table *t, enum sl_column column, uint64_t i)
{
	uint64_t row = SL_HAS(t->constants, column) ? 0 : i;

	if (!t->at[column])
		return 0;
	return sl_column_value(
		column, (const char *)t->at[column] + row * sl_column_facts[column].bytes);
}

double sl_particle_table_constant(const struct sl_particle_table *t, enum sl_column column)
{
	return SL_HAS(t->constants, column) ? value(t, column, 0) : 0;
}

int32_t sl_particle_table_code(const struct sl_particle_table *t)
{
	return t->at[SL_COLUMN_pdg] ? (int32_t)sl_particle_table_constant(t, SL_COLUMN_pdg)
	                            : PHOTON;
}

void sl_particle_table_row(
	const struct sl_particle_table *t, uint64_t i, struct sl_mcpl_particle *p)
{
	*p = (struct sl_mcpl_particle){.position = {value(t, SL_COLUMN_x, i),
					       value(t, SL_COLUMN_y, i), value(t, SL_COLUMN_z, i)},
		.direction = {value(t, SL_COLUMN_u, i), value(t, SL_COLUMN_v, i),
			value(t, SL_COLUMN_w, i)},
		.polarisation = {value(t, SL_COLUMN_pol_x, i), value(t, SL_COLUMN_pol_y, i),
			value(t, SL_COLUMN_pol_z, i)},
		.energy = value(t, SL_COLUMN_energy, i) / SL_MCPL_KEV,
		.time = value(t, SL_COLUMN_time, i) / SL_MCPL_NS,
		.weight = value(t, SL_COLUMN_weight, i),
		.pdg = t->at[SL_COLUMN_pdg] ? (int32_t)value(t, SL_COLUMN_pdg, i) : PHOTON,
		.flags = (uint32_t)value(t, SL_COLUMN_userflags, i)};
}
