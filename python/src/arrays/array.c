/* array.c - see arrays.h. */
#include "python/src/arrays/arrays.h"

#include <string.h>

/* Each type of items: the letter of its kind, the type in C, and its name. */
#define REALS(X)                 \
	X('f', float, "float32") \
	X('f', double, "float64")
#define WHOLES(X)                  \
	X('i', int8_t, "int8")     \
	X('i', int16_t, "int16")   \
	X('i', int32_t, "int32")   \
	X('i', int64_t, "int64")   \
	X('u', uint8_t, "uint8")   \
	X('u', uint16_t, "uint16") \
	X('u', uint32_t, "uint32") \
	X('u', uint64_t, "uint64") \
	X('?', uint8_t, "bool")

const char *sl_py_type_name(const struct sl_py_array *a)
{
#define NAME(letter, type, name)                           \
	if (a->kind == letter && a->bytes == sizeof(type)) \
		return name;
	REALS(NAME)
	WHOLES(NAME)
#undef NAME
	return "a type that is not a number of 1, 2, 4 or 8 bytes in the byte order of this machine";
}

enum sl_status sl_py_column_check(
	const struct sl_py_array *a, const char *name, bool real, const char **first, size_t *n)
{
	if (!sl_py_is_whole(a) && !(real && sl_py_is_real(a)))
		return sl_fail(SL_USAGE, "%s: the array has items of %s; convert them to %s", name,
			sl_py_type_name(a), real ? "float32 or float64" : "integers");
	if (a->constant)
		return SL_OK;
	if (*first && a->n != *n)
		return sl_fail(SL_USAGE,
			"%s: the array has %zu items, and %s has %zu; all columns must have one "
			"item for each particle",
			name, a->n, *first, *n);
	*first = *first ? *first : name;
	*n = a->n;
	return SL_OK;
}

bool sl_py_array_shape(struct sl_py_array *a, int ndim, const int64_t *shape,
	const int64_t *strides, int64_t unit, size_t *bytes, bool *contiguous)
{
	int64_t all = a->bytes, stride = 0;

	if (ndim < 0 || ndim > SL_PY_DIMENSIONS_MOST || (ndim > 0 && !shape) || a->bytes == 0 ||
		a->bytes > 8 || (a->bytes & (a->bytes - 1)) != 0)
		return false;
	*contiguous = true;
	a->n = 1;
	for (int i = ndim; i-- > 0; a->n = (size_t)shape[i]) {
		stride = all;
		if (shape[i] < 0 || (strides && __builtin_mul_overflow(strides[i], unit, &stride)))
			return false;
		*contiguous &= shape[i] <= 1 || stride == all;
		if (__builtin_mul_overflow(all, shape[i], &all))
			return false;
	}
	*contiguous |= all == 0;
	*bytes = (size_t)all;
	a->stride = (ptrdiff_t)stride;
	a->constant = ndim == 0;
	return all == 0 || a->data;
}

/*
 * Copies n items of one type. Contiguous items have a stride that the compiler knows, so that it
 * uses vector instructions.
 */
#define COPY(letter, type, name)                                                    \
	if (a->kind == letter && a->bytes == sizeof(type)) {                        \
		const char *at = (const char *)sl_py_item_at(a, from);              \
		type item;                                                          \
                                                                                    \
		for (uint32_t i = 0; a->stride == sizeof(type) && i < n; i++) {     \
			memcpy(&item, at + (size_t)i * sizeof(type), sizeof(type)); \
			to[i] = (TO)item;                                           \
		}                                                                   \
		for (uint32_t i = 0; a->stride != sizeof(type) && i < n; i++) {     \
			memcpy(&item, at + (ptrdiff_t)i * a->stride, sizeof(type)); \
			to[i] = (TO)item;                                           \
		}                                                                   \
	}

void sl_py_load_real(const struct sl_py_array *a, size_t from, uint32_t n, double *to)
{
#define TO double
	REALS(COPY)
	WHOLES(COPY)
#undef TO
}

void sl_py_load_whole(const struct sl_py_array *a, size_t from, uint32_t n, int64_t *to)
{
#define TO int64_t
	WHOLES(COPY)
#undef TO
}
