/*
 * list_memory.c - a batch of a list that has more survivors than were counted ends before its
 * memory does. When survivors are counted, and the memory of batches of lists:
 * tests/text/memory.txt.
 */
#include <stdio.h>

#include "pipeline/plan/plan.h"
#include "pipeline/run/run.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/formats/mcpl_lists.h"

TEST(more_survivors_than_counted_are_refused)
{
	struct sl_workspace *w;
	struct sl_plan *plan;
	char text[1024];

	snprintf(text, sizeof(text),
		"run: {threads: 1, device: cpu}\nmodel: {list: {files: %s}}\nkeep: id < 600\n",
		reference_path("example.mcpl"));
	plan = plan_of_sets(text, SETS(NULL));
	plan->machine.free_bytes = plan->memory.host - 1;
	assert_ok(sl_memory_plan_fit(plan));
	assert_true(plan->recipe.counted);
	assert_int_equal(plan->recipe.survivors_most, 600);
	plan->recipe.survivors_most = 200;
	assert_ok(sl_memory_plan_fit(plan));
	assert_ok(sl_workspace_open(plan, &w));
	assert_ok(sl_workspace_allocate(w));
	sl_batch_begin(&w->recipe, &w->slot[0].batch, 0);
	assert_fails(sl_stages_run(&w->recipe, &w->slot[0].exec, &w->slot[0].batch, NULL), SL_DISK,
		"survivors that were counted before the run");
	sl_workspace_close(w);
	sl_plan_free(plan);
}
