/* list_summary.c - what plan and the summary of a run say about its joined file, and samples that are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/formats/listed_runs.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* Expects a text in the summary and one in the plan of a run with these settings. */
static void expect_said(const char *set, const char *summary, const char *plan)
{
	char *text;

	remove_run(&folder, "said");
	text = output_of(&folder, WORDS("run", "c.yaml", "--out", "said", "--set", set));
	if (!strstr(text, summary))
		fail_msg("'%s' is not in: %s", summary, text);
	free(text);
	text = output_of(&folder, WORDS("plan", "c.yaml", "--set", set));
	if (!strstr(text, plan))
		fail_msg("'%s' is not in: %s", plan, text);
	free(text);
}

TEST(plan_and_summary_say_the_order)
{
	static const char within[] =
		"its order by key is within each batch only; for the order over the run use "
		"output.order: run\n";

	write_list_config(&folder, "a.mcpl", ", batch: 90", "listed", listed_key);
	expect_said("output={format: mcpl, joined: true}", within, within);
	expect_said("output={format: mcpl, order: run}",
		"its order is that of the key over the whole run\n",
		"            in the order of the key over the whole run\n"
		"            sort keys in *.order: 8 bytes per survivor\n");
	expect_said("output={format: mcpl, order: batch, sample: 100, limit: 7}",
		"t.mcpl: 7 particles, a sample with weights of at least ",
		"            a weighted sample of 100 survivors\n            at most 7 particles\n"
		"            sort keys in *.order: 8 bytes per survivor\n");
	assert_string_equal(run_json(&folder, "said", "joined"), "t.mcpl");
	assert_string_equal(run_json(&folder, "said", "joined_order"), "batch");
	assert_string_equal(run_json(&folder, "said", "joined_particles"), "7");
	expect_said("output={format: npz, order: run, limit: 7}",
		"joined file of all batches in said/t.npz: 7 particles\n",
		"joined      the survivors of all batches are merged into t.npz at the end of the "
		"run\n            in the order of the key over the whole run\n            in several "
		"passes, with intermediate files\n");
	assert_string_equal(run_json(&folder, "said", "joined"), "t.npz");
}

/* A run whose device has no memory for the sort ends as well: the host compares the keys, and says so. */
static void expect_host_after_failures(void)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "said", "--set",
		"run={batch: 90, device: emulated, slots: 1}");
	unsigned k = 0;
	int code = SL_DEVICE_MEMORY;

	for (; code == SL_DEVICE_MEMORY; k++) {
		char fault[64];
		const char *const environment[] = {fault, NULL};
		struct ending e;

		snprintf(fault, sizeof(fault), "SL_FAULT=dev_malloc:%u:2", k + 1);
		remove_run(&folder, "said");
		call(&folder, environment, words, &e);
		code = e.code;
		if (code == SL_OK && !strstr(e.out, "; the host compared them (device memory: "))
			fail_msg("no reason is in: %s", e.out);
		process_free(&e);
	}
	assert_int_equal(code, SL_OK);
	assert_true(k > 1);
}

TEST(plan_and_summary_say_what_devices_sort)
{
	write_list_config(&folder, "a.mcpl", "", "listed",
		"key: [-energy:float]\noutput: {format: mcpl, order: run}\n");
	expect_said("run={batch: 90, device: emulated:2}",
		"its order is that of the key over the whole run; 2 devices sorted the keys\n",
		"            the devices sort its keys if they have memory for them: at least 24 bytes "
		"per survivor\n");
	write_list_config(&folder, "a.mcpl", "", "listed",
		"key: [-energy:float, x:float]\noutput: {format: npz, order: run}\n");
	expect_said("run={batch: 90, device: emulated}", "; 1 device sorted the keys\n",
		"at least 36 bytes per survivor");
	expect_host_after_failures();
}

/* The survivors of a table count with the weights of a sample, so they must have them. */
TEST(a_sample_without_weights_is_refused)
{
	write_list_config(&folder, "a.mcpl", "", "listed", listed_key);
	expect(&folder, SL_USAGE,
		"output.columns: lacks weight, with which the particles of output.sample count; add "
		"weight",
		WORDS("plan", "c.yaml", "--set", "output={format: npz, sample: 9, columns: [x]}"));
}

/*
 * 10 of 400 particles with a weight of 3e38 count as 1.2e40 each, which only a record with numbers of 8
 * bytes can have. No joined file is left.
 */
TEST(weights_of_a_sample_must_be_finite)
{
	static const char *const outputs[] = {"format: mcpl", "format: npz", "format: mcpl.gz"};
	struct sl_mcpl_particle *heavy = (struct sl_mcpl_particle *)calloc(400, sizeof(*heavy)),
				*found;
	struct sl_mcpl_header h = {.version = 3, .particles = 400, .flags = true};
	char more[128];

	memcpy(heavy, listed, 400 * sizeof(*heavy));
	for (int i = 0; i < 400; i++)
		heavy[i].weight = 3e38;
	for (int i = 0; i < 4;
		i++) { /* single precision; a table; a common weight; double precision */
		h.single = i == 0;
		h.weight = i == 2 ? 3e38 : 0;
		make_list(&folder, "heavy.mcpl", &h, NULL, heavy);
		snprintf(more, sizeof(more), "output: {%s, sample: 10}\n", outputs[i % 3]);
		write_list_config(&folder, "heavy.mcpl", ", batch: 90", "listed", more);
		remove_run(&folder, "out");
		if (i < 3) {
			expect(&folder, SL_BAD_INPUT,
				"output.sample: with 10 particles each one has a weight of 1.",
				WORDS("run", "c.yaml", "--out", "out", "--quiet"));
			assert_false(folder_has(&folder, "out/t.mcpl"));
			assert_false(folder_has(&folder, "out/t.npz"));
			assert_false(folder_has(&folder, "out/t.mcpl.gz"));
			continue;
		}
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet"));
		found = particles_of(&folder, "out/t.mcpl", &h);
		assert_true(
			h.particles == 10 && found[0].weight > 3.5e38 && found[9].weight < 1e41);
		free(found);
	}
	free(heavy);
}

BEFORE_TESTS()
{
	listed_lists();
}
