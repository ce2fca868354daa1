/*
 * config.c - complete configurations: reports, lack of memory, and the ranges of sort keys. Texts that are refused:
 * tests/text/bad_configs.txt; those that are read: tests/text/config.txt.
 */
#include "pipeline/config/config_print.h"
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/configs/config_check.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1 << 16 };

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

static const char plain[] =
	"run: {particles: 1}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
	"keep: absorbed\n";

static const char detector[] =
	"run: {particles: 1}\nmodel:\n  source_detector:\n    source: {type: disk, radius: 1 um}\n"
	"    detector: {type: rectangle, distance: 1 m, width: 2 cm, height: 1e-3 m, pixels: [64, 32]}\n"
	"    energy: {type: lines, lines: [1 eV, 2 MeV], intensities: [1, 0.5]}\nkeep: [hit, blocked]\n"
	"key: [pixel:11, energy:10]\n";

TEST(short_buffer_truncates_the_printed_configuration)
{
	static char whole[TEXT_BYTES];
	char cut[100];

	resolve_good_text(plain);
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
		s = resolve_text(detector, &set, 1, &r);
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
	const struct sl_key_field *f = choices.field;

	resolve_good_text(
		"run: {particles: 1}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 0, thickness: inf}}\n"
		"transport: {max_steps: 7}\nkeep: [reflected, max_steps]\n"
		"key: [w:16, 'x:12:-5 mm..5 mm', steps:8, z:9:0..1, id]\n"
		"output: {columns: [steps, w, id]}\n");
	assert_int_equal(choices.n_fields, 4);
	assert_int_equal(choices.key_bits, 45);
	assert_int_equal(f[0].column, SL_COLUMN_w);
	assert_true(f[0].lo == -1 && f[0].hi == 1 && !f[0].descending && !f[0].exact);
	assert_true(f[1].lo == -0.5 && f[1].hi == 0.5);
	assert_true(f[2].lo == 0 && f[2].hi == 7);
	assert_int_equal(choices.n_columns, 3);
	assert_int_equal(choices.column[0], SL_COLUMN_id);
	assert_int_equal(choices.column[2], SL_COLUMN_steps);
	assert_int_equal(
		choices.keep, SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_max_steps));
	resolve_good_text(detector);
	assert_true(f[0].lo == 0 && f[0].hi == 64 * 32 - 1);
	assert_true(f[1].hi == 2000);
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
