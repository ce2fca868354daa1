/*
 * check_args.c - see check_args.h.
 *
 * The pairwise overlap check costs n*(n+1)/2 comparisons: about a dozen for a scan or a sort, about
 * 1300 for a compaction of SL_COMPACT_COLUMNS_MAX columns. That is far below the cost of a launch.
 */
#include "primitives/check_args.h"

#include <stdio.h>

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

enum sl_status sl_check_backend(
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
			"%s: backend '%s' implements %s, not %s; get a backend of the right primitive from sl_find()",
			call, b->name, sl_primitive_name(b->primitive), call);
	if (b->space != x->space)
		return sl_fail(SL_USAGE,
			"%s/%s works on %s memory, but the exec's space is %s; "
			"choose a backend of that space",
			call, b->name, space_name(b->space), space_name(x->space));
	return SL_OK;
}

enum sl_status sl_check_type(const struct sl_backend *b, enum sl_type type)
{
	if (type == SL_U32 || type == SL_U64)
		return SL_OK;
	if (b->primitive == SL_SCAN && sl_type_is_float(type) && !b->integers_only)
		return SL_OK;
	if (b->primitive == SL_SCAN && sl_type_is_float(type))
		return sl_fail(SL_USAGE,
			"scan/%s: adds floating-point items in another order than primitives.h "
			"states, and so gives other bits; choose another backend",
			b->name);
	return sl_fail(SL_USAGE, "%s/%s: type %d is unknown; use SL_U32%s",
		sl_primitive_name(b->primitive), b->name, (int)type,
		b->primitive == SL_SCAN ? ", SL_U64, SL_F32 or SL_F64" : " or SL_U64");
}

enum sl_status sl_check_bits(
	const struct sl_backend *b, enum sl_type type, uint32_t begin_bit, uint32_t end_bit)
{
	uint32_t most = (uint32_t)(8 * sl_type_bytes(type));

	if (begin_bit <= end_bit && end_bit <= most)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"sort/%s: bits %u to %u are out of range: keys have %u bits; use "
		"begin_bit <= end_bit <= %u",
		b->name, begin_bit, end_bit, most, most);
}

/* The inner scan works on counts, which are u32; each expansion can have one, for its counts. */
enum sl_status sl_check_inner_scan(const struct sl_backend *b, const struct sl_choice *scan)
{
	if ((!b->uses_scan && b->primitive != SL_EXPAND) || !scan->backend)
		return SL_OK;
	if (scan->backend->primitive == SL_SCAN && scan->backend->space == b->space)
		return sl_tuning_check(scan->backend, scan->tuning, SL_U32);
	return sl_fail(SL_USAGE,
		"%s/%s: the job's scan '%s' is not a scan on %s memory; leave it out or choose "
		"one of that space",
		sl_primitive_name(b->primitive), b->name, scan->backend->name,
		space_name(b->space));
}

enum sl_status sl_check_count(
	const struct sl_backend *b, const void *at, enum sl_type type, struct sl_buffer *buffer)
{
	const size_t bytes = sl_type_bytes(type);

	*buffer = (struct sl_buffer){"n_on_device", at, at ? 1 : 0, bytes, bytes, true, 0};
	if (!at)
		return SL_OK;
	if (type != SL_U32 && type != SL_U64)
		return sl_fail(SL_USAGE, "%s/%s: type %d is unknown; use SL_U32 or SL_U64",
			sl_primitive_name(b->primitive), b->name, (int)type);
	if (b->takes_n_on_device || b->space == SL_HOST)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"%s/%s: n_on_device is given, but this backend needs the number of items on the "
		"host; leave it out or choose another backend",
		sl_primitive_name(b->primitive), b->name);
}

uint32_t sl_host_count(enum sl_space space, const void *at, enum sl_type type, uint32_t n)
{
	uint64_t given;

	if (space != SL_HOST || !at)
		return n;
	given = type == SL_U32 ? *(const uint32_t *)at : *(const uint64_t *)at;
	return given < n ? (uint32_t)given : n;
}

const struct sl_backend *sl_scan_of_counts(const struct sl_backend *b, const struct sl_choice *scan)
{
	const struct sl_backend *found = scan->backend;

	if (!found && sl_find(SL_SCAN, b->space == SL_HOST ? "cpu" : "shared", &found) != SL_OK)
		return &sl_scan_cpu; /* no device; the call will say so */
	return found;
}

enum sl_status sl_check_columns(
	const struct sl_backend *b, uint32_t n_columns, const struct sl_compact_column *column)
{
	const char *call = sl_primitive_name(b->primitive);

	if (n_columns > SL_COMPACT_COLUMNS_MAX)
		return sl_fail(SL_USAGE,
			"%s/%s: %u columns are too many; a call takes at most %d, so split "
			"them over several calls",
			call, b->name, n_columns, SL_COMPACT_COLUMNS_MAX);
	if (n_columns > 0 && !column)
		return sl_fail(SL_USAGE,
			"%s/%s: column is a null pointer, but n_columns is %u; pass the "
			"address of the columns",
			call, b->name, n_columns);
	for (uint32_t k = 0; k < n_columns; k++)
		if (column[k].bytes == 0 || column[k].bytes > 32 ||
			(column[k].bytes & (column[k].bytes - 1)) != 0)
			return sl_fail(SL_USAGE,
				"%s/%s: column[%u] has items of %u bytes; use 1, 2, 4, 8, 16 "
				"or 32",
				call, b->name, k, column[k].bytes);
	return SL_OK;
}

int sl_list_columns(uint32_t n_columns, const struct sl_compact_column *column, uint32_t n_from,
	uint32_t n_to, struct sl_buffer *buffer)
{
	int n = 0;

	for (uint32_t k = 0; k < n_columns; k++) {
		const struct sl_compact_column *c = &column[k];
		size_t align = c->bytes < 16 ? c->bytes : 16;

		buffer[n++] =
			(struct sl_buffer){"from", c->from, n_from, c->bytes, align, true, k + 1};
		buffer[n++] = (struct sl_buffer){"to", c->to, n_to, c->bytes, align, false, k + 1};
	}
	return n;
}

/* Backends see the exec with each 0 of the tuning replaced. */
struct sl_exec sl_tuned_exec(const struct sl_backend *b, const struct sl_exec *x)
{
	struct sl_exec tuned = *x;

	tuned.tuning = sl_tuning_of(b, x->tuning);
	return tuned;
}

/* The name of a buffer for messages: "keep", "column[2].from". */
enum { NAME_BYTES = 40 };
static const char *name_of(const struct sl_buffer *m, char text[NAME_BYTES])
{
	if (m->column == 0)
		return m->name;
	snprintf(text, NAME_BYTES, "column[%u].%s", m->column - 1, m->name);
	return text;
}

static enum sl_status check_pointer(const struct sl_backend *b, const struct sl_buffer *m)
{
	const char *call = sl_primitive_name(b->primitive);
	char name[NAME_BYTES];

	if (m->n == 0)
		return SL_OK;
	if (!m->at)
		return sl_fail(SL_USAGE,
			"%s/%s: %s is a null pointer, but has %llu items; pass the address of the items",
			call, b->name, name_of(m, name), (unsigned long long)m->n);
	if ((uintptr_t)m->at % m->align != 0)
		return sl_fail(SL_USAGE,
			"%s/%s: %s at %p is not aligned to its items of %zu bytes; "
			"align it to a multiple of its item size",
			call, b->name, name_of(m, name), m->at, m->align);
	return SL_OK;
}

static bool overlap(const struct sl_buffer *p, const struct sl_buffer *q)
{
	uintptr_t p_at = (uintptr_t)p->at, q_at = (uintptr_t)q->at;
	size_t p_bytes = (size_t)p->n * p->item_bytes, q_bytes = (size_t)q->n * q->item_bytes;

	if (p_bytes == 0 || q_bytes == 0 || (p->read_only && q->read_only))
		return false;
	return p_at < q_at ? q_at - p_at < p_bytes : p_at - q_at < q_bytes;
}

/* The part of the scratch that the backend may cut: what follows the bytes in use. */
static struct sl_buffer scratch_left(const struct sl_exec *x)
{
	size_t used = sl_round_up(x->scratch.used, SL_ALIGN);
	struct sl_buffer left = {"scratch", x->scratch.base, 0, 1, SL_ALIGN, false, 0};

	if (!x->scratch.base || used >= x->scratch.size)
		return left;
	left.at = (const char *)x->scratch.base + used;
	left.n = x->scratch.size - used;
	return left;
}

enum sl_status sl_check_buffers(
	const struct sl_backend *b, const struct sl_buffer *m, int n, const struct sl_exec *x)
{
	const struct sl_buffer scratch = scratch_left(x);
	char name[NAME_BYTES], other_name[NAME_BYTES];

	for (int i = 0; i < n; i++) {
		SL_TRY(check_pointer(b, &m[i]));
		for (int k = 0; k <= i; k++) {
			const struct sl_buffer *other = k < i ? &m[k] : &scratch;

			if (overlap(&m[i], other))
				return sl_fail(SL_USAGE,
					"%s/%s: %s and %s overlap, so one would overwrite "
					"the other; give each its own memory",
					sl_primitive_name(b->primitive), b->name,
					name_of(&m[i], name), name_of(other, other_name));
		}
	}
	return SL_OK;
}

enum sl_status sl_check_scratch(
	const struct sl_backend *b, const struct sl_exec *x, const struct sl_shape *shape)
{
	return sl_check_room(b, x, sl_scratch(b, shape), "sl_scratch");
}

enum sl_status sl_check_room(
	const struct sl_backend *b, const struct sl_exec *x, size_t needed, const char *function)
{
	const char *call = sl_primitive_name(b->primitive);
	const struct sl_buffer scratch = scratch_left(x);

	if (needed > scratch.n)
		return sl_fail(SL_USAGE,
			"%s/%s: scratch has %llu bytes left, %zu are needed; "
			"allocate the bytes that %s() returns",
			call, b->name, (unsigned long long)scratch.n, needed, function);
	if ((uintptr_t)x->scratch.base % SL_ALIGN != 0)
		return sl_fail(SL_USAGE,
			"%s/%s: scratch at %p is not aligned to %zu bytes, as arenas are; "
			"take it from sl_memory_get",
			call, b->name, x->scratch.base, SL_ALIGN);
	return SL_OK;
}
