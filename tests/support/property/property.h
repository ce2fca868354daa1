/*
 * property.h - checks that a property holds for random inputs.
 *
 *	PROPERTY(tables_are_read_back, 300)      a test of 300 cases, or of a share of them (cases/sampling.h)
 *	{
 *		uint32_t rows = rnd_size(g);     all that is random comes from g
 *		...
 *	}
 *	PROPERTY_FILE()                          once per file
 *
 * A case depends on the seed and its number only. The seed is that of the command line or
 * SLUICE_SHARE, which differs between commits. Sizes grow over twelve cases and then start again,
 * so a failure is first seen with a small input. The output names the case that failed and the
 * command that repeats it.
 */
#ifndef SL_TESTS_SUPPORT_PROPERTY_PROPERTY_H
#define SL_TESTS_SUPPORT_PROPERTY_PROPERTY_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/basic/check.h"

/* A source of random numbers for one case. */
struct rnd {
	uint64_t state;
	uint32_t most; /* the largest size of this case */
};

uint64_t rnd_bits(struct rnd *g);
uint32_t rnd_below(struct rnd *g, uint32_t n); /* n > 0 */
bool rnd_one_in(struct rnd *g, uint32_t n);

/* An item of an array. */
#define rnd_of(g, array) ((array)[rnd_below(g, sizeof(array) / sizeof((array)[0]))])

/* A size up to that of the case: any, or one next to a power of two. */
uint32_t rnd_size(struct rnd *g);

/* A float with any bits, of a list of special ones, or of usual magnitude. */
float rnd_float(struct rnd *g);

/* A number of at least lo and below hi. */
double rnd_between(struct rnd *g, double lo, double hi);

/* Changes one of n bytes to another one. */
void rnd_change(struct rnd *g, char *bytes, size_t n);

/*
 * Returns a copy of n bytes, which the caller frees: AddressSanitizer sees a byte that is read
 * after them.
 */
char *exact_copy(const void *bytes, size_t n);

#define PROPERTY(name, cases)                       \
	static void name(struct rnd *g);            \
	TEST(check_##name)                          \
	{                                           \
		property_check(#name, name, cases); \
	}                                           \
	static void name(struct rnd *g)

#define PROPERTY_FILE()                           \
	TEST_FILE(argc, argv)                     \
	{                                         \
		return property_main(argc, argv); \
	}

void property_check(const char *name, void (*check)(struct rnd *g), uint32_t cases);

/*
 * Runs the tests of the file. Arguments: --seed N; --case N for that case alone; --seconds N for
 * each property.
 */
int property_main(int argc, char **argv);

#endif
