/*
 * damaged_image.c - foreign or forged images: verify reports them, and --resume repairs them
 * (tests/faults/damage.c damages images).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stages/formats/images/image_file.h"
#include "stages/formats/formats.h"
#include "stages/formats/images/image_file_read.h"
#include "tests/support/runs/reference_run.h"

static const char scene[] =
	"run: {name: t, seed: 7, particles: 20000, batch: 6000, threads: 2}\n"
	"model:\n  rays:\n"
	"    camera: {position: [0, -4 cm, 1 cm], look_at: [0, 0, 0.5 cm], pixels: [37, 23]}\n"
	"    sky: 0.3\n    objects:\n"
	"      - {sphere: {center: [0, 0, 0.5 cm], radius: 0.5 cm}, reflectance: 0.5, emission: 1}\n"
	"keep: lit\noutput: {image: true, columns: [id, pixel, weight]}\n";

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	reference_run_begin(scene);
}

/* --- damaged, foreign, forged ----------------------------------------------------------------- */

enum { WIDTH = 37, HEIGHT = 23, PIXELS = WIDTH * HEIGHT, RAYS = 20000 };

static void copy_over(const char *from, const char *to)
{
	size_t bytes;
	char *file = folder_read(&folder, from, &bytes);

	folder_write(&folder, to, file, bytes);
	free(file);
}

static void check_valid_image(void)
{
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
}

/* Verify reports the damage of the copy "out", and --resume repairs it. */
static void expect_damage(const char *name, const char *what)
{
	char text[128];

	snprintf(text, sizeof(text), "out/%s: %s", name, what);
	expect(&folder, SL_CHECK_FAILED, text, WORDS("verify", "out"));
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet"));
	check_valid_image();
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	remove_run(&folder, "out");
	copy_run(&folder, "whole", "out");
}

/* Images of a run with lights twice as bright, which give the same sums and PNG. */
TEST(foreign_images_are_reported)
{
	copy_run(&folder, "whole", "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "bright", "--quiet", "--set", "model.rays.sky=0.6",
			"--set", "model.rays.objects[0].emission=2"));
	copy_over("bright/t.png", "out/t.png");
	check_valid_image();
	copy_over("bright/t.image.h5", "out/t.image.h5");
	expect_damage("t.image.h5", "the pixels differ");
	remove_run(&folder, "bright");
	remove_run(&folder, "out");
}

enum forgery {
	NO_CHANGE,
	WRONG_SUM,
	WRONG_VALUE,
	WRONG_RAYS,
	NO_RAYS,
	WRONG_PARTICLES,
	WRONG_NAME,
	SWAPPED_SIZES,
	ROW_ADDED,
	COLUMN_ADDED,
	N_FORGERIES
};

/* Writes the values of "whole" to "out" with valid checksums and one wrong value. */
static void forge(enum forgery what)
{
	static double value[PIXELS + WIDTH];
	static uint64_t sum[PIXELS + WIDTH], rays[PIXELS + WIDTH];
	static char image[1 << 20];
	const struct sl_file_facts facts = {.software_version = "1", .config = "none"};
	struct sl_image p = {.what = what == WRONG_NAME ? "weight" : "radiance",
		.width = what == SWAPPED_SIZES ? HEIGHT : WIDTH + (what == COLUMN_ADDED),
		.height = what == SWAPPED_SIZES ? WIDTH : HEIGHT + (what == ROW_ADDED)};
	const struct sl_image_values values = {.image = &p,
		.particles = RAYS + (what == WRONG_PARTICLES),
		.value = value,
		.sum = sum,
		.rays = what == NO_RAYS ? NULL : rays};
	struct sl_image_found found;
	size_t bytes;
	char *file = folder_read(&folder, "whole/t.image.h5", &bytes);

	assert_ok(sl_image_read(file, bytes, &found));
	memcpy(value, found.value, PIXELS * sizeof(*value));
	memcpy(sum, found.sum, PIXELS * sizeof(*sum));
	memcpy(rays, found.rays, PIXELS * sizeof(*rays));
	free(file);
	sum[PIXELS - 1] += what == WRONG_SUM;
	rays[0] -= what == WRONG_RAYS;
	value[7] *= what == WRONG_VALUE ? 1 + 0x1p-52 : 1;
	assert_true(sl_image_bytes(&p, &facts) <= sizeof(image));
	assert_ok(sl_image_make(&facts, &values, image, sizeof(image), &bytes));
	folder_write(&folder, "out/t.image.h5", image, bytes);
}

TEST(forged_values_are_reported)
{
	copy_run(&folder, "whole", "out");
	for (int i = 0; i < N_FORGERIES; i++) {
		print_message("forgery %d\n", i);
		forge((enum forgery)i);
		expect(&folder, i == NO_CHANGE ? SL_OK : SL_CHECK_FAILED,
			i == NO_CHANGE ? "" : "the pixels differ",
			WORDS("verify", "out", "--quiet"));
	}
	remove_run(&folder, "out");
}
