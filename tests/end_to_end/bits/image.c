/*
 * image.c - the image of a run equals the sum of its survivors' columns, and its bytes are
 * identical for every device, batch size, interruption and resume.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* --- content ---------------------------------------------------------------------------------- */

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

/* --- the same bytes --------------------------------------------------------------------------- */

static void check_same_image(const char *set, const char *device)
{
	size_t bytes, expected_bytes;
	char *expected = folder_read(&folder, "whole/t.png", &expected_bytes), *image;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", set, "--device",
			device));
	image = folder_read(&folder, "out/t.png", &bytes);
	assert_int_equal(bytes, expected_bytes);
	assert_memory_equal(image, expected, bytes);
	free(image);
	free(expected);
	remove_run(&folder, "out");
}

TEST(image_is_the_same_for_every_run_option)
{
	check_same_image("run.batch=20000", "cpu");
	check_same_image("run.batch=999", "cpu");
	check_same_image("run.threads=1", "cpu");
	check_same_image("key=[]", "cpu");
	check_same_image("output.format=csv.gz", "cpu");
	check_same_image("run.mode=fused", "emulated");
	check_same_image("primitives.deflate=device", "emulated"); /* all columns except two */
}

/* True if run.json has an image section. image.py checks its values. */
static bool reports_image(const char *out)
{
	char name[64], *text;
	size_t bytes;
	bool has_image;

	snprintf(name, sizeof(name), "%s/run.json", out);
	text = folder_read(&folder, name, &bytes);
	has_image = strstr(text, "\n\t\"image\": {") != NULL;
	free(text);
	return has_image;
}

/* --- interrupted and resumed ------------------------------------------------------------------ */

static void finish(const char *config)
{
	expect(&folder, SL_OK, "", WORDS("run", config, "--out", "out", "--resume", "--quiet"));
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	assert_string_equal(run_json(&folder, "out", "state"), "done");
	assert_true(reports_image("out"));
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	remove_run(&folder, "out");
}

/* A finished run, and a run that lost files: the remaining files are read back. */
TEST(image_is_rebuilt_from_files)
{
	static const char *const lost[] = {"out/t.png", "out/t.image.h5", "out/t_000004.h5"};

	copy_run(&folder, "whole", "out");
	finish("c.yaml");
	copy_run(&folder, "whole", "out");
	for (int i = 0; i < 3; i++)
		assert_int_equal(unlink(folder_path(&folder, lost[i])), 0);
	finish("c.yaml");
}

/*
 * The k-th call of each kind fails: exit code 4 and no partial image; --resume gives the same
 * bytes.
 */
static void check_fault(const char *kind, int k)
{
	char fault[64];
	const char *const env[] = {fault, NULL};
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet");
	struct ending e;

	snprintf(fault, sizeof(fault), "SL_FAULT=%s:%d:28", kind, k);
	call(&folder, env, words, &e);
	expect_ending(&e, SL_DISK, "", words);
	assert_false(folder_has(&folder, "out/t.png.part"));
	assert_false(folder_has(&folder, "out/t.image.h5.part"));
	assert_string_equal(run_json(&folder, "out", "state"), "running");
	assert_false(reports_image("out"));
	finish("c.yaml");
}

TEST(disk_faults_leave_resumable_runs)
{
	/* renames: run.json, 14 batches, the image, the PNG, and run.json again */
	enum { IMAGE = 1 + 14 + 1, PICTURE };

	check_fault("file_rename", 5);
	check_fault("file_rename", IMAGE);
	check_fault("file_rename", PICTURE);
	check_fault("file_write", PICTURE);
	check_fault("file_fsync", PICTURE);
	copy_run(&folder, "whole", "out");
	assert_int_equal(unlink(folder_path(&folder, "out/t.png")), 0);
	finish("c.yaml");
}

/* --- info, verify ----------------------------------------------------------------------------- */

enum { RAYS = 20000, PIXELS = 37 * 23 };

static void expect_text(const char *text, const char *const *words)
{
	char *out = output_of(&folder, words);

	if (!strstr(out, text))
		fail_msg("\"%s\" is not in: %s", text, out);
	free(out);
}

/* Rays are assigned to pixels in turn, so the minimum, mean and maximum per pixel are known. */
TEST(info_and_verify_report_the_image)
{
	char rays[128];

	expect_text("37 x 23 pixels, of 20000 particles\n", WORDS("info", "whole/t.image.h5"));
	snprintf(rays, sizeof(rays), "rays         u64        %14d %14.8g %14d\n", RAYS / PIXELS,
		(double)RAYS / PIXELS, RAYS / PIXELS + 1);
	expect_text(rays, WORDS("info", "whole/t.image.h5"));
	expect_text("\nradiance     f64 ", WORDS("info", "whole/t.image.h5"));
	expect_text("\nsum          u64  2^-32 ", WORDS("info", "whole/t.image.h5"));
	expect_text(", the image\n", WORDS("verify", "whole"));
	expect_text("\"image_added_up\": true", WORDS("verify", "whole", "--json"));
	expect(&folder, SL_DISK, "nothing.image.h5", WORDS("info", "nothing.image.h5"));
	write_text(&folder, "bad.image.h5", "no HDF5");
	expect(&folder, SL_BAD_INPUT, "bad.image.h5: its checksum line is missing or wrong",
		WORDS("info", "bad.image.h5"));
	assert_int_equal(unlink(folder_path(&folder, "bad.image.h5")), 0);
}

/* --- names ------------------------------------------------------------------------------------ */

/* Existing files are not overwritten; files of a run are removed together with the run. */
TEST(other_files_are_not_overwritten)
{
	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	write_text(&folder, "out/t.png", "mine");
	expect(&folder, SL_OUTPUT_IN_USE, "out/t.png: the file exists",
		WORDS("run", "c.yaml", "--out", "out"));
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "output.image=false"));
	expect_file(&folder, "out/t.png", "mine");
	assert_false(folder_has(&folder, "out/t.image.h5"));
	assert_false(reports_image("out"));
	expect_text("\"image_added_up\": false", WORDS("verify", "out", "--json"));
	remove_run(&folder, "out");

	copy_run(&folder, "whole", "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--force", "--set",
			"output.image=false"));
	assert_false(folder_has(&folder, "out/t.png"));
	assert_false(folder_has(&folder, "out/t.image.h5"));
	remove_run(&folder, "out");
}

TEST(plan_lists_the_image)
{
	char *text = output_of(&folder, WORDS("plan", "c.yaml"));

	assert_non_null(strstr(text, "image       37 x 23 pixels of radiance"));
	free(text);
}
