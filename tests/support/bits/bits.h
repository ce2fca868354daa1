/*
 * bits.h - runs the configurations of a table in random ways, and compares each run with that of
 * one thread of the host without vector instructions, byte for byte.
 *
 * The table is tests/end_to_end/bits/bits.txt, and every third configuration of data/configs is
 * added. A round of a configuration chooses what its files are: format, size of batches, joined
 * list, compressor. Then runs with these choices differ in device, mode, schedule, threads,
 * backends, turns of the emulated device, and in how they come to their end: at once, after a full
 * disk, after damage, extended, in parts that are joined, as ranks of MPI, or with other batches. A
 * seed decides all of it, so that each commit tries other pairs of choices.
 */
#ifndef SL_TESTS_SUPPORT_BITS_BITS_H
#define SL_TESTS_SUPPORT_BITS_BITS_H

#include <stdbool.h>

/*
 * Writes the lists that configurations of the table read to the folder of the test, and runs all on
 * a device, emulated or cuda, or as ranks. The seed is SLUICE_SHARE; SLUICE_LINE is the title of
 * the only configuration.
 */
void bits_run(const char *device, bool ranks);

#endif
