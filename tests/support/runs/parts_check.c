/* parts_check.c - see parts_check.h. */
#include "tests/support/runs/parts_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char config_with_tallies[] =
	"run: {name: t, seed: 7, particles: 6010, batch: 500}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, n: 1.4, thickness: 0.5 cm,\n"
	"  absorption: implicit}}\n"
	"keep: [transmitted, reflected]\n"
	"columns: {q: w * w}\n"
	"tallies:\n  - q:16:0..1\n  - [w:16, z:8:0 cm..0.5 cm]\n";

/* Appends words up to the NULL; returns their number. */
static size_t append(const char **to, const char *const *words)
{
	size_t n = 0;

	for (; words && words[n]; n++)
		to[n] = words[n];
	to[n] = NULL;
	return n;
}

void part_command(unsigned number, unsigned of, const char *const *more, struct part_command *c)
{
	const char *const first[] = {"sluice", "run", "c.yaml", "--out", "parts", "--part", c->part,
		"--resume", "--quiet", NULL};

	snprintf(c->part, sizeof(c->part), "%u/%u", number, of);
	append(c->words + append(c->words, first), more);
}

void run_part(unsigned number, unsigned of, const char *const *more)
{
	struct part_command c;

	part_command(number, of, more, &c);
	expect(&folder, SL_OK, "", c.words);
}

void run_parts(unsigned of, const char *const *more)
{
	for (unsigned i = 1; i <= of; i++)
		run_part(i, of, more);
}

/* --- comparison ------------------------------------------------------------------------------- */

/* Is the line of run.json one that times change? */
static bool is_time(const char *line)
{
	static const char *const keys[] = {
		"\"figure_of_merit\"", "_seconds\"", "\"schedule_story\"", "\"crc32\""};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strstr(line, keys[i]))
			return true;
	return false;
}

/* Does the line begin a member that is not compared: the times, and with machine the machine? */
static bool begins_other(const char *line, bool machine)
{
	return strcmp(line, "\t\"times\": {") == 0 ||
	       (machine && strcmp(line, "\t\"machine\": {") == 0);
}

/* run.json without the members times and machine and the lines of times. The caller frees the text. */
static char *without_times(const char *out, bool machine)
{
	char name[64], *text, *kept, *to;
	bool in_other = false;
	size_t bytes;

	snprintf(name, sizeof(name), "%s/run.json", out);
	text = folder_read(&folder, name, &bytes);
	to = kept = (char *)calloc(1, bytes + 1);
	assert_non_null(kept);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t n = strlen(line);

		in_other = in_other || begins_other(line, machine);
		if (!in_other && !is_time(line)) {
			/* whether a comma follows depends on what follows */
			memcpy(to, line, n);
			to += n - (line[n - 1] == ',');
			*to++ = '\n';
		}
		in_other = in_other && strcmp(line, "\t},") != 0;
	}
	*to = '\0';
	free(text);
	return kept;
}

static void compare(const char *a, const char *b, bool machine)
{
	char *is = without_times(a, machine), *should = without_times(b, machine);

	assert_string_equal(is, should);
	free(is);
	free(should);
	assert_true(hash_run(&folder, a) == hash_run(&folder, b));
}

void expect_same_run(const char *joined, const char *whole)
{
	compare(joined, whole, false);
}

void expect_same_results(const char *run, const char *whole)
{
	compare(run, whole, true);
}

void check_parts(const char *const *more)
{
	static const char *const first[] = {
		"sluice", "run", "c.yaml", "--out", "whole", "--quiet", NULL};
	const char *words[40];

	append(words + append(words, first), more);
	expect(&folder, SL_OK, "", words);
	run_parts(3, more);
	expect(&folder, SL_OK, "", WORDS("join", "parts", "--out", "joined", "--quiet"));
	expect_same_run("joined", "whole");
	expect(&folder, SL_OK, "", WORDS("verify", "joined", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("verify", "parts/part_1_of_3", "--quiet"));
	remove_run(&folder, "whole");
	remove_run(&folder, "parts");
	remove_run(&folder, "joined");
}
