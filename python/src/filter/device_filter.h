/*
 * device_filter.h - filter.h for columns in the memory of a device: the same particles in the same
 * order.
 */
#ifndef SL_PYTHON_FILTER_DEVICE_FILTER_H
#define SL_PYTHON_FILTER_DEVICE_FILTER_H

#include "python/src/filter/selection.h"
#include "python/src/primitives/device_input.h"

/*
 * Columns of a device. A constant one is a number of the host, or an array of no dimension of the
 * device.
 */
struct sl_py_device_table {
	struct sl_py_table table;
	struct sl_py_device_input in[SL_COLUMN_COUNT]; /* of arrays */
	int number;                                    /* of the device */
};

/* The particles that were kept; blocks belong to the caller, also after a failure. */
struct sl_py_device_kept {
	uint32_t n;
	struct sl_device_block *index;                   /* uint32_t: their numbers */
	struct sl_device_block *column[SL_COLUMN_COUNT]; /* their items; NULL: not copied */
};

/* Whether filter copies the items of a column. */
bool sl_py_can_be_column(const struct sl_py_array *a);

/* Filters and sorts. The kind of device is chosen (turn.h). All 0: kept. */
enum sl_status sl_py_device_filter(const struct sl_py_device_table *t,
	const struct sl_py_selection *s, struct sl_py_device_kept *kept);

#endif
