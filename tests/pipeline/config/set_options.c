/* set_options.c - --set: values, sections and list items that override those of the file. */
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "tests/support/configs/config_check.h"

#include "pipeline/config/reader/reader.h"
#include "stages/models/rays.h"

static const char text[] =
	"run: {particles: 1}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
	"keep: absorbed\n";

static const char rays[] =
	"run: {particles: 1}\nmodel: {rays: {source: random, objects: [{sphere: {center: [0, 0, 0], "
	"radius: 1 cm}}]}}\nkeep: absorbed\n";

/*
 * The short form (stop: RULE) and a key of the section (stop.when) replace each other, as if both were
 * written as a section.
 */
TEST(set_replaces_the_short_form)
{
	static const char *const sets[] = {"stop.min_batches=7",
		"stop.when=rel_error(absorbed) < 0.5", "stop=rel_error(reflected) < 0.25"};
	static const char stopped[] = "run: {particles: 1}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, "
				      "thickness: inf}}\nkeep: absorbed\n"
				      "stop: rel_error(none) < 2\n";
	struct sl_reader *r;

	assert_int_equal(resolve_text(stopped, sets, 1, &r), SL_USAGE);
	sl_config_close(r);
	assert_ok(resolve_text(stopped, sets, 2, &r));
	sl_config_close(r);
	assert_int_equal(choices.stop_rule.fate, SL_FATE_absorbed);
	assert_int_equal(choices.stop_rule.min_batches, 7);
	assert_ok(resolve_text(stopped, sets, 3, &r));
	sl_config_close(r);
	assert_int_equal(choices.stop_rule.fate, SL_FATE_reflected);
	assert_int_equal(choices.stop_rule.min_batches, 5);
}

TEST(sets_override_the_file)
{
	static const char *const sets[] = {"run.particles=x", "run.particles=1e7",
		"keep=[reflected]",
		"model={source_detector: {detector: {type: sphere, distance: 2 cm, radius: 1 mm}}}",
		"keep=hit", "model.source_detector.detector.distance=30 mm", "output={level: 9}"};
	struct sl_reader *r;

	assert_ok(resolve_text(text, sets, 7, &r));
	assert_int_equal(config.run.particles, 10000000);
	assert_int_equal(config.keep.n, 1);
	assert_string_equal(config.keep.at[0], "hit");
	assert_int_equal(config.output.level, 9);
	assert_string_equal(choices.model->name, "source_detector");
	assert_true(sl_config_changed(r, "model.source_detector.detector.distance"));
	assert_true(sl_config_changed(r, "keep"));
	assert_false(sl_config_changed(r, "run.seed"));
	assert_false(sl_config_changed(r, "model.slab.mu_a"));
	sl_config_close(r);
}

/* A value or section that --set replaces may be invalid in the file. */
TEST(sets_replace_wrong_values)
{
	static const char *const sets[] = {"run.seed=3", "output={level: 9}"};
	const char *wrong = "run: {particles: 1, seed: x}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, "
			    "thickness: inf}}\nkeep: absorbed\noutput: {colour: red, level: x}\n";
	struct sl_reader *r;

	assert_ok(resolve_text(wrong, sets, 2, &r));
	assert_int_equal(sl_config_problems(r), 0);
	sl_config_close(r);
	assert_int_equal(resolve_text(wrong, sets, 1, &r), SL_USAGE);
	assert_int_equal(sl_config_problems(r), 2);
	sl_config_close(r);
}

/* --set replaces a key of one item of a list, a whole item, or the whole list. */
TEST(sets_change_list_items)
{
	static const char *const sets[] = {"model.rays.objects[0].sphere.radius=2 cm",
		"model.rays.objects[0]={sphere: {center: [0, 0, 1 cm], radius: 3 cm}, emission: 5}",
		("model.rays.objects=[{box: {from: [0, 0, 0], to: [1 cm, 1 cm, 1 cm]}}, {plane: "
		 "{point: [0, 0, 0], normal: [0, 0, 1]}}]"),
		"model.rays.objects[1].reflectance=0.25"};
	const struct sl_rays *r = (const struct sl_rays *)(const void *)choices.rules.bytes;
	static const float radii[] = {2.0f, 3.0f};
	struct sl_reader *reader;

	for (size_t n = 1; n <= 4; n++) {
		assert_ok(resolve_text(rays, sets, n, &reader));
		assert_int_equal(sl_config_problems(reader), 0);
		sl_config_close(reader);
		assert_int_equal(r->surfaces, n < 3 ? 1 : 2);
		if (n < 3)
			assert_true(r->surface[0].reach == radii[n - 1]);
		assert_true(r->scale == (n == 2 ? 5 : 0));
	}
	assert_int_equal(r->surface[0].shape, SL_RAYS_BOX);
	assert_true(r->surface[1].absorb == 0.75f);
}
