/* lane_press.c - columns are compressed on the device, and come home as streams. */
#include <math.h>
#include <string.h>

#include "stages/lane.h"

static struct sl_deflate_job job_of(const struct sl_recipe *r, const struct sl_press *p,
	const struct sl_table_column *c, uint32_t n, size_t *stream)
{
	uint32_t item = sl_column_facts[c->column].bytes;
	uint32_t items = sl_chunk_items(n, item, r->press.chunk_bytes);

	return (struct sl_deflate_job){.in = c->data,
		.in_bytes = (size_t)n * item,
		.out = p->out,
		.out_size = p->out_size,
		.out_bytes = stream,
		.level = r->press.level,
		.wrapper = SL_ZLIB,
		.chunk_bytes = (size_t)items * item,
		.item_bytes = item,
		.whole_chunks = true,
		.out_used = &p->sheet->used};
}

/* All columns to one output, each behind the one before. */
static enum sl_status queue_streams(const struct sl_recipe *r, const struct sl_lane *lane)
{
	const struct sl_press *p = &lane->press;
	uint32_t n = lane->batch.n_survivors;
	size_t *stream = (size_t *)(void *)(p->sheet + 1);

	for (uint32_t k = 0; k < lane->batch.table.n_columns; k++) {
		const struct sl_table_column *c = &lane->batch.table.column[k];
		struct sl_deflate_job job = job_of(r, p, c, n, stream);
		struct sl_exec x = {
			.space = SL_DEVICE, .stream = lane->exec.stream, .scratch = p->scratch};

		if (c->constant)
			continue;
		SL_TRY(sl_while(sl_deflate(r->press.backend, &x, &job), "column %s",
			sl_column_facts[c->column].name));
		stream += sl_deflate_streams(job.in_bytes, job.chunk_bytes);
	}
	return SL_OK;
}

/* Compresses, and waits for the sheet, which sizes what comes home; it is copied twice. */
static enum sl_status compress(const struct sl_recipe *r, struct sl_lane *lane)
{
	const struct sl_press *p = &lane->press;
	sl_stream s = lane->exec.stream;

	SL_TRY(sl_fill(p->sheet, 0, p->sheet_bytes, s));
	SL_TRY(r->kernels->bounds(&lane->batch, p->sheet, s));
	SL_TRY(queue_streams(r, lane));
	SL_TRY(r->kernels->weigh(p->out, p->out_size, p->sheet, s));
	SL_TRY(sl_event_record(lane->pressed, s));
	lane->presses = true;
	for (int i = 0; i < 2; i++)
		SL_TRY(sl_copy(p->seen[i], p->sheet, p->sheet_bytes, s));
	SL_TRY(sl_event_record(lane->counted, s));
	SL_TRY(sl_event_wait(lane->counted));
	return memcmp(p->seen[0], p->seen[1], p->sheet_bytes) == 0
	               ? SL_OK
	               : sl_lane_torn("the sizes of what was compressed");
}

static float bound(uint32_t key, float none)
{
	uint32_t bits = sl_key_to_f32_bits(key);
	float v;

	memcpy(&v, &bits, sizeof(v));
	return isnan(v) ? none : v;
}

/* Takes over what the sheet says. The streams add up to all, or sizes are wrong. */
static enum sl_status read_sheet(
	const struct sl_recipe *r, const struct sl_lane *lane, struct sl_batch *b)
{
	const struct sl_press_sheet *sheet = lane->press.seen[0];
	struct sl_table t = lane->batch.table;
	struct sl_pressed *to = &b->pressed;
	size_t n, sum = 0;

	t.n = b->n_survivors;
	n = sl_press_streams(&t, r->press.chunk_bytes);
	memcpy(to->stream, sheet + 1, n * sizeof(*to->stream));
	for (size_t k = 0; k < n; k++)
		sum += to->stream[k];
	if (sum != sheet->used || sum > to->size)
		return sl_fail(SL_CHECK_FAILED,
			"%zu streams of compressed columns have %zu bytes and add up to %zu (a "
			"fault of this program), please report it",
			n, sheet->used, sum);
	to->used = sheet->used;
	to->digest = sheet->digest;
	for (int axis = 0; axis < 3; axis++) {
		to->lo[axis] = bound(~sheet->below[axis], INFINITY);
		to->hi[axis] = bound(sheet->above[axis], -INFINITY);
	}
	return SL_OK;
}

enum sl_status sl_lane_press(const struct sl_recipe *r, struct sl_lane *lane, struct sl_batch *b)
{
	if (b->n_survivors > 0)
		SL_TRY(sl_while(compress(r, lane), "compressing"));
	else
		memset(lane->press.seen[0], 0, sizeof(*lane->press.seen[0]));
	SL_TRY(read_sheet(r, lane, b));
	return sl_copy(b->pressed.bytes, lane->press.out, b->pressed.used, lane->exec.stream);
}
