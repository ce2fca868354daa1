/*
 * npz.c - tests tables written as numpy archives with a separate decoder: zip directory, zlib's
 * inflate, array headers.
 *
 * readback.c tests that numpy reads the archives.
 */
#include <stdio.h>
#include <zlib.h>

#include "stages/batch/recipe.h"
#include "stages/device/pack.h"
#include "tests/cases/sampling.h"
#include "tests/stages/formats/format_check.h"
#include "stages/formats/formats.h"

static const struct sl_format *const npz = &sl_format_npz;
static const struct sl_batch_facts batch = {.number = 3, .first_id = 12, .generated = 99};

static uint64_t number(const uint8_t *from, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | from[i];
	return value;
}

/* --- by hand ---------------------------------------------------------------------------------- */

/* A member of an archive; the caller frees its data. */
struct array {
	char name[64];
	uint8_t *bytes;
	size_t size;
};

/* Inflates a raw stream of exactly size bytes. */
static void inflate_raw(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t size)
{
	z_stream z = {0};

	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)in;
	z.avail_in = (uInt)in_bytes;
	z.next_out = out;
	z.avail_out = (uInt)size;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, size);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
}

/* The member of the entry at e: its name, its place, and at that place its data. */
static struct array unpack(const uint8_t *file, const uint8_t *e)
{
	uint64_t name_bytes = number(e + 28, 2), packed = number(e + 20, 4);
	const uint8_t *local = file + number(e + 42, 4);
	const uint8_t *data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
	struct array a = {.size = (size_t)number(e + 24, 4)};

	assert_memory_equal(e, "PK\x01\x02", 4);
	assert_memory_equal(local, "PK\x03\x04", 4);
	assert_true(name_bytes < sizeof(a.name));
	memcpy(a.name, e + 46, (size_t)name_bytes);
	a.bytes = (uint8_t *)malloc(a.size);
	assert_non_null(a.bytes);
	if (number(e + 10, 2) == 8)
		inflate_raw(data, (size_t)packed, a.bytes, a.size);
	else
		memcpy(a.bytes, data, a.size);
	assert_int_equal(crc32(0, a.bytes, (uInt)a.size), number(e + 16, 4));
	return a;
}

/* Returns the first item of an array, after checking its header. */
static const uint8_t *items_of(const struct array *a, const char *type, const char *shape)
{
	size_t text = 10 + (size_t)number(a->bytes + 8, 2);
	char expected[128];
	int n = snprintf(expected, sizeof(expected),
		"{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);

	assert_memory_equal(a->bytes, "\x93NUMPY\x01\x00", 8);
	assert_int_equal(text % 64, 0);
	assert_int_equal(a->bytes[text - 1], '\n');
	assert_memory_equal(a->bytes + 10, expected, (size_t)n);
	for (size_t i = 10 + (size_t)n; i < text - 1; i++)
		assert_int_equal(a->bytes[i], ' ');
	return a->bytes + text;
}

static void check_column(const struct array *a, const struct sl_table_column *c, uint32_t n)
{
	static const char *const types[] = {"<f4", "<u4", "<u8", "|u1", "<i4"};
	const struct sl_column_facts *f = &sl_column_facts[c->column];
	char name[64], shape[32];
	const uint8_t *items;

	snprintf(name, sizeof(name), "%s.npy", f->name);
	assert_string_equal(a->name, name);
	snprintf(shape, sizeof(shape), "(%u,)", n);
	items = items_of(a, types[f->type], shape);
	assert_int_equal(a->bytes + a->size - items, (size_t)n * f->bytes);
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(items + i * f->bytes,
			(const char *)c->data + (c->constant ? 0 : i * f->bytes), f->bytes);
}

static void check_about(const struct array *a)
{
	char type[32];
	const uint8_t *text;

	snprintf(type, sizeof(type), "|S%zu", a->size - 128);
	assert_string_equal(a->name, "about.npy");
	text = items_of(a, type, "()");
	assert_int_equal(*text, '{');
	assert_int_equal(a->bytes[a->size - 1], '}');
}

static void check_by_hand(const uint8_t *file, size_t bytes, const struct sl_table *t)
{
	const uint8_t *end = file + bytes - 22, *e = file + number(end + 16, 4);

	assert_memory_equal(end, "PK\x05\x06", 4);
	assert_int_equal(number(end + 10, 2), t->n_columns + 1);
	for (uint32_t i = 0; i <= t->n_columns; i++) {
		struct array a = unpack(file, e);

		if (i < t->n_columns)
			check_column(&a, &t->column[i], t->n);
		else
			check_about(&a);
		free(a.bytes);
		e += 46 + number(e + 28, 2) + number(e + 30, 2);
	}
	assert_ptr_equal(e, end);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void round_trip(const struct sl_backend *deflate, int level, uint32_t n,
	sl_column_set columns, sl_column_set constants, enum kind kind)
{
	struct sl_file_facts run = run_facts(deflate, level);
	struct sl_table t = make_table(n, columns, constants, kind), back;
	struct sl_arena a;
	size_t bytes, again;
	char *file = file_of(npz, &run, &batch, &t, 0x00, &bytes);
	char *same = file_of(npz, &run, &batch, &t, 0xff, &again);

	assert_int_equal(bytes, again);
	assert_memory_equal(file, same, bytes);
	check_by_hand((const uint8_t *)file, bytes, &t);
	assert_ok(read_back(npz, file, bytes, &a, &back));
	assert_same_table(&t, &back);
	free(a.base);
	free(same);
	free(file);
	free_table(&t);
}

TEST(every_table_is_read_back)
{
	static const uint32_t sizes[] = {0, 1, 2, 1000, 30000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			round_trip(&sl_deflate_libdeflate, 1, sizes[i], all_columns, 0,
				(enum kind)kind);
			round_trip(&sl_deflate_zlib, 1, sizes[i], all_columns,
				SL_BIT(SL_COLUMN_w) | SL_BIT(SL_COLUMN_fate), (enum kind)kind);
		}
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		round_trip(&sl_deflate_libdeflate, 9, 100, SL_BIT(i), 0, HARD);
	round_trip(&sl_deflate_libdeflate, 1, 0, 0, 0, RANDOM);
}

/* Returns the metadata of a file as text, which the caller frees. */
static char *about_of(const struct sl_file_facts *run, const struct sl_table *t)
{
	size_t bytes;
	char *file = file_of(npz, run, &batch, t, 0, &bytes), *text;
	const uint8_t *e = (const uint8_t *)file + number((const uint8_t *)file + bytes - 6, 4);
	struct array a;

	for (uint32_t i = 0; i < t->n_columns; i++)
		e += 46 + number(e + 28, 2) + number(e + 30, 2);
	a = unpack((const uint8_t *)file, e);
	check_about(&a);
	text = (char *)malloc(a.size - 127);
	memcpy(text, a.bytes + 128, a.size - 128);
	text[a.size - 128] = '\0';
	free(a.bytes);
	free(file);
	return text;
}

TEST(metadata_is_written)
{
	static const char expected[] =
		"{\"software\": \"Sluice\", \"version\": \"1.2.3\", \"rules_version\": 7, \"run\": "
		"\"demo\", \"seed\": 42, \"batch\": 3, \"first_id\": 12, \"generated\": 99, "
		"\"species\": \"photons\", \"units\": {\"id\": \"\", \"x\": \"cm\", \"energy\": "
		"\"keV\", \"time\": \"ns\"}, \"config\": \"a: \\\"b\\\\c\\\"\\n\\u0009\xc3\xa4\"}";
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table t = make_table(4,
		SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_energy) |
			SL_BIT(SL_COLUMN_time),
		0, RANDOM);
	char *text;

	run.rules_version = 7;
	run.config = "a: \"b\\c\"\n\t\xc3\xa4";
	text = about_of(&run, &t);
	assert_string_equal(text, expected);
	free(text);
	free_table(&t);
}

TEST(too_small_image_is_refused)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table small = make_table(10, all_columns, 0, RANDOM);
	struct sl_table large = make_table(10000, all_columns, 0, RANDOM);
	struct packed k = lay_out_for(npz, &run, &small);
	struct packed roomy = lay_out_for(npz, &run, &large);
	struct sl_arena image = arena_of(npz->image_bytes(&small, &run));
	struct sl_pieces pieces;

	roomy.scratch.size = 4096;
	assert_fails(pack_into(&k, npz, &run, &large), SL_USAGE, "laid out for");
	assert_fails(pack_into(&roomy, npz, &run, &large), SL_USAGE, "scratch");
	assert_ok(pack_into(&k, npz, &run, &small));
	assert_fails(npz->assemble(&run, &batch, &k.p, image.base, image.size - 1, &pieces),
		SL_USAGE, "image_bytes()");
	free(image.base);
	free_packed(&roomy);
	free_packed(&k);
	free_table(&small);
	free_table(&large);
}

/* Packing into used memory gives the same bytes as into new memory. */
TEST(memory_can_be_reused)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_table most = make_table(5000, all_columns, 0, RANDOM), back;
	struct packed k = lay_out_for(npz, &run, &most);
	struct sl_arena image = arena_of(npz->image_bytes(&most, &run)), a;

	for (int i = 0; i < 8; i++) {
		struct sl_table t = make_table(
			(uint32_t)(i * 713 % 5000), all_columns, 0, (enum kind)(i % KIND_COUNT));
		struct sl_pieces pieces;
		size_t bytes;
		char *file;

		assert_ok(pack_into(&k, npz, &run, &t));
		assert_ok(npz->assemble(&run, &batch, &k.p, image.base, image.size, &pieces));
		file = joined(&pieces, &bytes);
		assert_ok(read_back(npz, file, bytes, &a, &back));
		assert_same_table(&t, &back);
		free(a.base);
		free(file);
		free_table(&t);
	}
	free(image.base);
	free_packed(&k);
	free_table(&most);
}

/* --- from a device ---------------------------------------------------------------------------- */

/* The packed data that a device would send for t, by the specification of its encoder: of each column, all
 * its rows in a member of gzip. */
static struct sl_device_packed pack(const struct sl_table *t)
{
	const struct sl_pack_rule rule = {.form = SL_AS_STREAMS, .packing = npz->packing};
	struct sl_device_packed p = {.size = sl_pack_most(&rule, t)};
	struct sl_arena scratch = arena_of((size_t)4 << 20);
	size_t *stream = (size_t *)calloc(t->n_columns, sizeof(*stream));
	uint64_t *items = (uint64_t *)calloc(t->n + 1, sizeof(*items));

	p.stream = stream;
	p.bytes = (uint8_t *)arena_of(p.size).base;
	for (uint32_t k = 0; t->n > 0 && k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		size_t item = sl_column_facts[c->column].bytes;
		struct sl_exec x = {.space = SL_HOST, .scratch = scratch};
		struct sl_deflate_job job = {.in = items,
			.in_bytes = t->n * item,
			.out = p.bytes,
			.out_size = p.size,
			.out_bytes = stream++,
			.wrapper = SL_GZIP,
			.level = 1,
			.out_used = &p.used};

		for (size_t i = 0; i < t->n; i++)
			memcpy((char *)items + i * item,
				(const char *)c->data + (c->constant ? 0 : i * item), item);
		assert_ok(sl_deflate(&sl_deflate_cpu, &x, &job));
	}
	free(items);
	free(scratch.base);
	return p;
}

/* Returns the file made of streams that a device packed; the caller frees it. */
static char *file_of_packed(const struct sl_table *t, size_t *bytes)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_device_packed device_packed = pack(t);
	struct sl_pieces pieces;
	struct packed k;
	char *file;

	run.form = SL_AS_STREAMS;
	k = lay_out_for(npz, &run, t);
	struct sl_arena image = arena_of(npz->image_bytes(t, &run));
	struct sl_exec x = {.space = SL_HOST, .scratch = k.scratch};

	assert_int_equal(k.p.size, 0);
	assert_ok(npz->take(&x, &run, t, &device_packed, &k.p));
	assert_ok(sl_format_check_written(&k.p.written, t->n));
	assert_ok(npz->assemble(&run, &batch, &k.p, image.base, image.size, &pieces));
	file = joined(&pieces, bytes);
	free(image.base);
	free_packed(&k);
	free(device_packed.bytes);
	free(device_packed.stream);
	return file;
}

/* The file equals that of the same encoder on the host. */
static void check_packed(uint32_t n, enum kind kind)
{
	struct sl_file_facts run = run_facts(&sl_deflate_cpu, 1);
	struct sl_table t = make_table(n, all_columns,
		SL_BIT(SL_COLUMN_w) | SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_fate), kind);
	size_t bytes, expected_bytes;
	char *expected = file_of(npz, &run, &batch, &t, 0, &expected_bytes);
	char *file = file_of_packed(&t, &bytes);

	assert_int_equal(bytes, expected_bytes);
	assert_memory_equal(file, expected, bytes);
	check_by_hand((const uint8_t *)file, bytes, &t);
	free(file);
	free(expected);
	free_table(&t);
}

/* Also for data that does not compress, or only a little. */
TEST(streams_of_a_device_give_the_same_file)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (uint32_t n = 0; n < 80; n += (uint32_t)sl_sampling_step(3))
			check_packed(n, (enum kind)kind);
		if (sl_sampling_selects())
			check_packed(12000, (enum kind)kind);
	}
}

/* --- damage ----------------------------------------------------------------------------------- */

TEST(every_damage_is_found)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 6);
	struct sl_table t = make_table(40, all_columns, SL_BIT(SL_COLUMN_w), RANDOM), back;
	struct sl_arena a = {0};
	size_t bytes, unseen = 0;
	char *file = file_of(npz, &run, &batch, &t, 0, &bytes);

	assert_cuts_are_refused(npz, file, bytes, 1);
	/* one or two other bits of every byte */
	for (size_t at = 0; at < 8 * bytes; at += sl_sampling_step(5)) {
		enum sl_status status;

		file[at / 8] ^= (char)(1 << at % 8);
		status = read_back(npz, file, bytes, &a, &back);
		if (status == SL_OK)
			assert_same_table(&t, &back); /* a bit after the end of a stream */
		else
			assert_int_equal(status, SL_BAD_INPUT);
		unseen += status == SL_OK;
		free(a.base);
		file[at / 8] ^= (char)(1 << at % 8);
	}
	assert_true(unseen <= 7 * SL_COLUMN_COUNT);
	free(file);
	free_table(&t);
}

/* Renamed members with valid checksums: a column twice, an unknown column, no metadata. */
TEST(other_archives_are_refused)
{
	static const struct {
		const char *name, *other, *says;
	} changes[] = {{"y.npy", "x.npy", "two of it"}, {"y.npy", "-.npy", "no column"},
		{"y.npy", "q.npy", "no unit of a column"},
		{"about.npy", "About.npy", "in the place of about.npy"}};
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 6);
	struct sl_table t = make_table(40, SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y), 0, RANDOM);
	struct sl_table back;
	struct sl_arena a = {0};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		size_t bytes, n = strlen(changes[i].name);
		char *file = file_of(npz, &run, &batch, &t, 0, &bytes);

		for (size_t at = 0; at + n <= bytes; at++)
			if (memcmp(file + at, changes[i].name, n) == 0)
				memcpy(file + at, changes[i].other, n);
		assert_fails(npz->read(file, bytes, &a, &back), SL_BAD_INPUT, changes[i].says);
		free(file);
	}
	free_table(&t);
}
