/*
 * same_bits_check.h - compares whole runs of any available device with runs of the CPU.
 *
 * The library plans and runs a configuration without output, staged and fused. The tally, the
 * survivors and the column digests of each batch must equal those of the same run on the CPU. Runs of
 * the program are compared by their manifests and by the contents of their files.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_SAME_BITS_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_SAME_BITS_CHECK_H

#include <stdbool.h>

/* Parameters of all runs of a check. */
struct bits {
	const char *device;    /* run.device: cuda, emulated */
	const char *config;    /* name in data/configs, without suffix */
	const char *particles; /* of the run */
	const char *batch;     /* particles per batch */
};

/* All shipped configurations (every third if is_quick()). Ignores bits->config. */
void same_bits_check_configs(const struct bits *b);

/* Every scan with every compact and every sort of the device, and fused with every sort. */
void same_bits_check_backends(const struct bits *b, unsigned slots, unsigned threads);

/* One to four slots and threads, in both modes (a third of these if is_quick()). */
void same_bits_check_slots(const struct bits *b);

/* Other orders of survivors: by id, and by a key of more than 32 bits. */
void same_bits_check_keys(const struct bits *b);

/* Conditions of keep with powers, chains, lists and bit tests, for any model with positions. */
void same_bits_check_conditions(const struct bits *b);

/* Derived columns in keep, key, tallies and files, for any model with positions. */
void same_bits_check_derived(const struct bits *b);

/* Whether fused mode can run the configuration. */
bool same_bits_allow_fused(const struct bits *b);

/* The configuration of bits only. */
void same_bits_check(const struct bits *b);

/*
 * Runs of the program with columns compressed on the device: equal manifests and equal columns in
 * the files.
 */
void same_bits_check_files(const struct bits *b);
void same_bits_check_files_of_configs(const struct bits *b);

/*
 * Runs of the model list: all fields of records, merged, with an image, and as npz. Every byte of a
 * run except run.json must be equal. Ignores bits->config.
 */
void same_bits_check_lists(const struct bits *b);

#endif
