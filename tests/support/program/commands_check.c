/* commands_check.c - see commands_check.h. */
#include "tests/support/program/commands_check.h"

#include <stdlib.h>

void expect_output(const char *says, const char *const *words)
{
	char *out = output_of(&folder, words);

	if (!strstr(out, says))
		fail_msg("%s %s: expected \"%s\" in the output:\n%s", words[1],
			words[2] ? words[2] : "", says, out);
	free(out);
}
