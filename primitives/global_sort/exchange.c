/* exchange.c - see exchange.h. */
#include "primitives/global_sort/exchange.h"

#include "primitives/device/device_block.h"

_Static_assert(2 * SL_PIECES <= SL_DEVICES_MAX, "sl_sort_phases.begin has room for the pieces");

/*
 * Measured on two H200: with equal pieces of 16 and 24 MiB the sort takes 5 to 19 % longer than without copies, because
 * the devices wait for the host, which queues two kernels, one or two copies and a wait for each piece. With 128 MiB
 * and more it takes 0.95 to 0.98 of the time (bench/notes/sort.md). The limit is between them.
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

/*
 * The ends of the pieces in the order in which a device takes them, in units of 1/32 of its part. Nothing is copied
 * while the last piece is merged, so the last ones are small.
 */
enum { PART_UNITS = 32 };
static const uint32_t piece_end[SL_PIECES] = {5, 10, 15, 20, 25, 29, 31, PART_UNITS};

struct sl_run_cuts sl_exchange_cuts(const struct sl_sort_phases *p)
{
	const uint64_t first = sl_global_sort_part(p->keys, 2, 0), second = p->keys - first;
	struct sl_run_cuts cuts = {.n = 2 * SL_PIECES - 1};

	for (uint32_t k = 0; k < SL_PIECES; k++) {
		cuts.at[k] = first * piece_end[k] / PART_UNITS;
		if (k + 1 < SL_PIECES)
			cuts.at[2 * SL_PIECES - 2 - k] =
				p->keys - second * piece_end[k] / PART_UNITS;
	}
	return cuts;
}

/* The pairs of both shares before part k of p->begin. */
static uint64_t pairs_before(const struct sl_sort_phases *p, uint32_t k)
{
	return (uint64_t)p->begin[k][0] + p->begin[k][1];
}

/* The place of piece k of device i in p->begin. */
static uint32_t place_of(uint32_t i, uint32_t k)
{
	return i == 0 ? k : 2 * SL_PIECES - 1 - k;
}

/*
 * How many pairs of the other share a device copies before the boundaries are known. If both shares have similar keys,
 * these are two fifths of the pairs of its first piece, and their copy takes longer than the search for the boundaries.
 * Pairs that the part does not need are not used.
 */
static uint32_t known_pairs(const struct sl_sort_phases *p, uint32_t i)
{
	const uint64_t n = p->keys / 64;

	return n < p->share[1 - i].n ? (uint32_t)n : p->share[1 - i].n;
}

/* Where device i keeps its copy of the other share from pair number j on: the first or the last pairs are at an end. */
static struct sl_pairs copied_at(const struct sl_sort_phases *p, uint32_t i, uint32_t j)
{
	const struct sl_share_scratch scratch = sl_share_scratch_of(p, i);
	const uint64_t part = sl_global_sort_part(p->keys, 2, i), after = p->share[1 - i].n - j;

	return sl_pairs_at(
		p, (struct sl_pairs){scratch.key, scratch.index}, i == 0 ? j : part - after);
}

/* Queues the copy of the pairs begin to end - 1 of the other share to device i. */
static enum sl_status queue_copy(
	const struct sl_sort_phases *p, uint32_t i, uint32_t begin, uint32_t end)
{
	struct sl_sorted_run run;

	if (begin >= end)
		return SL_OK;
	run = sl_share_run(p, 1 - i, begin, end);
	SL_TRY(sl_share_switch(&p->share[i]));
	return sl_run_copy(p, &run, copied_at(p, i, begin), p->copies[i]);
}

enum sl_status sl_exchange_begin(const struct sl_sort_phases *p)
{
	const uint32_t n = p->share[0].n;

	SL_TRY(queue_copy(p, 0, 0, known_pairs(p, 0)));
	return queue_copy(p, 1, n - known_pairs(p, 1), n);
}

/* Queues the copy of what piece k of device i needs besides the first copy. Each pair has its own memory. */
static enum sl_status queue_copy_of_piece(const struct sl_sort_phases *p, uint32_t i, uint32_t k)
{
	const uint32_t at = place_of(i, k), other = 1 - i, known = known_pairs(p, i);
	const uint32_t unknown_end = p->share[other].n - known;
	uint32_t begin = p->begin[at][other], end = p->begin[at + 1][other];

	if (i == 0 && begin < known)
		begin = known;
	if (i == 1 && end > unknown_end)
		end = unknown_end;
	return queue_copy(p, i, begin, end);
}

/*
 * Queues the merge of piece k of device i, after its copy. The searches of all pieces use the same scratch, because the
 * merges are in one stream.
 */
static enum sl_status queue_merge_of_piece(const struct sl_sort_phases *p, uint32_t i, uint32_t k)
{
	const uint32_t at = place_of(i, k), other = 1 - i;
	const struct sl_global_share *s = &p->share[i];
	const struct sl_pairs copied = copied_at(p, i, p->begin[at][other]);
	const struct sl_pairs out = sl_pairs_at(p, (struct sl_pairs){s->key_out, s->index_out},
		pairs_before(p, at) - pairs_before(p, i * SL_PIECES));
	struct sl_sorted_run run[2];

	for (uint32_t j = 0; j < 2; j++)
		run[j] = sl_share_run(p, j, p->begin[at][j], p->begin[at + 1][j]);
	run[other].key = copied.key;
	run[other].index = copied.index;
	SL_TRY(sl_share_switch(s));
	SL_TRY(sl_stream_after(s->stream, p->copies[i]));
	return p->kernels->merge(&run[0], &run[1], p->sort->type, p->bits,
		sl_share_scratch_of(p, i).path, out.key, out.index, s->stream);
}

/* The devices take turns, and copies come first, so that all links and devices begin at about the same time. */
enum sl_status sl_exchange_merge(const struct sl_sort_phases *p)
{
	for (uint32_t k = 0; k < SL_PIECES; k++) {
		for (uint32_t i = 0; i < 2; i++)
			SL_TRY(queue_copy_of_piece(p, i, k));
		for (uint32_t i = 0; i < 2; i++)
			SL_TRY(queue_merge_of_piece(p, i, k));
	}
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
