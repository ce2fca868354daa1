/* pack_run.c - packs the survivors of a batch and copies the records or streams to the host. */
#include "stages/device/device.h"

#include <math.h>
#include <string.h>

#include "stages/device/device_pipeline.h"

/*
 * Queues the job that compresses n parts into streams from *stream on. The streams of all jobs are
 * adjacent: each job appends at out_used. Constant columns are filled first.
 */
static enum sl_status queue_job(const struct sl_recipe *r, const struct sl_pack *p, sl_stream s,
	const struct sl_pack_part *part, uint32_t n, uint32_t rows, size_t *stream)
{
	struct sl_exec x = {.space = SL_DEVICE, .stream = s, .scratch = p->scratch};
	struct sl_deflate_part input[SL_DEFLATE_PARTS_MAX];
	const struct sl_deflate_job job = {.out = p->out,
		.out_size = p->out_size,
		.out_bytes = stream,
		.level = r->pack.level,
		.wrapper = r->pack.packing.wrapper,
		.whole_chunks = r->pack.packing.planes,
		.out_used = &p->size_header->used,
		.part = input,
		.n_parts = n};
	uint64_t *filled = p->filled;

	for (uint32_t k = 0; k < n; k++) {
		input[k] = sl_pack_input(&part[k]);
		if (!part[k].value)
			continue;
		SL_TRY(r->kernels->fill(
			part[k].value, (uint32_t)(part[k].bytes / rows), rows, filled, s));
		input[k].in = filled;
		filled += sl_pack_filled_bytes(&part[k]) / sizeof(*filled);
	}
	return sl_add_context(sl_deflate(r->pack.backend, &x, &job), "%s", part[0].name);
}

/* Compresses all parts into one output, in jobs of several parts. */
static enum sl_status queue_streams(const struct sl_recipe *r,
	const struct sl_device_pipeline *pipeline, const struct sl_table *t)
{
	const struct sl_pack *p = &pipeline->pack;
	struct sl_pack_part part[SL_COLUMN_COUNT];
	uint32_t parts = sl_pack_parts(&r->pack, t, p, part), end;
	size_t *stream = (size_t *)(void *)(p->size_header + 1);

	for (uint32_t k = 0; k < parts;) {
		end = sl_pack_job_end(&r->pack, p, part, k, parts);
		SL_TRY(queue_job(r, p, pipeline->exec.stream, part + k, end - k, t->n, stream));
		for (; k < end; k++)
			stream += sl_deflate_streams(part[k].bytes, part[k].chunk_bytes);
	}
	return SL_OK;
}

/* Queues the kernels for the form: records, streams of columns, or streams of records. */
static enum sl_status queue_form(const struct sl_recipe *r,
	const struct sl_device_pipeline *pipeline, const struct sl_table *t)
{
	const struct sl_pack *p = &pipeline->pack;
	bool streams = r->pack.form == SL_AS_STREAMS;
	sl_stream s = pipeline->exec.stream;

	if (p->records)
		SL_TRY(r->kernels->records(t, &r->pack.record, t->n, p->records,
			streams ? NULL : &p->size_header->used, s));
	else
		SL_TRY(r->kernels->bounds(&pipeline->batch, p->size_header, s));
	return streams ? queue_streams(r, pipeline, t) : SL_OK;
}

/*
 * Packs, and waits for the size header. It is copied twice and compared, because it sizes the copy.
 */
static enum sl_status pack(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, const struct sl_table *t)
{
	const struct sl_pack *p = &pipeline->pack;
	sl_stream s = pipeline->exec.stream;

	SL_TRY(sl_fill(p->size_header, 0, p->size_header_bytes, s));
	SL_TRY(queue_form(r, pipeline, t));
	SL_TRY(r->kernels->digest(p->out, p->out_size, p->size_header, s));
	SL_TRY(sl_event_record(pipeline->device_packed, s));
	pipeline->packs = true;
	for (int i = 0; i < 2; i++)
		SL_TRY(sl_copy(p->host_size_header[i], p->size_header, p->size_header_bytes, s));
	SL_TRY(sl_event_record(pipeline->counted, s));
	SL_TRY(sl_event_wait(pipeline->counted));
	return memcmp(p->host_size_header[0], p->host_size_header[1], p->size_header_bytes) == 0
	               ? SL_OK
	               : sl_transfer_error("the packed sizes");
}

/* The number that a key stands for; none if the key stands for no number. */
static float bound(uint32_t key, float none)
{
	uint32_t bits = sl_key_to_f32_bits(key);
	float v;

	memcpy(&v, &bits, sizeof(v));
	return isnan(v) ? none : v;
}

/* Copies the size header to *to, after checking that the sizes add up and each stream has bytes. */
static enum sl_status read_header(const struct sl_pack_rule *rule,
	const struct sl_device_pipeline *pipeline, const struct sl_table *t,
	struct sl_device_packed *to)
{
	const struct sl_pack_size_header *header = pipeline->pack.host_size_header[0];
	size_t n = sl_pack_streams(rule, t);
	size_t sum = rule->form == SL_AS_STREAMS ? 0 : sl_pack_most(rule, t);
	bool complete = true;

	memcpy(to->stream, header + 1, n * sizeof(*to->stream));
	for (size_t k = 0; k < n; k++) {
		sum += to->stream[k];
		complete &= to->stream[k] > 0;
	}
	if (!complete || sum != header->used || sum > to->most)
		return sl_fail(SL_CHECK_FAILED,
			"internal error: %zu packed streams have %zu bytes but add up to %zu, or one "
			"has none; please report",
			n, header->used, sum);
	to->used = header->used;
	to->digest = header->digest;
	to->has_crc = false;
	for (int axis = 0; axis < 3; axis++) {
		to->lo[axis] = bound(~header->below[axis], INFINITY);
		to->hi[axis] = bound(header->above[axis], -INFINITY);
	}
	return SL_OK;
}

/*
 * A batch without survivors runs no kernel: a size header of 0 gives it the same results. The copy
 * of the packed bytes is queued here, and sl_device_pipeline_run() waits for it.
 */
enum sl_status sl_device_pipeline_pack(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, struct sl_batch *b)
{
	struct sl_table t = pipeline->batch.table;

	t.n = b->n_survivors;
	if (t.n > 0)
		SL_TRY(sl_add_context(pack(r, pipeline, &t), "packing"));
	else
		memset(pipeline->pack.host_size_header[0], 0,
			sizeof(*pipeline->pack.host_size_header[0]));
	SL_TRY(read_header(&r->pack, pipeline, &t, &b->device_packed));
	SL_TRY(sl_device_packed_reserve(&b->device_packed, b->device_packed.used));
	return sl_copy(b->device_packed.bytes, pipeline->pack.out, b->device_packed.used,
		pipeline->exec.stream);
}
