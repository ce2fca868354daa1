/*
 * allocations.h - counts the allocations of the process, so that a test can assert that there are
 * none.
 *
 * A program that links this has its malloc family counted: through the sanitizer's hooks where
 * there is one, else by standing in front of glibc's.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_ALLOCATIONS_H
#define SL_TESTS_SUPPORT_BASIC_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Allocations of all threads since the program began. */
uint64_t allocations(void);

/* Those of the calling thread: a driver has threads of its own. */
uint64_t allocations_here(void);

/* From now on those of the calling thread do not count, or do again. */
void allocations_pass(bool pass);

#endif
