/*
 * primitives.h - the C library: scan, stream compaction, expansion of runs, radix sort and DEFLATE,
 * each with several exchangeable backends for the CPU and for CUDA devices. This header is its
 * manual.
 *
 * A backend is one implementation of one primitive: a const struct sl_backend, defined in
 * primitives/<primitive>/<backend>.{c,cu} and listed in backends.def. The backends of a primitive
 * differ in speed only. All are exact and stable, so they write the same bytes; only the streams of
 * DEFLATE differ between backends (they decompress to the same bytes).
 *
 *	const struct sl_backend *scan;
 *	struct sl_exec x = {.space = SL_HOST};
 *	struct sl_scan_job job = {.in = in, .out = out, .n = n, .type = SL_U32};
 *	struct sl_shape shape = {.n = n, .type = SL_U32};
 *
 *	sl_find(SL_SCAN, "cpu", &scan);
 *	x.scratch = (struct sl_arena){block, 0, sl_scratch(scan, &shape)};
 *	if (sl_scan(scan, &x, &job) != SL_OK)
 *		puts(sl_last_error());
 *
 * Memory. The caller owns all memory: inputs, outputs and scratch. All pointers of a job must be in
 * the space of the exec (SL_HOST or SL_DEVICE), aligned to their items, and must not overlap except
 * where a comment allows it. A call allocates nothing. A job is read before the call returns; its
 * buffers must stay valid until the work is done.
 *
 * Asynchrony. With SL_DEVICE a call queues its work on x->stream and returns without waiting.
 * Results, including counts such as *n_out, are valid once the stream has passed that point
 * (sl_stream_wait()). A failure of the work itself is reported by that wait. With SL_HOST the call
 * returns when the work is done.
 *
 * Errors. Each call returns an enum sl_status (status.h); sl_last_error() is the message. Wrong use
 * is SL_USAGE: a null pointer, misaligned or overlapping buffers, too little scratch, a backend of
 * another primitive or space, or a value out of range. The message names the field, its value and
 * what is allowed. Nothing is written then. Device errors: SL_DEVICE_FAILED, SL_DEVICE_MEMORY,
 * SL_NO_DEVICE. They are errors of this call: an earlier error that the caller left in the CUDA
 * runtime (cudaGetLastError()) is not returned, but may be cleared.
 *
 * Threads. Calls are thread-safe if they share no job, output, scratch or exec. Calls keep no
 * state, but two settings belong to the whole process:
 *
 *	which kind of device is used: CUDA or emulated     sl_device_emulate() (device.h)
 *	settings of the emulated device                    SL_EMULATOR (emulator/settings.h)
 *
 * Set them before other threads make calls. A device that fails permanently (illegal address, lost
 * GPU) also fails for the whole process; other devices do not. The current device, set by
 * sl_device_use(), and the last error message belong to the calling thread.
 */
#ifndef SL_PRIMITIVES_PRIMITIVES_H
#define SL_PRIMITIVES_PRIMITIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/arena.h"
#include "primitives/base/status.h"
#include "primitives/device/device.h"
#include "primitives/keys.h"

SL_C_BEGIN

enum sl_primitive { SL_SCAN, SL_COMPACT, SL_SORT, SL_DEFLATE, SL_EXPAND, SL_PRIMITIVE_COUNT };

/* Type of the items of a scan, of the keys of a sort, or of the ends of runs. */
enum sl_type { SL_U32, SL_U64, SL_F32, SL_F64 /* float and double: scan only */ };

/* Bytes of an item of that type. */
SL_HD size_t sl_type_bytes(enum sl_type type)
{
	return type == SL_U32 || type == SL_F32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

SL_HD bool sl_type_is_float(enum sl_type type)
{
	return type == SL_F32 || type == SL_F64;
}

/*
 * Whether the backends named tiled leave unused words in shared memory, so that the threads of a
 * warp access different memory banks (scan/tile_tree.cuh).
 */
enum sl_padding { SL_PADDING_DEFAULT, SL_PADDING_ON, SL_PADDING_OFF };

/*
 * Launch configuration of a backend; struct sl_tunable says which values it supports. 0 stands for
 * the default of the backend. The tuning changes speed, never results.
 */
struct sl_tuning {
	uint32_t block; /* threads per block */
	uint32_t items; /* items per thread */
	enum sl_padding padding;
	uint32_t threads; /* sort/cpu: threads of the host; 0: the calling thread alone */
};

/* A backend with its tuning. All zero: the callee chooses. */
struct sl_choice {
	const struct sl_backend *backend;
	struct sl_tuning tuning;
};

/* Where a call runs: everything except the data. */
struct sl_exec {
	enum sl_space space; /* SL_HOST or SL_DEVICE; must be that of the backend */
	sl_stream stream;    /* SL_DEVICE: the stream to queue on; SL_HOST: NULL */
	struct sl_arena
		scratch; /* in that space; at least sl_scratch() bytes unused; see arena.h */
	struct sl_tuning tuning;
};

/*
 * --- a number of items on the device ------------------------------------------------------------
 *
 * scan, compact and sort take their number of items from memory if the job has n_on_device: an
 * u32 or u64 (n_type) in the space of the work, at a multiple of its size. So the number may be the
 * result of work that is still queued, such as *n_out of a compaction, and compact -> sort -> gather
 * needs no wait of the host:
 *
 *	struct sl_compact_job survivors = {.keep = keep, .out = index, .n_out = count, .n = n};
 *	struct sl_sort_job order = {.key = key, .index = index, .n = n, .n_on_device = count, ...};
 *
 * n is then the upper bound: all buffers have room for n items, and n sizes scratch and launches. A
 * *n_on_device above n counts as n. Outputs after the first *n_on_device items are not written
 * (those of a compaction after *n_out are undefined, as always); inputs after them have no
 * influence. The result is that of a job with this number as n.
 *
 * The caller owns the word. With SL_DEVICE it is read when the stream has reached the work: earlier
 * work of the stream may write it, and nothing may change it until the work is done. It must not
 * overlap anything that the job writes. With SL_HOST it is host memory, read during the call.
 *
 * Backends of devices take it if takes_n_on_device is set (`sluice list` names those); others,
 * which need the number on the host (thrust), refuse it with SL_USAGE, as does a scan of SL_F32 or
 * SL_F64.
 */

/*
 * --- scan ---------------------------------------------------------------------------------------
 *
 * Prefix sums modulo 2^32 or 2^64. Exclusive: out[i] = in[0] + ... + in[i-1], out[0] = 0.
 * Inclusive: out[i] = in[0] + ... + in[i]. Source: G. E. Blelloch, Prefix sums and their
 * applications, 1990.
 *
 * Sums of SL_F32 and SL_F64 are rounded, so the order of the additions determines them. All
 * backends add in the same order, whatever the device, tuning or number of blocks, and so give the
 * same bits. The items are the leaves of a tree in which each node has 16 children: digit l of the
 * hexadecimal index of an item is the place of its node of level l among the siblings, from the
 * item itself, level 0, to level 7. Each addition is rounded to nearest, ties to even:
 *
 *	sum of a node        a(l) = ((0 + a_0) + a_1) + ... + a_15        over its children
 *	siblings before it   c(l) = ((0 + a_0) + a_1) + ... + a_{k-1}     if it is child k
 *	exclusive            out[i] = c(7) + (c(6) + (... + (c(1) + c(0))))
 *	inclusive            c(0) includes in[i]; or the exclusive sum of item i + 1
 *	sum                  the inclusive sum of the last item, 0 for no item
 *
 * Consequences: no item after i changes out[i]. Exclusive sums are inclusive ones shifted by an
 * item. If no item is negative, the sums ascend. With L = ceil(log16 n) levels and the unit
 * roundoff u, 2^-24 or 2^-53, the error of a sum is at most (16 L - 1) u / (1 - (16 L - 1) u) times
 * the sum of the absolute values, 127 u for any n. Denormal numbers are kept; no sum is -0. Sums
 * after a NaN, or after infinities of both signs, are NaN, and all NaN are written as 7fc00000 or
 * 7ff8000000000000. Sums that are too large for the type are infinite, also if later items would
 * bring them back. Backends with the flag integers_only refuse these types.
 */
struct sl_scan_job {
	const void *in; /* n items of type */
	void *out;      /* n items of type; may be equal to in; NULL: sum alone, a reduction */
	uint32_t n;
	enum sl_type type;
	bool inclusive;
	void *sum; /* SL_F32, SL_F64: one item of type, the sum of all; NULL: not wanted */
	const void *n_on_device; /* the number of items, in the space of the work; NULL: n */
	enum sl_type n_type;     /* of *n_on_device */
};

/*
 * --- compact ------------------------------------------------------------------------------------
 *
 * Stream compaction. Writes the indices i with keep[i] != 0 to out, in ascending order, and their
 * number to *n_out. Copies the items at these indices of up to SL_COMPACT_COLUMNS_MAX columns, in
 * the same order. The contents of out and of the columns after the first *n_out items are
 * undefined.
 */
enum { SL_COMPACT_COLUMNS_MAX = 24 };

/*
 * A column: an array of items of any meaning, for example one field of a structure of arrays, or
 * whole records. from and to are aligned to the size of an item, or to 16 bytes if that is less.
 */
struct sl_compact_column {
	const void *from; /* n items; several columns may share them */
	void *to;         /* room for n items; must not overlap any other buffer */
	uint32_t bytes;   /* size of an item: 1, 2, 4, 8, 16 or 32 */
};

struct sl_compact_job {
	const uint8_t *keep; /* n flags: 0 drops the item, any other value keeps it */
	uint32_t *out;       /* room for n indices; may be NULL if there are columns */
	uint32_t *n_out;     /* one word, in the space of the work: on the device with SL_DEVICE */
	uint32_t n;
	uint32_t n_columns;                     /* 0 to SL_COMPACT_COLUMNS_MAX */
	const struct sl_compact_column *column; /* on the host; read before the call returns */
	struct sl_choice
		scan; /* for backends built on a scan (uses_scan); all zero: their default */
	const void *n_on_device; /* the number of flags, in the space of the work; NULL: n */
	enum sl_type n_type;     /* of *n_on_device */
};

/*
 * --- expand -------------------------------------------------------------------------------------
 *
 * Expansion of runs: out[j] is the index of the run that slot j is in. Run i has as many slots as
 * its count says, after those of the runs before it:
 *
 *	counts 2 0 3 1    starts 0 2 2 5    ends 2 2 5 6    out 0 0 2 2 2 3
 *
 * So out[j] is the number of runs, the last one not counted, whose end is at most j. Slots after
 * the end of the last run are in that run; runs after the last slot are ignored. Copies the items
 * at these indices of up to SL_COMPACT_COLUMNS_MAX columns: from has n items, to has n_out. If
 * starts or ends do not ascend, the contents of out and of the columns are undefined.
 */
enum sl_run_form {
	SL_RUN_ENDS,   /* the inclusive sums of the counts; the last one is not read */
	SL_RUN_STARTS, /* the exclusive sums; the first one is not read */
	SL_RUN_COUNTS  /* the counts: a scan adds them up, modulo 2^32 or 2^64 */
};

struct sl_expand_job {
	const void *runs; /* n numbers of type, of this form */
	uint32_t *out;    /* n_out indices; may be NULL if there are columns */
	uint32_t n;       /* runs; at least 1 if there are slots */
	uint32_t n_out;   /* slots */
	enum sl_type type;
	enum sl_run_form form;
	uint32_t n_columns;                     /* 0 to SL_COMPACT_COLUMNS_MAX */
	const struct sl_compact_column *column; /* on the host; read before the call returns */
	struct sl_choice scan; /* for counts, and for backends built on a scan (uses_scan); all
	                          zero: their default */
};

/*
 * --- sort ---------------------------------------------------------------------------------------
 *
 * Stable least-significant-digit radix sort. Orders the keys ascending by the bits begin_bit to
 * end_bit-1 and permutes index[] along with them; equal keys keep their order. Requires begin_bit
 * <= end_bit <= 32 or 64. Keys of other types: see keys.h.
 *
 * With key_out (and index_out, if there is an index) the inputs are only read. Without, the sort is
 * in place; an odd number of passes then costs one additional copy.
 */
struct sl_sort_job {
	void *key;       /* n keys of type */
	uint32_t *index; /* n values; NULL: sort keys alone, which moves half the bytes */
	void *key_out;   /* n keys of type; NULL: in place */
	uint32_t
		*index_out; /* n values; NULL if and only if the sort is in place or has no index */
	bool key_spent;     /* the sorted keys are not needed: key contents become undefined */
	uint32_t n;
	enum sl_type type;
	uint32_t begin_bit, end_bit;
	struct sl_choice
		scan; /* for backends built on a scan (uses_scan); all zero: their default */
	const void *n_on_device; /* the number of keys, in the space of the work; NULL: n */
	enum sl_type n_type;     /* of *n_on_device */
};

/*
 * --- deflate ------------------------------------------------------------------------------------
 *
 * DEFLATE compression (RFC 1951) with one of three wrappers.
 */
enum sl_wrapper {
	SL_RAW,  /* RFC 1951: no wrapper */
	SL_ZLIB, /* RFC 1950: what the deflate filter of HDF5 expects */
	SL_GZIP  /* RFC 1952: one member, without name and time */
};

/*
 * Compresses in into out and sets *out_bytes. If the result does not fit in out_size bytes, the
 * call succeeds with *out_bytes = 0; store the input uncompressed then. A result of exactly
 * out_size bytes fits, and sl_deflate_most() bytes are always enough: a stream that would be longer
 * than its room is made of stored blocks, if these fit. level is 1 (fastest) to 9 (smallest; isal
 * has 4); the backends store, cpu and device have one level and ignore it.
 *
 * The fields after wrapper are optional; 0 turns them off.
 *
 * chunk_bytes: each chunk of that many input bytes becomes a separate stream. The
 * sl_deflate_streams() streams are written one after another; out_bytes[k] is the size of stream k.
 * If stream k does not fit, it and all later streams have 0 bytes.
 *
 * item_bytes: the bytes of a chunk are reordered into planes before they are compressed: first the
 * first byte of each item, then the second bytes, and so on, as the shuffle filter of HDF5 does.
 *
 * whole_chunks: the last chunk is padded with zero items to chunk_bytes, as HDF5 requires.
 *
 * part: n_parts inputs instead of in, in_bytes, chunk_bytes and item_bytes. Their streams follow
 * one another as if each part were a separate job; only if a stream does not fit, those of later
 * parts have 0 bytes too. A device compresses all parts at the same time, which takes much less
 * time if they are small. The array itself is host memory and is not needed after the call.
 *
 * With SL_DEVICE all other pointers, including out_bytes and out_used, are device memory: a column
 * is compressed where it is, and only the streams are copied to the host. Jobs that share out and
 * out_used append their streams, so several columns can be copied to the host at once.
 */
enum { SL_DEFLATE_PARTS_MAX = 32 };

struct sl_deflate_part {
	const void *in;
	size_t in_bytes, chunk_bytes; /* as in the job */
	uint32_t item_bytes;
};

struct sl_deflate_job {
	const void *in;
	size_t in_bytes; /* a multiple of item_bytes */
	void *out;
	size_t out_size;   /* bytes of room in out */
	size_t *out_bytes; /* one per stream */
	int level;
	enum sl_wrapper wrapper;
	size_t chunk_bytes;  /* a multiple of item_bytes; 0: one chunk */
	uint32_t item_bytes; /* 1, 2, 4 or 8; 0 means 1: no reordering */
	bool whole_chunks;
	size_t *out_used; /* in and out: bytes of out in use, the new streams follow them; NULL: 0 */
	const struct sl_deflate_part *part;
	uint32_t n_parts; /* at most SL_DEFLATE_PARTS_MAX; 0: one input, in */
};

/* How many streams a job of in_bytes makes: at least 1. */
SL_API size_t sl_deflate_streams(size_t in_bytes, size_t chunk_bytes);

/*
 * Bytes of room that are enough for all streams of a job together, with any backend: the padded
 * input, 1/1024 of it, 64 bytes per stream and 5 bytes per segment of at most 32 KiB. With more
 * room, a single stream can be longer.
 */
SL_API size_t sl_deflate_most(size_t in_bytes, size_t chunk_bytes, uint32_t item_bytes);

/*
 * --- scratch ------------------------------------------------------------------------------------
 *
 * The largest job that scratch must serve. Fields that the primitive does not have are ignored.
 */
struct sl_shape {
	uint32_t n;              /* most items, or runs */
	uint32_t n_out;          /* expand: most slots */
	bool counts;             /* expand: the job may have counts */
	bool sum;                /* scan of SL_F32 or SL_F64: the job may have a sum */
	enum sl_type type;       /* scan, sort, expand */
	struct sl_tuning tuning; /* as in sl_exec */
	struct sl_choice scan;   /* as in the job */
	uint32_t n_columns;      /* compact, expand: most columns */
	bool keys_only;          /* sort: the job has no index */
	bool most_room;          /* deflate: each job has sl_deflate_most() bytes of room and no
	                            out_used, for which libdeflate needs less scratch */
	size_t in_bytes;         /* deflate: most bytes ... */
	size_t chunk_bytes;      /* ... in chunks as in the job ... */
	uint32_t item_bytes;     /* ... of these items */
	int level;               /* deflate */
	const struct sl_deflate_part
		*part; /* deflate: as in the job, with the most bytes; in is ignored */
	uint32_t n_parts;
};

/*
 * Bytes of scratch that a call of b needs for a job up to that shape. Grows with n. Call it once,
 * when memory is planned.
 */
SL_API size_t sl_scratch(const struct sl_backend *b, const struct sl_shape *most);

/*
 * --- backends -----------------------------------------------------------------------------------
 *
 * The tunings that a backend supports. A default of 0 means that there is nothing to choose, and a
 * value other than 0 is refused.
 */
struct sl_tunable {
	uint32_t block;        /* default threads per block */
	uint32_t block_step;   /* supported: the multiples of this ... */
	uint32_t block_most;   /* ... up to this and to the limit of the device */
	uint32_t items;        /* default items per thread */
	uint32_t items_can[8]; /* supported values, ascending; 0 after the last */
	enum sl_padding
		padding; /* default padding; SL_PADDING_DEFAULT: the backend has no padding */
	bool threads; /* of the host: any number; more than 64, or than are useful, are not started */
	/* Shared memory per block in bytes; NULL: less than any device has. */
	size_t (*shared_bytes)(struct sl_tuning tuning, enum sl_type type);
};

/* One backend. Exactly one of scan, compact, sort, deflate and expand is set. */
struct sl_backend {
	const char *name;
	enum sl_primitive primitive;
	enum sl_space space; /* SL_HOST or SL_DEVICE */
	const char *help;    /* one line: the algorithm and its cost */
	bool uses_scan;      /* compact, sort, expand: built on job->scan */
	bool integers_only;  /* scan: not in the stated order; refuses SL_F32, SL_F64 */
	bool joins_parts; /* deflate: takes all parts of a job at once, and always at least one */
	struct sl_tunable tunable;
	bool takes_n_on_device; /* scan, compact, sort on a device: the job may have n_on_device */
	/*
	 * Called by sl_scratch(), sl_scan() and so on, after the arguments are checked and each 0
	 * of the tuning is replaced. Not for direct calls.
	 */
	size_t (*scratch)(const struct sl_shape *most);
	enum sl_status (*scan)(struct sl_exec *x, const struct sl_scan_job *job);
	enum sl_status (*sum)(struct sl_exec *x, const struct sl_scan_job *job); /* of scan */
	enum sl_status (*compact)(struct sl_exec *x, const struct sl_compact_job *job);
	/* At least two keys and one bit; with n_on_device at least one key. */
	enum sl_status (*sort)(struct sl_exec *x, const struct sl_sort_job *job);
	enum sl_status (*deflate)(struct sl_exec *x, const struct sl_deflate_job *job);
	/* At least one run and one slot; form is SL_RUN_ENDS. */
	enum sl_status (*expand)(struct sl_exec *x, const struct sl_expand_job *job);
};

/*
 * --- calls --------------------------------------------------------------------------------------
 *
 * Each checks its arguments, then runs or queues the backend b on the job.
 */
SL_API enum sl_status sl_scan(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_scan_job *job);
SL_API enum sl_status sl_compact(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_compact_job *job);
SL_API enum sl_status sl_sort(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_sort_job *job);
SL_API enum sl_status sl_deflate(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_deflate_job *job);
SL_API enum sl_status sl_expand(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_expand_job *job);

/*
 * Whether the current device supports that tuning of b. SL_USAGE if not; the message says what is
 * allowed. The calls above check this too; a program that plans its work calls this before.
 */
SL_API enum sl_status sl_tuning_check(
	const struct sl_backend *b, struct sl_tuning tuning, enum sl_type type);

/* The tuning, each field that is 0 replaced by the default of b. */
SL_API struct sl_tuning sl_tuning_of(const struct sl_backend *b, struct sl_tuning tuning);

/*
 * Finds a backend by name, among those of the host and of the device in use (CUDA or emulated).
 * SL_USAGE if there is none: the message lists the names. *found is a constant; do not free it.
 */
SL_API enum sl_status sl_find(
	enum sl_primitive p, const char *name, const struct sl_backend **found);

/*
 * Enumerates the backends of the host and of the device in use, in the order of backends.def: the
 * i-th, or NULL after the last.
 */
SL_API const struct sl_backend *sl_backend_at(size_t i);

/* "scan", "compact", "sort", "deflate" or "expand". */
SL_API const char *sl_primitive_name(enum sl_primitive p);

/* "on" or "off", or "default". */
SL_API const char *sl_padding_name(enum sl_padding padding);

/* The padding of that name; SL_PADDING_DEFAULT if the text is neither "on" nor "off". */
SL_API enum sl_padding sl_padding_find(const char *text);

/*
 * The backends as C objects, for programs that name one at compile time: sl_<primitive>_<name>, for
 * example sl_scan_cpu, sl_sort_naive, sl_deflate_libdeflate; with the suffix _emulated those of the
 * emulated device, for example sl_sort_naive_emulated. Backends of CUDA devices (sl_sort_naive)
 * exist in builds with CUDA only; linking them fails otherwise.
 */
#define SL_BACKEND(primitive, name, rank) \
	extern SL_API const struct sl_backend sl_##primitive##_##name;
#define SL_CUDA_BACKEND(primitive, name, rank) \
	extern SL_API const struct sl_backend sl_##primitive##_##name;
#define SL_DEVICE_BACKEND(primitive, name, rank)                       \
	extern SL_API const struct sl_backend sl_##primitive##_##name; \
	extern SL_API const struct sl_backend sl_##primitive##_##name##_emulated;
#include "primitives/backends.def"
#undef SL_BACKEND
#undef SL_CUDA_BACKEND
#undef SL_DEVICE_BACKEND

SL_C_END

#endif
