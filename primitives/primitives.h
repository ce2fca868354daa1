/*
 * primitives.h - scan, compact, sort and deflate, each behind one small struct.
 *
 * A backend is one way to do one primitive: one file, primitives/<primitive>/<backend>.{c,cu},
 * that ends in one const struct sl_backend, and one line in backends.def. Backends of a
 * primitive differ in speed alone: all are exact and stable, so any can replace any other and
 * the results are the same bytes.
 *
 *	const struct sl_backend *scan;
 *	struct sl_exec x = {.space = SL_HOST};
 *	struct sl_scan_job job = {.in = in, .out = out, .n = n, .type = SL_U32};
 *
 *	sl_find(SL_SCAN, "cpu", &scan);
 *	size_t bytes = scan->scratch(&(struct sl_shape){.n = n, .type = SL_U32});
 *	... x.scratch = (struct sl_arena){block, 0, bytes};
 *	sl_scan(scan, &x, &job);
 *
 * Memory is the caller's throughout. Calls queue their work on x->stream and return; they
 * allocate nothing, wait for nothing and keep no state. On the host they return when done.
 * All calls are thread-safe as long as jobs and scratch are not shared.
 */
#ifndef SL_PRIMITIVES_H
#define SL_PRIMITIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/device.h"
#include "base/status.h"

SL_C_BEGIN

enum sl_primitive { SL_SCAN, SL_COMPACT, SL_SORT, SL_DEFLATE, SL_PRIMITIVE_COUNT };

/* The type of the items of a scan, or of the keys of a sort. */
enum sl_type { SL_U32, SL_U64 };

/* Where work runs, after what, and in which scratch. Everything but the data. */
struct sl_exec {
	enum sl_space space;     /* SL_HOST or SL_DEVICE; must be the backend's */
	sl_stream stream;        /* NULL on the host */
	struct sl_arena scratch; /* of that space, at least scratch() bytes */
	uint32_t block;          /* threads a block on the device; 0: the backend's default */
};

/*
 * Prefix sums modulo 2^32 or 2^64. Exclusive: out[i] = in[0] + ... + in[i-1]; inclusive: plus
 * in[i]. out may be in. (Blelloch, Prefix sums and their applications, 1990.)
 */
struct sl_scan_job {
	const void *in; /* n items of type */
	void *out;      /* n items of type; may be in */
	uint32_t n;
	enum sl_type type;
	bool inclusive;
};

/* Stream compaction: out = every i with keep[i] != 0, ascending; *n_out = how many. */
struct sl_compact_job {
	const uint8_t *keep; /* n flags, 0 or 1 */
	uint32_t *out;       /* room for n indices */
	uint32_t *n_out;     /* one word, of the space of the work */
	uint32_t n;
	const struct sl_backend *scan; /* for backends made of a scan; NULL: their own choice */
};

/*
 * Stable radix sort. Orders key[] ascending by bits begin_bit .. end_bit-1 and takes index[] along;
 * equal keys keep their order. begin_bit <= end_bit <= 32 or 64.
 */
struct sl_sort_job {
	void *key;       /* n keys of type, in and out */
	uint32_t *index; /* n, in and out */
	uint32_t n;
	enum sl_type type;
	uint32_t begin_bit, end_bit;
};

enum sl_wrapper {
	SL_RAW,  /* RFC 1951, no wrapper */
	SL_ZLIB, /* RFC 1950: what HDF5's deflate filter expects */
	SL_GZIP  /* RFC 1952: one member, no name, no time */
};

/*
 * DEFLATE. Compresses in into out at a level of 1 (fast) to 9 (small) and sets *out_bytes. When the
 * result does not fit in out_size bytes, *out_bytes is 0 and the call succeeds: the caller stores
 * the bytes as they are.
 */
struct sl_deflate_job {
	const void *in;
	size_t in_bytes;
	void *out;
	size_t out_size;
	size_t *out_bytes;
	int level;
	enum sl_wrapper wrapper;
};

/* The most that scratch must serve: fields that a primitive does not have are ignored. */
struct sl_shape {
	uint32_t n; /* items at most */
	enum sl_type type;
	uint32_t block;                /* as in sl_exec */
	const struct sl_backend *scan; /* as in sl_compact_job */
	size_t in_bytes;               /* deflate: bytes at most */
	int level;
};

/*
 * One way to do one primitive. Exactly one of scan, compact, sort and deflate is set, the one of
 * that primitive.
 */
struct sl_backend {
	const char *name;
	enum sl_primitive primitive;
	enum sl_space space;
	const char *help; /* one line: whose algorithm, and what it costs */
	bool uses_scan;   /* compact: made of job->scan */
	size_t (*scratch)(const struct sl_shape *most);
	enum sl_status (*scan)(struct sl_exec *x, const struct sl_scan_job *job);
	enum sl_status (*compact)(struct sl_exec *x, const struct sl_compact_job *job);
	enum sl_status (*sort)(struct sl_exec *x, const struct sl_sort_job *job);
	enum sl_status (*deflate)(struct sl_exec *x, const struct sl_deflate_job *job);
};

/*
 * The calls. Each checks its arguments first (null pointers, alignment of the items, scratch too
 * small, a backend of another primitive or space, bits out of range) and answers wrong use with
 * SL_USAGE and a sentence; then it runs the backend.
 */
enum sl_status sl_scan(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_scan_job *job);
enum sl_status sl_compact(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_compact_job *job);
enum sl_status sl_sort(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_sort_job *job);
enum sl_status sl_deflate(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_deflate_job *job);

/* Finds a backend by name. SL_USAGE when there is none; the story lists those there are. */
enum sl_status sl_find(enum sl_primitive p, const char *name, const struct sl_backend **found);

/* Walks the matrix of this build: the i-th backend in the order of backends.def, NULL past the
 * last. */
const struct sl_backend *sl_backend_at(size_t i);

/* "scan", "compact", "sort", "deflate". */
const char *sl_primitive_name(enum sl_primitive p);

/* sl_scan_cpu, sl_sort_cpu, ...: for calls by name in C. Those of the device link in CUDA builds
 * only. */
#define BACKEND(primitive, name) extern const struct sl_backend sl_##primitive##_##name;
#define DEVICE_BACKEND           BACKEND
#include "backends.def"
#undef BACKEND
#undef DEVICE_BACKEND

/*
 * Order-preserving maps to unsigned keys, and back. i32: flips the sign bit. f32: total order
 * -NaN < -inf < ... < -0 = +0 < ... < inf < NaN (-0 is made +0 first, so equal numbers stay in
 * place). (Terdiman, Radix sort revisited, 2000; Herf, Radix tricks, 2001.)
 */
SL_HD uint32_t sl_key_from_i32(int32_t v)
{
	return (uint32_t)v ^ 0x80000000u;
}

SL_HD int32_t sl_key_to_i32(uint32_t key)
{
	return (int32_t)(key ^ 0x80000000u);
}

/* v as its bits. */
SL_HD uint32_t sl_key_from_f32_bits(uint32_t v)
{
	v = v == 0x80000000u ? 0 : v;
	return v & 0x80000000u ? ~v : v | 0x80000000u;
}

SL_HD uint32_t sl_key_to_f32_bits(uint32_t key)
{
	return key & 0x80000000u ? key & 0x7fffffffu : ~key;
}

SL_C_END

#endif
