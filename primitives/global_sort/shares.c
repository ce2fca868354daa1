/* shares.c - see shares.h. */
#include "primitives/global_sort/shares.h"

#include "primitives/check_args.h"

struct sl_share_scratch sl_share_lay_out(
	struct sl_arena *a, uint64_t part, enum sl_type type, bool keys_only)
{
	struct sl_share_scratch s = {0};

	s.value = (uint64_t *)sl_cut_items(a, SL_RANKS_MOST, sizeof(*s.value));
	s.rank = (struct sl_run_rank *)sl_cut_items(a, SL_RANKS_MOST, sizeof(*s.rank));
	s.path = (uint64_t *)sl_cut_items(a, sl_merge_path_words(part), sizeof(*s.path));
	s.key = sl_cut_items(a, part, sl_type_bytes(type));
	if (!keys_only)
		s.index = (uint32_t *)sl_cut_items(a, part, sizeof(*s.index));
	return s;
}

struct sl_share_scratch sl_share_scratch_of(const struct sl_sort_phases *p, uint32_t i)
{
	struct sl_arena a = p->share[i].scratch;

	return sl_share_lay_out(
		&a, sl_global_sort_part(p->keys, p->n, i), p->sort->type, !p->share[i].index);
}

struct sl_sorted_run sl_share_run(
	const struct sl_sort_phases *p, uint32_t i, uint32_t begin, uint32_t end)
{
	const struct sl_pairs share = {p->share[i].key, p->share[i].index};
	const struct sl_pairs from = sl_pairs_at(p, share, begin);

	return (struct sl_sorted_run){from.key, from.index, end - begin};
}

struct sl_pairs sl_pairs_at(const struct sl_sort_phases *p, struct sl_pairs pairs, uint64_t i)
{
	return (struct sl_pairs){
		.key = (char *)pairs.key + i * sl_type_bytes(p->sort->type),
		.index = pairs.index ? pairs.index + i : NULL,
	};
}

enum sl_status sl_run_copy(
	const struct sl_sort_phases *p, struct sl_sorted_run *run, struct sl_pairs to, sl_stream s)
{
	SL_TRY(sl_copy(to.key, run->key, run->n * sl_type_bytes(p->sort->type), s));
	if (to.index)
		SL_TRY(sl_copy(to.index, run->index, run->n * sizeof(*to.index), s));
	*run = (struct sl_sorted_run){to.key, to.index, run->n};
	return SL_OK;
}

struct sl_exec sl_share_exec(const struct sl_sort_phases *p, const struct sl_global_share *s)
{
	return (struct sl_exec){.space = SL_DEVICE,
		.stream = s->stream,
		.scratch = s->scratch,
		.tuning = p->sort->sort.tuning};
}

enum sl_status sl_share_switch(const struct sl_global_share *s)
{
	if (sl_device_switch(s->device))
		return SL_OK;
	return sl_fail(SL_DEVICE_FAILED,
		"global sort: device %d has failed before; sort on the other devices",
		s->device->number);
}

enum { BUFFERS = 4, BUFFERS_AND_SCRATCH };

/* The buffers of share i, and its scratch. */
static void list_buffers(
	const struct sl_sort_phases *p, uint32_t i, struct sl_buffer m[BUFFERS_AND_SCRATCH])
{
	const struct sl_global_share *s = &p->share[i];
	const size_t word = sizeof(uint32_t), item = sl_type_bytes(p->sort->type);
	const uint64_t part = sl_global_sort_part(p->keys, p->n, i);
	const size_t used = sl_round_up(s->scratch.used, SL_ALIGN);
	char *base = (char *)s->scratch.base;

	m[0] = (struct sl_buffer){"key", s->key, s->n, item, item, false, 0};
	m[1] = (struct sl_buffer){"key_out", s->key_out, part, item, item, false, 0};
	m[2] = (struct sl_buffer){"index", s->index, s->index ? s->n : 0, word, word, false, 0};
	m[3] = (struct sl_buffer){
		"index_out", s->index_out, s->index ? part : 0, word, word, false, 0};
	m[4] = (struct sl_buffer){"scratch", base ? base + used : NULL,
		s->scratch.size > used ? s->scratch.size - used : 0, 1, SL_ALIGN, false, 0};
}

/* No buffer of one share overlaps one of the other: two shares may be in memory of the same device. */
static enum sl_status check_apart(const struct sl_sort_phases *p, uint32_t i, uint32_t k)
{
	const struct sl_exec none = {.space = SL_DEVICE};
	struct sl_buffer m[2 * BUFFERS_AND_SCRATCH];

	list_buffers(p, i, m);
	list_buffers(p, k, m + BUFFERS_AND_SCRATCH);
	return sl_add_context(
		sl_check_buffers(p->sort->sort.backend, m, 2 * BUFFERS_AND_SCRATCH, &none),
		"global sort: shares %u and %u", i, k);
}

static enum sl_status check_share(const struct sl_sort_phases *p, uint32_t i)
{
	const struct sl_global_share *s = &p->share[i];
	const struct sl_backend *b = p->sort->sort.backend;
	const struct sl_exec x = sl_share_exec(p, s);
	struct sl_buffer m[BUFFERS_AND_SCRATCH];

	if (!s->device)
		return sl_fail(SL_USAGE,
			"global sort: share %u has no device; pass what sl_device_use() describes",
			i);
	if (!s->index != !p->share[0].index || !s->index != !s->index_out)
		return sl_fail(SL_USAGE,
			"global sort: share %u has index = %p and index_out = %p, share 0 has index = %p; "
			"give all shares both, or neither to sort keys only",
			i, (void *)s->index, (void *)s->index_out, (void *)p->share[0].index);
	list_buffers(p, i, m);
	SL_TRY(sl_add_context(sl_check_buffers(b, m, BUFFERS, &x), "global sort: share %u", i));
	SL_TRY(sl_share_switch(s));
	SL_TRY(sl_tuning_check(b, p->sort->sort.tuning, p->sort->type));
	SL_TRY(sl_add_context(
		sl_check_room(b, &x,
			sl_global_sort_scratch(p->sort, s->n, p->keys, p->n, !s->index),
			"sl_global_sort_scratch"),
		"global sort: share %u", i));
	for (uint32_t k = 0; k < i; k++)
		SL_TRY(check_apart(p, k, i));
	return SL_OK;
}

enum sl_status sl_shares_check(struct sl_sort_phases *p)
{
	const struct sl_global_sort *sort = p->sort;
	const struct sl_exec device = {.space = SL_DEVICE};

	if (!sort)
		return sl_fail(SL_USAGE, "global sort: the sort is a null pointer; pass one");
	if (!p->share || p->n == 0 || p->n > SL_DEVICES_MAX)
		return sl_fail(SL_USAGE, "global sort: %u shares%s; use 1 to %d", p->n,
			p->share ? "" : " at a null pointer", SL_DEVICES_MAX);
	SL_TRY(sl_check_backend(SL_SORT, sort->sort.backend, &device, sort));
	SL_TRY(sl_check_type(sort->sort.backend, sort->type));
	SL_TRY(sl_check_bits(sort->sort.backend, sort->type, sort->begin_bit, sort->end_bit));
	for (uint32_t i = 0; i < p->n; i++)
		p->keys += p->share[i].n;
	for (uint32_t i = 0; i < p->n; i++)
		SL_TRY(check_share(p, i));
	return SL_OK;
}
