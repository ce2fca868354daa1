/* reference_run.c - see reference_run.h. */
#include "tests/support/runs/reference_run.h"

uint64_t reference_hash;

void reference_run_begin(const char *text)
{
	folder_make(&folder);
	write_text(&folder, "c.yaml", text);
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "whole", "--quiet", "--device", "cpu"));
	reference_hash = hash_run(&folder, "whole");
}

void reference_run_resume(void)
{
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet"));
	assert_int_equal(hash_run(&folder, "out"), reference_hash);
	assert_string_equal(run_json(&folder, "out", "state"), "done");
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	remove_run(&folder, "out");
}
