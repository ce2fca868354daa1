/*
 * batch_file.c - see batch_file.h.
 *
 * The survivor file is packed already (struct sl_packed); assembling adds headers and metadata
 * around the packed bytes without copying them. The CRC-32 of the whole file is in the manifest
 * line.
 */
#include "pipeline/batch_file/batch_file.h"

#include <string.h>

#include "pipeline/plan/plan.h"
#include "primitives/base/clock.h"
#include "primitives/files/files.h"

void sl_batch_file_line(const struct sl_batch *b, struct sl_manifest_line *line)
{
	memset(line, 0, sizeof(*line));
	line->batch = b->number;
	line->first_id = b->first_id;
	line->generated = b->n;
	line->survivors = b->n_survivors;
	line->tally = b->tally;
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		const struct sl_table_column *c = &b->table.column[k];

		if (c->internal)
			continue;
		line->columns |= SL_BIT(c->column);
		line->digest[c->column] = c->digest;
		if (sl_is_named_column((int)c->column))
			sl_label_set_name(&line->label[c->column - SL_COLUMN_derived_1],
				sl_table_name(&b->table, k), strlen(sl_table_name(&b->table, k)));
	}
	line->bins.bytes = b->bin_words * sizeof(*b->bins);
	line->bins.crc = b->bin_words > 0 ? sl_crc32(b->bins, line->bins.bytes) : 0;
}

bool sl_batch_file_is_planned(const struct sl_plan *plan, const struct sl_manifest_line *line)
{
	const struct sl_batch_range range = sl_plan_batches(plan);
	struct sl_manifest_line planned;
	struct sl_batch b;

	sl_batch_begin(&plan->recipe, &b, line->batch);
	sl_batch_file_names(plan, line->batch, &planned);
	for (int k = 0; k < SL_BATCH_FILES; k++)
		if (strcmp(line->files[k].name, planned.files[k].name) != 0)
			return false;
	return line->batch >= range.first && line->batch < range.end &&
	       line->first_id == b.first_id && line->generated == b.n;
}

/* Assembles the file of the batch as pieces in *file, and fills its manifest line. */
static enum sl_status assemble(const struct sl_plan *plan, const struct sl_host_slot *slot,
	void *image, struct sl_manifest_line *line, struct sl_pieces *file)
{
	const struct sl_batch *b = &slot->batch;
	const struct sl_file_facts run = sl_plan_batch_facts(plan);
	struct sl_batch_facts facts = {b->number, b->first_id, b->n};

	sl_batch_file_line(b, line);
	sl_batch_file_names(plan, b->number, line);
	SL_TRY(sl_format_check_written(&slot->packed.written, b->n_survivors));
	SL_TRY(sl_format_assemble(plan->choices.format, &run, &facts, &slot->packed, image,
		plan->memory.image, file));
	line->file.bytes = file->bytes;
	line->file.crc = file->crc;
	return SL_OK;
}

/* Is there a .part file k, which waits for its name? */
static bool has_part(const struct sl_batch_write *w, int k)
{
	return w->file[k].dir != NULL;
}

/* Gives the written files their names. A failure leaves no .part file. */
static enum sl_status name_files(struct sl_batch_write *w)
{
	enum sl_status s = SL_OK;

	for (int k = 0; k < SL_BATCH_FILES && s == SL_OK; k++) {
		if (has_part(w, k))
			s = sl_file_name_part(&w->file[k], false);
		w->file[k].dir = NULL;
	}
	sl_batch_file_remove_parts(w);
	return s;
}

/* Adds the batch to the message of a failure. */
static enum sl_status with_batch(enum sl_status s, uint64_t number)
{
	return sl_add_context(s, "batch %lu, writing", number);
}

void sl_batch_file_remove_parts(struct sl_batch_write *w)
{
	for (int k = 0; k < SL_BATCH_FILES; k++) {
		if (has_part(w, k))
			sl_file_remove_part(&w->file[k]);
		w->file[k].dir = NULL;
	}
}

/* Writes the contents of file k: the pieces of the survivors, sort keys, or counters. */
static enum sl_status write_contents(const struct sl_plan *plan, const struct sl_batch *b,
	const struct sl_pieces *pieces, int k, struct sl_batch_write *w)
{
	if (&w->line.files[k] == &w->line.order)
		return sl_order_file_put(plan, b, &w->file[k], &w->line.order);
	if (&w->line.files[k] == &w->line.bins)
		return sl_file_add(&w->file[k], b->bins, w->line.bins.bytes);
	for (uint32_t i = 0; i < pieces->n; i++)
		SL_TRY(sl_file_add(&w->file[k], pieces->piece[i].at, pieces->piece[i].bytes));
	return SL_OK;
}

/*
 * Writes each file that the run has to NAME.part and flushes it to the disk. A failure of one file
 * removes its .part file, so only those before it are left.
 */
static enum sl_status write_files(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_batch *b, const struct sl_pieces *file, struct sl_batch_write *w)
{
	for (int k = 0; k < SL_BATCH_FILES; k++) {
		if (!w->line.files[k].name[0])
			continue;
		SL_TRY(sl_file_begin(dir, w->line.files[k].name, &w->file[k]));
		SL_TRY(write_contents(plan, b, file, k, w));
		SL_TRY(sl_file_sync(&w->file[k]));
	}
	return SL_OK;
}

enum sl_status sl_batch_file_write(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_host_slot *slot, void *image, struct sl_batch_write *w)
{
	uint64_t start = sl_now_ns(), assembled;
	struct sl_pieces file;
	enum sl_status s;

	SL_TRY(with_batch(assemble(plan, slot, image, &w->line, &file), slot->batch.number));
	assembled = sl_now_ns();
	s = with_batch(write_files(plan, dir, &slot->batch, &file, w), slot->batch.number);
	if (s != SL_OK)
		sl_batch_file_remove_parts(w);
	w->assemble_ns = assembled - start;
	w->commit_ns = sl_now_ns() - assembled;
	return s;
}

void sl_batch_file_adopt(
	const struct sl_dir *dir, const struct sl_manifest_line *line, struct sl_batch_write *w)
{
	*w = (struct sl_batch_write){.line = *line};
	for (int k = 0; k < SL_BATCH_FILES; k++)
		if (line->files[k].name[0])
			sl_file_adopt(dir, line->files[k].name, &w->file[k]);
}

/* See the order in batch_file.h: every call is durable when it returns. */
enum sl_status sl_batch_file_commit(const struct sl_dir *dir, struct sl_batch_write *w)
{
	uint64_t start = sl_now_ns();
	enum sl_status s = sl_dir_check(dir);

	if (s != SL_OK)
		sl_batch_file_remove_parts(w);
	else
		s = name_files(w);
	if (s == SL_OK)
		s = sl_manifest_append(dir, &w->line);
	w->commit_ns += sl_now_ns() - start;
	return with_batch(s, w->line.batch);
}
