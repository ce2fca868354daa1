/*
 * global_sort.c - see global_sort.h: checks the arguments, and drives all devices from the calling thread.
 *
 * Phases: each device sorts its share; the host finds the boundaries of the parts; each device merges its part.
 * The host waits for all devices between the phases, because a merge reads the shares of all devices.
 */
#include "primitives/global_sort/global_sort.h"

#include <stdio.h>

#include "primitives/check_args.h"
#include "primitives/device/peers.h"
#include "primitives/global_sort/boundaries.h"

/* The sort of all phases: arguments and what follows from them. */
struct phases {
	const struct sl_global_sort *sort;
	struct sl_global_share *share;
	uint32_t n;
	uint64_t keys; /* of all shares */
	struct sl_key_bits bits;
	const struct sl_run_kernels *kernels;
	/* Part i has the pairs begin[i][k] to begin[i + 1][k] - 1 of share k. */
	uint32_t begin[SL_DEVICES_MAX + 1][SL_DEVICES_MAX];
	/* Of one round of the search. Here, because after a failure copies may still be queued. */
	uint64_t value[SL_RANKS_MOST];
	struct sl_run_rank rank[SL_RANKS_MOST];
};

/* The scratch of a share after its sort. */
struct share_scratch {
	uint64_t *value; /* SL_RANKS_MOST */
	struct sl_run_rank *rank;
	uint64_t *path;  /* of a merge */
	void *key;       /* as many pairs as the part has */
	uint32_t *index; /* NULL: keys only */
};

static struct share_scratch lay_out(
	struct sl_arena *a, uint64_t part, enum sl_type type, bool keys_only)
{
	struct share_scratch s = {0};

	s.value = (uint64_t *)sl_cut_items(a, SL_RANKS_MOST, sizeof(*s.value));
	s.rank = (struct sl_run_rank *)sl_cut_items(a, SL_RANKS_MOST, sizeof(*s.rank));
	s.path = (uint64_t *)sl_cut_items(a, sl_merge_path_words(part), sizeof(*s.path));
	s.key = sl_cut_items(a, part, sl_type_bytes(type));
	if (!keys_only)
		s.index = (uint32_t *)sl_cut_items(a, part, sizeof(*s.index));
	return s;
}

/* The most keys that a part can have. */
static uint64_t most_of_part(uint64_t keys, uint32_t n_shares)
{
	return keys / n_shares + (keys % n_shares > 0);
}

size_t sl_global_sort_scratch(const struct sl_global_sort *sort, uint32_t n, uint64_t keys,
	uint32_t n_shares, bool keys_only)
{
	const struct sl_shape shape = {
		.n = n, .type = sort->type, .tuning = sort->sort.tuning, .keys_only = keys_only};
	size_t sorting = sl_scratch(sort->sort.backend, &shape);
	struct sl_arena a = {0};

	if (n_shares <= 1)
		return sorting;
	lay_out(&a, most_of_part(keys, n_shares), sort->type, keys_only);
	return sorting > a.used ? sorting : a.used;
}

/* --- arguments -------------------------------------------------------------------------------- */

static const struct sl_run_kernels *find_kernels(void)
{
	if (sl_device_is_emulated())
		return &sl_run_kernels_emulated;
#ifdef SL_WITH_CUDA
	return &sl_run_kernels;
#else
	return NULL;
#endif
}

static struct sl_exec exec_of(const struct phases *p, const struct sl_global_share *s)
{
	return (struct sl_exec){.space = SL_DEVICE,
		.stream = s->stream,
		.scratch = s->scratch,
		.tuning = p->sort->sort.tuning};
}

static enum sl_status switch_to(const struct sl_global_share *s)
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
	const struct phases *p, uint32_t i, struct sl_buffer m[BUFFERS_AND_SCRATCH])
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
static enum sl_status check_apart(const struct phases *p, uint32_t i, uint32_t k)
{
	const struct sl_exec none = {.space = SL_DEVICE};
	struct sl_buffer m[2 * BUFFERS_AND_SCRATCH];

	list_buffers(p, i, m);
	list_buffers(p, k, m + BUFFERS_AND_SCRATCH);
	return sl_add_context(
		sl_check_buffers(p->sort->sort.backend, m, 2 * BUFFERS_AND_SCRATCH, &none),
		"global sort: shares %u and %u", i, k);
}

static enum sl_status check_share(const struct phases *p, uint32_t i)
{
	const struct sl_global_share *s = &p->share[i];
	const struct sl_backend *b = p->sort->sort.backend;
	const struct sl_exec x = exec_of(p, s);
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
	SL_TRY(switch_to(s));
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

static enum sl_status check(struct phases *p)
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

/* --- phases ----------------------------------------------------------------------------------- */

static enum sl_status wait_for_all(const struct phases *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		SL_TRY(switch_to(&p->share[i]));
		SL_TRY(sl_stream_wait(p->share[i].stream));
	}
	return SL_OK;
}

/* Each device sorts its share: in place, or into the result if there is one share. */
static enum sl_status sort_shares(const struct phases *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct sl_global_share *s = &p->share[i];
		struct sl_exec x = exec_of(p, s);
		const struct sl_sort_job job = {.key = s->key,
			.index = s->index,
			.key_out = p->n == 1 ? s->key_out : NULL,
			.index_out = p->n == 1 ? s->index_out : NULL,
			.n = s->n,
			.type = p->sort->type,
			.begin_bit = p->sort->begin_bit,
			.end_bit = p->sort->end_bit};

		SL_TRY(switch_to(s));
		SL_TRY(sl_sort(p->sort->sort.backend, &x, &job));
	}
	return wait_for_all(p);
}

static struct share_scratch scratch_of(const struct phases *p, uint32_t i)
{
	struct sl_arena a = p->share[i].scratch;

	return lay_out(
		&a, sl_global_sort_part(p->keys, p->n, i), p->sort->type, !p->share[i].index);
}

/* Queues the search of the first n of p->value in each share. */
static enum sl_status queue_search(const struct phases *p, uint32_t n)
{
	for (uint32_t i = 0; n > 0 && i < p->n; i++) {
		const struct sl_global_share *s = &p->share[i];
		const struct share_scratch scratch = scratch_of(p, i);
		const struct sl_sorted_run run = {s->key, s->index, s->n};

		SL_TRY(switch_to(s));
		SL_TRY(sl_copy(scratch.value, p->value, n * sizeof(p->value[0]), s->stream));
		SL_TRY(p->kernels->search(
			&run, p->sort->type, p->bits, scratch.value, n, scratch.rank, s->stream));
	}
	return SL_OK;
}

/* Copies the n ranks that share i has found to p->rank. */
static enum sl_status read_ranks(struct phases *p, uint32_t i, uint32_t n)
{
	const struct sl_global_share *s = &p->share[i];

	SL_TRY(switch_to(s));
	SL_TRY(sl_copy(p->rank, scratch_of(p, i).rank, n * sizeof(p->rank[0]), s->stream));
	return sl_stream_wait(s->stream);
}

/* One round for the boundaries range[1] to range[p->n - 1]. *narrower is false if all keys are known. */
static enum sl_status narrow(struct phases *p, struct sl_rank_range *range, bool *narrower)
{
	uint64_t not_more[SL_RANKS_MOST] = {0};
	uint32_t n = 0, tried[SL_DEVICES_MAX], at = 0;

	for (uint32_t k = 1; k < p->n; k++)
		n += tried[k] = sl_rank_values(&range[k], &p->value[n]);
	*narrower = n > 0;
	SL_TRY(queue_search(p, n));
	for (uint32_t i = 0; n > 0 && i < p->n; i++) {
		SL_TRY(read_ranks(p, i, n));
		for (uint32_t k = 0; k < n; k++)
			not_more[k] += p->rank[k].not_more;
	}
	for (uint32_t k = 1; k < p->n; at += tried[k++])
		sl_rank_narrow(&range[k], &p->value[at], &not_more[at], tried[k]);
	return SL_OK;
}

/* Sets p->begin from the key at each boundary. */
static enum sl_status divide(struct phases *p, const struct sl_rank_range *range)
{
	struct sl_run_rank of[SL_DEVICES_MAX][SL_DEVICES_MAX];

	for (uint32_t k = 1; k < p->n; k++)
		p->value[k - 1] = range[k].low;
	SL_TRY(queue_search(p, p->n - 1));
	for (uint32_t i = 0; i < p->n; i++) {
		SL_TRY(read_ranks(p, i, p->n - 1));
		for (uint32_t k = 1; k < p->n; k++)
			of[k][i] = p->rank[k - 1];
		p->begin[0][i] = 0;
		p->begin[p->n][i] = p->share[i].n;
	}
	for (uint32_t k = 1; k < p->n; k++)
		sl_rank_divide(range[k].rank, of[k], p->n, p->begin[k]);
	return SL_OK;
}

static enum sl_status find_boundaries(struct phases *p)
{
	struct sl_rank_range range[SL_DEVICES_MAX];
	uint64_t rank = 0;
	bool narrower = true;

	for (uint32_t k = 1; k < p->n; k++) {
		rank += sl_global_sort_part(p->keys, p->n, k - 1);
		range[k] = (struct sl_rank_range){.rank = rank, .low = 0, .high = p->bits.mask};
	}
	while (narrower)
		SL_TRY(narrow(p, range, &narrower));
	return divide(p, range);
}

/* Lets each device read the memory of all others. *reached is false if some device cannot. */
static enum sl_status connect(const struct phases *p, bool *reached)
{
	*reached = true;
	for (uint32_t i = 0; i < p->n; i++) {
		SL_TRY(switch_to(&p->share[i]));
		for (uint32_t k = 0; *reached && k < p->n; k++)
			SL_TRY(sl_device_reach(p->share[k].device, reached));
	}
	return SL_OK;
}

/* The merge of one part: its runs, and the two buffers between which the levels move them. */
struct part_merge {
	const struct phases *p;
	const struct sl_global_share *share;
	struct share_scratch scratch;
	struct sl_sorted_run run[SL_DEVICES_MAX];
	uint32_t n;      /* runs */
	uint32_t levels; /* until one run is left */
};

/* Where the level that leaves so many levels writes: the last one into the result. */
static void target_of(
	const struct part_merge *m, uint32_t levels_left, void **key, uint32_t **index)
{
	*key = levels_left % 2 == 0 ? m->share->key_out : m->scratch.key;
	*index = levels_left % 2 == 0 ? m->share->index_out : m->scratch.index;
}

static void *key_at(const struct phases *p, const void *key, uint64_t i)
{
	return (char *)(uintptr_t)key + i * sl_type_bytes(p->sort->type);
}

/* Copies the runs into the memory of the device. */
static enum sl_status copy_runs(struct part_merge *m)
{
	uint64_t at = 0;
	uint32_t *index;
	void *key;

	target_of(m, m->levels, &key, &index);
	for (uint32_t k = 0; k < m->n; k++) {
		const struct sl_sorted_run from = m->run[k];
		struct sl_sorted_run to = {
			key_at(m->p, key, at), index ? index + at : NULL, from.n};

		SL_TRY(sl_copy(key_at(m->p, key, at), from.key,
			from.n * sl_type_bytes(m->p->sort->type), m->share->stream));
		if (index)
			SL_TRY(sl_copy(
				index + at, from.index, from.n * sizeof(*index), m->share->stream));
		m->run[k] = to;
		at += from.n;
	}
	return SL_OK;
}

/* Merges each pair of neighbouring runs. An odd last run is merged with an empty one. */
static enum sl_status merge_level(struct part_merge *m)
{
	uint32_t pairs = (m->n + 1) / 2, *index;
	uint64_t at = 0;
	void *key;

	target_of(m, --m->levels, &key, &index);
	for (uint32_t k = 0; k < pairs; k++) {
		const struct sl_sorted_run *a = &m->run[2 * k], none = {0};
		const struct sl_sorted_run *b = 2 * k + 1 < m->n ? a + 1 : &none;
		struct sl_sorted_run merged = {
			key_at(m->p, key, at), index ? index + at : NULL, a->n + b->n};

		SL_TRY(m->p->kernels->merge(a, b, m->p->sort->type, m->p->bits, m->scratch.path,
			key_at(m->p, key, at), index ? index + at : NULL, m->share->stream));
		at += merged.n;
		m->run[k] = merged;
	}
	m->n = pairs;
	return SL_OK;
}

/* Queues the merge of part i on its device. reached: its kernels can read all shares. */
static enum sl_status merge_part(const struct phases *p, uint32_t i, bool reached)
{
	struct part_merge m = {
		.p = p, .share = &p->share[i], .scratch = scratch_of(p, i), .n = p->n};

	for (uint32_t k = 0; k < p->n; k++) {
		const struct sl_global_share *s = &p->share[k];
		const uint32_t begin = p->begin[i][k];

		m.run[k] = (struct sl_sorted_run){key_at(p, s->key, begin),
			s->index ? s->index + begin : NULL, p->begin[i + 1][k] - begin};
	}
	for (uint32_t left = p->n; left > 1; left = (left + 1) / 2)
		m.levels++;
	SL_TRY(switch_to(m.share));
	if (!reached)
		SL_TRY(copy_runs(&m));
	while (m.n > 1)
		SL_TRY(merge_level(&m));
	return SL_OK;
}

/* Without bits all keys are equal. */
static struct sl_key_bits bits_of(const struct sl_global_sort *sort)
{
	uint32_t n = sort->end_bit - sort->begin_bit;

	return (struct sl_key_bits){
		.shift = n > 0 ? sort->begin_bit : 0, .mask = n > 0 ? UINT64_MAX >> (64 - n) : 0};
}

static enum sl_status run_phases(struct phases *p)
{
	bool reached;

	SL_TRY(sort_shares(p));
	if (p->n == 1)
		return SL_OK;
	SL_TRY(find_boundaries(p));
	SL_TRY(connect(p, &reached));
	for (uint32_t i = 0; i < p->n; i++)
		SL_TRY(merge_part(p, i, reached));
	return wait_for_all(p);
}

/*
 * After a failure of one device, work of the others may still read the memory of all shares and of this call.
 * The message stays that of the failure.
 */
static void wait_after_failure(const struct phases *p)
{
	char message[SL_MESSAGE_BYTES];

	snprintf(message, sizeof(message), "%s", sl_last_error());
	for (uint32_t i = 0; i < p->n; i++)
		if (sl_device_switch(p->share[i].device))
			(void)sl_stream_wait(p->share[i].stream);
	sl_set_last_error(message);
}

enum sl_status sl_global_sort(
	const struct sl_global_sort *sort, struct sl_global_share *share, uint32_t n_shares)
{
	struct phases p = {.sort = sort, .share = share, .n = n_shares};
	enum sl_status s;

	SL_TRY(check(&p));
	p.kernels = find_kernels();
	p.bits = bits_of(sort);
	s = run_phases(&p);
	if (s != SL_OK)
		wait_after_failure(&p);
	return s;
}
