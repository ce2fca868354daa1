/*
 * table.h - the survivors of a batch as columns, which is what a file format writes and reads.
 *
 * A table has one array per column, contiguous and in key order. A column whose value is the same
 * for the whole run has no array of n items: its data points to the one value. If a device has
 * packed the survivors (stages/device/pack.h), struct sl_device_packed holds the packed bytes, and
 * the table has data only for those columns that are also needed unpacked.
 */
#ifndef SL_STAGES_PARTICLE_TABLE_H
#define SL_STAGES_PARTICLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stages/particle/particle.h"

SL_C_BEGIN

struct sl_table_column {
	enum sl_column column;
	bool constant; /* one value for the whole run; data points to that value */
	bool internal; /* not in files: it only leads to the source records of the table */
	bool rounded;  /* read from a file format that does not store all bits of a value */
	void *data; /* n items, or 1 if constant; NULL: only its digest and the packed bytes exist */
	uint64_t digest; /* of the n items, see sl_digest_item() */
};

struct sl_table {
	/*
	 * NULL, or the records of particles that were read, which a format of records writes
	 * instead of new ones: of particle first_id, first_id + 1, ... The column id is then in the
	 * table. In the memory of the columns, or of the inputs.
	 */
	const uint32_t *source;
	const uint32_t
		*source_index; /* NULL, or the numbers of the records of the rows: the batch can
	                                 have only those of survivors */
	uint64_t first_id;
	uint32_t n; /* rows */
	uint32_t n_columns;
	struct sl_table_column column[SL_COLUMN_COUNT];
	struct sl_column_label label[SL_NAMED_COLUMNS_MAX]; /* of those named columns that it has */
	const char *only; /* for read of a format: NULL, or "x,y": only these columns get values */
	uint32_t known;   /* for read: the rows of the file; 0: not known, and csv counts them */
	struct sl_mcpl_reading *list; /* for read of MCPL of any program (mcpl.h), or NULL */
};

/* Type and size of a column, and name and unit of one that is not a named column. */
static inline const struct sl_column_facts *sl_facts_of(const struct sl_table_column *c)
{
	return &sl_column_facts[c->column];
}

/* The name and the unit of column k, which can be a named one. */
static inline const char *sl_table_name(const struct sl_table *t, uint32_t k)
{
	return sl_label_name(t->label, t->column[k].column);
}

static inline enum sl_unit sl_table_unit(const struct sl_table *t, uint32_t k)
{
	return sl_label_unit(t->label, t->column[k].column);
}

/* The column of that kind, or NULL if the table does not have it. */
static inline const struct sl_table_column *sl_table_find(
	const struct sl_table *t, enum sl_column column)
{
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (t->column[k].column == column)
			return &t->column[k];
	return NULL;
}

/*
 * A table that a device has packed into records or DEFLATE streams; host copy, pinned memory. Its
 * owner frees bytes. They grow with the batches (sl_device_packed_reserve()): a batch mostly needs
 * a fifth of what it may have, and pinned memory takes longer to get than a batch to compute.
 */
struct sl_device_packed {
	bool wanted;        /* this batch is packed on the device */
	uint8_t *bytes;     /* all records, or all streams one after another */
	size_t most;        /* bytes that a batch may have */
	size_t size, used;  /* bytes allocated; bytes used, beyond which no format writes */
	size_t *stream;     /* size of each stream in bytes */
	float lo[3], hi[3]; /* least and greatest x, y, z, for columns; lo > hi if all are NaN */
	uint64_t digest;    /* of the used bytes, see sl_digest_bytes() */
	bool has_crc;       /* whether crc is known: sl_device_packed_check() sets it */
	uint32_t crc;       /* CRC-32 of the used bytes */
};

SL_C_END

#endif
