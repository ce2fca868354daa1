/* exchange.c - see exchange.h. */
#include "primitives/global_sort/exchange.h"

#include "primitives/device/device_block.h"

_Static_assert(2 * SL_PIECES <= SL_DEVICES_MAX, "sl_sort_phases.begin has room for the pieces");

/*
 * Measured on two H200: with pieces of 16 and 24 MiB the sort takes 5 to 19 % longer than without copies, because the
 * devices wait for the host, which queues two kernels, one or two copies and a wait for each piece. With 128 MiB and
 * more it takes 0.95 to 0.98 of the time (bench/notes/sort.md). The limit is between them.
 */
static uint64_t least_bytes = 64 << 20;

uint64_t sl_exchange_set_least(uint64_t bytes)
{
	const uint64_t before = least_bytes;

	least_bytes = bytes;
	return before;
}

/* Shares of one device have no use for copies: its kernels read all of its memory at full bandwidth. */
bool sl_exchange_is_used(const struct sl_sort_phases *p)
{
	const struct sl_global_share *s = p->share;
	uint64_t pair_bytes;

	if (p->n != 2 || s[0].device->number == s[1].device->number)
		return false;
	pair_bytes = sl_type_bytes(p->sort->type) + (s[0].index ? sizeof(*s[0].index) : 0);
	return p->keys / (2 * SL_PIECES) * pair_bytes >= least_bytes;
}

enum sl_status sl_exchange_open(struct sl_sort_phases *p)
{
	for (uint32_t i = 0; i < 2; i++) {
		SL_TRY(sl_share_switch(&p->share[i]));
		SL_TRY(sl_stream_make(&p->copies[i]));
	}
	return SL_OK;
}

/* The pairs of both shares before part k of p->begin. */
static uint64_t pairs_before(const struct sl_sort_phases *p, uint32_t k)
{
	return (uint64_t)p->begin[k][0] + p->begin[k][1];
}

/*
 * Queues piece k of share i. Each piece has its own memory for the copied pairs, so that no copy waits for a merge.
 * The searches of all pieces use the same scratch, because the merges are in one stream.
 */
static enum sl_status queue_piece(const struct sl_sort_phases *p, uint32_t i, uint32_t k)
{
	const uint32_t first = i * SL_PIECES, at = first + k, other = 1 - i;
	const struct sl_global_share *s = &p->share[i];
	const struct sl_share_scratch scratch = sl_share_scratch_of(p, i);
	const struct sl_pairs copied = sl_pairs_at(p, (struct sl_pairs){scratch.key, scratch.index},
		p->begin[at][other] - p->begin[first][other]);
	const struct sl_pairs out = sl_pairs_at(p, (struct sl_pairs){s->key_out, s->index_out},
		pairs_before(p, at) - pairs_before(p, first));
	struct sl_sorted_run run[2];

	for (uint32_t j = 0; j < 2; j++)
		run[j] = sl_share_run(p, j, p->begin[at][j], p->begin[at + 1][j]);
	SL_TRY(sl_share_switch(s));
	SL_TRY(sl_run_copy(p, &run[other], copied, p->copies[i]));
	SL_TRY(sl_stream_after(s->stream, p->copies[i]));
	return p->kernels->merge(&run[0], &run[1], p->sort->type, p->bits, scratch.path, out.key,
		out.index, s->stream);
}

/* The devices take turns, so that both begin at about the same time. */
enum sl_status sl_exchange_merge(const struct sl_sort_phases *p)
{
	for (uint32_t k = 0; k < SL_PIECES; k++)
		for (uint32_t i = 0; i < 2; i++)
			SL_TRY(queue_piece(p, i, k));
	return SL_OK;
}

/* In the context of a failed device nothing can be freed. */
static void close_copies(struct sl_sort_phases *p, bool wait)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (!p->copies[i] || !sl_device_switch(p->share[i].device))
			continue;
		if (wait)
			(void)sl_stream_wait(p->copies[i]);
		sl_stream_free(p->copies[i]);
		p->copies[i] = NULL;
	}
}

void sl_exchange_close(struct sl_sort_phases *p)
{
	close_copies(p, false);
}

void sl_exchange_stop(struct sl_sort_phases *p)
{
	close_copies(p, true);
}
