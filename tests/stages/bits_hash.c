/*
 * stages/bits_hash.c - one number over millions of results of math.h and random.h.
 *
 * tests/stages/bits builds it in many ways and wants the same number from each: see there. Plain C
 * with no test framework, so that a compiler alone can build it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "stages/digest.h"
#include "stages/math.h"
#include "stages/random.h"

enum { N_FLIGHTS = 200000, STRIDE = 5003 }; /* a prime: all low bits occur */

static uint64_t hash, n_hashed;

static void add(float x)
{
	hash += sl_digest_item(n_hashed++, sl_bits(x));
}

/* Floats of every magnitude and sign, infinities and NaNs included. */
static void add_floats(void)
{
	for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
		float x = sl_float((uint32_t)bits), s, c;

		sl_sincospi(x, &s, &c);
		add(sl_log(x));
		add(sl_exp(x));
		add(s);
		add(c);
	}
}

/* A random walk with absorption: results go into products and sums, as in a model. */
static void add_flights(void)
{
	float x = 0, y = 0;

	for (uint64_t id = 0; id < N_FLIGHTS; id++) {
		struct sl_words random = sl_draw(1234, id, 0);
		float length = -sl_log(sl_uniform(random.at[0])), weight, s, c;

		sl_sincospi(2 * sl_uniform(random.at[1]), &s, &c);
		weight = sl_exp(-length * sl_uniform(random.at[2]));
		x = fmaf(length, c, x);
		y = fmaf(length, s, y);
		add(length * c);
		add(weight * s);
		add(x);
		add(y);
	}
}

int main(void)
{
	add_floats();
	add_flights();
	printf("hash %016" PRIx64 "\n", hash);
	return 0;
}
