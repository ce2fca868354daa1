/*
 * batch_file.h - writes the survivors of a packed batch to a file and commits it with its manifest
 * line.
 *
 *	write    assemble the file, write NAME.part, fsync;    by several threads at a time
 *	         the same for sort keys (sl_order_file_put()) and histograms
 *	commit   rename, manifest line                         one batch at a time, in batch order
 *
 * The manifest line is the last step of a commit, when its files are durable under their names. So
 * each line has its files, whenever the program or the machine fails, and --resume removes every
 * file of the run that has no line (pipeline/output/output.h).
 */
#ifndef SL_PIPELINE_BATCH_FILE_BATCH_FILE_H
#define SL_PIPELINE_BATCH_FILE_BATCH_FILE_H

#include "pipeline/plan/plan.h"
#include "pipeline/results/results.h"
#include "primitives/files/files.h"

/* The state of one batch between write and commit. */
struct sl_batch_write {
	struct sl_manifest_line line;
	struct sl_file_writer file[SL_BATCH_FILES]; /* dir is NULL: there is no .part file */
	uint64_t assemble_ns;
	uint64_t commit_ns; /* writing and committing */
};

/*
 * Writes the files of the batch in slot as NAME.part in dir and fills *w, which is zero. image has
 * plan->memory.image bytes, and is free again afterwards. After a failure no .part file is left.
 */
enum sl_status sl_batch_file_write(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_host_slot *slot, void *image, struct sl_batch_write *w);

/*
 * Makes *w the state of a batch that another process has written in dir, and described by the line.
 */
void sl_batch_file_adopt(
	const struct sl_dir *dir, const struct sl_manifest_line *line, struct sl_batch_write *w);

/*
 * Commits the written files. Not thread-safe: the manifest is shared by all batches.
 * SL_OUTPUT_IN_USE if another program has taken the directory (sl_dir_check()).
 */
enum sl_status sl_batch_file_commit(const struct sl_dir *dir, struct sl_batch_write *w);

/* Instead of the commit: removes the .part files that are left. */
void sl_batch_file_remove_parts(struct sl_batch_write *w);

/*
 * Does the line describe a batch of the plan: its number, its particles and the names of its files?
 */
bool sl_batch_file_is_planned(const struct sl_plan *plan, const struct sl_manifest_line *line);

/*
 * Fills the manifest line of a batch, except file names and the sizes and CRC-32 of the files of
 * survivors and of sort keys. All that it sets is a function of the configuration and the batch
 * number, so that verify and compare can compute a batch again and compare the lines.
 */
void sl_batch_file_line(const struct sl_batch *b, struct sl_manifest_line *line);

/* --- order_file ------------------------------------------------------------------------------- */

/*
 * The order file of a batch, NAME_000012.order: what the joined file of the run is
 * sorted and sampled by, for each survivor in the order of the batch's file.
 *
 *	key         packed sort key (stages/selection/key.h)
 *	priority    bits of a double: |weight| / u, with a uniform number u of the particle
 *
 * Each has 8 bytes, least significant byte first; struct sl_order_items tells which of them there
 * are. The survivors of an MCPL file do not give their keys: records have energies and times in
 * other units, and packed directions. A batch has the ids that follow those of the batch before it,
 * so keys and batch numbers are enough to sort equal keys by id.
 *
 * Priorities are those of priority sampling (Duffield, Lund and Thorup, Priority sampling for
 * estimation of arbitrary subset sums, J. ACM 54 (2007) 32): the particles of the N largest
 * priorities are the sample, and each counts with the weight max(|weight|, threshold), where the
 * threshold is the next largest priority. The expectation of every sum of weights is then that of
 * all particles. u is a pure function of (seed, id), and a quotient of doubles has the same bits on
 * each machine.
 */

/*
 * Appends the order file of the batch, whose table is written, to w, and sets its size and CRC-32.
 * With w = NULL nothing is written.
 */
enum sl_status sl_order_file_put(const struct sl_plan *plan, const struct sl_batch *b,
	struct sl_file_writer *w, struct sl_committed_file *file);

/* The priority of a particle, and 0 for a weight that is 0 or NaN. */
double sl_sample_priority(uint64_t seed, uint64_t id, float weight);

#endif
