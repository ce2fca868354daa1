/*
 * same_bits_check.h - compares whole runs of any available device with runs of the CPU.
 *
 * A configuration is planned and run through the library, to nowhere, staged and fused; of each
 * batch the tally, the survivors and the digests of their columns must be those of the same run on
 * the CPU. Runs of the program itself are compared by their manifests, and by what their files
 * hold.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_SAME_BITS_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_SAME_BITS_CHECK_H

/* What all runs of a check have in common. */
struct bits {
	const char *device;    /* run.device: cuda, emulated */
	const char *config;    /* of data/configs, without its suffix */
	const char *particles; /* of the run, and of a batch */
	const char *batch;
};

/* Every configuration there is, with sanitizers every third; bits->config is not looked at. */
void same_bits_check_configs(const struct bits *b);

/* Every scan with every compact and every sort of the device, and fused every sort; with so many
 * slots and threads. */
void same_bits_check_backends(const struct bits *b, unsigned slots, unsigned threads);

/* One to four slots, one to four threads, in both ways; with sanitizers a third of these. */
void same_bits_check_slots(const struct bits *b);

/* Survivors of another order: in that of ids, and by a key of more than 32 bits. */
void same_bits_check_keys(const struct bits *b);

/* Just this. */
void same_bits_check(const struct bits *b);

/*
 * The program's runs, with columns compressed on the device: the same manifests, and so the same
 * bytes, and the same columns in the files.
 */
void same_bits_check_files(const struct bits *b);
void same_bits_check_files_of_configs(const struct bits *b);

/*
 * The same of lists of particles, of records in all that they can have, joined, with an image, and
 * as npz: every byte of a run is the same, but for run.json. bits->config is not looked at.
 */
void same_bits_check_lists(const struct bits *b);

#endif
