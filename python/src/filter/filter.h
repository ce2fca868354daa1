/* filter.h - conditions and keys on arrays. */
#ifndef SL_PYTHON_FILTER_FILTER_H
#define SL_PYTHON_FILTER_FILTER_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "primitives/base/status.h"
#include "python/src/arrays/arrays.h"
#include "python/src/primitives/primitives.h"
#include "stages/particle/particle.h"

/* A condition and a key, in the syntax of keep and key of a configuration, for a table. */

struct sl_py_selection {
	struct sl_config config;
	struct sl_reader *reader; /* has the problems */
	struct sl_choices choices;
	struct sl_key_rule rule[SL_KEY_FIELDS_MAX]; /* of the key */
};

static inline enum sl_type sl_py_key_type(const struct sl_py_selection *s)
{
	return s->choices.key_bits > 32 ? SL_U64 : SL_U32;
}

/*
 * Resolves the keys keep and key of a configuration against the columns of the table. all: keep is
 * not used, and all particles are kept. *made is allocated, also after most failures; free it.
 */
enum sl_status sl_py_selection_make(
	const char *text, bool all, const struct sl_py_table *t, struct sl_py_selection **made);
void sl_py_selection_free(struct sl_py_selection *s);

/*
 * Sets *columns to the columns that a selection reads or derives. An array with the type of its
 * column and no gaps is used as it is; memory for the others is cut from a. Returns the set of
 * columns that must be converted.
 */
sl_column_set sl_py_table_columns(const struct sl_py_table *t, const struct sl_py_selection *s,
	struct sl_arena *a, struct sl_columns *columns);

/* Which particles of a table a selection keeps, and in which order. */

/*
 * Writes the numbers of the particles that are kept to index, which has room for t->n, in the order
 * of the key, and their number to *n_kept. The result is that of a run that reads the table as a
 * list in one batch. Uses all cores but for the sort.
 */
enum sl_status sl_py_filter(const struct sl_py_table *t, const struct sl_py_selection *s,
	uint32_t *index, uint32_t *n_kept);

/* Filter.h for columns in the memory of a device: the same particles in the same order. */

/*
 * Columns of a device. A constant one is a number of the host, or an array of no dimension of the
 * device.
 */
struct sl_py_device_table {
	struct sl_py_table table;
	struct sl_py_input in[SL_COLUMN_COUNT]; /* of arrays, and of numbers */
	int number;                             /* of the device */
};

/* The particles that were kept; blocks belong to the caller, also after a failure. */
struct sl_py_device_kept {
	uint32_t n;
	struct sl_device_block *index;                   /* uint32_t: their numbers */
	struct sl_device_block *column[SL_COLUMN_COUNT]; /* their items; NULL: not copied */
};

/* Filters and sorts, with the device selected (sl_py_on_device()). All 0: kept. */
enum sl_status sl_py_device_filter(const struct sl_py_device_table *t,
	const struct sl_py_selection *s, struct sl_py_device_kept *kept);

#endif
