/* commands_check.c - see commands_check.h. */
#include "tests/support/program/commands_check.h"

#include <stdlib.h>

static const char text[] = "run: {name: t, seed: 7, particles: 10000, batch: 3000, threads: 2}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n";

void commands_begin(void)
{
	reference_run_begin(text);
	folder_remember();
}

void expect_output(const char *says, const char *const *words)
{
	char *out = output_of(&folder, words);

	if (!strstr(out, says))
		fail_msg("%s %s: expected \"%s\" in the output:\n%s", words[1],
			words[2] ? words[2] : "", says, out);
	free(out);
}

void shell(int code, const char *says, const char *line)
{
	const char *const words[] = {"sh", "-c", line, NULL};

	expect(&folder, code, says, words);
}
