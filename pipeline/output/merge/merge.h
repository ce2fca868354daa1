/*
 * merge.h - merges the sorted records of the batches of a run, by key.
 *
 * Records with equal keys keep the order of their batches, which is that of their ids. The calling
 * thread merges streams of records by a tree of losers (../source/loser_tree.h). Jobs fill the
 * streams: each merges consecutive batches by its own tree. While the calling thread merges one
 * block of a stream, the job fills the other.
 *
 * - Lists are mapped. The jobs read, decompress and check their files. A failure of a job is
 *   reported when the record that could not be read would be next, as by one thread.
 * - The survivors of a table are in memory while it is read, and only so many lists can be open. So
 *   tables, and lists of more batches, become intermediate files of keys and rows first, one for
 *   each of those who read batches: threads, or processes if the format starts processes itself.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_MERGE_H
#define SL_PIPELINE_OUTPUT_MERGE_MERGE_H

#include "pipeline/output/source/source.h"
#include "pipeline/results/results.h"
#include "pipeline/run/run.h"
#include "primitives/base/jobs.h"
#include "stages/formats/mcpl/mcpl.h"

/* --- table_output ----------------------------------------------------------------------------- */

/*
 * Makes a file in a format of columns from its rows, which come one block after another.
 *
 * What the format packs goes to intermediate files, one for each part of the file (struct
 * sl_format_join), unless the place of the only part is known. At the end the file is assembled
 * around these parts, which are mapped, so its bytes are those of a file that was packed as a whole.
 */

/*
 * Receives bytes of a list, which are at offset `at` of the file, or SL_NEXT: after those that came
 * with SL_NEXT before. An error ends the list. It may be called in another thread than the
 * caller's, with SL_NEXT never twice at a time.
 */
typedef enum sl_status sl_byte_sink(void *context, uint64_t at, const void *bytes, size_t size);

#define SL_NEXT SL_FILE_END

/* The file that is made. */
struct sl_table_facts {
	const struct sl_format *format;
	const struct sl_file_facts *run;
	struct sl_batch_facts batch;
	struct sl_table columns;   /* of the file; constant ones have their values */
	uint64_t rows;             /* of the file */
	uint32_t threads;          /* that pack, at least 1 */
	bool packs;                /* a file of at most SL_PACK_ROWS is packed as that of a batch */
	const struct sl_dir *work; /* for intermediate files */
	const char *list;          /* name of the file, from which their names follow */
	sl_byte_sink *sink;
	void *context;
};

struct sl_table_output;

/*
 * Begins a file. *made is NULL after a failure; otherwise the caller calls sl_table_output_close().
 */
enum sl_status sl_table_output_begin(
	const struct sl_table_facts *facts, struct sl_table_output **made);

/*
 * The block that the caller fills: room for sl_join_rows() rows of all columns but constant ones.
 */
struct sl_table *sl_table_output_block(struct sl_table_output *o);

/*
 * Adds the rows of the block, all that it has room for or fewer in the last call, after which it
 * has none. They are packed by jobs of the pool, which may be NULL.
 */
enum sl_status sl_table_output_add(struct sl_table_output *o, struct sl_job_pool *pool);

/* After the last row: sends the file. */
enum sl_status sl_table_output_end(struct sl_table_output *o);

/* Removes the intermediate files, and frees o, which may be NULL. Keeps the last error message. */
void sl_table_output_close(struct sl_table_output *o);

/* --- record_output ---------------------------------------------------------------------------- */

/*
 * The bytes of a list, plain or as gzip members like those of the batches: its
 * header, and records that come one after another; or these as rows, of which a table is made.
 *
 * Full buffers are jobs of a pool. Members are compressed in parallel, and the calling thread
 * passes them on in order. Plain bytes and rows are passed on by one job at a time, while the
 * caller fills the other buffer.
 */

/* Where the bytes of a list go. */
struct sl_list_target {
	sl_byte_sink *sink;
	void *context;
	const struct sl_file_facts *facts;
	bool gzip;
};

/*
 * The header of a list. In gzip it is a member with stored blocks, as in the files of batches, so
 * that its size depends only on that of the header.
 */
size_t sl_list_header_bytes(const struct sl_list_target *t, size_t bytes);
enum sl_status sl_list_header_send(
	const struct sl_list_target *t, const void *header, size_t bytes);

struct sl_record_output;

/* A buffer of whole records. */
struct sl_output_buffer {
	struct sl_record_output *output;
	struct sl_job job;
	uint8_t *records;
	size_t used;
	uint8_t *packed;     /* a member; NULL: records are not compressed */
	size_t packed_bytes; /* that were not passed on yet */
	struct sl_exec x;
};

struct sl_record_output {
	struct sl_list_target list; /* unless records are rows of a table */
	struct sl_job_pool *pool;
	uint64_t all, left; /* records; those that may still follow, all after them are ignored */
	struct sl_written written;     /* passed on */
	uint32_t bytes;                /* of a record */
	uint8_t *records;              /* of the buffer that is filled */
	size_t used, most;             /* bytes in it */
	struct sl_table_output *table; /* records are its rows; NULL: they are bytes of the list */
	const struct sl_row_layout *rows;
	uint32_t n, at; /* buffers; the one that is filled */
	struct sl_output_buffer *buffer;
	void *block;
};

/*
 * Allocates the buffers for a list of at most so many records, or for a table. The caller calls
 * sl_record_output_end() in any case.
 */
enum sl_status sl_record_output_begin(struct sl_record_output *o, const struct sl_list_target *list,
	struct sl_job_pool *pool, uint32_t record_bytes, uint64_t records);
enum sl_status sl_record_output_begin_table(struct sl_record_output *o, struct sl_job_pool *pool,
	const struct sl_row_layout *layout, uint64_t rows, struct sl_table_output *table);

/* Submits the full buffer, and goes on with the next one, which has the oldest records. */
enum sl_status sl_record_output_submit(struct sl_record_output *o);

static inline enum sl_status sl_record_output_add(struct sl_record_output *o, const uint8_t *record)
{
	if (o->left == 0)
		return SL_OK;
	o->left--;
	sl_record_copy(o->records + o->used, record, o->bytes);
	o->used += o->bytes;
	return o->used == o->most ? sl_record_output_submit(o) : SL_OK;
}

/* Adds n records, one after another. */
enum sl_status sl_record_output_add_all(
	struct sl_record_output *o, const uint8_t *records, size_t n);

/* Passes on what is left in the buffers. SL_INTERNAL if these were not all records. */
enum sl_status sl_record_output_flush(struct sl_record_output *o);

/* Waits for the jobs, and frees the buffers. Keeps the last error message. */
void sl_record_output_end(struct sl_record_output *o);

/* --- merge ------------------------------------------------------------------------------------ */

/* What a list is made from. */
struct sl_ordered_list {
	const struct sl_plan *plan;
	const struct sl_dir *dir;  /* of the run */
	const struct sl_dir *work; /* for intermediate files */
	const struct sl_manifest *m;
	uint32_t most; /* lists that a merge has open at a time */
};

/*
 * Sends the selected records of the batches in l->m to o in the order of their keys. No
 * intermediate file is left.
 */
enum sl_status sl_merge_run(const struct sl_ordered_list *l, const struct sl_selection *selection,
	struct sl_record_output *o);

/* --- ordered_list ----------------------------------------------------------------------------- */

/*
 * The bytes of a joined file whose records are merged by key, sampled or limited,
 * or of a joined table.
 *
 * Records keep their bytes; only a sample changes weights. The header is that of a list of whole
 * batches with another number of particles and, for a sample of particles that share a weight,
 * another weight. Statistics (stat:sum) are those of the run: a selection changes nothing of what
 * was simulated.
 */

/*
 * Whether the list of the batches in m needs their records: it is more than their bytes in
 * sequence. That of a format of columns always does.
 */
bool sl_ordered_list_is_needed(const struct sl_plan *plan, const struct sl_manifest *m);

/*
 * Sends the list of the batches in l->m: records after the header, of which sum is the sum of all
 * batches; or a file of columns, without sum. Sets *list. SL_CHECK_FAILED if the files of a batch
 * do not match the manifest.
 */
enum sl_status sl_ordered_list_send(const struct sl_ordered_list *l, struct sl_mcpl_head *sum,
	const struct sl_list_target *to, struct sl_joined_list *list);

/* --- sample ----------------------------------------------------------------------------------- */

/* Finds the threshold of a sample in the priorities of all batches. */

/*
 * Sets sampled, threshold and kept of s for a sample of n of the survivors in m: the threshold is
 * the largest priority but n. Particles of exactly this priority are not in the sample. With at
 * most n survivors all are kept, and sampled is false. n = 0: no sample is wanted. Reads the order
 * files three times and allocates SL_SAMPLE_BYTES. SL_CHECK_FAILED if an order file differs from
 * the manifest; SL_BAD_INPUT if the weights of the sample would be infinite in the file.
 */
enum sl_status sl_sample_find(
	const struct sl_dir *dir, const struct sl_manifest *m, uint64_t n, struct sl_selection *s);

#endif
