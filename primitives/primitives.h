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
 *	size_t bytes = sl_scratch(scan, &(struct sl_shape){.n = n, .type = SL_U32});
 *	... x.scratch = (struct sl_arena){block, 0, bytes};
 *	sl_scan(scan, &x, &job);
 *
 * Memory is the caller's throughout. Calls queue their work on x->stream and return; they
 * allocate nothing, wait for nothing and keep no state. On the host they return when done.
 * All calls are thread-safe as long as jobs and scratch are not shared.
 */
#ifndef SL_PRIMITIVES_PRIMITIVES_H
#define SL_PRIMITIVES_PRIMITIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "primitives/base/status.h"

SL_C_BEGIN

enum sl_primitive { SL_SCAN, SL_COMPACT, SL_SORT, SL_DEFLATE, SL_PRIMITIVE_COUNT };

/* The type of the items of a scan, or of the keys of a sort. */
enum sl_type { SL_U32, SL_U64 };

/*
 * How a device backend is launched; struct sl_tunable says what may be. 0 is its own choice; where
 * both are 0, that of a tuning file comes first (tuning.h).
 */
struct sl_tuning {
	uint32_t block; /* threads a block */
	uint32_t items; /* items a thread */
};

/* A backend, tuned. All zero: the choice is the caller's. */
struct sl_choice {
	const struct sl_backend *backend;
	struct sl_tuning tuning;
};

/* Where work runs, after what, and in which scratch. Everything but the data. */
struct sl_exec {
	enum sl_space space;     /* SL_HOST or SL_DEVICE; must be the backend's */
	sl_stream stream;        /* NULL on the host */
	struct sl_arena scratch; /* of that space, at least sl_scratch() bytes, SL_ALIGN-aligned */
	struct sl_tuning tuning;
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

/* The most columns that a compaction takes along. */
enum { SL_COMPACT_COLUMNS_MAX = 16 };

/*
 * A column that a compaction takes along, of items of any meaning: one field of a structure of
 * arrays, or whole records. Both ends begin at a multiple of the item's bytes, or of 16.
 */
struct sl_compact_column {
	const void *from; /* n items; columns may share them */
	void *to;         /* room for n items; overlaps nothing else */
	uint32_t bytes;   /* an item: 1, 2, 4, 8, 16 or 32 */
};

/*
 * Stream compaction: out = every i with keep[i] != 0, ascending; *n_out = how many; and the items
 * at these i of each column, in that order. What is behind the survivors may be overwritten.
 */
struct sl_compact_job {
	const uint8_t *keep; /* n flags, 0 or not */
	uint32_t *out;       /* room for n indices; NULL: columns alone are wanted */
	uint32_t *n_out;     /* one word, of the space of the work */
	uint32_t n;
	uint32_t n_columns;                     /* SL_COMPACT_COLUMNS_MAX at most; may be 0 */
	const struct sl_compact_column *column; /* on the host; read before the call returns */
	struct sl_choice scan;                  /* for backends made of a scan (uses_scan) */
};

/*
 * Stable radix sort. Orders key[] ascending by bits begin_bit .. end_bit-1 and takes index[] along;
 * equal keys keep their order. begin_bit <= end_bit <= 32 or 64.
 *
 * With outputs, which are two as the inputs are, key and index are only read. Without, the sort is
 * in place, and after an odd number of passes that costs a copy.
 */
struct sl_sort_job {
	void *key;           /* n keys of type */
	uint32_t *index;     /* n; NULL: keys alone are sorted, which moves half the bytes; shared
	                        has tiles of its own for them, whatever the tuning */
	void *key_out;       /* n keys of type; NULL: in place */
	uint32_t *index_out; /* n; NULL: in place, or there is no index */
	bool key_spent;      /* only the index is wanted: the keys may be left as anything */
	uint32_t n;
	enum sl_type type;
	uint32_t begin_bit, end_bit;
	struct sl_choice scan; /* for backends made of a scan (uses_scan) */
};

enum sl_wrapper {
	SL_RAW,  /* RFC 1951, no wrapper */
	SL_ZLIB, /* RFC 1950: what HDF5's deflate filter expects */
	SL_GZIP  /* RFC 1952: one member, no name, no time */
};

/*
 * DEFLATE. Compresses in into out at a level of 1 (fast) to 9 (small) and sets *out_bytes. When the
 * result does not fit in out_size bytes, *out_bytes is 0 and the call succeeds: the caller stores
 * the bytes as they are. sl_deflate_most() bytes are always enough. store, cpu and device have one
 * level, and do not ask.
 *
 * The fields behind wrapper may be left 0. With chunk_bytes, each chunk of so many bytes of in
 * becomes a stream of its own, sl_deflate_streams() of them, which stand one behind another in out:
 * out_bytes[k] is the size of the k-th. If one does not fit, it and those behind it have 0 bytes.
 * With item_bytes, the bytes of a chunk are compressed in planes, the first bytes of all its items,
 * then the second, and so on: what HDF5's shuffle filter makes of a chunk. With whole_chunks, the
 * last chunk is filled up with items of zeros, as HDF5 wants it.
 *
 * On a device all pointers are to its memory, so that a column there can be compressed where it
 * is: then only out_bytes and *out_used bytes of out have to be copied to the host. Jobs with the
 * same out and out_used put their streams one behind another: columns of a file, copied at one
 * time.
 */
struct sl_deflate_job {
	const void *in;
	size_t in_bytes; /* whole items */
	void *out;
	size_t out_size;
	size_t *out_bytes; /* one a stream */
	int level;
	enum sl_wrapper wrapper;
	size_t chunk_bytes;  /* whole items; 0: all bytes are one chunk */
	uint32_t item_bytes; /* 1, 2, 4 or 8; 0: 1 */
	bool whole_chunks;
	size_t *out_used; /* streams begin behind so many bytes of out, and it grows by theirs;
	                     NULL: they begin at out */
};

/* The most that scratch must serve: fields that a primitive does not have are ignored. */
struct sl_shape {
	uint32_t n; /* items at most */
	enum sl_type type;
	struct sl_tuning tuning; /* as in sl_exec */
	struct sl_choice scan;   /* as in the job */
	uint32_t n_columns;      /* compact: columns at most */
	bool keys_only;          /* sort: the job has no index */
	size_t in_bytes;         /* deflate: bytes at most, ... */
	size_t chunk_bytes;      /* ... in chunks as in the job ... */
	uint32_t item_bytes;     /* ... of these items */
	int level;
};

/*
 * What the tuning of a backend may be. A default of 0: there is nothing to choose, and a choice is
 * refused. Tuning changes speed alone.
 */
struct sl_tunable {
	uint32_t block;        /* threads a block, by default */
	uint32_t block_step;   /* multiples of it can be had, ... */
	uint32_t block_most;   /* ... up to this, and to what the device has */
	uint32_t items;        /* items a thread, by default */
	uint32_t items_can[8]; /* those that can be had, ascending, 0 behind the last */
	/* Shared memory a block for that tuning and type; NULL: less than any device has. */
	size_t (*shared_bytes)(struct sl_tuning tuning, enum sl_type type);
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
	bool uses_scan;   /* compact, sort: made of job->scan */
	struct sl_tunable tunable;
	/* What follows is called through sl_scratch, sl_scan, ...: with every 0 of a tuning filled
	 * in. */
	size_t (*scratch)(const struct sl_shape *most);
	enum sl_status (*scan)(struct sl_exec *x, const struct sl_scan_job *job);
	enum sl_status (*compact)(struct sl_exec *x, const struct sl_compact_job *job);
	/* There are two keys and one bit at least. */
	enum sl_status (*sort)(struct sl_exec *x, const struct sl_sort_job *job);
	enum sl_status (*deflate)(struct sl_exec *x, const struct sl_deflate_job *job);
};

/* Bytes of scratch that a call of b needs, at most; they grow with n. */
size_t sl_scratch(const struct sl_backend *b, const struct sl_shape *most);

/*
 * How many streams a job of deflate of so many bytes makes, one at least; and the most bytes that
 * they have all together, by any backend: what is in the chunks, filled up, a thousandth of it, 64
 * bytes a stream and 5 a segment (of 32 KiB, or a plane).
 */
size_t sl_deflate_streams(size_t in_bytes, size_t chunk_bytes);
size_t sl_deflate_most(size_t in_bytes, size_t chunk_bytes, uint32_t item_bytes);

/*
 * Can b be tuned so on the current device? SL_USAGE, and a story with what is allowed, if not. The
 * calls below ask this too; a plan asks first.
 */
enum sl_status sl_tuning_check(
	const struct sl_backend *b, struct sl_tuning tuning, enum sl_type type);

/* What a call with that tuning, of n items of type, is launched with on the current device. */
struct sl_tuning sl_tuning_of(
	const struct sl_backend *b, struct sl_tuning tuning, enum sl_type type, uint32_t n);

/*
 * The calls. Each checks its arguments first (null pointers, alignment of the items, memory that
 * overlaps, scratch too small, a backend of another primitive or space, bits, columns or tuning out
 * of range) and answers wrong use with SL_USAGE and a sentence; then it runs the backend.
 */
enum sl_status sl_scan(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_scan_job *job);
enum sl_status sl_compact(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_compact_job *job);
enum sl_status sl_sort(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_sort_job *job);
enum sl_status sl_deflate(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_deflate_job *job);

/*
 * Finds a backend by name, one of the host's or of the device in use (sl_device_emulate()).
 * SL_USAGE when there is none; the story lists those there are.
 */
enum sl_status sl_find(enum sl_primitive p, const char *name, const struct sl_backend **found);

/*
 * Walks the matrix for the device in use: the i-th backend in the order of backends.def, NULL past
 * the last.
 */
const struct sl_backend *sl_backend_at(size_t i);

/* "scan", "compact", "sort", "deflate". */
const char *sl_primitive_name(enum sl_primitive p);

/*
 * sl_scan_cpu, sl_sort_naive, ...: for calls by name in C. Those of the device link in CUDA builds
 * only; sl_sort_naive_emulated, ... in all.
 */
#define SL_BACKEND(primitive, name, rank) extern const struct sl_backend sl_##primitive##_##name;
#define SL_CUDA_BACKEND(primitive, name, rank) \
	extern const struct sl_backend sl_##primitive##_##name;
#define SL_DEVICE_BACKEND(primitive, name, rank)                \
	extern const struct sl_backend sl_##primitive##_##name; \
	extern const struct sl_backend sl_##primitive##_##name##_emulated;
#include "primitives/backends.def"
#undef SL_BACKEND
#undef SL_CUDA_BACKEND
#undef SL_DEVICE_BACKEND

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
