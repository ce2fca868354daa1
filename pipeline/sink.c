/* sink.c - one finished batch becomes one committed file and one line. */
#include "pipeline/sink.h"

#include <string.h>

#include "primitives/base/clock.h"

void sl_sink_name(const struct sl_plan *plan, uint64_t batch, char name[SL_FILE_NAME_BYTES])
{
	sl_file_name(name, SL_FILE_NAME_BYTES, plan->config.run.name, batch, plan->format->suffix);
}

void sl_sink_bins_name(const struct sl_plan *plan, uint64_t batch, char name[SL_FILE_NAME_BYTES])
{
	if (plan->recipe.bins.n > 0)
		sl_file_name(
			name, SL_FILE_NAME_BYTES, plan->config.run.name, batch, SL_BINS_SUFFIX);
	else
		name[0] = '\0';
}

void sl_sink_line(const struct sl_batch *b, struct sl_manifest_line *line)
{
	memset(line, 0, sizeof(*line));
	line->batch = b->number;
	line->first_id = b->first_id;
	line->generated = b->n;
	line->survivors = b->n_survivors;
	line->tally = b->tally;
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		const struct sl_table_column *c = &b->table.column[k];

		line->columns |= SL_BIT(c->column);
		line->digest[c->column] = c->digest;
	}
	line->bins_bytes = b->bin_words * sizeof(*b->bins);
	line->bins_crc = b->bin_words > 0 ? sl_crc32(b->bins, line->bins_bytes) : 0;
}

static enum sl_status commit(struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_slot *slot, struct sl_session *session)
{
	const struct sl_batch *b = &slot->batch;
	struct sl_batch_facts facts = {b->number, b->first_id, b->n};
	struct sl_manifest_line line;
	const void *file = plan->image;
	uint64_t start = sl_now_ns();
	size_t bytes;

	sl_sink_line(b, &line);
	sl_sink_name(plan, b->number, line.file);
	sl_sink_bins_name(plan, b->number, line.bins_file);
	SL_TRY(plan->format->assemble(
		&plan->facts, &facts, &slot->packed, plan->image, plan->room.image, &file, &bytes));
	line.file_bytes = bytes;
	line.file_crc = sl_crc32(file, bytes);
	session->assemble_ns += sl_now_ns() - start;
	start = sl_now_ns();
	SL_TRY(sl_file_commit(dir, line.file, file, bytes, false));
	if (line.bins_bytes > 0)
		SL_TRY(sl_file_commit(dir, line.bins_file, b->bins, line.bins_bytes, false));
	SL_TRY(sl_manifest_append(dir, &line));
	session->commit_ns += sl_now_ns() - start;
	return sl_canvas_add(&plan->canvas, b->number, &b->table);
}

enum sl_status sl_sink_commit(struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_slot *slot, struct sl_session *session)
{
	enum sl_status s = commit(plan, dir, slot, session);

	return sl_while(s, "batch %llu, writing", (unsigned long long)slot->batch.number);
}
