/* listed_runs.c - see listed_runs.h. */
#include "tests/support/formats/listed_runs.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { FIRST = 700, SECOND = LISTED - FIRST };
struct sl_mcpl_particle listed[LISTED];

const char listed_key[] = "key: [-energy:float]\n";

/* Few energies, so that many keys are equal; weights of all sizes, of both signs, and 0. */
static void make_particles(void)
{
	uint32_t random = 1;

	for (uint32_t i = 0; i < LISTED; i++) {
		double w = next_random(&random);

		listed[i] = (struct sl_mcpl_particle){.position = {next_random(&random), i, -1},
			.direction = {0, 0.6, 0.8},
			.energy = floor(20 * next_random(&random)) / 64,
			.time = i * 1e-3,
			.weight = i % 50 == 0 ? 0 : (i % 9 == 0 ? -1 : 1) * (float)(w * w * w * w),
			.pdg = 2112,
			.flags = i};
	}
}

void listed_lists(void)
{
	const struct sl_mcpl_header wide = {.version = 3, .particles = FIRST, .flags = true},
				    narrow = {.version = 3,
					    .particles = SECOND,
					    .flags = true,
					    .single = true};

	make_particles();
	make_list(&folder, "a.mcpl", &wide, NULL, listed);
	make_list(&folder, "b.mcpl.gz", &narrow, NULL, listed + FIRST);
}

void listed_run(const char *device, unsigned batch, const char *more)
{
	char run[64];

	snprintf(run, sizeof(run), ", threads: 2, batch: %u", batch);
	write_list_config(&folder, "a.mcpl, b.mcpl.gz", run, "listed and y > 9 cm", more);
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--device", device));
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
}
