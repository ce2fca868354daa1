/*
 * bits.h - runs the configurations of a table in random ways, and compares each run with that of one thread of the
 * host without vector instructions, byte for byte.
 *
 * The table is tests/end_to_end/bits/bits.txt, and every third configuration of data/configs is added. A round of a
 * configuration chooses what its files are: format, size of batches, joined list, compressor. Then runs with these
 * choices differ in device, mode, schedule, threads, backends, turns of the emulated device, and in how they come to
 * their end: at once, after a full disk, after damage, extended, in parts that are joined, as ranks of MPI, or with
 * other batches. A seed decides all of it, so that each commit tries other pairs of choices.
 */
#ifndef SL_TESTS_SUPPORT_BITS_BITS_H
#define SL_TESTS_SUPPORT_BITS_BITS_H

#include <stdbool.h>
#include <stdint.h>

struct bits_job {
	const char *device; /* emulated or cuda */
	bool ranks;         /* all runs are those of several ranks */
	unsigned
		rounds; /* of each configuration; variants: runs of each round besides the reference */
	unsigned variants;
	const char *only; /* the title of a configuration, or NULL: all */
	uint64_t seed;
	double seconds; /* more rounds with further seeds until then; 0: none */
};

/* The rounds and variants of the share of the environment (cases/sampling.h). */
struct bits_job bits_job(const char *device);

/* Reads --seed N, --budget SECONDS and --line TITLE. Returns false after a message if there are others. */
bool bits_arguments(struct bits_job *job, int argc, char **argv);

/* Writes the lists that configurations of the table read to the folder of the test, and runs all. */
void bits_run(const struct bits_job *job);

#endif
