/*
 * mcpl_metadata.c - comments, blobs and statistics sums of MCPL inputs are copied to the MCPL files
 * written from them.
 *
 * Partial sums are computed by hand: a file of 10 particles represents 1000 simulated ones, and the
 * next file, of 5 particles, represents 501.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/program/fixture.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/program.h"

enum { STRINGS_MOST = 24, STRING_BYTES = 128 };

BEFORE_TESTS()
{
	struct sl_mcpl_particle p[10];
	struct sl_mcpl_header h = {.version = 3, .single = true, .comments = 3, .blobs = 2};
	static const char *const of_a[] = {"first", "stat:sum:n:                    1000",
		"stat:sum:mine:                       5", "geometry", "key", "box", "same"};
	static const char *const of_b[] = {"stat:sum:n:                     501", "first", "second",
		"geometry", "key", "sluice_config", "sphere", "same", "mine"};

	for (int i = 0; i < 10; i++)
		p[i] = (struct sl_mcpl_particle){
			.position = {i, 0, 0}, .direction = {0, 0, 1}, .weight = 1, .pdg = 22};
	h.particles = 10;
	make_list(&folder, "a.mcpl", &h, of_a, p);
	h.particles = 5;
	h.blobs = 3;
	make_list(&folder, "b.mcpl.gz", &h, of_b, p);
}

static void configure(const char *files, const char *format)
{
	char output[64];

	snprintf(output, sizeof(output), "output: {format: %s, joined: true}\n", format);
	write_list_config(&folder, files, "", "x > 1 cm", output);
}

/* Reads the strings of a header except the source name; *comments is the number of comments. */
static int strings_of(const char *name, char text[STRINGS_MOST][STRING_BYTES], uint32_t *comments)
{
	size_t bytes;
	char *file = folder_read(&folder, name, &bytes), source[STRING_BYTES];
	struct sl_mcpl_stream s;
	uint32_t length, n;

	assert_ok(sl_mcpl_open(&s, file, bytes));
	*comments = s.header.comments;
	n = s.header.comments + 2 * s.header.blobs;
	assert_true(n <= STRINGS_MOST);
	assert_ok(sl_mcpl_text(&s, source, sizeof(source), &length));
	for (uint32_t i = 0; i < n; i++)
		assert_ok(sl_mcpl_text(&s, text[i], STRING_BYTES, &length));
	sl_mcpl_close(&s);
	free(file);
	return (int)n;
}

/* Checks the first strings of a file; for some strings a prefix is compared. */
static void expect_strings(const char *name, const char *const *expected)
{
	char text[STRINGS_MOST][STRING_BYTES];
	uint32_t comments;
	int n = strings_of(name, text, &comments);

	for (int i = 0; expected[i]; i++)
		if (i >= n || strncmp(text[i], expected[i], strlen(expected[i])) != 0)
			fail_msg("%s: string %d is '%s', expected '%s'", name, i,
				i < n ? text[i] : "", expected[i]);
}

#define GENERATED "stat:sum:sluice_generated:"
#define SUM_OF_N  "stat:sum:n:                     "

TEST(metadata_is_copied)
{
	static const char *const sums[][3] = {
		{"t_000000.mcpl.gz", GENERATED "                       4", SUM_OF_N "400"},
		{"t_000001.mcpl.gz", GENERATED "                       4", SUM_OF_N "400"},
		{"t_000002.mcpl.gz", GENERATED "                       4", SUM_OF_N "400"},
		{"t_000003.mcpl.gz", GENERATED "                       3", SUM_OF_N "301"},
		{"t.mcpl.gz", GENERATED "                      15",
			"stat:sum:n:                    1501"}};
	char *out;

	configure("a.mcpl, b.mcpl.gz", "mcpl.gz");
	out = output_of(&folder, WORDS("run", "c.yaml", "--out", "o", "--set", "run.batch=4"));
	assert_non_null(strstr(out, "b.mcpl.gz: blob 'geometry' has the name of a different blob"));
	assert_non_null(strstr(out, "the output appends _2 to the name"));
	assert_non_null(strstr(out, "blob 'sluice_config' has the name"));
	assert_null(strstr(out, "'key'"));
	free(out);
	for (int i = 0; i < 5; i++) {
		const char *const expected[] = {sums[i][1], sums[i][2],
			"stat:sum:mine:                      -1", "Read from a list of a test",
			"first", "second", "Survivors of run t", "sluice:columns:", "sluice_config",
			"geometry", "key", "geometry_2", "sluice_config_2", "run:", "box", "same",
			"sphere", "mine", NULL};
		char name[64];

		snprintf(name, sizeof(name), "o/%s", sums[i][0]);
		expect_strings(name, expected);
	}
	expect(&folder, SL_OK, "", WORDS("verify", "o", "--quiet"));
	/* joined by convert, and converted from tables */
	expect(&folder, SL_OK, "", WORDS("convert", "o", "--to", "o.mcpl.gz", "--quiet"));
	expect_strings(
		"o.mcpl.gz", (const char *const[]){sums[4][1], sums[4][2], "stat:sum:mine:", NULL});
	configure("a.mcpl, b.mcpl.gz", "npz");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "n", "--quiet", "--set", "run.batch=4", "--set",
			"output.joined=false"));
	expect(&folder, SL_OK, "", WORDS("convert", "n", "--to", "n.mcpl", "--quiet"));
	expect_strings("n.mcpl", (const char *const[]){sums[4][1], sums[4][2], "stat:sum:mine:",
					 "Read from a list of a test", "first", NULL});
}

/*
 * Files written by this program keep the number of generated particles; for other files it is
 * unknown.
 */
TEST(generated_counts_are_kept)
{
	char *out;

	configure("o/t_000000.mcpl.gz, o/t_000003.mcpl.gz", "mcpl");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "g", "--quiet"));
	expect_strings("g/t.mcpl",
		(const char *const[]){GENERATED "                       7", SUM_OF_N "701",
			"stat:sum:mine:                      -1", "Read from a list of Sluice",
			"Read from a list of a test", "first", "second", "Survivors of run t",
			"Survivors of run t", "sluice:columns:", "sluice_config", "sluice_config_2",
			"geometry", NULL});
	expect(&folder, SL_OK, "", WORDS("info", "g/t_000000.mcpl"));
	out = output_of(&folder, WORDS("convert", "g/t.mcpl", "--to", "g.npz"));
	assert_non_null(strstr(out, "dropped: 7 comments, 5 blobs"));
	free(out);
	configure("o/t_000000.mcpl.gz, a.mcpl", "mcpl");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "h", "--quiet"));
	expect_strings("h/t.mcpl", (const char *const[]){GENERATED "                      -1",
					   "stat:sum:n:                    1400", NULL});
	/* only the first file: 3 of 10 */
	configure("a.mcpl", "mcpl");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "f", "--quiet", "--set", "run.particles=3"));
	expect_strings("f/t.mcpl",
		(const char *const[]){GENERATED "                       3", SUM_OF_N "300",
			"stat:sum:mine:                       1", NULL});
}

/* The simulated particles of an empty file count, wherever the file is in the sequence. */
TEST(empty_files_keep_their_sums)
{
	const struct sl_mcpl_header h = {.version = 3, .single = true, .comments = 1};
	static const char *const sum[] = {"stat:sum:n:                       7"};
	static const char *const files[] = {
		"none.mcpl, a.mcpl", "a.mcpl, none.mcpl", "a.mcpl, none.mcpl, b.mcpl.gz"};
	static const char *const sums[] = {"1007", "1007", "1508"};

	make_list(&folder, "none.mcpl", &h, sum, NULL);
	for (int i = 0; i < 3; i++) {
		char all[64];

		configure(files[i], "mcpl");
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "e", "--quiet", "--set", "run.batch=5"));
		snprintf(all, sizeof(all), "stat:sum:n:                    %s", sums[i]);
		expect_strings("e/t.mcpl", (const char *const[]){GENERATED, all, NULL});
		remove_run(&folder, "e");
	}
}

/* For a file that its writer did not finish, the number of simulated particles is unknown. */
TEST(sums_of_unfinished_files_are_unknown)
{
	size_t bytes;
	char *file = folder_read(&folder, "a.mcpl", &bytes);

	memset(file + 8, 0, 8);
	folder_write(&folder, "dead.mcpl", file, bytes);
	free(file);
	configure("dead.mcpl", "mcpl");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "d", "--quiet"));
	expect_strings("d/t.mcpl", (const char *const[]){GENERATED "                      10",
					   "stat:sum:n:                      -1", NULL});
	expect(&folder, SL_OK, "", WORDS("convert", "dead.mcpl", "--to", "c.mcpl", "--quiet"));
	expect_strings("c.mcpl",
		(const char *const[]){"first", "stat:sum:n:                      -1", NULL});
}
