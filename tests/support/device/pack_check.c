/* pack_check.c - see pack_check.h. */
#include "pack_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"
#include "host_and_device.h"
#include "mcpl_pack_check.h"
#include "primitives/files/crc32.h"
#include "stages/particle/digest.h"
#include "stages/formats/common/inflate.h"
#include "stages/device/device_pipeline.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_header.h"
#include "stages/host/batch_layout.h"

/* Bytes of a chunk: 64 items of 8 bytes, 128 of 4. The device encoder ignores the level. */
enum { CHUNK = 512, LEVEL = 6 };

/* --- kernels --------------------------------------------------------------------------------- */

/* Returns the size header that a kernel wrote, and clears it for the next kernel. */
static struct sl_pack_size_header read_and_clear_header(struct sl_pack_size_header *header)
{
	struct sl_pack_size_header found;

	assert_ok(sl_copy(&found, header, sizeof(found), NULL));
	assert_ok(sl_stream_wait(NULL));
	assert_ok(sl_fill(header, 0, sizeof(*header), NULL));
	return found;
}

/* The number in row i of one of seven columns with which a bounding box is easily wrong. */
static float edge_case(int kind, uint32_t i)
{
	static const float zeros[] = {-0.0f, 0.0f}, tiny[] = {1e-45f, -1e-45f, 3e-39f},
			   far[] = {INFINITY, -3.4028235e38f, -INFINITY};
	const float number = (float)((double)(sl_digest_mix(i, 7) >> 40) / (1 << 22) - 2);

	switch (kind) {
	case 0:
		return number;
	case 1:
		return -3 - number; /* all are negative */
	case 2:
		return i % 3 ? (i % 2 ? NAN : -NAN) : number;
	case 3:
		return zeros[i % 2];
	case 4:
		return tiny[i % 3];
	case 5:
		return far[i % 3];
	default:
		return NAN;
	}
}

/* The sort key of a number, complemented for the least number (struct sl_pack_size_header). */
static uint32_t key_of(float v, bool complemented)
{
	uint32_t bits, key;

	v += 0.0f;
	memcpy(&bits, &v, sizeof(bits));
	key = sl_key_from_f32_bits(bits);
	return complemented ? ~key : key;
}

/* Compares the bounds with those of a host loop, which ignores NaNs. */
static void check_bounds(const struct sl_kernels *kernels, struct sl_pack_size_header *header,
	float *device, int kind, uint32_t n)
{
	struct sl_batch b = {.n_survivors = n, .table = {.n_columns = 2}};
	float *host = (float *)malloc(n * sizeof(float)), lo = INFINITY, hi = -INFINITY;
	struct sl_pack_size_header found;
	bool any = false;

	assert_non_null(host);
	for (uint32_t i = 0; i < n; i++) {
		host[i] = edge_case(kind, i);
		any |= !isnan(host[i]);
		lo = host[i] < lo ? host[i] : lo;
		hi = host[i] > hi ? host[i] : hi;
	}
	assert_ok(sl_copy(device, host, n * sizeof(float), NULL));
	b.table.column[0] = (struct sl_table_column){.column = SL_COLUMN_y, .data = device};
	b.table.column[1] = (struct sl_table_column){.column = SL_COLUMN_w, .data = device};
	assert_ok(kernels->bounds(&b, header, NULL));
	found = read_and_clear_header(header);
	assert_int_equal(found.below[1], any ? key_of(lo, true) : 0);
	assert_int_equal(found.above[1], any ? key_of(hi, false) : 0);
	assert_true(found.below[0] == 0 && found.above[0] == 0);
	assert_true(found.below[2] == 0 && found.above[2] == 0);
	free(host);
}

/* Compares the digest of the first n bytes with one that is summed byte by byte. */
static void check_digest(const struct sl_kernels *kernels, struct sl_pack_size_header *header,
	uint8_t *device, size_t n, size_t capacity)
{
	uint8_t *host = (uint8_t *)malloc(capacity);
	struct sl_pack_size_header request = {.used = n}, found;
	uint64_t digest = 0;

	assert_non_null(host);
	for (size_t i = 0; i < capacity; i++)
		host[i] = (uint8_t)(sl_digest_mix(i, 9) | 1);
	for (size_t i = 0; i < n; i++)
		digest += sl_digest_weight(i / 4096) * sl_digest_item(sl_digest_weight(i / 8 % 512),
							       (uint64_t)host[i] << i % 8 * 8);
	assert_true(sl_digest_bytes(host, n) == digest);
	assert_ok(sl_copy(device, host, capacity, NULL));
	assert_ok(sl_copy(header, &request, sizeof(request), NULL));
	assert_ok(kernels->digest(device, capacity, header, NULL));
	found = read_and_clear_header(header);
	assert_true(found.digest == digest);
	free(host);
}

/* Expects n copies of a value, padded to whole words, and no change after them. */
static void check_fill(const struct sl_kernels *kernels, uint32_t bytes, uint32_t n)
{
	static const uint8_t value[] = {1, 2, 3, 4, 5, 6, 7, 8};
	size_t all = sl_round_up((size_t)n * bytes, sizeof(uint64_t));
	void *device = poisoned_get(SL_DEVICE, all + sizeof(uint64_t));
	uint8_t *host = (uint8_t *)poisoned_get(SL_HOST, all + sizeof(uint64_t));

	assert_ok(kernels->fill(value, bytes, n, (uint64_t *)device, NULL));
	assert_ok(sl_copy(host, device, all + sizeof(uint64_t), NULL));
	assert_ok(sl_stream_wait(NULL));
	for (size_t i = 0; i < all; i++)
		if (host[i] != value[i % bytes])
			fail_msg("byte %zu of %u values of %u bytes differs from that of the host",
				i, n, bytes);
	for (size_t i = all; i < all + sizeof(uint64_t); i++)
		assert_int_equal(host[i], 0xa5);
	sl_memory_give(SL_HOST, host);
	sl_memory_give(SL_DEVICE, device);
}

void pack_check_kernels(uint32_t most)
{
	const struct sl_kernels *kernels = sl_kernels_find();
	struct sl_pack_size_header *header =
		(struct sl_pack_size_header *)poisoned_get(SL_DEVICE, sizeof(*header));
	const uint32_t sizes[] = {1, 2, 31, 33, 257, most};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint32_t bytes = 1; bytes <= 8; bytes *= bytes == 1 ? 4 : 2)
			check_fill(kernels, bytes, sizes[i]);
	read_and_clear_header(header);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int kind = 0; kind < 7; kind++) {
			void *device = poisoned_get(SL_DEVICE, sizes[i] * sizeof(float));

			check_bounds(kernels, header, (float *)device, kind, sizes[i]);
			sl_memory_give(SL_DEVICE, device);
		}
	for (size_t i = 0; i < 20; i++) {
		size_t n = i < 10 ? i : most - (i - 10);
		void *device = poisoned_get(SL_DEVICE, n + 9);

		check_digest(kernels, header, (uint8_t *)device, n, n + 9);
		sl_memory_give(SL_DEVICE, device);
	}
	sl_memory_give(SL_DEVICE, header);
}

/* --- pipelines ----------------------------------------------------------------------------------- */

/* How survivors are packed and transferred. */
static const struct output {
	enum sl_transfer_form form;
	struct sl_device_packing packing;
} outputs[] = {
	{SL_AS_STREAMS, {.chunk_bytes = CHUNK, .wrapper = SL_ZLIB, .planes = true}},
	{SL_AS_RECORDS, {.records = true}},
	{SL_AS_STREAMS, {.records = true, .chunk_bytes = CHUNK, .wrapper = SL_GZIP}},
	{SL_AS_STREAMS, {.chunk_bytes = SIZE_MAX, .wrapper = SL_GZIP, .constants = true}},
};
enum { N_OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };

/* MCPL records with one energy for all particles, and with ids as user flags. */
static const struct sl_mcpl_facts record_facts = {.pdg = 22, .energy = 2e-3, .flags = SL_COLUMN_id};

/* Sets the output of a recipe; the column w is also received unpacked. */
static void set_pack_rule(struct sl_recipe *d, const struct output *output)
{
	struct sl_arena none = {0};
	struct sl_table t;

	d->pack = (struct sl_pack_rule){
		.form = output->form, .packing = output->packing, .level = LEVEL};
	d->unpacked = SL_BIT(SL_COLUMN_w);
	if (output->form == SL_AS_STREAMS)
		assert_ok(sl_find(SL_DEFLATE, "device", &d->pack.backend));
	sl_table_lay_out(&none, d, 0, 0, &t);
	if (output->packing.records)
		assert_ok(sl_mcpl_record_of(&t, &record_facts, &d->pack.record));
}

/* A batch of the host, and a device pipeline with the batch received from it. */
struct batch_pair {
	struct sl_batch host, received;
	struct sl_exec x;
	struct sl_device_pipeline pipeline;
	void *block, *scratch, *device_memory, *pinned;
};

static void lay_out_pipeline(struct sl_arena *device, struct sl_arena *pinned,
	const struct sl_recipe *r, struct batch_pair *s)
{
	sl_device_pipeline_lay_out(device, pinned, r, r->batch, &s->pipeline);
	sl_table_lay_out(pinned, r, r->batch, r->unpacked, &s->received.table);
	sl_device_packed_lay_out(pinned, r, r->batch, &s->received.device_packed);
}

/* Allocates an arena of the measured size. */
static struct sl_arena arena_of(enum sl_space space, size_t bytes, void **memory)
{
	*memory = poisoned_get(space, bytes);
	return (struct sl_arena){.base = *memory, .size = bytes};
}

static void open_pair(const struct sl_recipe *r, const struct sl_recipe *d, struct batch_pair *s)
{
	struct sl_arena host = {0}, device = {0}, pinned = {0};

	memset(s, 0, sizeof(*s));
	sl_batch_lay_out(&host, r, r->batch, &s->host);
	host = arena_of(SL_HOST, host.used, &s->block);
	sl_batch_lay_out(&host, r, r->batch, &s->host);
	s->x.scratch = arena_of(SL_HOST, sl_stages_scratch(r, r->batch), &s->scratch);
	lay_out_pipeline(&device, &pinned, d, s);
	device = arena_of(SL_DEVICE, device.used, &s->device_memory);
	pinned = arena_of(SL_PINNED, pinned.used, &s->pinned);
	lay_out_pipeline(&device, &pinned, d, s);
	assert_true(sl_fits(&device) && sl_fits(&pinned));
	assert_ok(sl_device_pipeline_open(&s->pipeline));
}

static void close_pair(struct batch_pair *s)
{
	sl_device_pipeline_close(&s->pipeline);
	sl_memory_give(SL_DEVICE, s->device_memory);
	sl_memory_give(SL_PINNED, s->pinned);
	sl_memory_give(SL_HOST, s->block);
	sl_memory_give(SL_HOST, s->scratch);
}

/* The streams of a column inflate to its chunks, shuffled in byte planes; zeros pad the last chunk. */
static void check_column(
	const struct sl_table_column *c, uint32_t n, const uint8_t **at, const size_t **stream)
{
	uint32_t item = sl_column_facts[c->column].bytes, items = CHUNK / item;
	const uint8_t *column = (const uint8_t *)c->data;
	uint8_t chunk[CHUNK];

	items = n < items ? n : items;
	for (uint32_t first = 0; first < n; first += items) {
		assert_ok(sl_inflate_whole(SL_ZLIB, *at, **stream, chunk, (size_t)items * item));
		for (uint32_t i = 0; i < items; i++)
			for (uint32_t b = 0; b < item; b++) {
				size_t row = (size_t)first + i;

				assert_int_equal(
					chunk[b * items + i], row < n ? column[row * item + b] : 0);
			}
		*at += *(*stream)++;
	}
}

static void check_box(const struct batch_pair *s)
{
	for (uint32_t k = 0; k < s->host.table.n_columns; k++) {
		const struct sl_table_column *c = &s->host.table.column[k];
		int axis = (int)c->column - (int)SL_COLUMN_x;
		float lo = INFINITY, hi = -INFINITY;

		if (c->constant || axis < 0 || axis > 2)
			continue;
		for (uint32_t i = 0; i < s->host.table.n; i++) {
			lo = fminf(lo, ((const float *)c->data)[i]);
			hi = fmaxf(hi, ((const float *)c->data)[i]);
		}
		assert_true(s->received.device_packed.lo[axis] == lo &&
			    s->received.device_packed.hi[axis] == hi);
	}
}

static void check_columns(const struct batch_pair *s)
{
	const struct sl_device_packed *p = &s->received.device_packed;
	const uint8_t *at = p->bytes;
	const size_t *stream = p->stream;

	for (uint32_t k = 0; k < s->host.table.n_columns; k++)
		if (!s->host.table.column[k].constant)
			check_column(&s->host.table.column[k], s->host.n_survivors, &at, &stream);
	assert_int_equal(at - p->bytes, p->used);
	check_box(s);
}

/* A gzip member inflates to exactly these bytes. */
static void check_member(const uint8_t *at, size_t used, const uint8_t *expected, size_t bytes)
{
	uint8_t *found = (uint8_t *)malloc(bytes);

	assert_non_null(found);
	assert_ok(sl_inflate_whole(SL_GZIP, at, used, found, bytes));
	assert_memory_equal(found, expected, bytes);
	free(found);
}

/* Each column is one gzip member, not shuffled; a constant column has its value in every row. */
static void check_whole_columns(const struct batch_pair *s)
{
	const struct sl_device_packed *p = &s->received.device_packed;
	const size_t *stream = p->stream;
	size_t used = 0, n = s->host.n_survivors;
	uint8_t *items = (uint8_t *)malloc(n * sizeof(uint64_t) + 1);

	assert_non_null(items);
	for (uint32_t k = 0; n > 0 && k < s->host.table.n_columns; k++) {
		const struct sl_table_column *c = &s->host.table.column[k];
		size_t item = sl_column_facts[c->column].bytes;

		for (size_t i = 0; i < n; i++)
			memcpy(items + i * item,
				(const char *)c->data + (c->constant ? 0 : i * item), item);
		check_member(p->bytes + used, *stream, items, n * item);
		used += *stream++;
	}
	assert_int_equal(used, p->used);
	check_box(s);
	free(items);
}

/* Records are not compressed, or are in gzip members of at most CHUNK bytes each. */
static void check_records(const struct sl_pack_rule *rule, const struct batch_pair *s)
{
	const struct sl_device_packed *p = &s->received.device_packed;
	size_t most = CHUNK / rule->record.bytes * rule->record.bytes, bytes, used = 0, k = 0;
	uint8_t *records = records_of_host(&s->host.table, &record_facts, &bytes);

	if (rule->form == SL_AS_RECORDS) {
		assert_int_equal(p->used, bytes);
		assert_memory_equal(p->bytes, records, bytes);
	}
	for (size_t at = 0; rule->form == SL_AS_STREAMS && at < bytes; at += most) {
		size_t left = bytes - at;

		check_member(
			p->bytes + used, p->stream[k], records + at, left < most ? left : most);
		used += p->stream[k++];
	}
	assert_true(rule->form == SL_AS_RECORDS || used == p->used);
	free(records);
}

static void check_packed_streams(const struct sl_pack_rule *rule, const struct batch_pair *s)
{
	struct sl_device_packed packed = s->received.device_packed;
	uint32_t n = s->host.n_survivors;

	assert_int_equal(s->received.n_survivors, n);
	assert_int_equal(s->received.table.n, n);
	for (uint32_t k = 0; k < s->host.table.n_columns; k++)
		assert_true(s->host.table.column[k].digest == s->received.table.column[k].digest);
	if (rule->packing.records)
		check_records(rule, s);
	else if (rule->packing.planes)
		check_columns(s);
	else
		check_whole_columns(s);
	assert_ok(sl_device_packed_check(&packed));
	assert_true(packed.has_crc);
	assert_int_equal(packed.crc, sl_crc32(packed.bytes, packed.used));
}

/* Exactly the unpacked columns of the recipe are received, and they equal those of the host. */
static void check_unpacked_columns(const struct sl_recipe *d, const struct batch_pair *s)
{
	for (uint32_t k = 0; k < s->host.table.n_columns; k++) {
		const struct sl_table_column *c = &s->host.table.column[k];
		const void *received = s->received.table.column[k].data;

		if (c->constant)
			continue;
		assert_int_equal(received != NULL, SL_HAS(d->unpacked, c->column));
		if (received)
			assert_memory_equal(received, c->data,
				(size_t)s->host.table.n * sl_column_facts[c->column].bytes);
	}
}

static void compare(const struct sl_recipe *r, enum sl_mode mode, const struct output *output)
{
	struct sl_recipe d = *r;
	uint64_t ns[SL_STAGE_COUNT] = {0};
	struct batch_pair s;

	d.kernels = sl_kernels_find();
	d.mode = mode;
	d.scan = d.compact = (struct sl_choice){0};
	if (mode == SL_MODE_staged)
		assert_ok(sl_find(SL_COMPACT, "naive", &d.compact.backend));
	assert_ok(sl_find(SL_SORT, "naive", &d.sort.backend));
	set_pack_rule(&d, output);
	open_pair(r, &d, &s);
	for (int repeat = 0; repeat < 2; repeat++) {
		sl_batch_begin(r, &s.host, 0);
		sl_batch_begin(r, &s.received, 0);
		s.received.device_packed.wanted = true;
		assert_ok(sl_stages_run(r, &s.x, &s.host, NULL));
		assert_ok(sl_device_pipeline_run(&d, &s.pipeline, &s.received, ns));
		check_packed_streams(&d.pack, &s);
		check_unpacked_columns(&d, &s);
	}
	close_pair(&s);
}

/* With survivors, then without. */
static void compare_model(int model, enum sl_mode mode, uint32_t n, const struct output *output)
{
	struct sl_recipe r = test_recipe((enum sl_model_number)model, n);

	compare(&r, mode, output);
	r.keep = 0;
	compare(&r, mode, output);
}

void pack_check_pipelines(uint32_t n)
{
	for (int model = 0; model < TEST_MODELS; model++)
		for (int mode = 0; mode < SL_MODE_COUNT; mode++)
			compare_model(model, (enum sl_mode)mode, n, &outputs[0]);
}

/* All stages before the packing are the same for each output, so each is tested with half of the models. */
void pack_check_forms(uint32_t n)
{
	for (int i = 1; i < N_OUTPUTS; i++)
		for (int model = i % 2; model < TEST_MODELS; model += 2)
			compare_model(
				model, (enum sl_mode)(model / 2 % SL_MODE_COUNT), n, &outputs[i]);
}

/* Expects that each job fits into the memory of p; returns the number of jobs. */
static uint32_t check_jobs(const struct sl_recipe *d, const struct sl_pack *p, uint32_t rows)
{
	struct sl_pack_part part[SL_COLUMN_COUNT];
	struct sl_deflate_part input[SL_COLUMN_COUNT];
	struct sl_arena none = {0};
	struct sl_table t;
	uint32_t n, end, jobs = 0;

	sl_table_lay_out(&none, d, rows, 0, &t);
	t.n = rows;
	n = sl_pack_parts(&d->pack, &t, NULL, part);
	for (uint32_t from = 0; from < n; from = end, jobs++) {
		size_t filled = 0;

		end = sl_pack_job_end(&d->pack, p, part, from, n);
		assert_in_range(end, from + 1, n);
		for (uint32_t k = from; k < end; k++) {
			input[k - from] = sl_pack_input(&part[k]);
			filled += part[k].value ? sl_pack_filled_bytes(&part[k]) : 0;
		}
		const struct sl_shape shape = {
			.part = input, .n_parts = end - from, .level = LEVEL};

		assert_in_range(sl_scratch(d->pack.backend, &shape), 1, p->scratch.size);
		assert_in_range(filled, 0, p->filled_bytes);
	}
	return jobs;
}

void pack_check_jobs(uint32_t most)
{
	for (int model = 0; model < TEST_MODELS; model++)
		for (int i = 0; i < N_OUTPUTS; i += N_OUTPUTS - 1) { /* columns */
			struct sl_recipe d = test_recipe((enum sl_model_number)model, most);
			struct sl_arena device = {0}, pinned = {0};
			struct sl_pack p;

			set_pack_rule(&d, &outputs[i]);
			d.pack.packing.chunk_bytes = (size_t)1 << 20;
			sl_pack_lay_out(&device, &pinned, &d, most, &p);
			for (uint32_t k = 0; k <= 64; k++)
				check_jobs(&d, &p, (uint32_t)((uint64_t)most * k / 64));
			assert_int_equal(check_jobs(&d, &p, 1), 1);
		}
}
