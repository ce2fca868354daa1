/* image.c - the image of a run equals the sum of its survivors' columns. */
#include <stdio.h>

#include "tests/support/configs/configs.h"
#include "tests/support/program/python.h"
#include "tests/support/runs/reference_run.h"

static const char scene[] =
	"run: {name: t, seed: 7, particles: 20000, batch: 1500, threads: 2}\n"
	"model:\n  rays:\n"
	"    camera: {position: [0, -4 cm, 1 cm], look_at: [0, 0, 0.5 cm], pixels: [37, 23]}\n"
	"    sky: 0.3\n    objects:\n"
	"      - {sphere: {center: [0, 0, 0.5 cm], radius: 0.5 cm}, reflectance: 0.5, emission: 1}\n"
	"      - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, reflectance: 0.7}\n"
	"keep: lit\nkey: [pixel:10]\n"
	"output: {image: true, columns: [id, pixel, weight, steps]}\n";

static const char lamp[] =
	"run: {name: t, seed: 7, particles: 20000, batch: 7000}\n"
	"model:\n  source_detector:\n    source: {type: disk, radius: 0.4 cm}\n"
	"    detector: {type: rectangle, distance: 4 cm, width: 6 cm, height: 4 cm, pixels: [9, 6]}\n"
	"keep: hit\noutput: {image: true, white: 200, columns: [pixel, weight]}\n";

BEFORE_TESTS()
{
	reference_run_begin(scene);
	write_text(&folder, "lamp.yaml", lamp);
}

/*
 * Runs image.py, which sums the columns of a run and compares the sums with the image and the PNG.
 */
static void check_image(const char *out, const char *white, const char *scale)
{
	char script[CONFIG_PATH_BYTES + 64];
	const char *const words[] = {
		PYTHON, script, folder_path(&folder, out), "t", white, scale, NULL};
	const struct process p = {.argv = words, .folder = folder.path};
	struct ending e;

	snprintf(script, sizeof(script), "%s/tests/end_to_end/bits/image.py", source_root());
	process_run(&p, 60, &e);
	expect_ending(&e, 0, "", words);
}

TEST(image_is_the_sum_of_columns)
{
	need_h5py();
	check_image("whole", "largest", "2");
	expect(&folder, SL_OK, "", WORDS("run", "lamp.yaml", "--out", "out", "--quiet"));
	check_image("out", "200", "none");
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "output.white=1.5"));
	check_image("out", "1.5", "2");
	remove_run(&folder, "out");
	/* fewer particles than pixels: some pixels stay empty */
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "run.particles=700"));
	check_image("out", "largest", "2");
	remove_run(&folder, "out");
}
