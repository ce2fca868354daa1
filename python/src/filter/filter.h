/* filter.h - which particles of a table a selection keeps, and in which order. */
#ifndef SL_PYTHON_FILTER_FILTER_H
#define SL_PYTHON_FILTER_FILTER_H

#include "python/src/filter/selection.h"

/*
 * Writes the numbers of the particles that are kept to index, which has room for t->n, in the order
 * of the key, and their number to *n_kept. The result is that of a run that reads the table as a
 * list in one batch. Uses all cores but for the sort.
 */
enum sl_status sl_py_filter(const struct sl_py_table *t, const struct sl_py_selection *s,
	uint32_t *index, uint32_t *n_kept);

#endif
