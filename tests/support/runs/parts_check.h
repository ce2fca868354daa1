/*
 * parts_check.h - runs the parts of c.yaml in the folder of the fixture, joins them, and compares the
 * joined run with the run of one process.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_PARTS_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_PARTS_CHECK_H

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* A configuration with a histogram and a grid. */
extern const char config_with_tallies[];

/* The words of sluice run --part number/of --out parts --resume, and NULL; more: NULL, or words. */
struct part_command {
	char part[32];
	const char *words[40];
};
void part_command(unsigned number, unsigned of, const char *const *more, struct part_command *c);

/* Runs that part, or all parts. */
void run_part(unsigned number, unsigned of, const char *const *more);
void run_parts(unsigned of, const char *const *more);

/*
 * Expects that joined has the files of whole, byte for byte, and the same run.json except for its
 * times.
 */
void expect_same_run(const char *joined, const char *whole);

/* The same for a run on other processors or threads, whose run.json also differs in the member machine. */
void expect_same_results(const char *run, const char *whole);

/*
 * Runs c.yaml into "whole" and as three parts into "parts", joins these into "joined", compares and
 * verifies, and removes all three.
 */
void check_parts(const char *const *more);

#endif
