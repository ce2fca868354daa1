/*
 * words.c - which words of a help text the completion of shells offers. tests/docs/manual.py tries the shells, and compares
 * pages and completion with the help.
 */
#include <string.h>

#include "pipeline/manual/sluice_manual.h"
#include "tests/support/basic/check.h"

TEST(lists_of_words_are_found)
{
	static const struct {
		const char *help, *words;
	} cases[] = {
		{"where to compute: auto, cpu, cuda, cuda:N or emulated", "auto cpu cuda emulated"},
		{"where: auto, cuda:N,M, cuda:all, emulated or emulated:N",
			"auto cuda:all emulated"},
		{"cuda, cuda:N or emulated", "cuda emulated"},
		{"file: auto, none or FILE; it is read first", "auto none"},
		{"backend: auto or NAME[:block=N][:padding=on|off]", "auto"},
		{"first: second: left or right", "left right"},
		{"threads that compute batches; auto: one per core", ""},
		{"batches in flight at the same time; auto: 3", ""},
		{"results as JSON on stdout", ""},
		{"one: two words, or three more words", ""},
		{"one: left,  or right", ""},
		{"", ""},
	};
	static struct sl_manual m;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sl_manual_words_of_help(&m, cases[i].help), cases[i].words);
}

TEST(names_of_values_say_what_completes_them)
{
	static const struct {
		const char *name;
		int by;
	} rows[] = {{"FILE", SL_COMPLETE_FILES}, {"CONFIG", SL_COMPLETE_FILES},
		{"IN...", SL_COMPLETE_FILES}, {"FILE|DIR", SL_COMPLETE_FILES},
		{"DIR", SL_COMPLETE_FOLDERS}, {"DIR...", SL_COMPLETE_FOLDERS},
		{"N", SL_COMPLETE_WORDS}, {"I/N", SL_COMPLETE_WORDS}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((int)sl_manual_complete_by(rows[i].name) != rows[i].by)
			fail_msg("%s", rows[i].name);
}
