/* packing.c - files of columns that a device has compressed. */
#include <math.h>
#include <stdlib.h>

#include "primitives/primitives.h"
#include "stages/batch/recipe.h"
#include "stages/device/pack.h"
#include "stages/formats/formats.h"
#include "tests/support/formats/tables.h"
#include "tests/support/property/property.h"

/* What a device would send for the table, by the specification of its encoder. */
static struct sl_device_packed packed_by_device(const struct sl_format *f, const struct sl_table *t)
{
	const struct sl_device_packing *how = &f->packing;
	const struct sl_pack_rule rule = {.form = SL_AS_STREAMS, .packing = *how};
	const size_t most = sl_pack_most(&rule, t);
	struct sl_device_packed p = {.most = most,
		.size = most,
		.lo = {INFINITY, INFINITY, INFINITY},
		.hi = {-INFINITY, -INFINITY, -INFINITY}};
	size_t *stream = (size_t *)calloc(sl_pack_streams(&rule, t) + 1, sizeof(*stream));
	struct sl_arena scratch = arena_of((size_t)4 << 20);

	p.stream = stream;
	p.bytes = (uint8_t *)arena_of(p.size).base;
	for (uint32_t k = 0; t->n > 0 && k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const uint32_t item = sl_facts_of(c)->bytes;
		const int axis = (int)c->column - (int)SL_COLUMN_x;
		char *items = (char *)arena_of((size_t)t->n * item).base;
		struct sl_exec x = {.space = SL_HOST, .scratch = scratch};
		struct sl_deflate_job job = {.in = items,
			.in_bytes = (size_t)t->n * item,
			.out = p.bytes,
			.out_size = p.size,
			.out_bytes = stream,
			.level = 6,
			.wrapper = how->wrapper,
			.chunk_bytes = (size_t)sl_chunk_items(t->n, item, how->chunk_bytes) * item,
			.item_bytes = how->planes ? item : 1,
			.whole_chunks = how->planes,
			.out_used = &p.used};

		for (uint32_t i = 0; i < t->n; i++) {
			const char *at =
				(const char *)c->data + (c->constant ? 0 : (size_t)i * item);
			float v = 0;

			memcpy(items + (size_t)i * item, at, item);
			if (axis < 0 || axis > 2)
				continue;
			memcpy(&v, at, sizeof(v));
			p.lo[axis] = v < p.lo[axis] ? v + 0.0f : p.lo[axis];
			p.hi[axis] = v > p.hi[axis] ? v + 0.0f : p.hi[axis];
		}
		if (!c->constant || how->constants) {
			assert_ok(sl_deflate(&sl_deflate_cpu, &x, &job));
			stream += sl_deflate_streams(job.in_bytes, job.chunk_bytes);
		}
		free(items);
	}
	free(scratch.base);
	return p;
}

/* The file equals that of the same encoder on the host; columns that vary are not on the host. */
PROPERTY(streams_of_a_device_give_the_same_file, 200)
{
	static const struct sl_batch_facts batch = {.number = 17, .generated = 1048576};
	const struct sl_format *f = rnd_one_in(g, 2) ? &sl_format_openpmd : &sl_format_npz;
	struct sl_file_facts run = run_facts(&sl_deflate_cpu, 6);
	struct sl_table t = make_table(rnd_size(g), rnd_bits(g) & ALL_COLUMNS,
		rnd_bits(g) & rnd_bits(g), (enum kind)rnd_below(g, KIND_COUNT));
	struct sl_table bare = t;
	struct sl_device_packed sent = packed_by_device(f, &t);
	size_t bytes, expected_bytes;
	char *file, *expected = file_of(f, &run, &batch, &t, 0, &expected_bytes);
	struct packed k;

	run.form = SL_AS_STREAMS;
	for (uint32_t i = 0; i < t.n_columns; i++)
		bare.column[i].data = t.column[i].constant ? t.column[i].data : NULL;
	k = lay_out_for(f, &run, &t);
	assert_ok(sl_format_pack(f, &(struct sl_exec){.space = SL_HOST, .scratch = k.scratch}, &run,
		&bare, &sent, &k.p));
	if (f == &sl_format_openpmd)
		assert_ptr_equal(k.p.bytes, sent.bytes);
	file = assembled(f, &run, &batch, &k, &bytes);
	assert_int_equal(bytes, expected_bytes);
	assert_memory_equal(file, expected, bytes);
	free(file);
	free(expected);
	free(sent.stream);
	free(sent.bytes);
	free_packed(&k);
	free_table(&t);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

PROPERTY_FILE()
