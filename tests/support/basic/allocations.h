/*
 * allocations.h - counts the allocations of the process, so that a test can assert that there are
 * none.
 *
 * A program that links this file counts its calls of malloc(), calloc(), realloc() and the aligned
 * variants. A sanitizer build uses the hooks of the sanitizer; other builds replace the functions
 * of glibc.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_ALLOCATIONS_H
#define SL_TESTS_SUPPORT_BASIC_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the allocations of all threads since the start of the program. */
uint64_t allocations(void);

/* Returns the allocations of the calling thread only, because a CUDA driver has its own threads. */
uint64_t allocations_of_thread(void);

/*
 * From now on the k-th allocation of the process fails (0: none), and if on, all after it. Not with
 * sanitizers. allocations_since_armed() returns the number of allocations since this call.
 */
void allocations_fail(uint64_t k, bool on);
uint64_t allocations_since_armed(void);

/* Called for each allocation, before it may fail; NULL: not called. Not with sanitizers. */
extern void (*allocations_watch)(void);

/* Stops (true) or resumes (false) counting the allocations of the calling thread. */
void allocations_exclude(bool exclude);

#endif
