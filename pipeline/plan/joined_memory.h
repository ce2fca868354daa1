/*
 * joined_memory.h - the memory that making the joined file of a run takes, at the end of the run.
 *
 * A merge (pipeline/output/merge/) has as many files, threads and buffers at a time as stated here.
 */
#ifndef SL_PIPELINE_PLAN_JOINED_MEMORY_H
#define SL_PIPELINE_PLAN_JOINED_MEMORY_H

#include "pipeline/plan/plan.h"

/* At most so many files are merged at a time; more take intermediate files on the disk. */
enum { SL_MERGED_FILES_MOST = 512 };

/*
 * Several threads merge groups of files, at most SL_MERGE_STREAMS_MOST, into two blocks of records each. One
 * thread merges these, in 20 ns for each record of four groups (AMD EPYC); more groups take longer.
 */
enum { SL_MERGE_STREAMS_MOST = 8, SL_MERGE_BLOCK_BYTES = 1 << 19 };

/*
 * The buffers of what goes to the joined file. One thread has one. Plain bytes and rows have two: one is filled
 * while the other is passed on. Of gzip members, each thread compresses one, one is filled, and one can wait for
 * those before it.
 */
static inline uint32_t sl_merge_buffers(uint32_t threads, bool gzip)
{
	return threads <= 1 ? 1 : gzip ? threads + 2 : 2;
}

/* A merge collects the records of an intermediate file in a block, before they are written. */
enum { SL_MERGE_TARGET_BYTES = 1 << 20 };

/* At least the bytes that describe a file while it is merged (struct sl_record_source, struct sl_loser_head). */
enum { SL_MERGE_SOURCE_BYTES = 2560 };

/* Before the merge, the threshold of a sample is found with counts in so many bytes. */
enum { SL_SAMPLE_BYTES = 1 << 25 };

/* Bytes of memory for the joined file; 0 if there is none, or if the files of the batches make it up unchanged. */
size_t sl_joined_memory(const struct sl_plan *plan);

#endif
