/* commands_help.c - the command line: help on every key, name and command, and the version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/args/args.h"
#include "pipeline/config/options.h"
#include "tests/support/program/commands_check.h"

TEST(help_describes_keys)
{
	static const char *const sections[] = {"run", "transport", "primitives", "output", "stop",
		"check", "model", "keep", "key"};
	char path[SL_KEY_BYTES];

	for (size_t i = 0; i < sl_n_options; i++) {
		sl_option_path(NULL, &sl_options[i], path);
		expect_output(sl_options[i].help, WORDS("help", path));
	}
	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		expect_output(sl_models[m]->options[0].help, WORDS("help", sl_models[m]->name));
		for (size_t i = 0; i < sl_models[m]->n_options; i++) {
			sl_option_path(sl_models[m], &sl_models[m]->options[i], path);
			expect_output(sl_models[m]->options[i].help, WORDS("help", path));
		}
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		expect_output(sections[i], WORDS("help", sections[i]));
}

TEST(help_describes_every_name)
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (!sl_is_named_column(c))
			expect_output(
				sl_column_facts[c].help, WORDS("help", sl_column_facts[c].name));
	for (int f = 0; f < SL_FATE_COUNT; f++)
		expect_output(sl_fate_facts[f].help, WORDS("help", sl_fate_facts[f].name));
	for (int c = 0; c < SL_COMMAND_NONE; c++)
		expect_output(sl_commands[c].help, WORDS("help", sl_commands[c].name));
	expect_output("column energy\n", WORDS("help", "ekin"));
	expect_output("model.slab.mu_a\n", WORDS("help", "mu_a"));
	expect_output("output.format\n", WORDS("help", "format"));
	expect(&folder, SL_USAGE, "has this name; see", WORDS("help", "nonsense"));
	expect(&folder, SL_USAGE, "this name, did you mean seed; see", WORDS("help", "run.see"));
	expect(&folder, SL_USAGE, "this name, did you mean mu_s; see", WORDS("help", "mu-s"));
	expect(&folder, SL_USAGE, "has this name", WORDS("help", ""));
}

/* Ranges of values are printed with their default and unit. */
TEST(help_states_ranges)
{
	expect_output(
		"whole number, 0 to 18446744073709551615; default 1", WORDS("help", "run.seed"));
	expect_output("whole number, 1 to 2147483648, or auto", WORDS("help", "run.batch"));
	expect_output("    number, above 0; default 4", WORDS("help", "check.sigma"));
	expect_output("    number, 0 keV or more\n", WORDS("help", "output.mcpl.energy"));
	expect_output("    number, -2147483648 to 2147483647\n", WORDS("help", "output.mcpl.pdg"));
	expect_output("numbers, 1e-30 to inf cm", WORDS("help", "model.slab.thickness"));
}

/* All forms of the help command print one text with all commands, options and exit codes. */
TEST(help_lists_commands)
{
	char *help = output_of(&folder, WORDS("--help"));

	expect_output(help, WORDS("help"));
	expect_output(help, WORDS("-h"));
	expect_output(help, WORDS("run", "c.yaml", "--help"));
	for (int c = 0; c < SL_COMMAND_NONE; c++)
		assert_non_null(strstr(help, sl_commands[c].help));
#define SETTING(option, key, value, help_) assert_non_null(strstr(help, "--" option " " value));
#define TEXT(option, field, value, takers, help_) \
	assert_non_null(strstr(help, "--" option " " value));
#define COUNT(option, field, value, takers, help_) TEXT(option, field, value, takers, help_)
#define FLAG(option, field, takers, help_)         assert_non_null(strstr(help, "--" option));
#include "pipeline/args/args.def"
#undef SETTING
#undef TEXT
#undef COUNT
#undef FLAG
#define SL_STATUS(name, code, meaning) \
	assert_non_null(strstr(help, #code)), assert_non_null(strstr(help, meaning));
#include "primitives/base/status.def"
#undef SL_STATUS
	free(help);
}

/* Both forms print the same text, with each fact on its own line. */
TEST(version_is_printed)
{
	static const char *const facts[] = {"sluice 0", "\ncommit ", "\ncompilers  C ", "\nCUDA ",
		"\nHDF5 ", "\nMPI  ", "\nCPU loops  ", "baseline; uses "};
	char *text = output_of(&folder, WORDS("version"));

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		assert_non_null(strstr(text, facts[i]));
	expect_output(text, WORDS("--version"));
	free(text);
}

/* The Markdown reference has every key, column, fate and unit; it takes no argument. */
TEST(help_prints_markdown)
{
	char *text = output_of(&folder, WORDS("help", "--markdown")), item[SL_KEY_BYTES + 8];

	for (int m = 0; m < SL_MODEL_COUNT; m++) {
		char path[SL_KEY_BYTES];

		for (size_t i = 0; sl_option_at(sl_models[m], i, path); i++) {
			snprintf(item, sizeof(item), "\n- `%s`: ", path);
			assert_non_null(strstr(text, item));
		}
	}
	for (int c = 0; c < SL_COLUMN_COUNT && !sl_is_named_column(c); c++) {
		snprintf(item, sizeof(item), "\n- `%s`", sl_column_facts[c].name);
		assert_non_null(strstr(text, item));
	}
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		snprintf(item, sizeof(item), "\n- `%s`: ", sl_fate_facts[f].name);
		assert_non_null(strstr(text, item));
	}
	for (int u = 1; u < SL_UNIT_COUNT; u++) {
		snprintf(item, sizeof(item), "`%s`", sl_units[u].text);
		assert_non_null(strstr(text, item));
	}
	free(text);
	expect(&folder, SL_USAGE, "so it takes no word", WORDS("help", "run", "--markdown"));
}

BEFORE_TESTS()
{
	commands_begin();
}
