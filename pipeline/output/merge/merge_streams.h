/*
 * merge_streams.h - merges sources in several threads.
 *
 * The sources are divided into groups, one for each thread. Jobs merge the sources of each group into blocks of
 * keys and records: they read, decompress and check the files. The calling thread merges these streams of
 * blocks, with one comparison for each level of a tree of few streams. While it reads one block of a stream,
 * a job fills the other one.
 *
 * A group has sources that follow one another, so records with equal keys keep the order of their sources. A
 * failure is reported when the record that could not be read would be next, as by one thread.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_MERGE_STREAMS_H
#define SL_PIPELINE_OUTPUT_MERGE_MERGE_STREAMS_H

#include "pipeline/output/merge/merge_target.h"
#include "pipeline/output/source/source_group.h"
#include "pipeline/plan/joined_memory.h"
#include "primitives/base/jobs.h"

/* The records of a group of sources. */
struct sl_merge_stream {
	struct sl_job job; /* fills a block */
	struct sl_source_group group;
	uint32_t sources;
	bool begun;
	uint8_t *block[2];       /* SL_MERGE_BLOCK_BYTES */
	unsigned filled;         /* the block that the job fills */
	size_t used;             /* bytes that the job has put there */
	const uint8_t *at, *end; /* of the records that were not merged yet, in the other block */
};

struct sl_merge_streams {
	struct sl_job_pool *pool;
	struct sl_merge_stream *stream; /* one for each thread, at most SL_MERGE_STREAMS_MOST */
	struct sl_loser_tree tree;      /* of the streams */
};

/* Cuts memory for the streams of m->pool from an arena, which only measures if it has no memory. */
void sl_merge_streams_lay_out(struct sl_arena *a, struct sl_merge_streams *m);

/*
 * Merges n open sources, more than one, into the target. heads has memory for n heads. After the call the
 * sources can be closed.
 */
enum sl_status sl_merge_streams_run(struct sl_merge_streams *m, struct sl_record_source *source,
	struct sl_loser_head *heads, uint32_t n, struct sl_merge_target *target);

#endif
