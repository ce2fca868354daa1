/* config.c - configurations as a whole: what is refused and how, what is read, what is printed. */
#include "tests/support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/options.h"
#include "pipeline/reader.h"
#include "pipeline/resolve.h"
#include "pipeline/tree.h"
#include "primitives/base/device.h"
#include "primitives/base/fault.h"
#include "primitives/base/files.h"
#include "stages/models/rays.h"
#include "tests/support/bad_configs.h"

enum { TEXT_BYTES = 1 << 16 };

static struct sl_config config;
static struct sl_choices choices;

/* Reads and resolves text; the reader is the caller's to close. */
static enum sl_status take(
	const char *text, const char *const *sets, size_t n_sets, struct sl_reader **r)
{
	enum sl_status s = sl_config_open_text("c", text, strlen(text), sets, n_sets, &config, r);

	sl_device_emulate(false); /* as a new process; what was emulated before would stay */
	return s == SL_OK ? sl_resolve(&config, *r, &choices) : s;
}

static void take_good(const char *text)
{
	struct sl_reader *r;

	assert_ok(take(text, NULL, 0, &r));
	assert_int_equal(sl_config_problems(r), 0);
	sl_config_close(r);
}

/* --- refusals --------------------------------------------------------------------------------- */

/* Are two reports the same, where a * at the end of an expected line takes what is left? */
static bool same_report(const char *is, const char *expected)
{
	while (*is || *expected) {
		size_t n = strcspn(is, "\n"), m = strcspn(expected, "\n");
		bool open = m > 0 && expected[m - 1] == '*';

		if (open ? n + 1 < m || strncmp(is, expected, m - 1) != 0
			 : n != m || strncmp(is, expected, m) != 0)
			return false;
		is += n + (is[n] == '\n');
		expected += m + (expected[m] == '\n');
	}
	return true;
}

static void bad_configs_say_what_they_should(void **state)
{
	static struct bad_config c;
	FILE *f = bad_configs_open(getenv("SLUICE_SOURCE"));
	int n = 0, wrong = 0;

	(void)state;
	assert_non_null(f);
	for (; bad_configs_next(f, &c); n++) {
		struct sl_reader *r;
		enum sl_status s = take(c.text, c.set, c.n_sets, &r);

		if (s != SL_USAGE || !same_report(sl_config_report(r), c.report)) {
			print_error("%s: %s\n%s--- expected\n%s", c.title, sl_status_name(s),
				sl_config_report(r), c.report);
			wrong++;
		}
		sl_config_close(r);
	}
	fclose(f);
	assert_int_equal(wrong, 0);
	assert_true(n >= 229);
}

static void further_problems_are_counted(void **state)
{
	static char text[TEXT_BYTES];
	struct sl_reader *r;
	const char *end;

	(void)state;
	text[0] = '\0';
	for (int i = 0; i < 1000; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "zzzzz%d: 1\n", i);
	assert_int_equal(take(text, NULL, 0, &r), SL_USAGE);
	assert_true(sl_config_problems(r) >= 1000);
	end = strrchr(sl_config_report(r), ':');
	assert_non_null(strstr(end, "more problems\n"));
	sl_config_close(r);
}

static void a_file_that_is_not_there(void **state)
{
	struct sl_reader *r;

	(void)state;
	assert_int_not_equal(sl_config_open("/nowhere/c.yaml", NULL, 0, &config, &r), SL_OK);
	assert_non_null(strstr(sl_story(), "/nowhere/c.yaml"));
	assert_int_equal(sl_config_problems(r), 1);
	sl_config_close(r);
}

/* --- good ones -------------------------------------------------------------------------------- */

static const char *const good[] = {
	"run: {particles: 1}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
	"keep: absorbed\n",

	"run: {name: a-b_c.9, seed: 18446744073709551615, particles: 2.5e6, batch: 1_000, threads: "
	"3, "
	"device: cpu}\n"
	"model: {slab: {mu_a: 0.1 /m, mu_s: 3.3 /mm, thickness: 0.123456789 km, g: "
	"-0.333333333333, "
	"n: 1.37, incidence: diffuse}}\n"
	"transport: {max_steps: 7}\nkeep: [reflected, max_steps]\n"
	"key: [w:16, 'x:12:-5 mm..5 mm', steps:8, z:9:0..1, id]\n"
	"primitives: {compact: cpu_scan, deflate: zlib}\n"
	"output: {to: \"/tmp/a \\\"b\\\\ \\u00fc \\u2028\", format: csv.gz, columns: [steps, w, "
	"id], "
	"level: 9}\n"
	"check: {reflected: 0.1, max_steps: 1e-300, sigma: 2.5}\n",

	"run:\n  particles: 100e-2\nmodel:\n  source_detector:\n    source: {type: disk, radius: 1 "
	"um}\n"
	"    detector: {type: rectangle, distance: 1 m, width: 2 cm, height: 1e-3 m, pixels: [64, "
	"32]}\n"
	"    stop: {type: disk, distance: 50 cm, radius: 3 nm}\n"
	"    energy: {type: lines, lines: [1 eV, 2 MeV], intensities: [1, 0.5]}\n"
	"    speed: 1 km/s\nkeep:\n- hit\n- blocked\nkey:\n  - pixel:11\n  - energy:10\n",

	"run: {particles: 1e6, batch: 1e4}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
	"keep: absorbed\nstop: rel_error(absorbed) < 0.1 %\n",

	"run: {particles: 1e6}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
	"keep: absorbed\nstop: {min_batches: 20, when: \" rel_error ( reflected )<1e-3 \"}\n",

	"run: {particles: 1, device: emulated, slots: 16}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, "
	"thickness: inf}}\nkeep: absorbed\n"
	"primitives: {scan: naive:block=128, compact: auto, sort: \"naive:items=8:block=1_024\"}\n",

	"run: {particles: 1e6}\nmodel:\n  rays:\n"
	"    camera: {position: [0, -1 m, 3.3 mm], look_at: [0, 0, 0], pixels: [3, 5]}\n"
	"    sky: 0.1\n    objects:\n"
	"    - {plane: {normal: [0.1, 0, 1], point: [0, 0, 1 um]}, reflectance: 0.333333333333}\n"
	"    - sphere:\n        center: [0, 0, 0]\n        radius: 1 cm\n      surface: mirror\n"
	"    - {emission: 2.5, box: {from: [1 cm, 0, 0], to: [2 cm, 1 cm, 1 cm]}}\n"
	"keep: lit\noutput: {image: true, white: 0.7}\n",

	"run: {particles: 1}\nmodel: {rays: {source: random, objects: [{sphere: {center: [0, 0, 0], "
	"radius: 1 cm}}]}}\nkeep: absorbed\n",

	"%YAML 1.1\n---\n{\"run\": {\"particles\": 1000}, \"keep\": [\"transmitted\"], \"model\": "
	"{\"slab\": {\"mu_a\": \"1 /cm\", \"mu_s\": 0, \"thickness\": \"1 cm\", \"incidence\": "
	"\"angle\", \"angle\": \"30 deg\"}}}\n",
};
enum { N_GOOD = sizeof(good) / sizeof(good[0]), N_RANDOM_RAYS = N_GOOD - 2 };

static void printed_configs_read_back(void **state)
{
	static char text[TEXT_BYTES], again[TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < N_GOOD; i++) {
		struct sl_config was;
		size_t n;

		take_good(good[i]);
		was = config;
		n = sl_config_print(&was, true, text, sizeof(text));
		assert_int_equal(n, strlen(text));
		assert_int_equal(n, sl_config_print(&was, true, NULL, 0));
		take_good(text);
		assert_memory_equal(&was, &config, sizeof(was));
		sl_config_print(&config, true, again, sizeof(again));
		assert_string_equal(text, again);
	}
}

/* The rule in all the ways that it can be written, with the bits of the number as it is read. */
static void rules_are_read(void **state)
{
	static const struct {
		const char *set;
		enum sl_fate fate;
		double below;
		uint64_t min_batches;
	} rules[] = {
		{"stop=rel_error(absorbed) < 0.7 %", SL_FATE_absorbed, 0.007, 5},
		{"stop.when=rel_error(reflected)<7e-3", SL_FATE_reflected, 7e-3, 5},
		{"stop={when: rel_error( max_steps )< 29%, min_batches: 2}", SL_FATE_max_steps,
			0.29, 2},
		{"stop={}", SL_FATE_alive, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct sl_reader *r;

		assert_ok(take(good[0], &rules[i].set, 1, &r));
		sl_config_close(r);
		assert_int_equal(choices.goal.fate, rules[i].fate);
		assert_memory_equal(&choices.goal.below, &rules[i].below, sizeof(double));
		assert_int_equal(choices.goal.min_batches, rules[i].min_batches);
	}
}

/* The short form and the keys below it replace each other as they would if it were long. */
static void a_set_replaces_the_short_form(void **state)
{
	static const char *const sets[] = {"stop.min_batches=7",
		"stop.when=rel_error(absorbed) < "
		"0.5",
		"stop=rel_error(reflected) < 0.25"};
	static const char text[] = "run: {particles: 1}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, "
				   "thickness: inf}}\nkeep: absorbed\n"
				   "stop: rel_error(none) < 2\n";
	struct sl_reader *r;

	(void)state;
	assert_int_equal(take(text, sets, 1, &r), SL_USAGE);
	sl_config_close(r);
	assert_ok(take(text, sets, 2, &r));
	sl_config_close(r);
	assert_int_equal(choices.goal.fate, SL_FATE_absorbed);
	assert_int_equal(choices.goal.min_batches, 7);
	assert_ok(take(text, sets, 3, &r));
	sl_config_close(r);
	assert_int_equal(choices.goal.fate, SL_FATE_reflected);
	assert_int_equal(choices.goal.min_batches, 5);
}

static void what_is_free_is_left_out(void **state)
{
	static char text[TEXT_BYTES], other[TEXT_BYTES];

	(void)state;
	take_good(good[1]);
	sl_config_print(&config, false, text, sizeof(text));
	assert_null(strstr(text, "threads"));
	assert_null(strstr(text, "primitives"));
	assert_null(strstr(text, "check"));
	assert_non_null(strstr(text, "name: a-b_c.9"));
	config.run.threads = 9;
	config.run.slots = 9;
	strcpy(config.run.device, "emulated");
	strcpy(config.primitives.compact, "cpu");
	sl_config_print(&config, false, other, sizeof(other));
	assert_string_equal(text, other);
	take_good(text);
}

static void a_page_that_is_too_short_is_cut(void **state)
{
	static char whole[TEXT_BYTES];
	char cut[100];

	(void)state;
	take_good(good[0]);
	sl_config_print(&config, true, whole, sizeof(whole));
	assert_int_equal(sl_config_print(&config, true, cut, sizeof(cut)), strlen(whole));
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	assert_memory_equal(cut, whole, sizeof(cut) - 1);
}

static void sets_stand_above_the_file(void **state)
{
	static const char *const sets[] = {"run.particles=x", "run.particles=1e7",
		"keep=[reflected]",
		"model={source_detector: {detector: {type: sphere, distance: 2 cm, radius: 1 mm}}}",
		"keep=hit", "model.source_detector.detector.distance=30 mm", "output={level: 9}"};
	struct sl_reader *r;

	(void)state;
	assert_ok(take(good[0], sets, 7, &r));
	assert_int_equal(config.run.particles, 10000000);
	assert_int_equal(config.keep.n, 1);
	assert_string_equal(config.keep.at[0], "hit");
	assert_int_equal(config.output.level, 9);
	assert_string_equal(choices.model->name, "source_detector");
	assert_true(sl_config_given(r, "model.source_detector.detector.distance"));
	assert_true(sl_config_given(r, "keep[0]"));
	assert_false(sl_config_given(r, "keep[1]"));
	assert_false(sl_config_given(r, "run.seed"));
	assert_false(sl_config_given(r, "model.slab.mu_a"));
	sl_config_close(r);
}

/* What a --set replaces need not be right, be it a value or a whole section. */
static void sets_replace_what_is_wrong(void **state)
{
	static const char *const sets[] = {"run.seed=3", "output={level: 9}"};
	const char *text = "run: {particles: 1, seed: x}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, "
			   "thickness: inf}}\nkeep: absorbed\noutput: {colour: red, level: x}\n";
	struct sl_reader *r;

	(void)state;
	assert_ok(take(text, sets, 2, &r));
	assert_int_equal(sl_config_problems(r), 0);
	sl_config_close(r);
	assert_int_equal(take(text, sets, 1, &r), SL_USAGE);
	assert_int_equal(sl_config_problems(r), 2);
	sl_config_close(r);
}

/* A key of one item of a list, an item, the list. */
static void sets_change_items(void **state)
{
	static const char *const sets[] = {"model.rays.objects[0].sphere.radius=2 cm",
		"model.rays.objects[0]={sphere: {center: [0, 0, 1 cm], radius: 3 cm}, emission: 5}",
		"model.rays.objects=[{box: {from: [0, 0, 0], to: [1 cm, 1 cm, 1 cm]}}, {plane: "
		"{point: [0, 0, 0], normal: [0, 0, 1]}}]",
		"model.rays.objects[1].reflectance=0.25"};
	const struct sl_rays *r = (const struct sl_rays *)(const void *)choices.rules.bytes;
	static const float radii[] = {2.0f, 3.0f};
	struct sl_reader *reader;

	(void)state;
	for (size_t n = 1; n <= 4; n++) {
		assert_ok(take(good[N_RANDOM_RAYS], sets, n, &reader));
		assert_int_equal(sl_config_problems(reader), 0);
		sl_config_close(reader);
		assert_int_equal(r->surfaces, n < 3 ? 1 : 2);
		if (n < 3)
			assert_true(r->surface[0].reach == radii[n - 1]);
		assert_true(r->scale == (n == 2 ? 5 : 0));
	}
	assert_int_equal(r->surface[0].shape, SL_SHAPE_BOX);
	assert_true(r->surface[1].absorb == 0.75f);
}

/* Each allocation fails once: the status says so, no problem is made up, nothing leaks. */
static void no_memory_is_no_problem_of_the_file(void **state)
{
	const char *set = "keep=[reflected]";
	enum sl_status s = SL_HOST_MEMORY;
	char fault[64];
	int k = 0;

	(void)state;
	while (s != SL_OK && k++ < 1000) {
		struct sl_reader *r;

		snprintf(fault, sizeof(fault), "host_malloc:%d:12", k);
		assert_null(sl_fault_set(fault));
		s = take(good[2], &set, 1, &r);
		assert_true(s == SL_USAGE || s == SL_HOST_MEMORY);
		if (s == SL_HOST_MEMORY)
			assert_true(!r || sl_config_problems(r) == 0);
		sl_config_close(r);
		if (s == SL_USAGE) /* reflected is no fate of that model: all memory was there */
			break;
	}
	sl_fault_set(NULL);
	assert_int_equal(s, SL_USAGE);
	assert_true(k > 10);
}

static void complaints_find_their_place(void **state)
{
	const char *text =
		"run: {particles: 1}\nmodel:\n  slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}\n"
		"keep: [absorbed, reflected]\n";
	const char *set = "output.level=3";
	struct sl_reader *r;

	(void)state;
	assert_ok(take(text, &set, 1, &r));
	sl_config_complain(r, "model.slab.mu_s", "a%d", 1);
	sl_config_complain(r, "model.slab.mu_s", "again");
	sl_config_complain(r, "model.slab.g", "b");
	sl_config_complain(r, "model.slab.no.such", "c");
	sl_config_complain(r, "keep[1]", "d");
	sl_config_complain(r, "key", "e");
	sl_config_complain(r, "output.level", "f");
	sl_config_complain(r, "output.format", "g");
	assert_string_equal(sl_config_report(r),
		"c:1:1: key: e\nc:3:3: model.slab.g: b\nc:3:3: model.slab.no.such: c\n"
		"c:3:29: model.slab.mu_s: a1\nc:4:18: keep[1]: d\n"
		"--set output.level=3: output.format: g\n--set output.level=3: output.level: f\n");
	assert_int_equal(sl_config_verdict(r), SL_USAGE);
	assert_true(sl_config_flawed(r, "model"));
	assert_false(sl_config_flawed(r, "run"));
	sl_config_close(r);
}

/* --- what choices come out -------------------------------------------------------------------- */

static void fields_have_their_ranges(void **state)
{
	(void)state;
	take_good(good[1]);
	assert_int_equal(choices.n_fields, 4);
	assert_int_equal(choices.key_bits, 45);
	assert_int_equal(choices.field[0].column, SL_COLUMN_w);
	assert_true(choices.field[0].lo == -1 && choices.field[0].hi == 1);
	assert_true(choices.field[1].lo == -0.5 && choices.field[1].hi == 0.5);
	assert_true(choices.field[2].lo == 0 && choices.field[2].hi == 7);
	assert_int_equal(choices.n_columns, 3);
	assert_int_equal(choices.column[0], SL_COLUMN_id);
	assert_int_equal(choices.column[2], SL_COLUMN_steps);
	assert_int_equal(choices.keep, SL_BIT(SL_FATE_reflected) | SL_BIT(SL_FATE_max_steps));
	take_good(good[2]);
	assert_true(choices.field[0].lo == 0 && choices.field[0].hi == 64 * 32 - 1);
	assert_true(choices.field[1].hi == 2000);
}

static void units_of_a_kind_are_the_same_bits(void **state)
{
	static const char form[] =
		"run: {particles: 1}\nmodel: {slab: {mu_a: %s, mu_s: 0, thickness: "
		"%s}}\nkeep: absorbed\n";
	static const char *const pairs[][2] = {{"1.1 /cm", "0.7 mm"}, {"110 /m", "700 um"},
		{"0.11 /mm", "0.07 cm"}, {"1.1e0 /cm", "0.0007 m"}, {"1.1/cm", "7e5nm"}};
	unsigned char first[SL_MODEL_CONFIG_BYTES];
	char text[512];

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), form, pairs[i][0], pairs[i][1]);
		take_good(text);
		if (i == 0)
			memcpy(first, config.of_model.bytes, sizeof(first));
		assert_memory_equal(first, config.of_model.bytes, sizeof(first));
	}
}

static void batches_depend_on_particles_alone(void **state)
{
	static const struct {
		const char *particles;
		uint64_t batch, n;
	} cases[] = {{"1", 1 << 18, 1}, {"262145", 1 << 18, 2}, {"16777216", 1 << 18, 64},
		{"16777217", 1 << 19, 33}, {"1e9", 1 << 24, 60}, {"1e10", 1 << 24, 597}};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text),
			"run: {particles: %s}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: "
			"inf}}"
			"\nkeep: absorbed\n",
			cases[i].particles);
		take_good(text);
		assert_int_equal(choices.batch, cases[i].batch);
		assert_int_equal(choices.n_batches, cases[i].n);
	}
}

/* --- devices and backends --------------------------------------------------------------------- */

static const char plain[] = "model: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
			    "keep: absorbed\nrun: {particles: 1, device: %s}\nprimitives: {%s}\n";

static enum sl_status take_device(const char *device, const char *primitives, struct sl_reader **r)
{
	char text[1024];

	snprintf(text, sizeof(text), plain, device, primitives);
	return take(text, NULL, 0, r);
}

static void take_good_device(const char *device, const char *primitives)
{
	char text[1024];

	snprintf(text, sizeof(text), plain, device, primitives);
	take_good(text);
}

static void expect_choice(
	const struct sl_choice *c, const char *name, uint32_t block, uint32_t items)
{
	assert_non_null(c->backend);
	assert_string_equal(c->backend->name, name);
	assert_int_equal(c->tuning.block, block);
	assert_int_equal(c->tuning.items, items);
}

static void expect_on_cpu(void)
{
	assert_int_equal(choices.device, SL_ON_CPU);
	assert_null(choices.scan.backend);
	expect_choice(&choices.compact, "cpu", 0, 0);
	expect_choice(&choices.sort, "cpu", 0, 0);
	assert_ptr_equal(choices.deflate, &sl_deflate_libdeflate);
}

/* The fastest that the matrix has, each on its own scan; files are made on the host. */
static void expect_best(const struct sl_choice *c, enum sl_primitive p)
{
	static const char *const order[] = {"shared", "work_efficient", "naive"};
	const struct sl_backend *best = NULL;

	for (int i = 0; i < 3 && sl_find(p, order[i], &best) != SL_OK;)
		i++;
	assert_non_null(best);
	assert_ptr_equal(c->backend, best);
	assert_int_equal(c->backend->space, SL_DEVICE);
	assert_true(c->tuning.block == 0 && c->tuning.items == 0);
}

static void expect_on_device(enum sl_device_choice device)
{
	assert_int_equal(choices.device, device);
	assert_int_equal(choices.device_number, 0);
	assert_string_equal(choices.device_story, "");
	assert_null(choices.scan.backend);
	expect_best(&choices.compact, SL_COMPACT);
	expect_best(&choices.sort, SL_SORT);
	assert_ptr_equal(choices.deflate, &sl_deflate_libdeflate);
}

/* What auto is where there is no device is told; that the CPU was asked for is not. */
static void auto_takes_what_there_is(void **state)
{
	int n;

	(void)state;
	take_good_device("auto", "");
	if (sl_device_count(&n) == SL_OK) {
		expect_on_device(SL_ON_CUDA);
	} else {
		expect_on_cpu();
		assert_string_equal(choices.device_story, sl_story());
	}
	take_good_device("cpu", "scan: auto, compact: auto, sort: auto, deflate: auto");
	expect_on_cpu();
	assert_string_equal(choices.device_story, "");
}

static void the_emulated_device_is_always_there(void **state)
{
	struct sl_reader *r;

	(void)state;
	take_good_device("emulated", "");
	assert_true(sl_device_is_emulated());
	expect_on_device(SL_ON_EMULATED);
	/* for a process that emulates already, auto is that device */
	assert_ok(sl_config_open_text("c", good[0], strlen(good[0]), NULL, 0, &config, &r));
	assert_ok(sl_resolve(&config, r, &choices));
	expect_on_device(SL_ON_EMULATED);
	/* unless that cannot be used */
	assert_null(sl_fault_set("dev_count:1:999"));
	assert_ok(sl_resolve(&config, r, &choices));
	sl_fault_set(NULL);
	expect_on_cpu();
	assert_non_null(strstr(choices.device_story, "CUDA error 999"));
	sl_config_close(r);
}

/* A device asked for by name is never replaced, and its lack hides what follows from it alone. */
static void a_device_that_is_not_there(void **state)
{
	static const char *const names[] = {"cuda", "cuda:0", "cuda:9999"};
	struct sl_reader *r;
	char story[SL_STORY_BYTES];
	int n;

	(void)state;
	sl_device_emulate(false);
	n = sl_device_count(&n) == SL_OK ? n : 0;
	snprintf(story, sizeof(story), "%s", n > 0 ? "there is no device 9999" : sl_story());
	for (int i = n > 0 ? 2 : 0; i < 3; i++) {
		assert_int_equal(take_device(names[i], "scan: cpu, sort: warp", &r), SL_NO_DEVICE);
		assert_int_equal(sl_config_problems(r), 0);
		assert_non_null(strstr(sl_story(), story));
		sl_config_close(r);
		assert_int_equal(take_device(names[i], "scan: cpu, store: warp", &r), SL_USAGE);
		assert_int_equal(sl_config_problems(r), 1);
		sl_config_close(r);
	}
}

static void a_device_that_fails_is_no_problem_of_the_file(void **state)
{
	struct sl_reader *r;

	(void)state;
	assert_null(sl_fault_set("dev_limits:1:999"));
	assert_int_equal(take_device("emulated", "sort: naive", &r), SL_DEVICE_FAILED);
	sl_fault_set(NULL);
	assert_int_equal(sl_config_problems(r), 0);
	sl_config_close(r);
}

/* How a batch is run, and why not fused where it could be. */
static void expect_mode(
	const char *device, const char *primitives, enum sl_mode mode, const char *story)
{
	take_good_device(device, primitives);
	assert_int_equal(choices.mode, mode);
	assert_string_equal(choices.mode_story, story);
}

static void modes_are_chosen(void **state)
{
	(void)state;
	expect_mode("cpu", "", SL_MODE_staged, "");
	expect_mode("cpu", "compact: cpu_scan", SL_MODE_staged, "");
	expect_mode("'cpu', mode: staged", "", SL_MODE_staged, "");
	expect_mode("emulated", "", SL_MODE_fused, "");
	expect_mode("emulated, mode: auto", "sort: naive", SL_MODE_fused, "");
	expect_mode("emulated, mode: fused", "scan: auto, compact: auto", SL_MODE_fused, "");
	expect_mode("emulated, mode: staged", "", SL_MODE_staged, "");
	expect_mode("emulated", "compact: shared", SL_MODE_staged, "primitives.compact is named");
	expect_mode("emulated", "scan: shared", SL_MODE_staged, "primitives.scan is named");
	expect_mode("emulated, mode: staged", "compact: shared", SL_MODE_staged, "");
}

static void tunings_are_taken(void **state)
{
	(void)state;
	take_good_device("emulated", "scan: naive, sort: naive:block=64");
	expect_choice(&choices.scan, "naive", 0, 0);
	expect_choice(&choices.sort, "naive", 64, 0);
	take_good_device("emulated",
		"scan: naive:block=1024, compact: 'naive:items=2', sort: \"naive:items=8:block=96\"");
	expect_choice(&choices.scan, "naive", 1024, 0);
	expect_choice(&choices.compact, "naive", 0, 2);
	expect_choice(&choices.sort, "naive", 96, 8);
	take_good_device("cpu", "scan: cpu, compact: cpu_scan");
	expect_choice(&choices.scan, "cpu", 0, 0);
	expect_choice(&choices.compact, "cpu_scan", 0, 0);
	assert_ptr_equal(choices.scan.backend, &sl_scan_cpu);
}

/* --- the tables ------------------------------------------------------------------------------- */

/* Printing opens a section once, so the options of one must stand together. */
static void options_of_a_section_stand_together(void **state)
{
	char path[SL_KEY_BYTES], section[SL_KEY_BYTES], other[SL_KEY_BYTES];

	(void)state;
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		for (size_t i = 0; sl_option_at(sl_models[m], i, path); i++) {
			bool together = true;

			snprintf(section, sizeof(section), "%.*s", (int)(sl_key_leaf(path) - path),
				path);
			for (size_t j = i; *section && j-- > 0;) {
				bool inside;

				sl_option_at(sl_models[m], j, other);
				inside = strncmp(other, section, strlen(section)) == 0;
				if (inside && !together)
					fail_msg("%s stands apart from %s", path, other);
				together = together && inside;
			}
		}
	}
}

/* Every path is found, once; the reader has room for all of them and their sections. */
static void options_are_found_by_path(void **state)
{
	char path[SL_KEY_BYTES], other[SL_KEY_BYTES];
	const struct sl_option *o;

	(void)state;
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		size_t n = 0;

		for (; (o = sl_option_at(sl_models[m], n, path)); n++) {
			const struct sl_model *of;

			assert_ptr_equal(sl_option_find(path, &of), o);
			assert_ptr_equal(of, n < sl_n_options ? NULL : sl_models[m]);
			assert_non_null(o->help);
			assert_false(o->required && o->fallback);
			for (size_t j = 0; j < n; j++) {
				sl_option_at(sl_models[m], j, other);
				assert_string_not_equal(path, other);
			}
		}
		assert_true(2 * n < SL_SEEN_MAX);
	}
}

static void nearest_words(void **state)
{
	static const char *const words[] = {"seed", "particles", "batch", "max_steps", "x"};
	static const char *const swapped[] = {"to", "a____b"};

	(void)state;
	assert_string_equal(sl_nearest("sede", words, 5), "seed");
	assert_string_equal(sl_nearest("PARTICLE", words, 5), "particles");
	assert_string_equal(sl_nearest("max-stpes", words, 5), "max_steps");
	assert_string_equal(sl_nearest("ot", swapped, 2), "to");
	assert_string_equal(sl_nearest("A----B", swapped, 2), "a____b");
	assert_null(sl_nearest("colour", words, 5));
	assert_null(sl_nearest("", words, 5));
	assert_null(sl_nearest("y", words, 5));
	assert_null(sl_nearest("seed", words, 0));
}

/* --- every key of every config that we ship ----------------------------------------------------
 */

enum edit { KEEP, DROP, RENAME, REPEAT, N_EDITS };

/* Writes a tree as YAML, with one edit at the key with the number target. */
struct emitter {
	const struct sl_tree *tree;
	char text[TEXT_BYTES];
	size_t used;
	int key, target;
	enum edit edit;
};

static void put(struct emitter *e, const char *text)
{
	e->used += (size_t)snprintf(e->text + e->used, sizeof(e->text) - e->used, "%s", text);
	assert_true(e->used < sizeof(e->text));
}

static void put_scalar(struct emitter *e, sl_node node)
{
	put(e, "'");
	put(e, sl_tree_text(e->tree, node, NULL));
	put(e, "'");
}

static void emit(struct emitter *e, sl_node node);

static void emit_pair(struct emitter *e, sl_node key, sl_node value, const char *suffix)
{
	put(e, "'");
	put(e, sl_tree_text(e->tree, key, NULL));
	put(e, suffix);
	put(e, "': ");
	emit(e, value);
	put(e, ", ");
}

static void emit(struct emitter *e, sl_node node)
{
	enum sl_node_kind kind = sl_tree_kind(e->tree, node);

	if (kind == SL_SCALAR) {
		put_scalar(e, node);
		return;
	}
	put(e, kind == SL_LIST ? "[" : "{");
	for (size_t i = 0; i < sl_tree_size(e->tree, node); i++) {
		sl_node key, value = sl_tree_item(e->tree, node, i, &key);
		bool here = kind == SL_MAPPING && e->key++ == e->target;

		if (kind == SL_LIST) {
			emit(e, value);
			put(e, ", ");
			continue;
		}
		if (here && e->edit == DROP)
			continue;
		emit_pair(e, key, value, here && e->edit == RENAME ? "_qqqqqqqqqqqq" : "");
		if (here && e->edit == REPEAT)
			emit_pair(e, key, value, "");
	}
	put(e, kind == SL_LIST ? "]" : "}");
}

static void edit_every_key(const char *name, const char *text, size_t bytes)
{
	static struct emitter e;
	struct sl_problem problem;
	struct sl_tree *tree;
	int n = 1;

	assert_ok(sl_tree_parse(text, bytes, &tree, &problem));
	for (int target = -1; target < n; target++) {
		for (int edit = target < 0 ? KEEP : DROP; edit < (target < 0 ? DROP : N_EDITS);
			edit++) {
			struct sl_reader *r;
			enum sl_status s;

			memset(&e, 0, sizeof(e));
			e.tree = tree;
			e.target = target;
			e.edit = (enum edit)edit;
			emit(&e, sl_tree_root(tree));
			n = edit == KEEP ? e.key : n;
			s = take(e.text, NULL, 0, &r);
			if (edit == KEEP && s != SL_OK)
				fail_msg("%s is refused:\n%s", name, sl_config_report(r));
			if ((edit == RENAME || edit == REPEAT) && s != SL_USAGE)
				fail_msg("%s, key %d, edit %d is not refused:\n%s", name, target,
					edit, e.text);
			assert_true(s == SL_OK || sl_config_problems(r) > 0);
			sl_config_close(r);
		}
	}
	sl_tree_free(tree);
}

static void shipped_configs_survive_edits(void **state)
{
	char folder[4096], path[8192];
	struct dirent *entry;
	int n = 0;
	DIR *d;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/data/configs", getenv("SLUICE_SOURCE"));
	d = opendir(folder);
	assert_non_null(d);
	while ((entry = readdir(d))) {
		char *text;
		size_t bytes;

		if (!strstr(entry->d_name, ".yaml"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		assert_ok(sl_path_read(path, SL_TREE_BYTES, &text, &bytes));
		edit_every_key(entry->d_name, text, bytes);
		sl_memory_give(SL_HOST, text);
		n++;
	}
	closedir(d);
	assert_true(n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_configs_say_what_they_should),
		cmocka_unit_test(further_problems_are_counted),
		cmocka_unit_test(a_file_that_is_not_there),
		cmocka_unit_test(printed_configs_read_back),
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(a_set_replaces_the_short_form),
		cmocka_unit_test(what_is_free_is_left_out),
		cmocka_unit_test(a_page_that_is_too_short_is_cut),
		cmocka_unit_test(sets_stand_above_the_file),
		cmocka_unit_test(sets_replace_what_is_wrong),
		cmocka_unit_test(sets_change_items),
		cmocka_unit_test(no_memory_is_no_problem_of_the_file),
		cmocka_unit_test(complaints_find_their_place),
		cmocka_unit_test(fields_have_their_ranges),
		cmocka_unit_test(units_of_a_kind_are_the_same_bits),
		cmocka_unit_test(batches_depend_on_particles_alone),
		cmocka_unit_test(auto_takes_what_there_is),
		cmocka_unit_test(the_emulated_device_is_always_there),
		cmocka_unit_test(a_device_that_is_not_there),
		cmocka_unit_test(a_device_that_fails_is_no_problem_of_the_file),
		cmocka_unit_test(modes_are_chosen),
		cmocka_unit_test(tunings_are_taken),
		cmocka_unit_test(options_of_a_section_stand_together),
		cmocka_unit_test(options_are_found_by_path),
		cmocka_unit_test(nearest_words),
		cmocka_unit_test(shipped_configs_survive_edits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
