/*
 * config.c - complete configurations: errors and their messages, values read, and the printed form.
 */
#include "pipeline/config/config_print.h"
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/configs/config_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/configs/bad_configs.h"

enum { TEXT_BYTES = 1 << 16 };

/* --- invalid configurations ------------------------------------------------------------------- */

/*
 * Returns true if two reports are equal. A * at the end of an expected line matches the rest of the
 * line.
 */
static bool same_report(const char *found, const char *expected)
{
	while (*found || *expected) {
		size_t n = strcspn(found, "\n"), m = strcspn(expected, "\n");
		bool open = m > 0 && expected[m - 1] == '*';

		if (open ? n + 1 < m || strncmp(found, expected, m - 1) != 0
			 : n != m || strncmp(found, expected, m) != 0)
			return false;
		found += n + (found[n] == '\n');
		expected += m + (expected[m] == '\n');
	}
	return true;
}

TEST(invalid_configurations_give_the_expected_messages)
{
	static struct bad_config c;
	FILE *f = bad_configs_open(getenv("SLUICE_SOURCE"));
	int n = 0, wrong = 0;

	assert_non_null(f);
	for (; bad_configs_next(f, &c); n++) {
		struct sl_reader *r;
		enum sl_status s = resolve_text(c.text, c.set, c.n_sets, &r);

		if (s != SL_USAGE || !same_report(sl_config_report(r), c.report)) {
			/* print_error() would truncate long reports */
			fprintf(stderr, "%s: %s\n%s--- expected\n%s", c.title, sl_status_name(s),
				sl_config_report(r), c.report);
			wrong++;
		}
		sl_config_close(r);
	}
	fclose(f);
	assert_int_equal(wrong, 0);
	assert_true(n >= 378);
}

TEST(further_problems_are_counted)
{
	static char text[TEXT_BYTES];
	struct sl_reader *r;
	const char *end;

	text[0] = '\0';
	for (int i = 0; i < 1000; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "zzzzz%d: 1\n", i);
	assert_int_equal(resolve_text(text, NULL, 0, &r), SL_USAGE);
	assert_true(sl_config_problems(r) >= 1000);
	end = strrchr(sl_config_report(r), ':');
	assert_non_null(strstr(end, "more problems\n"));
	sl_config_close(r);
}

TEST(missing_file_is_reported)
{
	struct sl_reader *r;

	assert_int_not_equal(sl_config_open("/nowhere/c.yaml", NULL, 0, &config, &r), SL_OK);
	assert_non_null(strstr(sl_last_error(), "/nowhere/c.yaml"));
	assert_int_equal(sl_config_problems(r), 1);
	sl_config_close(r);
}

/* --- valid configurations --------------------------------------------------------------------- */

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
enum { N_GOOD = sizeof(good) / sizeof(good[0]) };

TEST(printed_configs_read_back)
{
	static char text[TEXT_BYTES], again[TEXT_BYTES];

	for (size_t i = 0; i < N_GOOD; i++) {
		struct sl_config was;
		size_t n;

		resolve_good_text(good[i]);
		was = config;
		n = sl_config_print(&was, true, text, sizeof(text));
		assert_int_equal(n, strlen(text));
		assert_int_equal(n, sl_config_print(&was, true, NULL, 0));
		resolve_good_text(text);
		assert_memory_equal(&was, &config, sizeof(was));
		sl_config_print(&config, true, again, sizeof(again));
		assert_string_equal(text, again);
	}
}

/* Every notation of the stop rule, with the exact bits of its number. */
TEST(stop_rules_are_read)
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

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct sl_reader *r;

		assert_ok(resolve_text(good[0], &rules[i].set, 1, &r));
		sl_config_close(r);
		assert_int_equal(choices.stop_rule.fate, rules[i].fate);
		assert_memory_equal(&choices.stop_rule.below, &rules[i].below, sizeof(double));
		assert_int_equal(choices.stop_rule.min_batches, rules[i].min_batches);
	}
}

TEST(unset_options_are_not_printed)
{
	static char text[TEXT_BYTES], other[TEXT_BYTES];

	resolve_good_text(good[1]);
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
	resolve_good_text(text);
}

TEST(short_buffer_truncates_the_printed_configuration)
{
	static char whole[TEXT_BYTES];
	char cut[100];

	resolve_good_text(good[0]);
	sl_config_print(&config, true, whole, sizeof(whole));
	assert_int_equal(sl_config_print(&config, true, cut, sizeof(cut)), strlen(whole));
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	assert_memory_equal(cut, whole, sizeof(cut) - 1);
}

/*
 * Each allocation fails once: the status reports it, no configuration error is added, and no memory
 * leaks.
 */
TEST(out_of_memory_is_not_a_file_error)
{
	const char *set = "keep=[reflected]";
	enum sl_status s = SL_HOST_MEMORY;
	char fault[64];
	int k = 0;

	while (s != SL_OK && k++ < 1000) {
		struct sl_reader *r;

		snprintf(fault, sizeof(fault), "host_malloc:%d:12", k);
		assert_null(sl_fault_set(fault));
		s = resolve_text(good[2], &set, 1, &r);
		assert_true(s == SL_USAGE || s == SL_HOST_MEMORY);
		if (s == SL_HOST_MEMORY)
			assert_true(!r || sl_config_problems(r) == 0);
		sl_config_close(r);
		/* reflected is not a fate of that model, so a refusal means that no allocation failed */
		if (s == SL_USAGE)
			break;
	}
	sl_fault_set(NULL);
	assert_int_equal(s, SL_USAGE);
	/* the reader, the file, --set, and the defaults that libyaml parses */
	assert_true(k >= 8);
}

TEST(errors_have_line_and_column)
{
	const char *text =
		"run: {particles: 1}\nmodel:\n  slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}\n"
		"keep: [absorbed, reflected]\n";
	const char *set = "output.level=3";
	struct sl_reader *r;

	assert_ok(resolve_text(text, &set, 1, &r));
	sl_config_add_problem(r, "model.slab.mu_s", "a%d", 1);
	sl_config_add_problem(r, "model.slab.mu_s", "again");
	sl_config_add_problem(r, "model.slab.g", "b");
	sl_config_add_problem(r, "model.slab.no.such", "c");
	sl_config_add_problem(r, "keep[1]", "d");
	sl_config_add_problem(r, "key", "e");
	sl_config_add_problem(r, "output.level", "f");
	sl_config_add_problem(r, "output.format", "g");
	assert_string_equal(sl_config_report(r),
		"c:1:1: key: e\nc:3:3: model.slab.g: b\nc:3:3: model.slab.no.such: c\n"
		"c:3:29: model.slab.mu_s: a1\nc:4:18: keep[1]: d\n"
		"--set output.level=3: output.format: g\n--set output.level=3: output.level: f\n");
	assert_int_equal(sl_config_verdict(r), SL_USAGE);
	assert_true(sl_config_has_problem(r, "model"));
	assert_false(sl_config_has_problem(r, "run"));
	sl_config_close(r);
}

/* --- resolved choices ------------------------------------------------------------------------- */

TEST(sort_key_fields_have_default_ranges)
{
	resolve_good_text(good[1]);
	assert_int_equal(choices.n_fields, 4);
	assert_int_equal(choices.key_bits, 45);
	assert_int_equal(choices.field[0].column, SL_COLUMN_w);
	assert_true(choices.field[0].lo == -1 && choices.field[0].hi == 1);
	assert_true(choices.field[1].lo == -0.5 && choices.field[1].hi == 0.5);
	assert_true(choices.field[2].lo == 0 && choices.field[2].hi == 7);
	assert_int_equal(choices.n_columns, 3);
	assert_int_equal(choices.column[0], SL_COLUMN_id);
	assert_int_equal(choices.column[2], SL_COLUMN_steps);
	assert_int_equal(
		choices.keep, SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_max_steps));
	assert_false(choices.field[0].descending || choices.field[0].exact);
	resolve_good_text(good[2]);
	assert_true(choices.field[0].lo == 0 && choices.field[0].hi == 64 * 32 - 1);
	assert_true(choices.field[1].hi == 2000);
}

TEST(sort_key_fields_have_directions_and_exact_order)
{
	const struct sl_key_field *f = choices.field;

	resolve_good_text("run: {particles: 10}\n"
			  "model:\n"
			  "  source_detector:\n"
			  "    detector: {type: sphere, distance: 1 cm, radius: 1 mm}\n"
			  "    energy: {type: exponential, mean: 1 MeV}\n"
			  "keep: hit\n"
			  "key: [-ekin:float, x_log:9, -id:23]\n"
			  "tallies: ekin:10:0 keV..1 MeV\n"
			  "output: {columns: [ekin, x]}\n");
	assert_int_equal(choices.n_fields, 3);
	assert_int_equal(choices.key_bits, 64);
	assert_int_equal(f[0].column, SL_COLUMN_energy);
	assert_true(f[0].descending && f[0].exact && !f[0].logarithmic);
	assert_true(!f[1].descending && !f[1].exact && f[1].logarithmic);
	assert_true(f[2].descending && f[2].lo == 0 && f[2].hi == 9);
	assert_int_equal(choices.histogram[0].column, SL_COLUMN_energy);
	assert_int_equal(choices.n_columns, 2);
	assert_int_equal(choices.column[1], SL_COLUMN_energy);
}

TEST(units_of_one_dimension_give_the_same_bits)
{
	static const char form[] =
		"run: {particles: 1}\nmodel: {slab: {mu_a: %s, mu_s: 0, thickness: "
		"%s}}\nkeep: absorbed\n";
	static const char *const pairs[][2] = {{"1.1 /cm", "0.7 mm"}, {"110 /m", "700 um"},
		{"0.11 /mm", "0.07 cm"}, {"1.1e0 /cm", "0.0007 m"}, {"1.1/cm", "7e5nm"}};
	unsigned char first[SL_MODEL_CONFIG_BYTES];
	char text[512];

	for (size_t i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), form, pairs[i][0], pairs[i][1]);
		resolve_good_text(text);
		if (i == 0)
			memcpy(first, config.model_config.bytes, sizeof(first));
		assert_memory_equal(first, config.model_config.bytes, sizeof(first));
	}
}

TEST(batch_size_depends_only_on_particles)
{
	static const struct {
		const char *particles;
		uint64_t batch, n;
	} cases[] = {{"1", 1 << 18, 1}, {"262145", 1 << 18, 2}, {"16777216", 1 << 18, 64},
		{"16777217", 1 << 19, 33}, {"1e9", 1 << 24, 60}, {"1e10", 1 << 24, 597}};
	char text[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text),
			"run: {particles: %s}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: "
			"inf}}"
			"\nkeep: absorbed\n",
			cases[i].particles);
		resolve_good_text(text);
		assert_int_equal(choices.batch, cases[i].batch);
		assert_int_equal(choices.n_batches, cases[i].n);
	}
}
