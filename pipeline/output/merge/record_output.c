/* record_output.c - see record_output.h. */
#include "pipeline/output/merge/record_output.h"

#include <string.h>

#include "stages/formats/mcpl/mcpl.h"

/* Cuts the buffers from an arena, which only measures if it has no memory. */
static void lay_out(struct sl_arena *a, bool gzip, struct sl_record_output *o)
{
	o->buffer = (uint8_t *)sl_cut(a, SL_MCPL_MEMBER_BYTES);
	if (!gzip)
		return;
	o->packed = (uint8_t *)sl_cut(a, sl_mcpl_member_most(SL_MCPL_MEMBER_BYTES));
	o->x = (struct sl_exec){.space = SL_HOST};
	o->x.scratch.size = sl_mcpl_member_scratch(o->facts);
	o->x.scratch.base = sl_cut(a, o->x.scratch.size);
}

enum sl_status sl_record_output_begin(struct sl_record_output *o, const struct sl_plan *plan,
	uint32_t record_bytes, uint64_t records, sl_byte_sink *sink, void *context)
{
	bool gzip = plan->choices.format == &sl_format_mcpl_gz;
	struct sl_arena a = {0};

	*o = (struct sl_record_output){.sink = sink,
		.context = context,
		.facts = &plan->facts,
		.left = records,
		.bytes = record_bytes,
		.most = SL_MCPL_MEMBER_BYTES / record_bytes * record_bytes};
	lay_out(&a, gzip, o);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &o->block));
	a = (struct sl_arena){.base = o->block, .size = a.used};
	lay_out(&a, gzip, o);
	return SL_OK;
}

enum sl_status sl_record_output_begin_table(struct sl_record_output *o, uint32_t row_bytes,
	uint64_t rows, struct sl_table_output *table)
{
	*o = (struct sl_record_output){.table = table,
		.left = rows,
		.bytes = row_bytes,
		.most = (size_t)row_bytes * SL_JOIN_ROWS};
	SL_TRY(sl_memory_get(SL_HOST, o->most, &o->block));
	o->buffer = (uint8_t *)o->block;
	return SL_OK;
}

enum sl_status sl_record_output_flush(struct sl_record_output *o)
{
	size_t used = o->used, packed;

	o->used = 0;
	if (used == 0)
		return SL_OK;
	if (o->table)
		return sl_table_output_add(o->table, o->buffer, (uint32_t)(used / o->bytes));
	if (!o->packed)
		return o->sink(o->context, o->buffer, used);
	SL_TRY(sl_mcpl_member(&o->x, o->facts, o->buffer, used, o->packed, &packed));
	return o->sink(o->context, o->packed, packed);
}

enum sl_status sl_record_output_add(struct sl_record_output *o, const uint8_t *record)
{
	if (o->left == 0)
		return SL_OK;
	o->left--;
	memcpy(o->buffer + o->used, record, o->bytes);
	o->used += o->bytes;
	return o->used == o->most ? sl_record_output_flush(o) : SL_OK;
}

void sl_record_output_end(struct sl_record_output *o)
{
	sl_memory_give(SL_HOST, o->block);
	o->block = NULL;
}
