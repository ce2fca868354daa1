/* gather.h - copies items of an array by their numbers. */
#ifndef SL_PYTHON_FILTER_GATHER_H
#define SL_PYTHON_FILTER_GATHER_H

#include "primitives/base/status.h"
#include "python/src/arrays/array.h"

/* Copies the items with the numbers index to to, one after another; a constant is repeated. */
enum sl_status sl_py_gather(const struct sl_py_array *a, const uint32_t *index, uint32_t n,
	void *to, bool (*stop)(void *ctx));

#endif
