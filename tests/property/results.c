/*
 * results.c - properties of images and lines of the manifest: any values are read back, and damage
 * is noticed.
 */
#include <stdlib.h>

#include "pipeline/results/results.h"
#include "stages/formats/formats.h"
#include "stages/formats/images/images.h"
#include "tests/support/property/property.h"

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

/* --- images ----------------------------------------------------------------------------------- */

enum { SIDE_MOST = 40, PIXELS_MOST = SIDE_MOST * SIDE_MOST };

PROPERTY(images_are_read_back, 100)
{
	static const char *const names[] = {"radiance", "weight", "a name before rays"};
	static uint64_t value[3][PIXELS_MOST];
	static const struct sl_file_facts facts = {.software_version = "1", .config = "a: 1\n"};
	const struct sl_image p = {.what = rnd_of(g, names),
		.width = 1 + rnd_below(g, SIDE_MOST),
		.height = 1 + rnd_below(g, SIDE_MOST)};
	const size_t all = (size_t)p.width * p.height * 8, room = sl_image_bytes(&p, &facts);
	const bool with_rays = rnd_one_in(g, 2);
	char *file = (char *)malloc(room), *copy;
	const struct sl_image_values v = {.image = &p,
		.particles = rnd_bits(g),
		.value = (const double *)(const void *)value[0],
		.sum = value[1],
		.rays = with_rays ? value[2] : NULL};
	struct sl_image_found f;
	size_t bytes, cut;

	for (int i = 0; i < 3 * PIXELS_MOST; i++)
		value[i % 3][i / 3] = rnd_bits(g);
	assert_ok(sl_image_make(&facts, &v, file, room, &bytes));
	assert_ok(sl_image_read(file, bytes, &f));
	assert_string_equal(f.what, p.what);
	assert_true(f.width == p.width && f.height == p.height && f.particles == v.particles);
	assert_memory_equal(f.value, value[0], all);
	assert_memory_equal(f.sum, value[1], all);
	assert_int_equal(f.rays != NULL, with_rays);
	if (with_rays)
		assert_memory_equal(f.rays, value[2], all);
	cut = bytes - 1 - rnd_below(g, rnd_one_in(g, 2) ? 64 : (uint32_t)bytes);
	copy = exact_copy(file, cut);
	assert_fails(sl_image_read(copy, cut, &f), SL_BAD_INPUT, "checksum line");
	free(copy);
	rnd_change(g, file, bytes);
	assert_fails(sl_image_read(file, bytes, &f), SL_BAD_INPUT, "checksum line");
	free(file);
}

/* --- lines of the manifest -------------------------------------------------------------------- */

/* A file of the line, or none. */
static void any_file(struct rnd *g, struct sl_committed_file *f)
{
	if (rnd_one_in(g, 4))
		return;
	f->bytes = rnd_bits(g) >> rnd_below(g, 64);
	f->crc = (uint32_t)rnd_bits(g);
	for (size_t n = 1 + rnd_below(g, sizeof(f->name) - 2); n > 0; n--)
		f->name[n - 1] = (char)(1 + rnd_below(g, 127));
}

/* A number of up to 64 bits. */
static uint64_t any_count(struct rnd *g)
{
	return rnd_bits(g) >> rnd_below(g, 64);
}

PROPERTY(lines_of_the_manifest_are_read_back, 2000)
{
	struct sl_manifest_line line, again;
	char text[SL_MANIFEST_LINE_BYTES];
	size_t n, cut;

	memset(&line, 0, sizeof(line));
	line.batch = any_count(g);
	line.first_id = any_count(g);
	line.tally.steps = any_count(g);
	line.tally.collisions = any_count(g);
	for (int fate = 0; fate < SL_FATE_COUNT; fate++) {
		line.tally.count[fate] = rnd_one_in(g, 2) ? any_count(g) >> 8 : 0;
		line.generated += line.tally.count[fate];
		line.tally.weight[fate] = line.tally.count[fate] ? any_count(g) : 0;
		line.tally.square[fate] = line.tally.count[fate] ? any_count(g) : 0;
	}
	line.survivors = any_count(g) % (line.generated + 1);
	line.columns = rnd_bits(g) & (SL_BIT(SL_COLUMN_derived_1) - 1);
	for (int k = 0; k < SL_COLUMN_COUNT; k++)
		line.digest[k] = SL_HAS(line.columns, k) ? rnd_bits(g) : 0;
	any_file(g, &line.file);
	any_file(g, &line.bins);
	any_file(g, &line.order);
	n = sl_manifest_print(&line, text);
	assert_int_equal(n, strlen(text));
	assert_int_equal(text[n - 1], '\n');
	assert_ok(sl_manifest_parse(text, n - 1, &again));
	assert_memory_equal(&again, &line, sizeof(again));
	cut = rnd_below(g, (uint32_t)n - 1);
	assert_int_equal(sl_manifest_parse(text, cut, &again), SL_BAD_INPUT);
	rnd_change(g, text, n - 1);
	assert_fails(sl_manifest_parse(text, n - 1, &again), SL_BAD_INPUT, "checksum");
}

PROPERTY_FILE()
