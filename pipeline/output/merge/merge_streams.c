/* merge_streams.c - see merge_streams.h. */
#include "pipeline/output/merge/merge_streams.h"

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void sl_merge_streams_lay_out(struct sl_arena *a, struct sl_merge_streams *m)
{
	uint32_t n = least(m->pool->n, SL_MERGE_STREAMS_MOST);

	m->stream = (struct sl_merge_stream *)sl_cut_items(a, n, sizeof(*m->stream));
	m->tree.at = (struct sl_loser_head *)sl_cut_items(a, n, sizeof(*m->tree.at));
	for (uint32_t i = 0; i < n; i++)
		for (int b = 0; b < 2; b++) {
			uint8_t *block = (uint8_t *)sl_cut(a, SL_MERGE_BLOCK_BYTES);

			if (m->stream)
				m->stream[i].block[b] = block;
		}
}

/* Job of a stream: fills a block. The first one moves the sources to their first records. */
static enum sl_status fill(void *context)
{
	struct sl_merge_stream *s = (struct sl_merge_stream *)context;

	s->used = 0;
	if (!s->begun)
		SL_TRY(sl_source_group_begin(&s->group, s->sources));
	s->begun = true;
	return sl_source_group_fill(&s->group, s->block[s->filled], SL_MERGE_BLOCK_BYTES, &s->used);
}

/* Divides the sources among the streams, and starts the first job of each. */
static void begin(struct sl_merge_streams *m, struct sl_record_source *source,
	struct sl_loser_head *heads, uint32_t n)
{
	uint32_t streams = least(n, least(m->pool->n, SL_MERGE_STREAMS_MOST));

	sl_loser_tree_begin(&m->tree, streams);
	for (uint32_t i = 0; i < streams; i++) {
		struct sl_merge_stream *s = &m->stream[i];
		uint32_t first = (uint32_t)((uint64_t)n * i / streams),
			 end = (uint32_t)((uint64_t)n * (i + 1) / streams);

		*s = (struct sl_merge_stream){.job = {.run = fill, .context = s},
			.group = {.source = source + first, .tree = {.at = heads + first}},
			.sources = end - first,
			.block = {s->block[0], s->block[1]}};
		sl_job_submit(m->pool, &s->job, true);
	}
}

/*
 * Moves a stream to the block that its job has filled, and starts the job of the next one. *more is false
 * after the last record. The records before a failure are merged first; the next call finds no record
 * and returns the status of the job that failed.
 */
static enum sl_status next_block(struct sl_merge_streams *m, struct sl_merge_stream *s, bool *more)
{
	enum sl_status status = sl_job_wait(m->pool, &s->job);

	*more = s->used > 0;
	if (!*more)
		return status;
	s->at = s->block[s->filled];
	s->end = s->at + s->used;
	s->used = 0;
	s->filled = 1 - s->filled;
	if (status == SL_OK)
		sl_job_submit(m->pool, &s->job, true);
	return SL_OK;
}

/* Enters the record at hand of stream i, after a new block if there is none. */
static inline enum sl_status enter(struct sl_merge_streams *m, uint32_t i)
{
	struct sl_merge_stream *s = &m->stream[i];
	uint64_t key = 0;
	bool more = true;

	if (s->at == s->end)
		SL_TRY(next_block(m, s, &more));
	if (more)
		memcpy(&key, s->at, sizeof(key));
	sl_loser_tree_enter(&m->tree, i, more, key);
	return SL_OK;
}

static enum sl_status merge(
	struct sl_merge_streams *m, size_t bytes, struct sl_merge_target *target)
{
	for (uint32_t i = 0; i < m->tree.n; i++)
		SL_TRY(enter(m, i));
	while (m->tree.left > 0) {
		uint32_t i = sl_loser_tree_least(&m->tree);
		struct sl_merge_stream *s = &m->stream[i];
		const uint8_t *record = s->at + sizeof(uint64_t);

		SL_TRY(sl_merge_target_add(target, m->tree.at[0].key, record, bytes));
		s->at = record + bytes;
		SL_TRY(enter(m, i));
	}
	return SL_OK;
}

enum sl_status sl_merge_streams_run(struct sl_merge_streams *m, struct sl_record_source *source,
	struct sl_loser_head *heads, uint32_t n, struct sl_merge_target *target)
{
	enum sl_status s;

	begin(m, source, heads, n);
	s = merge(m, source[0].selection->record_bytes, target);
	for (uint32_t i = 0; i < m->tree.n; i++)
		sl_job_finish(m->pool, &m->stream[i].job);
	return s;
}
