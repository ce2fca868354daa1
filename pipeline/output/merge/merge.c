/* merge.c - see merge.h. */
#include "pipeline/output/merge/merge.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/output/source/loser_tree.h"
#include "pipeline/plan/joined_memory.h"
#include "pipeline/plan/plan.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"

/* A merge reads from more places at a time than a processor fetches without instructions. */
enum { BYTES_AHEAD = 256 };

/* Merges consecutive batches into blocks of records, each with its key before it. */
struct feed {
	struct sl_job job; /* fills a block */
	struct sl_record_source *source;
	struct sl_loser_tree tree; /* of the sources */
	bool begun;
	uint8_t *block[2]; /* SL_MERGE_BLOCK_BYTES */
	unsigned filled;   /* the block that the job fills */
	size_t used;       /* bytes that the job has put there */
};

struct stream {
	const uint8_t *at, *end; /* of the records at hand that were not merged yet */
	struct feed *feed;       /* of the records after them; NULL: there are none */
};

struct merge {
	const struct sl_ordered_list *list;
	const struct sl_selection *selection;
	struct sl_job_pool *pool;
	uint32_t sources, feeds;
	struct sl_record_source *source;
	struct sl_loser_head *head; /* of the sources */
	struct feed *feed;
	struct stream *stream;
	struct sl_loser_tree tree; /* of the streams */
	void *block;
};

_Static_assert(
	sizeof(struct sl_record_source) + sizeof(struct sl_loser_head) <= SL_MERGE_SOURCE_BYTES &&
		sizeof(struct feed) <= SL_MERGE_FEED_BYTES &&
		sizeof(struct stream) + sizeof(struct sl_loser_head) <= SL_MERGE_STREAM_BYTES,
	"plans count these bytes per batch");

/* What is cut here is counted by sl_joined_memory(). */
static void lay_out(struct sl_arena *a, struct merge *w)
{
	w->source = (struct sl_record_source *)sl_cut_items(a, w->sources, sizeof(*w->source));
	w->head = (struct sl_loser_head *)sl_cut_items(a, w->sources, sizeof(*w->head));
	w->stream = (struct stream *)sl_cut_items(a, w->feeds, sizeof(*w->stream));
	w->tree.at = (struct sl_loser_head *)sl_cut_items(a, w->feeds, sizeof(*w->tree.at));
	w->feed = (struct feed *)sl_cut_items(a, w->feeds, sizeof(*w->feed));
	for (uint32_t i = 0; i < w->feeds; i++)
		for (int b = 0; b < 2; b++) {
			uint8_t *block = (uint8_t *)sl_cut(a, SL_MERGE_BLOCK_BYTES);

			if (w->feed)
				w->feed[i].block[b] = block;
		}
}

static enum sl_status get_memory(struct merge *w)
{
	struct sl_arena a = {0};

	lay_out(&a, w);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &w->block));
	memset(w->block, 0, a.used);
	a = (struct sl_arena){.base = w->block, .size = a.used};
	lay_out(&a, w);
	return SL_OK;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Moves source i to its next record, and enters it. */
static inline enum sl_status advance(struct feed *f, uint32_t i)
{
	bool more;

	SL_TRY(sl_record_source_next(&f->source[i], &more));
	sl_loser_tree_enter(&f->tree, i, more, f->source[i].key);
	return SL_OK;
}

/*
 * Job: fills a block. f->used is less than fits only at the end and after a failure, which is that
 * of the source of the next record.
 */
static enum sl_status fill(void *context)
{
	struct feed *f = (struct feed *)context;
	const size_t bytes = f->source[0].selection->record_bytes;
	uint8_t *block = f->block[f->filled];

	f->used = 0;
	for (uint32_t i = 0; !f->begun && i < f->tree.n; i++)
		SL_TRY(advance(f, i));
	f->begun = true;
	while (f->tree.left > 0 && f->used + sizeof(uint64_t) + bytes <= SL_MERGE_BLOCK_BYTES) {
		uint32_t i = sl_loser_tree_least(&f->tree);
		const struct sl_record_source *s = &f->source[i];
		uint8_t *to = block + f->used;

		memcpy(to, &s->key, sizeof(s->key));
		sl_record_copy(to + sizeof(s->key), s->record, bytes);
		f->used += sizeof(s->key) + bytes;
		SL_TRY(advance(f, i));
	}
	return SL_OK;
}

/* Begins a feed of the sources from number first on. */
static void begin_feed(struct merge *w, struct feed *f, uint32_t first, uint32_t n)
{
	*f = (struct feed){.job = {.run = fill, .context = f},
		.source = w->source + first,
		.tree = {.at = w->head + first},
		.block = {f->block[0], f->block[1]}};
	sl_loser_tree_begin(&f->tree, n);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Opens all batches, divides them among the feeds, and starts the first job of each. */
static enum sl_status open_lists(struct merge *w)
{
	const struct sl_ordered_list *l = w->list;
	const uint64_t n = w->sources;

	for (uint32_t i = 0; i < n; i++)
		SL_TRY(sl_record_source_open(&w->source[i], l->dir, &l->m->line[i], w->selection));
	for (uint32_t i = 0; i < w->feeds; i++) {
		uint32_t first = (uint32_t)(n * i / w->feeds),
			 end = (uint32_t)(n * (i + 1) / w->feeds);

		begin_feed(w, &w->feed[i], first, end - first);
		w->stream[i].feed = &w->feed[i];
		sl_job_submit(w->pool, &w->feed[i].job, true);
	}
	return SL_OK;
}

/* --- the merge -------------------------------------------------------------------------------- */

/*
 * Moves a stream to the block that its job has filled, and starts the job of the next one. *more is
 * false after the last record. The records before a failure are merged first; the next call finds
 * no record and returns the status of the job that failed.
 */
static enum sl_status next_block(struct merge *w, struct stream *s, bool *more)
{
	struct feed *f = s->feed;
	enum sl_status status;

	*more = false;
	if (!f)
		return SL_OK;
	status = sl_job_wait(w->pool, &f->job);
	*more = f->used > 0;
	if (!*more)
		return status;
	s->at = f->block[f->filled];
	s->end = s->at + f->used;
	f->used = 0;
	f->filled = 1 - f->filled;
	if (status == SL_OK)
		sl_job_submit(w->pool, &f->job, true);
	return SL_OK;
}

/* Enters the record at hand of stream i, after a new block if there is none. */
static inline enum sl_status enter(struct merge *w, uint32_t i)
{
	struct stream *s = &w->stream[i];
	uint64_t key = 0;
	bool more = true;

	if (s->at == s->end)
		SL_TRY(next_block(w, s, &more));
	if (more)
		memcpy(&key, s->at, sizeof(key));
	sl_loser_tree_enter(&w->tree, i, more, key);
	return SL_OK;
}

static enum sl_status merge(struct merge *w, struct sl_record_output *o)
{
	const size_t bytes = w->selection->record_bytes;

	sl_loser_tree_begin(&w->tree, w->feeds);
	for (uint32_t i = 0; i < w->feeds; i++)
		SL_TRY(enter(w, i));
	while (w->tree.left > 0) {
		uint32_t i = sl_loser_tree_least(&w->tree);
		struct stream *s = &w->stream[i];
		const uint8_t *record = s->at + sizeof(uint64_t);

		__builtin_prefetch((const void *)((uintptr_t)record + BYTES_AHEAD));
		SL_TRY(sl_record_output_add(o, record));
		s->at = record + bytes;
		SL_TRY(enter(w, i));
	}
	return SL_OK;
}

/* Waits for the jobs, and closes what is open. */
static void close_all(struct merge *w)
{
	for (uint32_t i = 0; w->block && i < w->feeds; i++)
		sl_job_finish(w->pool, &w->feed[i].job);
	for (uint32_t i = 0; w->block && i < w->sources; i++)
		sl_record_source_close(&w->source[i]);
	sl_memory_give(SL_HOST, w->block);
}

enum sl_status sl_merge_run(const struct sl_ordered_list *l, const struct sl_selection *selection,
	struct sl_record_output *o)
{
	const uint32_t n = (uint32_t)l->m->n;
	struct merge w = {.list = l,
		.selection = selection,
		.pool = o->pool,
		.sources = n,
		.feeds = sl_merge_feeds(o->pool->n, n)};
	enum sl_status s;

	if (selection->rows || n > l->most)
		return sl_rows_merge(l, selection, o);
	s = get_memory(&w);
	if (s == SL_OK)
		s = open_lists(&w);
	if (s == SL_OK)
		s = merge(&w, o);
	close_all(&w);
	return s;
}
