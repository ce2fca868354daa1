/* histograms_check.h - an undisturbed run with histograms, for the tests that read or damage it. */
#ifndef SL_TESTS_SUPPORT_RUNS_HISTOGRAMS_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_HISTOGRAMS_CHECK_H

#include "stages/selection/histogram.h"
#include "tests/support/runs/reference_run.h"

enum { PARTICLES = 6010, BATCH = 2000, BATCHES = 4, N_TALLIES = 4 };

/* The histograms of that run, in the order of the key tallies. */
struct tally {
	const char *column;
	struct sl_histogram_axis f;
};
extern const struct tally tallies[N_TALLIES];

/* Group setup: makes that run in "whole". */
void tallies_begin(void);

/* Returns the histograms of a run as text, which the caller frees. */
char *histograms_of(const char *out);

#endif
