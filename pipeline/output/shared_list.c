/* shared_list.c - see shared_list.h. Functions that all ranks call together return the status of all. */
#include "pipeline/output/shared_list.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pipeline/output/merged_list.h"
#include "pipeline/output/source/splitters.h"
#include "pipeline/plan/file_names.h"
#include "pipeline/plan/joined_memory.h"
#include "pipeline/ranks/ranks_watch.h"
#include "primitives/base/clock.h"
#include "primitives/base/size.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "stages/formats/mcpl/mcpl.h"

/* NFS keeps for up to 30 s that a name did not exist, or was that of another file. */
enum { SECONDS_TO_APPEAR = 40, INTERVAL_NS = 100000000 };

/* What a rank tells the others after its merge: the end of a record that begins before the end of its range. */
struct tail {
	uint32_t n;
	uint8_t bytes[SL_MCPL_RECORD_MOST];
	uint32_t sorting_devices;   /* as in struct sl_joined_list */
	char why[SL_MESSAGE_BYTES]; /* likewise */
};

struct shared_list {
	const struct sl_plan *plan;
	struct sl_order_devices devices;
	struct sl_ranks *ranks;
	struct sl_dir dir; /* of the run; also says whether this rank flushes the file */
	char name[SL_FILE_NAME_BYTES];
	struct sl_manifest m;
	struct sl_list_share share;
	struct sl_joined_list joined;
	uint64_t number; /* inode number of the file */
	/* of the file: the sizes of its parts, and the range that this rank writes */
	uint64_t header_bytes, record_bytes, records, begin, end;
	uint64_t first, last; /* records that this rank merges; last is not one of them */
	uint64_t at;          /* offset of the next byte that the merge sends */
	struct sl_file_writer file;
	atomic_bool cancel;
	struct sl_map *order; /* of each batch, while the ranges are found */
	struct sl_sorted_keys *keys;
	struct sl_splitters splitters;
	struct tail tail, *all_tails;       /* of each rank */
	struct sl_record_range *all_ranges; /* m.n of each rank, one rank after another */
	void *block;
};

/* --- the batches ------------------------------------------------------------------------------ */

static bool is_shareable(const struct sl_plan *plan)
{
	const struct sl_list_order *order = &plan->choices.list_order;
	const struct sl_order_items items = sl_plan_order_items(plan);

	return sl_plan_is_joined(plan) && plan->choices.format == &sl_format_mcpl && items.key &&
	       !items.priority && order->sample == 0 && order->limit == 0;
}

static void lay_out(struct sl_arena *a, size_t n, struct shared_list *l)
{
	const size_t ranks = l->ranks->n, all = sl_size_mul(n, ranks);
	struct sl_splitters *s = &l->splitters;

	l->m.line = (struct sl_manifest_line *)sl_cut_items(a, n, sizeof(*l->m.line));
	l->share.range = (struct sl_record_range *)sl_cut_items(a, n, sizeof(*l->share.range));
	l->order = (struct sl_map *)sl_cut_items(a, n, sizeof(*l->order));
	l->keys = (struct sl_sorted_keys *)sl_cut_items(a, n, sizeof(*l->keys));
	s->before = (uint64_t *)sl_cut_items(a, n, sizeof(*s->before));
	s->middle = (uint64_t *)sl_cut_items(a, n, sizeof(*s->middle));
	s->above = (uint64_t *)sl_cut_items(a, n, sizeof(*s->above));
	l->all_ranges = (struct sl_record_range *)sl_cut_items(a, all, sizeof(*l->all_ranges));
	l->all_tails = (struct tail *)sl_cut_items(a, ranks, sizeof(*l->all_tails));
}

static enum sl_status get_memory(size_t n, struct shared_list *l)
{
	struct sl_arena a = {0};

	lay_out(&a, n, l);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &l->block));
	a = (struct sl_arena){.base = l->block, .size = a.used};
	lay_out(&a, n, l);
	memset(l->block, 0, a.used);
	return SL_OK;
}

/*
 * Sends the lines of the batches to all ranks: another node could still have an older manifest in its cache.
 * Without a list that can be shared, l->m.n is 0.
 */
static enum sl_status get_batches(const struct sl_manifest *m, struct shared_list *l)
{
	const bool first = l->ranks->rank == 0;
	uint64_t n = first && m && m->n > 1 && m->n <= SL_MERGED_FILES_MOST ? m->n : 0;

	SL_TRY(sl_ranks_broadcast(l->ranks, &n, sizeof(n)));
	if (n == 0)
		return SL_OK;
	SL_TRY(sl_ranks_agree(l->ranks, get_memory((size_t)n, l)));
	if (first)
		memcpy(l->m.line, m->line, n * sizeof(*l->m.line));
	l->m.n = (size_t)n;
	return sl_ranks_broadcast(l->ranks, l->m.line, n * sizeof(*l->m.line));
}

/* --- the ranges ------------------------------------------------------------------------------- */

/* The offset in the file at which the bytes of a rank begin; for the number of ranks, the end of the file. */
static uint64_t range_begin(const struct shared_list *l, uint32_t rank)
{
	const uint64_t bytes = sl_size_mul(l->records, l->record_bytes);
	const uint64_t end = sl_size_add(l->header_bytes, bytes);
	const uint64_t step = sl_round_up(sl_ceil_div(bytes, l->ranks->n), SL_SHARED_BLOCK_BYTES);
	uint64_t at = sl_size_add(l->header_bytes, sl_size_mul(step, rank));

	if (rank == 0)
		return 0;
	at = sl_round_up(at, SL_SHARED_BLOCK_BYTES);
	return rank == l->ranks->n || at > end ? end : at;
}

/* The first record that begins at the offset or after it. */
static uint64_t record_from(const struct shared_list *l, uint64_t offset)
{
	return offset <= l->header_bytes ? 0
	                                 : sl_ceil_div(offset - l->header_bytes, l->record_bytes);
}

static void set_range(struct shared_list *l)
{
	const uint32_t rank = l->ranks->rank;

	l->begin = range_begin(l, rank);
	l->end = range_begin(l, rank + 1);
	l->first = record_from(l, l->begin);
	l->last = record_from(l, l->end);
	l->at = rank == 0 ? 0 : l->header_bytes + l->first * l->record_bytes;
	l->share.records = l->last - l->first;
	l->share.is_first = rank == 0;
	l->share.cancel = &l->cancel;
}

/* Maps the keys of batch i. Their file must have one for each survivor. */
static enum sl_status map_keys(struct shared_list *l, size_t i)
{
	const struct sl_manifest_line *line = &l->m.line[i];
	struct sl_map *map = &l->order[i];
	char path[SL_PATH_BYTES];

	snprintf(path, sizeof(path), "%.3800s/%s", l->dir.path, line->order_file);
	SL_TRY(sl_map_file(path, map));
	sl_map_expect_few_reads(map);
	l->keys[i] = (struct sl_sorted_keys){(const uint8_t *)map->at, line->survivors};
	l->records += line->survivors;
	return map->bytes % sizeof(uint64_t) == 0 &&
	                       map->bytes / sizeof(uint64_t) == line->survivors
	               ? SL_OK
	               : sl_checked_file_differs(&l->dir, line->order_file);
}

/* Finds the records of each batch that this rank merges. */
static enum sl_status set_ranges(struct shared_list *l)
{
	const uint32_t n = (uint32_t)l->m.n, rank = l->ranks->rank;
	struct sl_record_range *range = l->share.range;

	sl_splitters_find(l->keys, n, l->first, &l->splitters);
	for (uint32_t i = 0; i < n; i++)
		range[i] = (struct sl_record_range){.first = l->splitters.before[i],
			.is_first = rank == 0,
			.is_last = rank == l->ranks->n - 1};
	sl_splitters_find(l->keys, n, l->last, &l->splitters);
	for (uint32_t i = 0; i < n; i++) {
		range[i].end = l->splitters.before[i];
		if (range[i].first > range[i].end) /* the keys are not sorted */
			return sl_checked_file_differs(&l->dir, l->m.line[i].order_file);
	}
	return SL_OK;
}

static enum sl_status divide(struct shared_list *l, const struct sl_ordered_list *list)
{
	struct sl_mcpl_header layout;
	enum sl_status s = SL_OK;
	size_t header_bytes;

	SL_TRY(sl_ordered_list_layout(list, &layout, &header_bytes));
	for (size_t i = 0; s == SL_OK && i < l->m.n; i++)
		s = map_keys(l, i);
	if (s == SL_OK) {
		l->header_bytes = header_bytes;
		l->record_bytes = layout.record_bytes;
		set_range(l);
		s = set_ranges(l);
	}
	for (size_t i = 0; i < l->m.n; i++)
		sl_unmap(&l->order[i]);
	return s;
}

/* --- the merge -------------------------------------------------------------------------------- */

/* Opens the file that rank 0 has created, at the place of the first record; does nothing on rank 0. */
static enum sl_status join(struct shared_list *l)
{
	const struct timespec interval = {.tv_nsec = INTERVAL_NS};
	uint64_t start = sl_now_ns();
	bool joined = false;

	if (l->ranks->rank == 0 || l->begin == l->end)
		return SL_OK;
	while (!joined && !atomic_load(&l->cancel) &&
		1e-9 * (double)(sl_now_ns() - start) < SECONDS_TO_APPEAR) {
		SL_TRY(sl_file_join(&l->dir, l->name, l->number, &joined, &l->file));
		if (!joined)
			nanosleep(&interval, NULL);
	}
	return joined ? sl_file_seek(&l->file, l->at)
	              : sl_fail(SL_DISK,
				"%s/%s: this node does not see the file that rank 0 has created %d s "
				"ago; use a directory that all nodes share, and --resume",
				l->dir.path, l->file.part, SECONDS_TO_APPEAR);
}

/* Writes the bytes of the range, and keeps those after it. */
static enum sl_status take_bytes(void *context, const void *bytes, size_t size)
{
	struct shared_list *l = (struct shared_list *)context;
	uint64_t in_range = l->at < l->end ? l->end - l->at : 0;
	size_t n = size < in_range ? size : (size_t)in_range, rest = size - n;

	if (atomic_load(&l->cancel))
		return sl_fail(SL_PEER_LOST, "another rank was lost");
	if (n > 0)
		SL_TRY(sl_file_add(&l->file, bytes, n));
	if (rest > sizeof(l->tail.bytes) - l->tail.n)
		return sl_fail(SL_CHECK_FAILED,
			"the merge gives more records than the batches have (a header has another "
			"size than that of the first batch); use --resume");
	if (rest > 0)
		memcpy(l->tail.bytes + l->tail.n, (const uint8_t *)bytes + n, rest);
	l->tail.n += (uint32_t)rest;
	l->at += size;
	return SL_OK;
}

/* Work of a rank: merges its range. */
static enum sl_status merge(void *context)
{
	struct shared_list *l = (struct shared_list *)context;
	const struct sl_ordered_list list = {
		l->plan, &l->dir, &l->dir, &l->m, SL_MERGED_FILES_MOST, &l->share, &l->devices};

	SL_TRY(divide(l, &list));
	SL_TRY(join(l));
	SL_TRY(sl_merged_list_send(&list, take_bytes, l, &l->joined));
	return l->at == l->header_bytes + l->last * l->record_bytes
	               ? SL_OK
	               : sl_fail(SL_CHECK_FAILED,
				 "the merge gives another number of bytes than the batches have (a batch "
				 "was changed meanwhile); use --resume");
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Compares the pieces that all ranks have read with the manifest. */
static enum sl_status check_batch(const struct shared_list *l, size_t i)
{
	const struct sl_manifest_line *line = &l->m.line[i];
	struct sl_record_range sum = {.first = 0};

	for (size_t rank = 0; rank < l->ranks->n; rank++) {
		const struct sl_record_range *r = &l->all_ranges[rank * l->m.n + i];

		sl_checked_piece_add(&sum.list, &r->list);
		sl_checked_piece_add(&sum.order, &r->order);
	}
	if (sum.list.bytes != line->file_bytes || sum.list.crc != line->file_crc)
		return sl_checked_file_differs(&l->dir, line->file);
	return sum.order.bytes == line->order_bytes && sum.order.crc == line->order_crc
	               ? SL_OK
	               : sl_checked_file_differs(&l->dir, line->order_file);
}

/* Writes the end of the last record of the previous rank. */
static enum sl_status write_tail(struct shared_list *l)
{
	const struct tail *t = &l->all_tails[l->ranks->rank - 1];

	if (t->n != l->header_bytes + l->first * l->record_bytes - l->begin)
		return sl_fail(SL_CHECK_FAILED,
			"the ranges of two ranks differ (they have read other keys); use --resume");
	SL_TRY(sl_file_seek(&l->file, l->begin));
	return sl_file_add(&l->file, t->bytes, t->n);
}

/* Work of a rank: completes its range, and makes it durable. */
static enum sl_status complete(void *context)
{
	struct shared_list *l = (struct shared_list *)context;

	for (size_t i = 0; i < l->m.n; i++)
		SL_TRY(check_batch(l, i));
	if (l->begin == l->end)
		return SL_OK;
	if (l->ranks->rank > 0)
		SL_TRY(write_tail(l));
	return sl_file_sync(&l->file);
}

/* Does the work of this rank while it watches the others, and agrees. */
static enum sl_status work(enum sl_status (*what)(void *), struct shared_list *l)
{
	return sl_ranks_agree(l->ranks,
		sl_add_context(sl_ranks_work(l->ranks, what, l, &l->cancel), "%s", l->name));
}

/* Adds up what the ranks say about their devices. */
static void add_devices(struct shared_list *l)
{
	l->joined.sorting_devices = 0;
	for (uint32_t i = l->ranks->n; i-- > 0;) {
		const struct tail *t = &l->all_tails[i];

		l->joined.sorting_devices += t->sorting_devices;
		if (t->why[0])
			memcpy(l->joined.why, t->why, sizeof(l->joined.why));
	}
}

/* Makes the file, without its name. */
static enum sl_status write_file(struct shared_list *l)
{
	SL_TRY(work(merge, l));
	l->tail.sorting_devices = l->joined.sorting_devices;
	memcpy(l->tail.why, l->joined.why, sizeof(l->tail.why));
	SL_TRY(sl_ranks_gather(l->ranks, &l->tail, sizeof(l->tail), l->all_tails));
	SL_TRY(sl_ranks_gather(
		l->ranks, l->share.range, l->m.n * sizeof(*l->share.range), l->all_ranges));
	add_devices(l);
	return work(complete, l);
}

/* Creates the file on rank 0, and gives its number to all ranks. */
static enum sl_status create(struct shared_list *l)
{
	enum sl_status s = SL_OK;
	uint64_t device;
	bool exists;

	if (l->ranks->rank == 0) {
		s = sl_file_begin(&l->dir, l->name, &l->file);
		l->file.joined = true; /* others still look for it after a failure of this rank */
		if (s == SL_OK)
			s = sl_file_identity(&l->dir, l->file.part, &exists, &device, &l->number);
		if (s == SL_OK && !exists)
			s = sl_fail(
				SL_DISK, "%s was removed meanwhile; use --resume", l->file.part);
	}
	SL_TRY(sl_ranks_agree(l->ranks, s));
	return sl_ranks_broadcast(l->ranks, &l->number, sizeof(l->number));
}

/* Removes the file after a failure on which the ranks have agreed, on the rank that has created it. */
static void drop(struct shared_list *l)
{
	sl_file_drop(&l->file);
	l->file.joined = false;
	if (l->ranks->rank == 0 && l->file.dir)
		sl_file_remove_part(&l->file);
}

static enum sl_status make(struct shared_list *l)
{
	struct sl_rank_watch watch = {.heard_ns = NULL};
	enum sl_status s = create(l);

	if (s == SL_OK)
		s = sl_ranks_watch_begin(l->ranks, &watch);
	if (s == SL_OK)
		s = write_file(l);
	sl_ranks_watch_end(l->ranks, &watch);
	if (s != SL_OK) {
		drop(l);
		return s;
	}
	l->file.joined = false;
	if (l->ranks->rank == 0)
		s = sl_add_context(sl_file_name_part(&l->file, true), "%s", l->name);
	return sl_ranks_agree(l->ranks, s);
}

enum sl_status sl_shared_list_commit(struct sl_workspace *w, struct sl_ranks *ranks,
	const struct sl_dir *dir, const struct sl_manifest *m)
{
	struct shared_list l = {.plan = w->plan,
		.devices = sl_order_devices_of(w),
		.ranks = ranks,
		.dir = *dir,
		.file = {.fd = -1, .lock = -1}};
	const uint64_t begun = sl_now_ns();
	enum sl_status s;

	if (!ranks || !is_shareable(w->plan))
		return SL_OK;
	sl_merged_list_name(w->plan->config.run.name, w->plan->choices.format, l.name);
	if (ranks->rank > 0) /* with output.durable: end, rank 0 flushes on its machine alone */
		l.dir.lazy = w->plan->config.output.durable == SL_DURABLE_NEVER;
	s = get_batches(m, &l);
	if (s == SL_OK && l.m.n > 0) {
		s = make(&l);
		w->list_made = s == SL_OK;
		w->joined = l.joined;
		w->joined.seconds = 1e-9 * (double)(sl_now_ns() - begun);
	}
	if (!ranks->lost) /* else MPI can still write to the memory */
		sl_memory_give(SL_HOST, l.block);
	return s;
}
