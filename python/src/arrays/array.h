/*
 * array.h - an array of numbers in memory of the host that belongs to somebody else.
 *
 * Items have any type, stride and alignment, as those of a field of a structured array of NumPy
 * have. A number that stands for all items is an array with stride 0.
 */
#ifndef SL_PYTHON_ARRAYS_ARRAY_H
#define SL_PYTHON_ARRAYS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_py_array {
	const void *data; /* of item 0 */
	size_t n;
	ptrdiff_t stride; /* bytes from item to item */
	char kind; /* as in NumPy: f, i, u, ?; O: Python objects; V: else; 0: there is no array */
	uint8_t bytes; /* of an item */
	bool constant; /* one number for all items */
};

static inline const void *sl_py_item_at(const struct sl_py_array *a, size_t i)
{
	return (const char *)a->data + (ptrdiff_t)i * a->stride;
}

static inline bool sl_py_is_real(const struct sl_py_array *a)
{
	return a->kind == 'f' && (a->bytes == 4 || a->bytes == 8);
}

static inline bool sl_py_is_whole(const struct sl_py_array *a)
{
	return a->kind == 'i' || a->kind == 'u' || a->kind == '?';
}

/* The name of the type in messages, as in NumPy: "float32". */
const char *sl_py_type_name(const struct sl_py_array *a);

/* The limit of NumPy and of the buffer protocol. */
enum { SL_PY_DIMENSIONS_MOST = 64 };

/*
 * Sets n, stride and constant of an array by a shape; data, kind and bytes are set. strides, in
 * multiples of unit bytes, can be NULL: the items have the order of C. *bytes: of all items. False
 * if no array in memory can have such items and such a shape.
 */
bool sl_py_array_shape(struct sl_py_array *a, int ndim, const int64_t *shape,
	const int64_t *strides, int64_t unit, size_t *bytes, bool *contiguous);

/* Stores the items from .. from + n - 1 as doubles: exact, except integers above 2^53. */
void sl_py_load_real(const struct sl_py_array *a, size_t from, uint32_t n, double *to);

/* The same for integers; those of at least 2^63 become negative. */
void sl_py_load_whole(const struct sl_py_array *a, size_t from, uint32_t n, int64_t *to);

#endif
