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

/* Records with their keys before them. */
struct stream {
	const uint8_t *at, *end; /* of those at hand that were not merged yet */
	struct feed *feed;       /* of the records after them; NULL: there are none */
};

/* Merges consecutive batches into blocks of records, each with its key before it. */
struct feed {
	struct sl_job job;               /* fills a block */
	struct sl_record_source *source; /* of the batches; NULL: they are in rows */
	struct stream *rows;
	size_t bytes;              /* of a record with its key */
	struct sl_loser_tree tree; /* of the batches */
	bool begun;
	uint8_t *block[2]; /* SL_MERGE_BLOCK_BYTES */
	unsigned filled;   /* the block that the job fills */
	size_t used;       /* bytes that the job has put there */
};

/* Reads a batch to an intermediate file. Each has a file, so that writes do not wait for others. */
struct reader {
	struct sl_record_source source;
	struct sl_file_writer file;
	uint8_t block[SL_MERGE_BLOCK_BYTES];
};

struct merge {
	const struct sl_ordered_list *list;
	const struct sl_selection *selection;
	struct sl_job_pool *pool;
	size_t bytes;                    /* of a record with its key */
	uint32_t n, readers, feeds;      /* n: batches; readers: 0 without intermediate files */
	struct sl_record_source *source; /* of the batches, if readers is 0 */
	struct stream *rows;             /* of the batches, otherwise */
	struct reader *reader;
	struct sl_loser_head *head; /* of the batches */
	struct feed *feed;
	struct stream *stream;
	struct sl_loser_tree tree; /* of the streams */
	void *block;
};

_Static_assert(
	sizeof(struct sl_record_source) + sizeof(struct sl_loser_head) <= SL_MERGE_SOURCE_BYTES &&
		sizeof(struct feed) <= SL_MERGE_FEED_BYTES &&
		sizeof(struct reader) <= SL_MERGE_READER_BYTES &&
		sizeof(struct stream) + sizeof(struct sl_loser_head) <= SL_MERGE_STREAM_BYTES,
	"plans count these bytes per batch");

/* What is cut here is counted by sl_joined_memory(). */
static void lay_out(struct sl_arena *a, struct merge *w)
{
	if (w->readers == 0)
		w->source = (struct sl_record_source *)sl_cut_items(a, w->n, sizeof(*w->source));
	else
		w->rows = (struct stream *)sl_cut_items(a, w->n, sizeof(*w->rows));
	w->reader = (struct reader *)sl_cut_items(a, w->readers, sizeof(*w->reader));
	w->head = (struct sl_loser_head *)sl_cut_items(a, w->n, sizeof(*w->head));
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
	SL_TRY(sl_host_get_zeroed(1, a.used, &w->block));
	a = (struct sl_arena){.base = w->block, .size = a.used};
	lay_out(&a, w);
	return SL_OK;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Moves to the next record of a batch, and enters it. */
static inline enum sl_status advance(struct feed *f, uint32_t i)
{
	uint64_t key = 0;
	bool more;

	if (f->source) {
		SL_TRY(sl_record_source_next(&f->source[i], &more));
		key = f->source[i].key;
	} else {
		more = f->rows[i].at < f->rows[i].end;
		if (more)
			memcpy(&key, f->rows[i].at, sizeof(key));
	}
	sl_loser_tree_enter(&f->tree, i, more, key);
	return SL_OK;
}

/* Copies the record at hand of a batch, after its key. */
static inline void put_record(uint8_t *to, const struct sl_record_source *s, size_t bytes)
{
	memcpy(to, &s->key, sizeof(s->key));
	sl_record_copy(to + sizeof(s->key), s->record, bytes - sizeof(s->key));
}

/*
 * Job: fills a block. f->used is less than fits only at the end and after a failure, which is that
 * of the batch of the next record.
 */
static enum sl_status fill(void *context)
{
	struct feed *f = (struct feed *)context;
	uint8_t *block = f->block[f->filled];

	f->used = 0;
	for (uint32_t i = 0; !f->begun && i < f->tree.n; i++)
		SL_TRY(advance(f, i));
	f->begun = true;
	while (f->tree.left > 0 && f->used + f->bytes <= SL_MERGE_BLOCK_BYTES) {
		uint32_t i = sl_loser_tree_least(&f->tree);

		if (f->source) {
			put_record(block + f->used, &f->source[i], f->bytes);
		} else {
			__builtin_prefetch((const void *)((uintptr_t)f->rows[i].at + BYTES_AHEAD));
			sl_record_copy(block + f->used, f->rows[i].at, f->bytes);
			f->rows[i].at += f->bytes;
		}
		f->used += f->bytes;
		SL_TRY(advance(f, i));
	}
	return SL_OK;
}

static enum sl_status open_lists(struct merge *w)
{
	const struct sl_ordered_list *l = w->list;

	for (uint32_t i = 0; i < w->n; i++)
		SL_TRY(sl_record_source_open(&w->source[i], l->dir, &l->m->line[i], w->selection));
	return SL_OK;
}

/* Divides the batches among the feeds, and starts the first job of each. */
static void begin_feeds(struct merge *w)
{
	for (uint32_t i = 0; i < w->feeds; i++) {
		struct feed *f = &w->feed[i];
		const uint32_t first = (uint32_t)((uint64_t)w->n * i / w->feeds);

		*f = (struct feed){.job = {.run = fill, .context = f},
			.source = w->source ? w->source + first : NULL,
			.rows = w->rows ? w->rows + first : NULL,
			.bytes = w->bytes,
			.tree = {.at = w->head + first},
			.block = {f->block[0], f->block[1]}};
		sl_loser_tree_begin(
			&f->tree, (uint32_t)((uint64_t)w->n * (i + 1) / w->feeds) - first);
		w->stream[i].feed = f;
		sl_job_submit(w->pool, &f->job, true);
	}
}

/* --- intermediate files ----------------------------------------------------------------------- */

/*
 * The files have a place for each batch: the bytes of its selected rows, and these rows. It is as
 * long as if all were selected, so that it is known where it is: from rows->at on, while there is no
 * map. Batch i is in file i modulo the number of readers.
 */
enum { ROWS_BEGIN = sizeof(uint64_t) };

/* Copies the rows of an open batch to its place. */
static enum sl_status copy_rows(
	struct merge *w, struct reader *r, const struct sl_file_writer *file, uint64_t at)
{
	uint64_t all = 0;
	size_t used = 0;
	bool more = true;

	while (more) {
		SL_TRY(sl_record_source_next(&r->source, &more));
		if (more) {
			put_record(r->block + used, &r->source, w->bytes);
			used += w->bytes;
		}
		if (!more || used + w->bytes > sizeof(r->block)) {
			SL_TRY(sl_file_put(file, at + ROWS_BEGIN + all, r->block, used));
			all += used;
			used = 0;
		}
	}
	return sl_file_put(file, at, &all, sizeof(all));
}

/* Task: reads a batch. A table is in memory as a whole then. */
static enum sl_status copy_batch(void *context, uint32_t worker, uint32_t i)
{
	struct merge *w = (struct merge *)context;
	struct reader *r = &w->reader[worker];
	enum sl_status s =
		sl_record_source_open(&r->source, w->list->dir, &w->list->m->line[i], w->selection);

	if (s == SL_OK)
		s = copy_rows(w, r, &w->reader[i % w->readers].file, (uintptr_t)w->rows[i].at);
	sl_record_source_close(&r->source);
	return s;
}

/* Creates the files, and finds the place of each batch. */
static enum sl_status begin_files(struct merge *w)
{
	const struct sl_plan *plan = w->list->plan;
	char list[SL_FILE_NAME_BYTES], name[SL_FILE_NAME_BYTES];
	uint64_t at[SL_JOB_THREADS_MOST] = {0};

	for (uint32_t i = 0; i < w->n; i++) {
		w->rows[i].at = (const uint8_t *)(uintptr_t)at[i % w->readers];
		at[i % w->readers] += ROWS_BEGIN + w->list->m->line[i].survivors * w->bytes;
	}
	sl_merged_list_name(plan->config.run.name, plan->choices.format, list);
	for (uint32_t i = 0; i < w->readers; i++) {
		snprintf(name, sizeof(name), "%.220s.1_%u", list, i);
		SL_TRY(sl_file_begin(w->list->work, name, &w->reader[i].file));
	}
	return SL_OK;
}

/* Writes the files, by processes if each table is read by one, and maps them. */
static enum sl_status make_rows(struct merge *w)
{
	uint64_t bytes;

	SL_TRY(begin_files(w));
	SL_TRY(w->list->plan->choices.format->starts_processes
			? sl_tasks_fork(w->readers, w->n, copy_batch, w)
			: sl_tasks_run(w->pool, w->readers, w->n, copy_batch, w));
	for (uint32_t i = 0; i < w->readers; i++)
		SL_TRY(sl_file_map(&w->reader[i].file));
	for (uint32_t i = 0; i < w->n; i++) {
		const uint8_t *map = (const uint8_t *)w->reader[i % w->readers].file.map.at;

		w->rows[i].at = map + (uintptr_t)w->rows[i].at + ROWS_BEGIN;
		memcpy(&bytes, w->rows[i].at - ROWS_BEGIN, sizeof(bytes));
		w->rows[i].end = w->rows[i].at + bytes;
	}
	return SL_OK;
}

/* Task: frees a file, which takes as long as writing a third of it. */
static enum sl_status end_file(void *context, uint32_t worker, uint32_t i)
{
	(void)worker;
	return sl_file_unmap(&((struct merge *)context)->reader[i].file);
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
	sl_loser_tree_begin(&w->tree, w->feeds);
	for (uint32_t i = 0; i < w->feeds; i++)
		SL_TRY(enter(w, i));
	while (w->tree.left > 0) {
		uint32_t i = sl_loser_tree_least(&w->tree);
		struct stream *s = &w->stream[i];
		const uint8_t *record = s->at + sizeof(uint64_t);

		__builtin_prefetch((const void *)((uintptr_t)record + BYTES_AHEAD));
		SL_TRY(sl_record_output_add(o, record));
		s->at += w->bytes;
		SL_TRY(enter(w, i));
	}
	return SL_OK;
}

/* Waits for the jobs, and closes what is open. */
static void close_all(struct merge *w)
{
	for (uint32_t i = 0; w->block && i < w->feeds; i++)
		sl_job_finish(w->pool, &w->feed[i].job);
	for (uint32_t i = 0; w->source && i < w->n; i++)
		sl_record_source_close(&w->source[i]);
	for (uint32_t i = 0; w->block && i < w->readers; i++)
		sl_file_drop(&w->reader[i].file);
	sl_memory_give(SL_HOST, w->block);
}

enum sl_status sl_merge_run(const struct sl_ordered_list *l, const struct sl_selection *selection,
	struct sl_record_output *o)
{
	const uint32_t n = (uint32_t)l->m->n;
	SL_CLOSED_BY(close_all)
	struct merge w = {.list = l,
		.selection = selection,
		.pool = o->pool,
		.bytes = sizeof(uint64_t) + selection->record_bytes,
		.n = n,
		.readers = selection->rows || n > l->most ? sl_merge_readers(l->plan, n) : 0,
		.feeds = sl_merge_feeds(o->pool->n, n)};

	SL_TRY(get_memory(&w));
	SL_TRY(w.rows ? make_rows(&w) : open_lists(&w));
	begin_feeds(&w);
	SL_TRY(merge(&w, o));
	return sl_tasks_run(w.pool, w.readers, w.readers, end_file, &w);
}
