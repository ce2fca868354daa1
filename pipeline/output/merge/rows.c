/*
 * rows.c - see merge.h.
 *
 * The intermediate file has a place for each batch: the number of its selected rows, and these
 * rows, each after its key. A place is as long as if all rows were selected, so that tasks know
 * where it is.
 *
 * Tasks merge consecutive pieces of each block of output. Where a piece begins in each batch
 * follows from the number of rows before it: they are those with smaller keys and, of the rows with
 * the key of its first row, those of the first batches.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/output/merge/merge.h"
#include "pipeline/output/source/loser_tree.h"
#include "pipeline/plan/joined_memory.h"
#include "pipeline/plan/plan.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"

/* A merge reads from more places at a time than a processor fetches without instructions. */
enum { BYTES_AHEAD = 256, KEY_BYTES = sizeof(uint64_t), COUNT_BYTES = sizeof(uint64_t) };

struct row_batch {
	uint64_t at;         /* of its place */
	const uint8_t *rows; /* in the mapped file */
	uint32_t n;
};

struct row_reader {
	struct sl_record_source source;
	uint8_t block[SL_MERGE_BLOCK_BYTES];
};

struct row_piece {
	struct sl_loser_tree tree;
	uint32_t *next;        /* of each batch: the row that is merged next */
	uint32_t *end, *tried; /* of a search */
	uint64_t first;        /* rows of all batches before the piece */
	uint32_t n;
	uint8_t *to;
};

struct rows {
	const struct sl_ordered_list *list;
	const struct sl_selection *selection;
	struct sl_job_pool *pool;
	uint32_t n, readers, pieces; /* n: batches */
	size_t bytes;                /* of a row with its key */
	struct row_batch *batch;
	struct row_reader *reader;
	struct row_piece *piece;
	struct sl_file_writer file;
	struct sl_map map;
	void *block;
};

_Static_assert(sizeof(struct row_reader) <= SL_MERGE_READER_BYTES &&
		       sizeof(struct row_piece) <= SL_MERGE_PIECE_BYTES &&
		       sizeof(struct row_batch) <= SL_MERGE_BATCH_BYTES &&
		       3 * sizeof(uint32_t) + sizeof(struct sl_loser_head) <= SL_MERGE_NEXT_BYTES,
	"plans count these bytes");

/* What is cut here is counted by sl_joined_memory(). */
static void lay_out(struct sl_arena *a, struct rows *w)
{
	w->batch = (struct row_batch *)sl_cut_items(a, w->n, sizeof(*w->batch));
	w->reader = (struct row_reader *)sl_cut_items(a, w->readers, sizeof(*w->reader));
	w->piece = (struct row_piece *)sl_cut_items(a, w->pieces, sizeof(*w->piece));
	for (uint32_t i = 0; i < w->pieces; i++) {
		const size_t bytes = w->n * sizeof(uint32_t);
		struct row_piece p = {.next = (uint32_t *)sl_cut(a, bytes),
			.end = (uint32_t *)sl_cut(a, bytes),
			.tried = (uint32_t *)sl_cut(a, bytes)};

		p.tree.at = (struct sl_loser_head *)sl_cut_items(a, w->n, sizeof(*p.tree.at));
		if (w->piece)
			w->piece[i] = p;
	}
}

static enum sl_status get_memory(struct rows *w)
{
	struct sl_arena a = {0};

	lay_out(&a, w);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &w->block));
	memset(w->block, 0, a.used);
	a = (struct sl_arena){.base = w->block, .size = a.used};
	lay_out(&a, w);
	return SL_OK;
}

/* --- the intermediate file -------------------------------------------------------------------- */

/* Copies the rows of an open batch to its place. */
static enum sl_status copy_rows(struct rows *w, struct row_reader *r, const struct row_batch *b)
{
	struct sl_record_source *s = &r->source;
	uint64_t at = b->at + COUNT_BYTES, n = 0, last = 0;
	bool more = true;
	size_t used = 0;

	while (more) {
		SL_TRY(sl_record_source_next(s, &more));
		if (more && s->key < last)
			return sl_fail(SL_CHECK_FAILED,
				"%s/%s: its keys are not in their order, so the file belongs to "
				"another run; use --resume to compute the batch again",
				s->order.dir->path, s->order.name);
		if (more) {
			last = s->key;
			memcpy(r->block + used, &s->key, KEY_BYTES);
			sl_record_copy(r->block + used + KEY_BYTES, s->record, w->bytes - KEY_BYTES);
			used += w->bytes;
			n++;
		}
		if (!more || used + w->bytes > sizeof(r->block)) {
			SL_TRY(sl_file_put(&w->file, at, r->block, used));
			at += used;
			used = 0;
		}
	}
	return sl_file_put(&w->file, b->at, &n, COUNT_BYTES);
}

/* Task: reads a batch. A table is in memory as a whole then. */
static enum sl_status copy_batch(void *context, uint32_t worker, uint32_t i)
{
	struct rows *w = (struct rows *)context;
	struct row_reader *r = &w->reader[worker];
	enum sl_status s = sl_record_source_open(
		&r->source, w->list->dir, &w->list->m->line[i], w->selection);

	if (s == SL_OK)
		s = copy_rows(w, r, &w->batch[i]);
	sl_record_source_close(&r->source);
	return s;
}

/* Fills the file, by processes if each table is read by one, and maps it: it has no name then. */
static enum sl_status make_file(struct rows *w)
{
	const struct sl_plan *plan = w->list->plan;
	const bool forks = plan->choices.format->starts_processes;
	char list[SL_FILE_NAME_BYTES], name[SL_FILE_NAME_BYTES], path[SL_PATH_BYTES];
	uint64_t at = 0;
	enum sl_status s;

	for (uint32_t i = 0; i < w->n; i++) {
		w->batch[i].at = at;
		at += COUNT_BYTES + w->list->m->line[i].survivors * w->bytes;
	}
	snprintf(name, sizeof(name), "%.220s.1_0",
		sl_merged_list_name(plan->config.run.name, plan->choices.format, list));
	SL_TRY(sl_file_begin(w->list->work, name, &w->file));
	s = forks ? sl_tasks_fork(w->readers, w->n, copy_batch, w)
		  : sl_tasks_run(w->pool, w->readers, w->n, copy_batch, w);
	if (s != SL_OK) {
		sl_file_drop(&w->file);
		return s;
	}
	SL_TRY(sl_file_sync(&w->file));
	snprintf(path, sizeof(path), "%.3800s/%.280s", w->list->work->path, w->file.part);
	s = sl_map_file(path, &w->map);
	sl_file_remove_part(&w->file);
	for (uint32_t i = 0; s == SL_OK && i < w->n; i++) {
		const uint8_t *place = (const uint8_t *)w->map.at + w->batch[i].at;

		memcpy(&at, place, COUNT_BYTES);
		w->batch[i].n = (uint32_t)at;
		w->batch[i].rows = place + COUNT_BYTES;
	}
	return s;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static inline uint64_t key_of(const struct rows *w, const struct row_batch *b, uint32_t i)
{
	uint64_t key;

	memcpy(&key, b->rows + i * w->bytes, KEY_BYTES);
	return key;
}

/* The first row from low on, but before high, whose key is not smaller; high: none. */
static uint32_t find(
	const struct rows *w, const struct row_batch *b, uint64_t key, uint32_t low, uint32_t high)
{
	if (low < high && key_of(w, b, high - 1) < key)
		return high;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (key_of(w, b, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Sets p->next to where the piece begins. Finds the key of its first row bit by bit: it is the
 * greatest key that no more than p->first rows are before.
 */
static void find_piece(const struct rows *w, struct row_piece *p)
{
	uint64_t key = 0, left = p->first;

	for (uint32_t i = 0; i < w->n; i++) {
		p->next[i] = 0;
		p->end[i] = w->batch[i].n;
	}
	for (uint64_t bit = UINT64_C(1) << 63; bit > 0; bit >>= 1) {
		uint32_t *tried = p->tried;
		uint64_t before = 0;

		for (uint32_t i = 0; i < w->n; i++) {
			tried[i] = find(w, &w->batch[i], key | bit, p->next[i], p->end[i]);
			before += tried[i];
		}
		if (before <= p->first) {
			key |= bit;
			p->tried = p->next;
			p->next = tried;
		} else {
			p->tried = p->end;
			p->end = tried;
		}
	}
	for (uint32_t i = 0; i < w->n; i++)
		left -= p->next[i];
	for (uint32_t i = 0; i < w->n && left > 0; i++) {
		const uint32_t equal = p->end[i] - p->next[i];
		const uint32_t more = left < equal ? (uint32_t)left : equal;

		p->next[i] += more;
		left -= more;
	}
}

static inline void enter(const struct rows *w, struct row_piece *p, uint32_t i)
{
	const bool more = p->next[i] < w->batch[i].n;

	sl_loser_tree_enter(&p->tree, i, more, more ? key_of(w, &w->batch[i], p->next[i]) : 0);
}

/* Task: merges a piece. The first one of a block begins where the last one before has ended. */
static enum sl_status merge_piece(void *context, uint32_t worker, uint32_t t)
{
	const struct rows *w = (const struct rows *)context;
	const size_t bytes = w->bytes - KEY_BYTES;
	struct row_piece *p = &w->piece[t];

	(void)worker;
	if (t > 0)
		find_piece(w, p);
	sl_loser_tree_begin(&p->tree, w->n);
	for (uint32_t i = 0; i < w->n; i++)
		enter(w, p, i);
	for (uint32_t k = 0; k < p->n; k++) {
		const uint32_t i = sl_loser_tree_least(&p->tree);
		const uint8_t *row = w->batch[i].rows + p->next[i]++ * w->bytes;

		__builtin_prefetch((const void *)((uintptr_t)row + BYTES_AHEAD));
		sl_record_copy(p->to + k * bytes, row + KEY_BYTES, bytes);
		enter(w, p, i);
	}
	return SL_OK;
}

static enum sl_status merge(struct rows *w, struct sl_record_output *o)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < w->n; i++)
		all += w->batch[i].n;
	all = all < o->left ? all : o->left;
	for (uint64_t first = 0; first < all;) {
		const uint64_t most = (o->most - o->used) / o->bytes;
		const uint32_t n = (uint32_t)(all - first < most ? all - first : most);
		const uint32_t pieces = sl_merge_pieces(w->pieces, n, w->n);
		uint32_t *next;

		for (uint32_t t = 0; t < pieces; t++) {
			const uint64_t from = (uint64_t)n * t / pieces;

			w->piece[t].first = first + from;
			w->piece[t].n = (uint32_t)((uint64_t)n * (t + 1) / pieces - from);
			w->piece[t].to = o->records + o->used + from * o->bytes;
		}
		SL_TRY(sl_tasks_run(w->pool, pieces, pieces, merge_piece, w));
		next = w->piece[0].next;
		w->piece[0].next = w->piece[pieces - 1].next;
		w->piece[pieces - 1].next = next;
		first += n;
		SL_TRY(sl_record_output_added(o, n));
	}
	return SL_OK;
}

enum sl_status sl_rows_merge(const struct sl_ordered_list *l, const struct sl_selection *selection,
	struct sl_record_output *o)
{
	const uint32_t n = (uint32_t)l->m->n, threads = sl_merge_threads(l->plan);
	struct rows w = {.list = l,
		.selection = selection,
		.pool = o->pool,
		.n = n,
		.readers = sl_merge_readers(l->plan, n),
		.pieces = sl_merge_pieces(threads, SL_JOIN_ROWS, n),
		.bytes = KEY_BYTES + selection->record_bytes};
	enum sl_status s = get_memory(&w);

	if (s == SL_OK)
		s = make_file(&w);
	if (s == SL_OK)
		s = merge(&w, o);
	sl_unmap(&w.map);
	sl_memory_give(SL_HOST, w.block);
	return s;
}
