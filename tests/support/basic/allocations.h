/*
 * allocations.h - counts the allocations of the process, so that a test can assert that there are
 * none.
 *
 * A program that links this has its malloc family counted: with the hooks of the
 * sanitizer if there is one, else by functions that replace those of glibc.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_ALLOCATIONS_H
#define SL_TESTS_SUPPORT_BASIC_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the allocations of all threads since the start of the program. */
uint64_t allocations(void);

/* Returns those of the calling thread. A CUDA driver has further threads. */
uint64_t allocations_here(void);

/* Excludes (pass) or includes again the later allocations of the calling thread. */
void allocations_pass(bool pass);

#endif
