/*
 * joined_memory.h - the memory that making the joined file of a run takes, at the end of the run.
 *
 * A merge (pipeline/output/merge/) has as many files, threads and buffers at a time as stated here.
 */
#ifndef SL_PIPELINE_PLAN_JOINED_MEMORY_H
#define SL_PIPELINE_PLAN_JOINED_MEMORY_H

#include "pipeline/plan/plan.h"

/*
 * At most so many lists are merged from their files. Those of more batches go to an intermediate
 * file first: 4000 of 900 records took 1.2 s so, 2.0 s from their files (2 cores, files in memory).
 */
enum { SL_MERGED_FILES_MOST = 512 };

/*
 * Several threads merge groups of lists, at most SL_MERGE_FEEDS_MOST, into two blocks of records
 * each. One thread merges these, in 20 ns for each record of four groups (AMD EPYC); more groups
 * take longer.
 */
enum { SL_MERGE_FEEDS_MOST = 8, SL_MERGE_BLOCK_BYTES = 1 << 18 };

static inline uint32_t sl_merge_feeds(uint32_t threads, uint64_t lists)
{
	uint64_t most = lists < SL_MERGE_FEEDS_MOST ? lists : SL_MERGE_FEEDS_MOST;

	return threads <= 1 ? 1 : (uint32_t)(threads < most ? threads : most);
}

/* The threads that make the joined file. */
uint32_t sl_merge_threads(const struct sl_plan *plan);

/*
 * The number of batches, of n, that are read at a time for the intermediate file. Tables are in
 * memory as a whole.
 */
uint32_t sl_merge_readers(const struct sl_plan *plan, uint64_t n);

/*
 * The buffers of what goes to the joined file. One thread has one. Plain bytes and rows have two:
 * one is filled while the other is passed on. Of gzip members, each thread compresses one, one is
 * filled, and one can wait for those before it.
 */
static inline uint32_t sl_merge_buffers(uint32_t threads, bool gzip)
{
	return threads <= 1 ? 1 : gzip ? threads + 2 : 2;
}

/*
 * At least the bytes that describe a list while it is merged, a group of lists, a batch of rows, and
 * who reads it (merge.c).
 */
enum {
	SL_MERGE_SOURCE_BYTES = 2816,
	SL_MERGE_FEED_BYTES = 1 << 13,
	SL_MERGE_STREAM_BYTES = 40,
	SL_MERGE_READER_BYTES = SL_MERGE_SOURCE_BYTES + SL_MERGE_BLOCK_BYTES,
	SL_TABLE_READER_BYTES = 1 << 17, /* to read a table, besides its rows */
	SL_TABLE_OUTPUT_BYTES = 1 << 15  /* what describes a table that is made (table_output.c) */
};

/* Before the merge, the threshold of a sample is found with counts in so many bytes. */
enum { SL_SAMPLE_BYTES = 1 << 25 };

/*
 * Bytes of memory for the joined file; 0 if there is none, or if the files of the batches make it
 * up unchanged.
 */
size_t sl_joined_memory(const struct sl_plan *plan);

#endif
