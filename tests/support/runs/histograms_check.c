/* histograms_check.c - see histograms_check.h. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/runs/histograms_check.h"

/* The bin widths are powers of two, so the edges that the test computes are exact. */
static const char text[] =
	"run: {name: t, seed: 7, particles: 6010, batch: 2000}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, n: 1.4, thickness: 0.5 cm}}\n"
	"keep: [transmitted, reflected, absorbed]\n"
	"key: [w:16]\n"
	"tallies: [w:16, z:8:0 cm..2.5 mm:absorbed, steps:4:1..9:reflected+absorbed, "
	"fate:5:0..10]\n";

const struct tally tallies[N_TALLIES] = {
	{"w", {SL_COLUMN_w, 16,
		      SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_transmitted) |
			      SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_max_steps) |
			      SL_FATE_BIT(SL_FATE_roulette),
		      -1, 1}},
	{"z", {SL_COLUMN_z, 8, SL_FATE_BIT(SL_FATE_absorbed), 0, 0.25}},
	{"steps", {SL_COLUMN_steps, 4,
			  SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_absorbed), 1, 9}},
	{"fate", {SL_COLUMN_fate, 5,
			 SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_transmitted) |
				 SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_max_steps) |
				 SL_FATE_BIT(SL_FATE_roulette),
			 0, 10}},
};

void tallies_begin(void)
{
	reference_run_begin(text);
}

char *histograms_of(const char *out)
{
	char name[64];
	size_t bytes;
	char *all, *from, *to, *cut;

	snprintf(name, sizeof(name), "%s/run.json", out);
	all = folder_read(&folder, name, &bytes);
	from = strstr(all, "\"histograms\": [");
	assert_non_null(from);
	to = strstr(from, "\n\t\t]");
	assert_non_null(to);
	cut = strndup(from, (size_t)(to - from) + 4);
	free(all);
	return cut;
}
