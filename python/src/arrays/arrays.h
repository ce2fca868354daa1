/* arrays.h - memory of the library as columns of Python, and arrays of other libraries. */
#ifndef SL_PYTHON_ARRAYS_ARRAYS_H
#define SL_PYTHON_ARRAYS_ARRAYS_H

#include "python/src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"
#include "primitives/device/device_block.h"
#include "stages/particle/particle.h"
#include "stages/particle/table.h"

/*
 * An array of numbers in memory of the host that belongs to somebody else.
 *
 * Items have any type, stride and alignment, as those of a field of a structured array of NumPy
 * have. A number that stands for all items is an array with stride 0.
 */

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

/*
 * SL_USAGE unless the array has a type that a column of real numbers, or of integers, can be made
 * of, and the size of the arrays before it: *n, that of the array *first, which is NULL at first.
 */
enum sl_status sl_py_column_check(
	const struct sl_py_array *a, const char *name, bool real, const char **first, size_t *n);

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

/*
 * Arrays as columns of particles: the values that a run would have read from a list.
 *
 * A value has the type of its column: real numbers are rounded to single precision, integers must
 * be in range.
 */

struct sl_py_table {
	uint32_t n;                                 /* particles */
	struct sl_py_array column[SL_COLUMN_COUNT]; /* kind 0: the table does not have it */
};

static inline bool sl_py_table_has(const struct sl_py_table *t, int column)
{
	return t->column[column].kind != 0;
}

/* Whether a column has real numbers, not integers. */
static inline bool sl_py_column_is_real(int column)
{
	return sl_column_facts[column].type == SL_TYPE_F32;
}

/* The largest number of a column of integers; 2^64 where that is not reached. */
double sl_py_most_whole(int column);

/* Fails because item i of a column has a value that the column cannot hold. */
enum sl_status sl_py_table_refuse(int column, size_t i, double value);

/* Checks the types and sizes of all columns, and sets t->n. */
enum sl_status sl_py_table_check(struct sl_py_table *t);

/*
 * Stores the values of particles from .. from + n - 1 with the type of the column. SL_USAGE if a
 * number does not fit in the column.
 */
enum sl_status sl_py_table_convert(
	const struct sl_py_table *t, int column, size_t from, uint32_t n, void *to);

/* The place of item i of a column. */
static inline void *sl_py_column_item(const struct sl_columns *c, int column, size_t i)
{
	return (char *)sl_column_at(c, (enum sl_column)column) + i * sl_column_facts[column].bytes;
}

/* Exports memory of a device by DLPack, versions 0 and 1, and reads both. */

/* Types of devices, of the specification. */
enum { SL_PY_DLPACK_CPU = 1, SL_PY_DLPACK_CUDA = 2, SL_PY_DLPACK_CUDA_HOST = 3 };

/*
 * A capsule of an array of one dimension on a CUDA device. owner: the object that has the memory.
 */
PyObject *sl_py_dlpack_export(
	PyObject *owner, const struct sl_py_array *a, int device, bool versioned);

/* The array in a capsule of another library. */
struct sl_py_dlpack_array {
	struct sl_py_array array;
	int ndim;
	bool contiguous;
	size_t bytes; /* of all items */
	int device_type, device_id;
	bool read_only;
};

/*
 * Consumes what __dlpack__() exported, a capsule of version 0 or 1: takes over the reference, and
 * marks the capsule as used. A capsule that another library has consumed stays as it is. *capsule
 * is for sl_py_dlpack_end(), which frees the array. name: of the argument. False with BufferError.
 */
bool sl_py_dlpack_take(
	PyObject *exported, const char *name, PyObject **capsule, struct sl_py_dlpack_array *d);
void sl_py_dlpack_end(PyObject *capsule); /* NULL is allowed */

/*
 * Describes an array on a CUDA device by the C functions of its type, which torch has: within a
 * microsecond. *stream: that of the library in this thread, to which the contents belong. The array
 * is valid while the object lives. False without an exception if the type has no such functions, or
 * the array is none that they describe.
 */
bool sl_py_dlpack_describe(PyObject *object, struct sl_py_dlpack_array *d, void **stream);

/* Arrays of other libraries: the memory of an object that exports the buffer protocol or DLPack. */

/* All 0: nothing is held. */
struct sl_py_input {
	struct sl_py_dlpack_array at; /* at.array.n: items of the first dimension */
	bool has_view;
	Py_buffer view;
	PyObject *capsule; /* of DLPack, or NULL */
	double real;       /* the number that the array is, if the object is a number */
	int64_t whole;
	/* Of a device (primitives.h): */
	const struct sl_device_block
		*block;     /* that has the array, and perhaps its completion; or NULL */
	bool follows;       /* the work on the array is queued after that on ... */
	sl_stream producer; /* ... this stream */
};

/*
 * Takes the memory of an object, or a number of Python, until sl_py_input_give(). writable: the
 * memory will be written to; needs the buffer protocol. name: of the argument, for messages. False
 * with an exception: TypeError if the object is no array, BufferError if its memory is on a device
 * or read-only.
 */
bool sl_py_input_take(PyObject *object, const char *name, bool writable, struct sl_py_input *in);
void sl_py_input_give(struct sl_py_input *in);

/*
 * Arrays in the memory of a device: of another library, by DLPack or __cuda_array_interface__, or
 * columns whose memory is in a block.
 */

/* Where an array is. Columns of the emulated device are arrays of the host too. */
enum sl_py_where { SL_PY_NOWHERE, SL_PY_ON_HOST, SL_PY_ON_CUDA, SL_PY_ON_EMULATED };

/*
 * Where an object is, and on which device; SL_PY_NOWHERE with an exception. An object that is no
 * array is on the host.
 */
enum sl_py_where sl_py_where_is(PyObject *object, int *number);

/*
 * Takes an array that is where sl_py_where_is() says, until sl_py_input_give(); the object must
 * live as long. Other libraries make stream wait for their work on the array, unless follows
 * is set. False with an exception.
 */
bool sl_py_device_input_take(PyObject *object, const char *name, bool writable, sl_stream stream,
	struct sl_py_input *in);

/* Queues on stream the waits for what the array depends on. On the device of the array. */
enum sl_status sl_py_device_input_follow(const struct sl_py_input *in, sl_stream stream);

/*
 * Memory of the library as an object of Python, and the columns that use it.
 *
 * The object is the owner of memory of the host, which it exports by the buffer protocol, or of a
 * block of a device (device_block.h). Columns are objects of sluice/_column.py: arrays of NumPy that
 * keep the object alive, or addresses in a block that the host cannot read.
 */

/* Makes the type sluice._native.Memory. False with an exception. */
bool sl_py_memory_make_type(void);

/*
 * bind(Column, make, cuda_array): the class of columns; the function that makes one of (memory,
 * offset, type as in NumPy, shape, name, unit); that which reads __cuda_array_interface__.
 */
PyObject *sl_py_bind(PyObject *module, PyObject *args);

/*
 * (address, read-only, kind, bytes of an item, shape, strides or None, stream or -1) of an array with
 * __cuda_array_interface__; shape and strides are the bytes of int64_t. None if it is not valid.
 */
PyObject *sl_py_cuda_array(PyObject *object);

/* concat(places): the memory of columns of one device, one after another, in a new block. */
PyObject *sl_py_concat(PyObject *module, PyObject *places);

/* dlpack(place, stream, major): a capsule of DLPack of version 0 or 1 of a column of a device. */
PyObject *sl_py_dlpack(PyObject *module, PyObject *args);

/* The owner of memory of sl_memory_get(SL_HOST), or of a block; takes it over, also on failure. */
PyObject *sl_py_memory_of(void *data, size_t bytes, struct sl_device_block *block);

/*
 * Adds column k of a table to a dict. Its items are at data in the memory of owner; owner NULL: data
 * is their memory alone, which is taken over. wide: real numbers have 8 bytes. False with an
 * exception.
 */
bool sl_py_table_put(PyObject *columns, const struct sl_table *t, uint32_t k, bool wide,
	PyObject *owner, void *data);

/*
 * A column that alone uses the memory: takes it over, as sl_py_memory_of() does, and sets *block to
 * NULL; block can be NULL. column can be SL_COLUMN_COUNT: none.
 */
PyObject *sl_py_column_alone(const struct sl_py_array *like, int column, void *data,
	struct sl_device_block **block, size_t n);

/* The type of the items of a column. */
struct sl_py_array sl_py_items_of(enum sl_column column);

/* Whether an object is a column whose memory is in a block; describes it then. */
bool sl_py_block_column(
	PyObject *o, const struct sl_device_block **block, struct sl_py_dlpack_array *d);

/*
 * A copy of a column of a table as n items that the caller frees with sl_memory_give(). A constant
 * column is repeated.
 */
enum sl_status sl_py_copy_items(const struct sl_table_column *c, uint32_t n, void **data);

#endif
