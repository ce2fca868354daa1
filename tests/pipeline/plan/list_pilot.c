/*
 * list_pilot.c - the prediction of the survivors of a list. The particles of the pilot are spread over a
 * list, which can be sorted; of a list in gzip they are the first ones. A short list is counted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/commands_check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { N = 4000, FILES = 10 };

/* Makes the first n of N particles with this energy in MeV. */
static void make(const char *name, uint32_t n, double energy)
{
	const struct sl_mcpl_header h = {
		.version = 3, .particles = n, .single = true, .pdg = 22, .weight = 1};
	static struct sl_mcpl_particle p[N];

	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct sl_mcpl_particle){
			.position = {i, 0, 0}, .direction = {0, 0, 1}, .energy = energy};
	make_list(&folder, name, &h, NULL, p);
}

/* The energy increases from file to file. */
BEFORE_TESTS()
{
	char name[32];

	for (int k = 0; k < FILES; k++) {
		snprintf(name, sizeof(name), "a%d.mcpl", k);
		make(name, N, k);
		snprintf(name, sizeof(name), "b%d.mcpl.gz", k);
		make(name, N, k);
	}
	make("short.mcpl", 77, 1);
}

static void expect_estimate(const char *files, const char *keep, const char *says)
{
	write_list_config(&folder, files, ", threads: 1", keep, "");
	expect_output(says, WORDS("plan", "c.yaml", "--device", "cpu"));
}

TEST(sorted_lists_are_read_everywhere)
{
	expect_estimate("a*.mcpl", "ekin > 4.5 MeV", "estimate    49.9 % survive");
	expect_estimate("a*.mcpl", "ekin > 8.5 MeV", "estimate    9.84 % survive");
	expect_estimate("a*.mcpl", "ekin > 20 MeV", "estimate    fewer than 1 in 16384 survive");
}

/* Records in gzip are kept in memory if there is room, and then are read like those of a plain file. */
TEST(kept_records_are_read_everywhere)
{
	expect_estimate("b*.mcpl.gz", "ekin > 4.5 MeV", "estimate    49.9 % survive");
}

/* All particles of a short list are counted, also those that are no whole group. */
TEST(short_lists_are_counted)
{
	expect_estimate("short.mcpl", "x > 75.5 cm", "estimate    1.3 % survive");
	expect_estimate("short.mcpl", "x > 95.5 cm", "estimate    0 % survive");
	expect_estimate("short.mcpl, a0.mcpl", "x > 3998.5 cm", "estimate    0.0245 % survive");
}
