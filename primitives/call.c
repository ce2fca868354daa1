/*
 * call.c - the checked calls: wrong use is answered with a sentence, the rest goes to the backend.
 *
 * Every check is here, none in a backend. They cost some dozen comparisons a call.
 */
#include "primitives.h"

/* One block of memory that a call reads or writes. */
struct block {
	const char *name; /* of the job's field */
	const void *at;
	uint64_t n;
	size_t item_bytes;
	size_t align; /* of the items */
};

enum { BLOCKS_MAX = 4 };

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

static enum sl_status check_pointer(const struct sl_backend *b, const struct block *m)
{
	const char *call = sl_primitive_name(b->primitive);

	if (m->n == 0)
		return SL_OK;
	if (!m->at)
		return sl_fail(SL_USAGE,
			"%s/%s: %s is a null pointer, but has %llu items; pass their address", call,
			b->name, m->name, (unsigned long long)m->n);
	if ((uintptr_t)m->at % m->align != 0)
		return sl_fail(SL_USAGE,
			"%s/%s: %s at %p is not aligned to its items of %zu bytes; "
			"begin it at a multiple of that",
			call, b->name, m->name, m->at, m->align);
	return SL_OK;
}

static bool overlap(const struct block *p, const struct block *q)
{
	uintptr_t p_at = (uintptr_t)p->at, q_at = (uintptr_t)q->at;
	size_t p_bytes = (size_t)p->n * p->item_bytes, q_bytes = (size_t)q->n * q->item_bytes;

	if (p_bytes == 0 || q_bytes == 0)
		return false;
	return p_at < q_at ? q_at - p_at < p_bytes : p_at - q_at < q_bytes;
}

/* What a backend may cut from: the rest of the arena, after what is cut already. */
static struct block scratch_left(const struct sl_exec *x)
{
	size_t used = sl_round_up(x->scratch.used, SL_ALIGN);
	struct block left = {"scratch", x->scratch.base, 0, 1, SL_ALIGN};

	if (!x->scratch.base || used >= x->scratch.size)
		return left;
	left.at = (const char *)x->scratch.base + used;
	left.n = x->scratch.size - used;
	return left;
}

/* Pointers are given and aligned, and no two blocks share memory, with each other or scratch. */
static enum sl_status check_blocks(
	const struct sl_backend *b, const struct block *m, int n, const struct sl_exec *x)
{
	const struct block scratch = scratch_left(x);

	for (int i = 0; i < n; i++) {
		SL_TRY(check_pointer(b, &m[i]));
		for (int k = 0; k <= i; k++) {
			const struct block *other = k < i ? &m[k] : &scratch;

			if (overlap(&m[i], other))
				return sl_fail(SL_USAGE,
					"%s/%s: %s and %s overlap, so one would overwrite "
					"the other; give each its own memory",
					sl_primitive_name(b->primitive), b->name, m[i].name,
					other->name);
		}
	}
	return SL_OK;
}

static enum sl_status check_scratch(
	const struct sl_backend *b, const struct sl_exec *x, const struct sl_shape *shape)
{
	const char *call = sl_primitive_name(b->primitive);
	const struct block scratch = scratch_left(x);
	size_t needed = b->scratch(shape);

	if (needed > scratch.n)
		return sl_fail(SL_USAGE,
			"%s/%s: scratch has %llu bytes left, %zu are needed; "
			"get what the backend's scratch() says",
			call, b->name, (unsigned long long)scratch.n, needed);
	if ((uintptr_t)x->scratch.base % SL_ALIGN != 0)
		return sl_fail(SL_USAGE,
			"%s/%s: scratch at %p is not aligned to %zu bytes, as arenas are; "
			"take it from sl_memory_get",
			call, b->name, x->scratch.base, SL_ALIGN);
	return SL_OK;
}

static size_t type_bytes(enum sl_type type)
{
	return type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

enum sl_status sl_scan(const struct sl_backend *b, struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_shape shape = {0};
	struct block m[BLOCKS_MAX];
	size_t item;
	int n = 0;

	SL_TRY(check_backend(SL_SCAN, b, x, job));
	SL_TRY(check_type(b, job->type));
	item = type_bytes(job->type);
	m[n++] = (struct block){"out", job->out, job->n, item, item};
	if (job->in != job->out)
		m[n++] = (struct block){"in", job->in, job->n, item, item};
	SL_TRY(check_blocks(b, m, n, x));
	shape.n = job->n;
	shape.type = job->type;
	shape.block = x->block;
	SL_TRY(check_scratch(b, x, &shape));
	return b->scan(x, job);
}

/* A scan inside must be a scan, of the same space. */
static enum sl_status check_inner_scan(const struct sl_backend *b, const struct sl_compact_job *job)
{
	if (!b->uses_scan || !job->scan)
		return SL_OK;
	if (job->scan->primitive == SL_SCAN && job->scan->space == b->space)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"compact/%s: the job's scan '%s' is no scan of %s memory; "
		"leave it out or take one of that space",
		b->name, job->scan->name, space_name(b->space));
}

enum sl_status sl_compact(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_compact_job *job)
{
	const size_t word = sizeof(uint32_t);
	struct sl_shape shape = {0};

	SL_TRY(check_backend(SL_COMPACT, b, x, job));
	SL_TRY(check_inner_scan(b, job));
	const struct block m[] = {{"keep", job->keep, job->n, 1, 1},
		{"out", job->out, job->n, word, word}, {"n_out", job->n_out, 1, word, word}};
	SL_TRY(check_blocks(b, m, 3, x));
	shape.n = job->n;
	shape.block = x->block;
	shape.scan = job->scan;
	SL_TRY(check_scratch(b, x, &shape));
	return b->compact(x, job);
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

enum sl_status sl_sort(const struct sl_backend *b, struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_shape shape = {0};
	size_t item;

	SL_TRY(check_backend(SL_SORT, b, x, job));
	SL_TRY(check_type(b, job->type));
	SL_TRY(check_bits(b, job));
	item = type_bytes(job->type);
	const struct block m[] = {{"key", job->key, job->n, item, item},
		{"index", job->index, job->n, sizeof(uint32_t), sizeof(uint32_t)}};
	SL_TRY(check_blocks(b, m, 2, x));
	shape.n = job->n;
	shape.type = job->type;
	shape.block = x->block;
	SL_TRY(check_scratch(b, x, &shape));
	return b->sort(x, job);
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

enum sl_status sl_deflate(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_deflate_job *job)
{
	struct sl_shape shape = {0};

	SL_TRY(check_backend(SL_DEFLATE, b, x, job));
	SL_TRY(check_choices(b, job));
	const struct block m[] = {{"in", job->in, job->in_bytes, 1, 1},
		{"out", job->out, job->out_size, 1, 1},
		{"out_bytes", job->out_bytes, 1, sizeof(size_t), _Alignof(size_t)}};
	SL_TRY(check_blocks(b, m, 3, x));
	shape.in_bytes = job->in_bytes;
	shape.level = job->level;
	SL_TRY(check_scratch(b, x, &shape));
	return b->deflate(x, job);
}
