/*
 * check_args.h - checks of the arguments that sl_scan, sl_compact, sl_sort, sl_deflate and
 * sl_expand share.
 *
 * Each check returns SL_OK, or SL_USAGE with a message that names the primitive, the backend, the
 * wrong value and what is allowed. Backends check nothing: every check is here, in the file of the
 * call (scan/scan.c, compact/compact.c, ...) or in launch_config.c.
 */
#ifndef SL_PRIMITIVES_CHECK_ARGS_H
#define SL_PRIMITIVES_CHECK_ARGS_H

#include "primitives/primitives.h"

SL_C_BEGIN

/* One block of memory that a call reads or writes. */
struct sl_buffer {
	const char *name; /* field of the job, for messages */
	const void *at;
	uint64_t n; /* items */
	size_t item_bytes;
	size_t align;    /* required alignment in bytes, a power of two */
	bool read_only;  /* two read-only buffers may overlap */
	uint32_t column; /* index + 1 of the column that the buffer belongs to; 0: none */
};

/* None of b, x and job is NULL, b implements primitive p, and b works in the space of x. */
enum sl_status sl_check_backend(
	enum sl_primitive p, const struct sl_backend *b, const struct sl_exec *x, const void *job);

/* type is SL_U32 or SL_U64, or for a scan a type that b can add. */
enum sl_status sl_check_type(const struct sl_backend *b, enum sl_type type);

/* The bits that a sort orders by are bits of a key of that type. */
enum sl_status sl_check_bits(
	const struct sl_backend *b, enum sl_type type, uint32_t begin_bit, uint32_t end_bit);

/* Number and item sizes of the columns of a compaction or an expansion. */
enum sl_status sl_check_columns(
	const struct sl_backend *b, uint32_t n_columns, const struct sl_compact_column *column);

/* Lists the buffers of the columns for sl_check_buffers(). Returns how many. */
int sl_list_columns(uint32_t n_columns, const struct sl_compact_column *column, uint32_t n_from,
	uint32_t n_to, struct sl_buffer *buffer);

/* The scan that adds up the counts of an expansion by b: the chosen one, or the default. */
const struct sl_backend *sl_scan_of_counts(
	const struct sl_backend *b, const struct sl_choice *scan);

/*
 * The scan that b is built on, if the job names one: a scan backend of the same space whose tuning
 * this device supports. Backends that use no scan ignore the choice.
 */
enum sl_status sl_check_inner_scan(const struct sl_backend *b, const struct sl_choice *scan);

/*
 * No non-empty buffer of m[0..n-1] is NULL or misaligned, and none overlaps another one or the
 * unused part of the scratch of x, unless both are read-only.
 */
enum sl_status sl_check_buffers(
	const struct sl_backend *b, const struct sl_buffer *m, int n, const struct sl_exec *x);

/* The unused part of the scratch of x is aligned and has sl_scratch(b, shape) bytes. */
enum sl_status sl_check_scratch(
	const struct sl_backend *b, const struct sl_exec *x, const struct sl_shape *shape);

/* As sl_check_scratch(), for the bytes that the function of that name has returned. */
enum sl_status sl_check_room(
	const struct sl_backend *b, const struct sl_exec *x, size_t needed, const char *function);

/*
 * The number of items of a job on the device: a known type, and a backend that takes it. Sets
 * *buffer, for sl_check_buffers(), to the word, or to no items if at is NULL.
 */
enum sl_status sl_check_count(
	const struct sl_backend *b, const void *at, enum sl_type type, struct sl_buffer *buffer);

/* On the host, the number of items of a job of up to n: *at, or n if at is NULL. */
uint32_t sl_host_count(enum sl_space space, const void *at, enum sl_type type, uint32_t n);

/* A copy of x whose tuning has a value in each field that b supports (sl_tuning_of). */
struct sl_exec sl_tuned_exec(const struct sl_backend *b, const struct sl_exec *x);

SL_C_END

#endif
