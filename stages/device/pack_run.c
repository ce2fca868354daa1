/* pack_run.c - survivors are packed on the device, and come home as records or streams. */
#include "stages/device/pack_run.h"

#include <math.h>
#include <string.h>

#include "stages/device/device_pipeline.h"

static struct sl_deflate_job job_of(const struct sl_pack_rule *rule, const struct sl_pack *p,
	const struct sl_pack_part *part, size_t *stream)
{
	return (struct sl_deflate_job){.in = part->at,
		.in_bytes = part->bytes,
		.out = p->out,
		.out_size = p->out_size,
		.out_bytes = stream,
		.level = rule->level,
		.wrapper = rule->packing.wrapper,
		.chunk_bytes = part->chunk_bytes,
		.item_bytes = part->item_bytes,
		.whole_chunks = rule->packing.planes,
		.out_used = &p->sheet->used};
}

/* All parts to one output, each behind the one before. */
static enum sl_status queue_streams(
	const struct sl_recipe *r, const struct sl_device_pipeline *lane, const struct sl_table *t)
{
	const struct sl_pack *p = &lane->pack;
	struct sl_pack_part part[SL_COLUMN_COUNT];
	uint32_t parts = sl_pack_parts(&r->pack, t, p, part);
	size_t *stream = (size_t *)(void *)(p->sheet + 1);

	for (uint32_t k = 0; k < parts; k++) {
		struct sl_deflate_job job = job_of(&r->pack, p, &part[k], stream);
		struct sl_exec x = {
			.space = SL_DEVICE, .stream = lane->exec.stream, .scratch = p->scratch};

		if (part[k].value)
			SL_TRY(r->kernels->fill(part[k].value, (uint32_t)(part[k].bytes / t->n),
				t->n, p->filled, x.stream));
		SL_TRY(sl_add_context(sl_deflate(r->pack.backend, &x, &job), "%s", part[k].name));
		stream += sl_deflate_streams(job.in_bytes, job.chunk_bytes);
	}
	return SL_OK;
}

/* What the form asks for: records, streams, or streams of records. */
static enum sl_status queue_form(
	const struct sl_recipe *r, const struct sl_device_pipeline *lane, const struct sl_table *t)
{
	const struct sl_pack *p = &lane->pack;
	bool streams = r->pack.form == SL_AS_STREAMS;
	sl_stream s = lane->exec.stream;

	if (p->records)
		SL_TRY(r->kernels->records(
			t, &r->pack.record, t->n, p->records, streams ? NULL : &p->sheet->used, s));
	else
		SL_TRY(r->kernels->bounds(&lane->batch, p->sheet, s));
	return streams ? queue_streams(r, lane, t) : SL_OK;
}

/* Packs, and waits for the sheet, which sizes what comes home; it is copied twice. */
static enum sl_status pack(
	const struct sl_recipe *r, struct sl_device_pipeline *lane, const struct sl_table *t)
{
	const struct sl_pack *p = &lane->pack;
	sl_stream s = lane->exec.stream;

	SL_TRY(sl_fill(p->sheet, 0, p->sheet_bytes, s));
	SL_TRY(queue_form(r, lane, t));
	SL_TRY(r->kernels->digest(p->out, p->out_size, p->sheet, s));
	SL_TRY(sl_event_record(lane->device_packed, s));
	lane->presses = true;
	for (int i = 0; i < 2; i++)
		SL_TRY(sl_copy(p->seen[i], p->sheet, p->sheet_bytes, s));
	SL_TRY(sl_event_record(lane->counted, s));
	SL_TRY(sl_event_wait(lane->counted));
	return memcmp(p->seen[0], p->seen[1], p->sheet_bytes) == 0
	               ? SL_OK
	               : sl_device_pipeline_torn("the sizes of what was pressed");
}

static float bound(uint32_t key, float none)
{
	uint32_t bits = sl_key_to_f32_bits(key);
	float v;

	memcpy(&v, &bits, sizeof(v));
	return isnan(v) ? none : v;
}

/* Takes over what the sheet says. The streams, or records, add up to all, or sizes are wrong. */
static enum sl_status read_sheet(const struct sl_pack_rule *rule,
	const struct sl_device_pipeline *lane, const struct sl_table *t,
	struct sl_device_packed *to)
{
	const struct sl_pack_size_header *sheet = lane->pack.seen[0];
	size_t n = sl_pack_streams(rule, t);
	size_t sum = rule->form == SL_AS_STREAMS ? 0 : sl_pack_most(rule, t);

	memcpy(to->stream, sheet + 1, n * sizeof(*to->stream));
	for (size_t k = 0; k < n; k++)
		sum += to->stream[k];
	if (sum != sheet->used || sum > to->size)
		return sl_fail(SL_CHECK_FAILED,
			"%zu streams of what was pressed, or its records, have %zu bytes and add "
			"up to %zu (a fault of this program), please report it",
			n, sheet->used, sum);
	to->used = sheet->used;
	to->digest = sheet->digest;
	for (int axis = 0; axis < 3; axis++) {
		to->lo[axis] = bound(~sheet->below[axis], INFINITY);
		to->hi[axis] = bound(sheet->above[axis], -INFINITY);
	}
	return SL_OK;
}

enum sl_status sl_device_pipeline_press(
	const struct sl_recipe *r, struct sl_device_pipeline *lane, struct sl_batch *b)
{
	struct sl_table t = lane->batch.table;

	t.n = b->n_survivors;
	if (t.n > 0)
		SL_TRY(sl_add_context(pack(r, lane, &t), "packing"));
	else
		memset(lane->pack.seen[0], 0, sizeof(*lane->pack.seen[0]));
	SL_TRY(read_sheet(&r->pack, lane, &t, &b->device_packed));
	return sl_copy(
		b->device_packed.bytes, lane->pack.out, b->device_packed.used, lane->exec.stream);
}
