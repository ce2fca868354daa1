/*
 * particle_table.h - survivor files of this program as particle lists: npz and openPMD.
 *
 * The columns are decompressed to memory, and a particle is a row. Needed are the columns of position,
 * direction, energy, weight and time. Without the column pdg the particles are photons, as in MCPL
 * files that runs write by default. Polarisation and userflags are optional; other columns are not
 * read.
 */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_PARTICLE_TABLE_H
#define SL_STAGES_FORMATS_PHASE_SPACE_PARTICLE_TABLE_H

#include "stages/formats/common/format.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* The columns of a file, in memory. */
struct sl_particle_table {
	struct sl_table table;
	void *block; /* memory of the columns */
	size_t block_bytes;
	const void *at[SL_COLUMN_COUNT]; /* the items of a column; NULL: there is none */
	sl_column_set constants;         /* set of columns with one item for all rows */
};

/* The type of sl_format.read. */
typedef enum sl_status sl_table_reader_of_format(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/*
 * Reads a file in memory with the reader of its format. SL_BAD_INPUT if it is damaged or lacks a column.
 * Call sl_particle_table_close() even after a failure.
 */
enum sl_status sl_particle_table_open(sl_table_reader_of_format *read, const void *file,
	size_t bytes, struct sl_particle_table *t);
void sl_particle_table_close(struct sl_particle_table *t);

/* Whether the table has a column. */
bool sl_particle_table_has(const struct sl_particle_table *t, enum sl_column column);

/* The PDG code of all rows; 0: they have different ones. */
int32_t sl_particle_table_code(const struct sl_particle_table *t);

/* The value of a column that is equal in all rows; 0 for other columns. */
double sl_particle_table_constant(const struct sl_particle_table *t, enum sl_column column);

/* Row i, less than t->table.n. */
void sl_particle_table_row(
	const struct sl_particle_table *t, uint64_t i, struct sl_mcpl_particle *p);

#endif
