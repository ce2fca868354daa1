/* whole.c - see whole.h. */
#include "tests/support/whole.h"

uint64_t unbroken;

void whole_begin(const char *text)
{
	folder_make(&folder);
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "whole", "--quiet", "--device", "cpu"));
	unbroken = hash_run(&folder, "whole");
}
