/*
 * sampling.h - selects the share of variants and sizes that a sweep tests, because complete sweeps
 * are too slow on the emulated device, with sanitizers and under valgrind or compute-sanitizer.
 *
 * The test program, the build and the environment each reduce the share:
 *
 *	SLUICE_ONE_IN=31     1 of 31 variants; with a prime, all choices are combined in the end
 *	SLUICE_SHARE=7       which 1 of the 31: any number, counted modulo 31; 0 without it
 *	SLUICE_LARGEST=5000  no larger sizes
 *
 * The default is 1 of 13 with AddressSanitizer, 1 of 31 with ThreadSanitizer, else all.
 * SLUICE_ONE_IN=1 selects all variants in every build.
 *
 * At any share, every backend is tested with every kind of input and every remaining size.
 */
#ifndef SL_TESTS_CASES_SAMPLING_H
#define SL_TESTS_CASES_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads the environment and prints the share. To be called first in main. Prints a message and
 * returns false if a value is not a number from 1 to 2^32 - 1.
 */
bool sl_sampling_from_environment(void);

/* Sizes above the largest one of the environment are skipped. */
bool sl_sampling_skips_size(uint32_t n);

/* Returns n, or the largest size that the environment allows if that is smaller. */
uint32_t sl_sampling_size(uint32_t n);

/*
 * Later sweeps test 1 of n variants, and of these the share of the environment. n should be a prime
 * that divides no number of choices of a case, so that all choices are combined in the end.
 */
void sl_sampling_one_in(uint32_t n);

/* Returns true if the next variant is to be tested. The count continues from size to size, so that
 * each size gets other variants. */
bool sl_sampling_selects(void);

/*
 * Which of the numbers 0 .. n - 1 of a sweep are tested: first, first + step and so on. At least
 * one, and with the shares of the environment in turn all of them.
 */
struct sl_sampled {
	uint64_t first, step;
};
struct sl_sampled sl_sampling_share(uint64_t n);

/* Returns step multiplied by the denominator of the environment's share. */
uint64_t sl_sampling_step(uint32_t step);

/*
 * For sweeps over k = 1 .. last, such as every call that can fail: returns the number after k, or a
 * number above last at the end. The first and the last are always included. Of the others, each
 * sweep takes a different share. last = UINT64_MAX: the caller finds the end during the sweep.
 */
uint64_t sl_sampling_next(uint64_t k, uint64_t last);

#endif
