/*
 * thin.h - what walks leave out: chosen by the program that walks, as an emulated device is slow,
 * by the build, as sanitizers are, and by who runs it, as a tool like compute-sanitizer's racecheck
 * or valgrind is.
 *
 *	SLUICE_ONE_IN=31     one variant in so many; a prime lets all choices meet
 *	SLUICE_LARGEST=5000  sizes up to that
 *
 * Builds with AddressSanitizer take one in 13 by themselves, with ThreadSanitizer one in 31;
 * SLUICE_ONE_IN=1 gives them all.
 *
 * However thin, every backend meets every kind of input and every size that is left.
 */
#ifndef SL_TESTS_CASES_THIN_H
#define SL_TESTS_CASES_THIN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * For main, before anything else: reads the environment and prints what it leaves out. False, with
 * a sentence printed, when a value is no number that can be meant.
 */
bool sl_thin_by_environment(void);

/* From now on larger sizes are left out. */
void sl_thin_up_to(uint32_t n);
bool sl_thin_leaves_out(uint32_t n);

/* n, or the largest size that the environment allows. */
uint32_t sl_thin_size(uint32_t n);

/*
 * From now on one variant in n is taken, and of those the environment's share. A prime that no case
 * counts by lets all choices of a variant come together in the end.
 */
void sl_thin_one_in(uint32_t n);

/* Is the next one taken? Goes on counting from size to size, so of each others are. */
bool sl_thin_takes(void);

/* A step of one thing to the next, so many times as long as the environment's share is small. */
uint64_t sl_thin_step(uint32_t step);

/*
 * For sweeps over k = 1 .. last, as every call that could fail: which one to visit after k; past
 * last, none. The first and the last are visited always, of others the environment's share, in each
 * sweep others. UINT64_MAX: an end that shows when it is reached.
 */
uint64_t sl_thin_next(uint64_t k, uint64_t last);

#endif
