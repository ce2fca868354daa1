/*
 * global_sort.c - see global_sort.h: drives all devices from the calling thread.
 *
 * Phases: each device sorts its share; the host finds the boundaries of the parts; each device merges its part, with
 * copies of the pairs of the other device if there are two shares of many keys (exchange.c). The host waits for all
 * devices between the phases, because a merge reads the shares of all devices. What it can prepare for the merge, it
 * does while the devices sort.
 */
#include "primitives/global_sort/global_sort.h"

#include <stdio.h>

#include "primitives/device/peers.h"
#include "primitives/global_sort/exchange.h"

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
	sl_share_lay_out(&a, most_of_part(keys, n_shares), sort->type, keys_only);
	return sorting > a.used ? sorting : a.used;
}

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

/* --- phases ----------------------------------------------------------------------------------- */

static enum sl_status wait_for_all(const struct sl_sort_phases *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		SL_TRY(sl_share_switch(&p->share[i]));
		SL_TRY(sl_stream_wait(p->share[i].stream));
	}
	return SL_OK;
}

/* Each device sorts its share: in place, or into the result if there is one share. */
static enum sl_status queue_sorts(const struct sl_sort_phases *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct sl_global_share *s = &p->share[i];
		struct sl_exec x = sl_share_exec(p, s);
		const struct sl_sort_job job = {.key = s->key,
			.index = s->index,
			.key_out = p->n == 1 ? s->key_out : NULL,
			.index_out = p->n == 1 ? s->index_out : NULL,
			.n = s->n,
			.type = p->sort->type,
			.begin_bit = p->sort->begin_bit,
			.end_bit = p->sort->end_bit};

		SL_TRY(sl_share_switch(s));
		SL_TRY(sl_sort(p->sort->sort.backend, &x, &job));
	}
	return SL_OK;
}

/* Queues the search of the first n of p->value in each share. */
static enum sl_status queue_search(const struct sl_sort_phases *p, uint32_t n)
{
	for (uint32_t i = 0; n > 0 && i < p->n; i++) {
		const struct sl_global_share *s = &p->share[i];
		const struct sl_share_scratch scratch = sl_share_scratch_of(p, i);
		const struct sl_sorted_run run = sl_share_run(p, i, 0, s->n);

		SL_TRY(sl_share_switch(s));
		SL_TRY(sl_copy(scratch.value, p->value, n * sizeof(p->value[0]), s->stream));
		SL_TRY(p->kernels->search(
			&run, p->sort->type, p->bits, scratch.value, n, scratch.rank, s->stream));
	}
	return SL_OK;
}

/* Copies the n ranks that share i has found to p->rank. */
static enum sl_status read_ranks(struct sl_sort_phases *p, uint32_t i, uint32_t n)
{
	const struct sl_global_share *s = &p->share[i];

	SL_TRY(sl_share_switch(s));
	SL_TRY(sl_copy(p->rank, sl_share_scratch_of(p, i).rank, n * sizeof(p->rank[0]), s->stream));
	return sl_stream_wait(s->stream);
}

/* One round for the boundaries range[1] to range[p->n - 1]. *narrower is false if all keys are known. */
static enum sl_status narrow(struct sl_sort_phases *p, struct sl_rank_range *range, bool *narrower)
{
	uint64_t not_more[SL_RANKS_MOST] = {0};
	uint32_t n = 0, tried[SL_DEVICES_MAX], at = 0;

	for (uint32_t k = 1; k < p->n; k++)
		n += tried[k] = sl_rank_values(&range[k], SL_RANKS_MOST / (p->n - 1), &p->value[n]);
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
static enum sl_status divide(struct sl_sort_phases *p, const struct sl_rank_range *range)
{
	struct sl_run_rank of[SL_DEVICES_MAX][SL_DEVICES_MAX];

	for (uint32_t k = 1; k < p->n; k++)
		p->value[k - 1] = range[k].low;
	SL_TRY(queue_search(p, p->n - 1));
	for (uint32_t i = 0; i < p->n; i++) {
		SL_TRY(read_ranks(p, i, p->n - 1));
		for (uint32_t k = 1; k < p->n; k++)
			of[k][i] = p->rank[k - 1];
	}
	for (uint32_t k = 1; k < p->n; k++)
		sl_rank_divide(range[k].rank, of[k], p->n, p->begin[k]);
	return SL_OK;
}

/* All boundaries, by rounds in which each device searches its share. */
static enum sl_status search_boundaries(struct sl_sort_phases *p)
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

/* The boundaries of the parts of two shares, by a kernel of the first device that reads both. */
static enum sl_status split_two(struct sl_sort_phases *p, const struct sl_run_cuts *cuts)
{
	const struct sl_global_share *s = p->share;
	const struct sl_sorted_run a = sl_share_run(p, 0, 0, s[0].n);
	const struct sl_sorted_run b = sl_share_run(p, 1, 0, s[1].n);
	uint64_t *of_a = sl_share_scratch_of(p, 0).value;

	SL_TRY(sl_share_switch(&s[0]));
	SL_TRY(p->kernels->split(&a, &b, p->sort->type, p->bits, cuts, of_a, s[0].stream));
	SL_TRY(sl_copy(p->value, of_a, cuts->n * sizeof(*of_a), s[0].stream));
	SL_TRY(sl_stream_wait(s[0].stream));
	for (uint32_t k = 0; k < cuts->n; k++) {
		p->begin[k + 1][0] = (uint32_t)p->value[k];
		p->begin[k + 1][1] = (uint32_t)(cuts->at[k] - p->value[k]);
	}
	return SL_OK;
}

/* reached: kernels of each device can read all shares. copied: the parts are merged by pieces. */
static enum sl_status find_boundaries(struct sl_sort_phases *p, bool reached, bool copied)
{
	struct sl_run_cuts cuts = {1, {sl_global_sort_part(p->keys, p->n, 0)}};

	if (copied)
		cuts = sl_exchange_cuts(p);
	p->parts = copied ? cuts.n + 1 : p->n;
	for (uint32_t i = 0; i < p->n; i++) {
		p->begin[0][i] = 0;
		p->begin[p->parts][i] = p->share[i].n;
	}
	return p->n == 2 && reached ? split_two(p, &cuts) : search_boundaries(p);
}

/* Lets each device read the memory of all others. *reached is false if some device cannot. */
static enum sl_status connect(const struct sl_sort_phases *p, bool *reached)
{
	*reached = true;
	for (uint32_t i = 0; i < p->n; i++) {
		SL_TRY(sl_share_switch(&p->share[i]));
		for (uint32_t k = 0; *reached && k < p->n; k++)
			SL_TRY(sl_device_reach(p->share[k].device, reached));
	}
	return SL_OK;
}

/* The merge of one part: its runs, and the two buffers between which the levels move them. */
struct part_merge {
	const struct sl_sort_phases *p;
	const struct sl_global_share *share;
	struct sl_share_scratch scratch;
	struct sl_sorted_run run[SL_DEVICES_MAX];
	uint32_t n;      /* runs */
	uint32_t levels; /* until one run is left */
};

/* Where the level that leaves so many levels writes: the last one into the result. */
static struct sl_pairs target_of(const struct part_merge *m, uint32_t levels_left)
{
	return levels_left % 2 == 0 ? (struct sl_pairs){m->share->key_out, m->share->index_out}
	                            : (struct sl_pairs){m->scratch.key, m->scratch.index};
}

/* Copies the runs into the memory of the device. */
static enum sl_status copy_runs(struct part_merge *m)
{
	const struct sl_pairs target = target_of(m, m->levels);
	uint64_t at = 0;

	for (uint32_t k = 0; k < m->n; at += m->run[k++].n)
		SL_TRY(sl_run_copy(
			m->p, &m->run[k], sl_pairs_at(m->p, target, at), m->share->stream));
	return SL_OK;
}

/* Merges each pair of neighbouring runs. An odd last run is merged with an empty one. */
static enum sl_status merge_level(struct part_merge *m)
{
	const struct sl_pairs target = target_of(m, --m->levels);
	uint32_t pairs = (m->n + 1) / 2;
	uint64_t at = 0;

	for (uint32_t k = 0; k < pairs; at += m->run[k++].n) {
		const struct sl_sorted_run *a = &m->run[2 * k], none = {0};
		const struct sl_sorted_run *b = 2 * k + 1 < m->n ? a + 1 : &none;
		const struct sl_pairs to = sl_pairs_at(m->p, target, at);

		SL_TRY(m->p->kernels->merge(a, b, m->p->sort->type, m->p->bits, m->scratch.path,
			to.key, to.index, m->share->stream));
		m->run[k] = (struct sl_sorted_run){to.key, to.index, a->n + b->n};
	}
	m->n = pairs;
	return SL_OK;
}

/* Queues the merge of part i on its device. reached: its kernels can read all shares. */
static enum sl_status merge_part(const struct sl_sort_phases *p, uint32_t i, bool reached)
{
	struct part_merge m = {
		.p = p, .share = &p->share[i], .scratch = sl_share_scratch_of(p, i), .n = p->n};

	for (uint32_t k = 0; k < p->n; k++)
		m.run[k] = sl_share_run(p, k, p->begin[i][k], p->begin[i + 1][k]);
	for (uint32_t left = p->n; left > 1; left = (left + 1) / 2)
		m.levels++;
	SL_TRY(sl_share_switch(m.share));
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

static enum sl_status run_phases(struct sl_sort_phases *p)
{
	bool reached, copied;

	SL_TRY(queue_sorts(p));
	if (p->n == 1)
		return wait_for_all(p);
	SL_TRY(connect(p, &reached));
	copied = reached && sl_exchange_is_used(p);
	if (copied)
		SL_TRY(sl_exchange_open(p));
	SL_TRY(wait_for_all(p));
	if (copied)
		SL_TRY(sl_exchange_begin(p));
	SL_TRY(find_boundaries(p, reached, copied));
	for (uint32_t i = 0; !copied && i < p->n; i++)
		SL_TRY(merge_part(p, i, reached));
	if (copied)
		SL_TRY(sl_exchange_merge(p));
	sl_exchange_close(p);
	return wait_for_all(p);
}

/*
 * After a failure of one device, work of the others may still read the memory of all shares and of this call.
 * The message stays that of the failure.
 */
static void wait_after_failure(struct sl_sort_phases *p)
{
	char message[SL_MESSAGE_BYTES];

	snprintf(message, sizeof(message), "%s", sl_last_error());
	for (uint32_t i = 0; i < p->n; i++)
		if (sl_device_switch(p->share[i].device))
			(void)sl_stream_wait(p->share[i].stream);
	sl_exchange_stop(p);
	sl_set_last_error(message);
}

enum sl_status sl_global_sort(
	const struct sl_global_sort *sort, const struct sl_global_share *share, uint32_t n_shares)
{
	struct sl_sort_phases p = {.sort = sort, .share = share, .n = n_shares};
	enum sl_status s;

	SL_TRY(sl_shares_check(&p));
	p.kernels = find_kernels();
	p.bits = bits_of(sort);
	s = run_phases(&p);
	if (s != SL_OK)
		wait_after_failure(&p);
	return s;
}
