/*
 * launch_config.c - the block size, items per thread and padding that a call is launched with,
 * whether the device supports them, and the scratch that they need.
 */
#include <stdio.h>
#include <string.h>

#include "primitives/check_args.h"
#include "primitives/primitives.h"

const char *sl_padding_name(enum sl_padding padding)
{
	return padding == SL_PADDING_ON ? "on" : padding == SL_PADDING_OFF ? "off" : "default";
}

enum sl_padding sl_padding_find(const char *text)
{
	return strcmp(text, "on") == 0    ? SL_PADDING_ON
	       : strcmp(text, "off") == 0 ? SL_PADDING_OFF
	                                  : SL_PADDING_DEFAULT;
}

/*
 * Indices of a compaction are u32, whatever type the shape has. An invalid type counts as SL_U64;
 * the call of the primitive will refuse it.
 */
static enum sl_type type_of(const struct sl_backend *b, enum sl_type type)
{
	if (b->primitive == SL_SCAN && sl_type_is_float(type))
		return type;
	return b->primitive == SL_COMPACT || type == SL_U32 ? SL_U32 : SL_U64;
}

struct sl_tuning sl_tuning_of(const struct sl_backend *b, struct sl_tuning t)
{
	if (t.block == 0)
		t.block = b->tunable.block;
	if (t.items == 0)
		t.items = b->tunable.items;
	if (t.padding == SL_PADDING_DEFAULT)
		t.padding = b->tunable.padding;
	return t;
}

static enum sl_status check_block(
	const struct sl_backend *b, uint32_t block, const struct sl_limits *limits)
{
	const struct sl_tunable *can = &b->tunable;
	uint32_t most =
		can->block_most < limits->block_threads ? can->block_most : limits->block_threads;
	const char *call = sl_primitive_name(b->primitive);

	if (can->block == 0)
		return sl_fail(SL_USAGE,
			"%s/%s: block=%u, but the number of threads per block of this backend is "
			"fixed; leave it out",
			call, b->name, block);
	if (block % can->block_step == 0 && block <= most)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"%s/%s: block=%u threads, but it takes multiples of %u up to %u on this device; "
		"leave it out for %u",
		call, b->name, block, can->block_step, most, can->block);
}

static enum sl_status check_items(const struct sl_backend *b, uint32_t items)
{
	const char *call = sl_primitive_name(b->primitive);
	const uint32_t *can = b->tunable.items_can;
	char list[128] = "";
	size_t used = 0;

	if (b->tunable.items == 0)
		return sl_fail(SL_USAGE,
			"%s/%s: items=%u, but the number of items per thread of this backend is "
			"fixed; leave it out",
			call, b->name, items);
	for (int i = 0; can[i] != 0; i++) {
		if (can[i] == items)
			return SL_OK;
		used += (size_t)snprintf(
			list + used, sizeof(list) - used, "%s%u", used > 0 ? ", " : "", can[i]);
	}
	return sl_fail(SL_USAGE,
		"%s/%s: items=%u per thread, but it takes one of %s; leave it out for %u", call,
		b->name, items, list, b->tunable.items);
}

static enum sl_status check_padding(const struct sl_backend *b, enum sl_padding padding)
{
	const char *call = sl_primitive_name(b->primitive);

	if (b->tunable.padding == SL_PADDING_DEFAULT)
		return sl_fail(SL_USAGE,
			"%s/%s: padding=%s, but this backend has no padding (those named tiled have); leave it out",
			call, b->name, sl_padding_name(padding));
	if (padding == SL_PADDING_ON || padding == SL_PADDING_OFF)
		return SL_OK;
	return sl_fail(SL_USAGE, "%s/%s: padding=%d, but it is SL_PADDING_ON or SL_PADDING_OFF",
		call, b->name, (int)padding);
}

static enum sl_status check_tuning(const struct sl_backend *b, struct sl_tuning tuning,
	enum sl_type type, const struct sl_limits *limits)
{
	size_t shared;

	if (tuning.block != 0)
		SL_TRY(check_block(b, tuning.block, limits));
	if (tuning.items != 0)
		SL_TRY(check_items(b, tuning.items));
	if (tuning.padding != SL_PADDING_DEFAULT)
		SL_TRY(check_padding(b, tuning.padding));
	if (tuning.threads != 0 && !b->tunable.threads)
		return sl_fail(SL_USAGE,
			"%s/%s: threads=%u, but this backend has no threads of the host to choose; "
			"leave it out",
			sl_primitive_name(b->primitive), b->name, tuning.threads);
	if (!b->tunable.shared_bytes)
		return SL_OK;
	tuning = sl_tuning_of(b, tuning);
	shared = b->tunable.shared_bytes(tuning, type);
	if (shared <= limits->shared_bytes)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"%s/%s: block=%u and items=%u take %zu bytes of shared memory, this device has %zu "
		"per block; choose smaller ones, or leave them out for %u and %u",
		sl_primitive_name(b->primitive), b->name, tuning.block, tuning.items, shared,
		limits->shared_bytes, b->tunable.block, b->tunable.items);
}

enum sl_status sl_tuning_check(
	const struct sl_backend *b, struct sl_tuning tuning, enum sl_type type)
{
	struct sl_limits limits = {0};

	if (b->space == SL_DEVICE)
		SL_TRY(sl_device_limits(&limits));
	return check_tuning(b, tuning, type_of(b, type), &limits);
}

/*
 * The scratch of a deflate backend: for all parts together if it joins parts, else for the part
 * that needs most. A shape without parts counts as one part, made of the fields of the shape.
 */
static size_t scratch_of_parts(const struct sl_backend *b, const struct sl_shape *shape)
{
	const struct sl_deflate_part single = {
		NULL, shape->in_bytes, shape->chunk_bytes, shape->item_bytes};
	struct sl_shape s = *shape;
	size_t bytes = 0, more;

	s.part = s.n_parts > 0 ? s.part : &single;
	s.n_parts = s.n_parts > 0 ? s.n_parts : 1;
	if (b->joins_parts)
		return b->scratch(&s);
	for (uint32_t k = 0; k < s.n_parts; k++) {
		s.in_bytes = s.part[k].in_bytes;
		s.chunk_bytes = s.part[k].chunk_bytes;
		s.item_bytes = s.part[k].item_bytes;
		more = b->scratch(&s);
		bytes = more > bytes ? more : bytes;
	}
	return bytes;
}

/* A sum needs n / 16 + n / 256 + ... items in 8 arrays, before the scan uses the same scratch. */
static size_t scratch_of_sum(const struct sl_backend *b, const struct sl_shape *shape)
{
	size_t scan = b->scratch(shape);
	struct sl_arena a = {0};

	sl_cut_items(&a, shape->n / 8, sl_type_bytes(shape->type));
	sl_cut(&a, 9 * SL_ALIGN);
	return a.used > scan ? a.used : scan;
}

/* The scratch of an expansion of counts: their sums, and what the scan and b need in turn. */
static size_t scratch_of_counts(
	const struct sl_backend *b, const struct sl_shape *shape, const struct sl_choice *scan)
{
	const struct sl_shape inner = {.n = shape->n, .type = shape->type, .tuning = scan->tuning};
	size_t first = sl_scratch(sl_scan_of_counts(b, scan), &inner), second = b->scratch(shape);
	struct sl_arena a = {0};

	sl_cut_items(&a, shape->n, sl_type_bytes(shape->type));
	sl_cut(&a, first > second ? first : second);
	return a.used;
}

size_t sl_scratch(const struct sl_backend *b, const struct sl_shape *most)
{
	struct sl_shape s = *most;

	if (!b)
		return 0; /* the call refuses it */
	s.type = type_of(b, most->type);
	s.tuning = sl_tuning_of(b, most->tuning);
	if (!b->uses_scan)
		s.scan = (struct sl_choice){0};
	if (b->primitive == SL_SCAN && most->sum)
		return scratch_of_sum(b, &s);
	if (b->primitive == SL_EXPAND && most->counts)
		return scratch_of_counts(b, &s, &most->scan);
	return b->primitive == SL_DEFLATE ? scratch_of_parts(b, &s) : b->scratch(&s);
}
