/*
 * call.c - the checked calls: wrong use is answered with a sentence, the rest goes to the backend.
 *
 * Every check is here, in given.c or in tuned.c, none in a backend. They cost some dozen
 * comparisons a call, and a compaction of the most columns some 600.
 */
#include <string.h>

#include "compact/items.h"
#include "deflate/streams.h"
#include "given.h"
#include "primitives.h"

/* Blocks of memory in a job. */
enum { BLOCKS_MAX = 3 + 2 * SL_COMPACT_COLUMNS_MAX };

static const char *space_name(enum sl_space space)
{
	switch (space) {
	case SL_HOST:
		return "host";
	case SL_DEVICE:
		return "device";
	case SL_PINNED:
		return "pinned";
	}
	return "unknown";
}

/* The backend must do primitive p in the space of the work. */
static enum sl_status check_backend(
	enum sl_primitive p, const struct sl_backend *b, const struct sl_exec *x, const void *job)
{
	const char *call = sl_primitive_name(p);

	if (!b || !x || !job)
		return sl_fail(SL_USAGE,
			"%s: the %s is a null pointer; pass one (sl_find gives a backend)", call,
			!b   ? "backend"
			: !x ? "exec"
			     : "job");
	if (b->primitive != p)
		return sl_fail(SL_USAGE,
			"%s: backend '%s' does %s, not %s; take one from sl_find of that primitive",
			call, b->name, sl_primitive_name(b->primitive), call);
	if (b->space != x->space)
		return sl_fail(SL_USAGE,
			"%s/%s works on %s memory, but the exec's space is %s; "
			"choose a backend of that space",
			call, b->name, space_name(b->space), space_name(x->space));
	return SL_OK;
}

static enum sl_status check_type(const struct sl_backend *b, enum sl_type type)
{
	if (type == SL_U32 || type == SL_U64)
		return SL_OK;
	return sl_fail(SL_USAGE, "%s/%s: type %d is unknown; use SL_U32 or SL_U64",
		sl_primitive_name(b->primitive), b->name, (int)type);
}

/* x as a backend is to see it. */
static struct sl_exec tuned_exec(
	const struct sl_backend *b, const struct sl_exec *x, enum sl_type type, uint32_t n)
{
	struct sl_exec y = *x;

	y.tuning = sl_tuning_of(b, x->tuning, type, n);
	return y;
}

/* --- the calls -------------------------------------------------------------------------------- */

static size_t type_bytes(enum sl_type type)
{
	return type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

enum sl_status sl_scan(const struct sl_backend *b, struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_shape shape = {0};
	struct sl_given m[BLOCKS_MAX];
	struct sl_exec y;
	size_t item;
	int n = 0;

	SL_TRY(check_backend(SL_SCAN, b, x, job));
	SL_TRY(check_type(b, job->type));
	item = type_bytes(job->type);
	m[n++] = (struct sl_given){"out", job->out, job->n, item, item, false, 0};
	if (job->in != job->out)
		m[n++] = (struct sl_given){"in", job->in, job->n, item, item, true, 0};
	SL_TRY(sl_check_given(b, m, n, x));
	SL_TRY(sl_tuning_check(b, x->tuning, job->type));
	shape.n = job->n;
	shape.type = job->type;
	shape.tuning = x->tuning;
	SL_TRY(sl_check_scratch(b, x, &shape));
	y = tuned_exec(b, x, job->type, job->n);
	return b->scan(&y, job);
}

/* A scan inside must be a scan, of the same space. */
static enum sl_status check_inner_scan(const struct sl_backend *b, const struct sl_choice *scan)
{
	if (!b->uses_scan || !scan->backend)
		return SL_OK;
	if (scan->backend->primitive == SL_SCAN && scan->backend->space == b->space)
		return sl_tuning_check(scan->backend, scan->tuning, SL_U32);
	return sl_fail(SL_USAGE,
		"%s/%s: the job's scan '%s' is no scan of %s memory; "
		"leave it out or take one of that space",
		sl_primitive_name(b->primitive), b->name, scan->backend->name,
		space_name(b->space));
}

static bool is_item_size(uint32_t bytes)
{
	switch (bytes) {
#define X(item_bytes, type) case item_bytes:
		SL_COMPACT_ITEMS(X)
#undef X
		return true;
	default:
		return false;
	}
}

static enum sl_status check_columns(const struct sl_backend *b, const struct sl_compact_job *job)
{
	if (job->n_columns > SL_COMPACT_COLUMNS_MAX)
		return sl_fail(SL_USAGE,
			"compact/%s: %u columns are too many for a call; take at most %d, and call "
			"again for the others",
			b->name, job->n_columns, SL_COMPACT_COLUMNS_MAX);
	if (job->n_columns > 0 && !job->column)
		return sl_fail(SL_USAGE,
			"compact/%s: column is a null pointer, but has %u columns; pass their "
			"address",
			b->name, job->n_columns);
	for (uint32_t k = 0; k < job->n_columns; k++)
		if (!is_item_size(job->column[k].bytes))
			return sl_fail(SL_USAGE,
				"compact/%s: column[%u] has items of %u bytes, which cannot be "
				"moved; use 1, 2, 4, 8, 16 or 32",
				b->name, k, job->column[k].bytes);
	return SL_OK;
}

/* All that a compaction reads and writes. Indices may be left out where there are columns. */
static int compact_blocks(const struct sl_compact_job *job, struct sl_given m[BLOCKS_MAX])
{
	const size_t word = sizeof(uint32_t);
	uint32_t n_indices = job->out || job->n_columns == 0 ? job->n : 0;
	int n = 0;

	m[n++] = (struct sl_given){"keep", job->keep, job->n, 1, 1, true, 0};
	m[n++] = (struct sl_given){"out", job->out, n_indices, word, word, false, 0};
	m[n++] = (struct sl_given){"n_out", job->n_out, 1, word, word, false, 0};
	for (uint32_t k = 0; k < job->n_columns; k++) {
		const struct sl_compact_column *c = &job->column[k];
		size_t align = c->bytes < 16 ? c->bytes : 16;

		m[n++] = (struct sl_given){"from", c->from, job->n, c->bytes, align, true, k + 1};
		m[n++] = (struct sl_given){"to", c->to, job->n, c->bytes, align, false, k + 1};
	}
	return n;
}

enum sl_status sl_compact(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_shape shape = {0};
	struct sl_given m[BLOCKS_MAX];
	struct sl_exec y;

	SL_TRY(check_backend(SL_COMPACT, b, x, job));
	SL_TRY(check_inner_scan(b, &job->scan));
	SL_TRY(sl_tuning_check(b, x->tuning, SL_U32));
	SL_TRY(check_columns(b, job));
	SL_TRY(sl_check_given(b, m, compact_blocks(job, m), x));
	shape.n = job->n;
	shape.tuning = x->tuning;
	shape.scan = job->scan;
	shape.n_columns = job->n_columns;
	SL_TRY(sl_check_scratch(b, x, &shape));
	y = tuned_exec(b, x, SL_U32, job->n);
	return b->compact(&y, job);
}

static enum sl_status check_bits(const struct sl_backend *b, const struct sl_sort_job *job)
{
	uint32_t most = (uint32_t)(8 * type_bytes(job->type));

	if (job->begin_bit <= job->end_bit && job->end_bit <= most)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"sort/%s: bits %u to %u cannot be sorted by, keys have %u; "
		"use begin_bit <= end_bit <= %u",
		b->name, job->begin_bit, job->end_bit, most, most);
}

/* What goes in comes out: keys, or pairs; or nothing does, in place. */
static enum sl_status check_outputs(const struct sl_backend *b, const struct sl_sort_job *job)
{
	if (job->index_out && !job->index)
		return sl_fail(SL_USAGE,
			"sort/%s: index_out is given, but index is not, and keys alone are sorted; "
			"give both or neither",
			b->name);
	if (!job->index || !job->key_out == !job->index_out)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"sort/%s: %s is given, but %s is not, and pairs are two columns; "
		"give both, or neither to sort in place",
		b->name, job->key_out ? "key_out" : "index_out",
		job->key_out ? "index_out" : "key_out");
}

static enum sl_status check_sort_blocks(
	const struct sl_backend *b, const struct sl_exec *x, const struct sl_sort_job *job)
{
	const size_t word = sizeof(uint32_t), item = type_bytes(job->type);
	struct sl_given m[BLOCKS_MAX];
	int n = 0;

	SL_TRY(check_outputs(b, job));
	m[n++] = (struct sl_given){"key", job->key, job->n, item, item, false, 0};
	if (job->index)
		m[n++] = (struct sl_given){"index", job->index, job->n, word, word, false, 0};
	if (job->key_out)
		m[n++] = (struct sl_given){"key_out", job->key_out, job->n, item, item, false, 0};
	if (job->index_out)
		m[n++] = (struct sl_given){
			"index_out", job->index_out, job->n, word, word, false, 0};
	return sl_check_given(b, m, n, x);
}

static enum sl_status copy_column(const struct sl_exec *x, void *to, const void *from, size_t bytes)
{
	if (x->space != SL_HOST)
		return sl_copy(to, from, bytes, x->stream);
	if (bytes > 0)
		memcpy(to, from, bytes);
	return SL_OK;
}

/* There is nothing to order: what goes in comes out as it is. */
static enum sl_status pass_through(const struct sl_exec *x, const struct sl_sort_job *job)
{
	if (job->key_out)
		SL_TRY(copy_column(x, job->key_out, job->key, job->n * type_bytes(job->type)));
	if (job->index_out)
		SL_TRY(copy_column(x, job->index_out, job->index, job->n * sizeof(uint32_t)));
	return SL_OK;
}

enum sl_status sl_sort(const struct sl_backend *b, struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_shape shape = {0};
	struct sl_exec y;

	SL_TRY(check_backend(SL_SORT, b, x, job));
	SL_TRY(check_type(b, job->type));
	SL_TRY(check_bits(b, job));
	SL_TRY(check_inner_scan(b, &job->scan));
	SL_TRY(sl_tuning_check(b, x->tuning, job->type));
	SL_TRY(check_sort_blocks(b, x, job));
	shape.n = job->n;
	shape.type = job->type;
	shape.tuning = x->tuning;
	shape.scan = job->scan;
	shape.keys_only = !job->index;
	SL_TRY(sl_check_scratch(b, x, &shape));
	if (job->n < 2 || job->begin_bit == job->end_bit)
		return pass_through(x, job);
	y = tuned_exec(b, x, job->type, job->n);
	return b->sort(&y, job);
}

static enum sl_status check_choices(const struct sl_backend *b, const struct sl_deflate_job *job)
{
	if (job->level < 1 || job->level > 9)
		return sl_fail(SL_USAGE,
			"deflate/%s: there is no level %d; use 1 (fast) to 9 (small)", b->name,
			job->level);
	if (job->wrapper != SL_RAW && job->wrapper != SL_ZLIB && job->wrapper != SL_GZIP)
		return sl_fail(SL_USAGE,
			"deflate/%s: wrapper %d is unknown; use SL_RAW, SL_ZLIB or SL_GZIP",
			b->name, (int)job->wrapper);
	return SL_OK;
}

/* Planes are of whole items. */
static enum sl_status check_items_of(const struct sl_backend *b, const struct sl_deflate_job *job)
{
	uint32_t item = job->item_bytes;

	if (item > 8 || (item & (item - 1)) != 0)
		return sl_fail(SL_USAGE,
			"deflate/%s: items of %u bytes have no planes; use 1, 2, 4 or 8", b->name,
			item);
	if (item == 0 || (job->in_bytes % item == 0 && job->chunk_bytes % item == 0))
		return SL_OK;
	return sl_fail(SL_USAGE,
		"deflate/%s: %zu bytes in chunks of %zu are not whole items of %u bytes; "
		"take multiples of that",
		b->name, job->in_bytes, job->chunk_bytes, item);
}

size_t sl_deflate_streams(size_t in_bytes, size_t chunk_bytes)
{
	return (size_t)sl_streams_make(in_bytes, chunk_bytes, 1, false).n;
}

/* Of libdeflate.h's and zlib.h's bounds and our own blocks, that of libdeflate is the largest. */
size_t sl_deflate_most(size_t in_bytes, size_t chunk_bytes, uint32_t item_bytes)
{
	struct sl_streams s = sl_streams_make(in_bytes, chunk_bytes, item_bytes, true);
	uint64_t stream = s.chunk_bytes + s.chunk_bytes / 1024 + 64;

	return (size_t)(s.n * stream + s.n_segments * SL_STORED_BYTES);
}

enum sl_status sl_deflate(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_deflate_job *job)
{
	const size_t word = sizeof(size_t), align = _Alignof(size_t);
	struct sl_shape shape = {0};

	SL_TRY(check_backend(SL_DEFLATE, b, x, job));
	SL_TRY(check_choices(b, job));
	SL_TRY(check_items_of(b, job));
	const struct sl_given m[] = {{"in", job->in, job->in_bytes, 1, 1, true, 0},
		{"out", job->out, job->out_size, 1, 1, false, 0},
		{"out_bytes", job->out_bytes, sl_deflate_streams(job->in_bytes, job->chunk_bytes),
			word, align, false, 0},
		{"out_used", job->out_used, job->out_used != NULL, word, align, false, 0}};
	SL_TRY(sl_check_given(b, m, 4, x));
	shape.in_bytes = job->in_bytes;
	shape.chunk_bytes = job->chunk_bytes;
	shape.item_bytes = job->item_bytes;
	shape.level = job->level;
	SL_TRY(sl_check_scratch(b, x, &shape));
	return b->deflate(x, job);
}
