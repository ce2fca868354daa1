/* property.c - see property.h. */
#include "tests/support/property/property.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/cases/sampling.h"

enum { GROWTH = 12 };

static uint64_t seed, only = UINT64_MAX;
static time_t seconds;

/* The case that runs; its name is NULL after a success. */
static struct {
	const char *name;
	uint64_t number;
} running;

static const char *file;

/* --- random numbers --------------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea and Flood 2014). */
uint64_t rnd_bits(struct rnd *g)
{
	uint64_t z = g->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t rnd_below(struct rnd *g, uint32_t n)
{
	return (uint32_t)((rnd_bits(g) >> 32) * n >> 32);
}

bool rnd_one_in(struct rnd *g, uint32_t n)
{
	return rnd_below(g, n) == 0;
}

uint32_t rnd_size(struct rnd *g)
{
	uint32_t near = (1u << rnd_below(g, GROWTH)) + rnd_below(g, 3) - 1;

	return near <= g->most && rnd_one_in(g, 2) ? near : rnd_below(g, g->most + 1);
}

float rnd_float(struct rnd *g)
{
	static const float some[] = {0.0f, -0.0f, 1e-45f, -1e-45f, 1.17549435e-38f, 1.1754942e-38f,
		3.4028235e38f, -3.4028235e38f, 1, -1, 16777216, 0.1f, 8388609, 1e10f, 5e-5f,
		INFINITY, -INFINITY, NAN};
	uint32_t bits = (uint32_t)rnd_bits(g);
	float any;

	memcpy(&any, &bits, sizeof(any));
	switch (rnd_below(g, 3)) {
	case 0:
		return any;
	case 1:
		return rnd_of(g, some);
	default:
		return (float)rnd_between(g, -10, 10);
	}
}

double rnd_between(struct rnd *g, double lo, double hi)
{
	return lo + (hi - lo) * ((double)(rnd_bits(g) >> 11) * 0x1p-53);
}

void rnd_change(struct rnd *g, char *bytes, size_t n)
{
	char *at = bytes + rnd_below(g, (uint32_t)n);

	*at = (char)(rnd_one_in(g, 4) ? (uint64_t) ~*at : (uint64_t)*at ^ 1u << rnd_below(g, 8));
}

char *exact_copy(const void *bytes, size_t n)
{
	char *copy = (char *)malloc(n + (n == 0));

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	return copy;
}

/* --- cases ------------------------------------------------------------------------------------ */

static void report(void)
{
	if (running.name)
		fprintf(stderr,
			"%s: case %llu of seed %llu failed; repeat it: SLUICE_TEST=check_%s sluice_tests "
			"%s --seed %llu --case %llu\n",
			running.name, (unsigned long long)running.number, (unsigned long long)seed,
			running.name, file, (unsigned long long)seed,
			(unsigned long long)running.number);
	running.name = NULL;
}

void property_check(const char *name, void (*check)(struct rnd *g), uint32_t cases)
{
	const bool one = only != UINT64_MAX;
	const uint64_t n = one ? only + 1 : (cases - 1) / sl_sampling_step(1) + 1;
	const time_t end = seconds > 0 ? time(NULL) + seconds : 0;

	report(); /* of the property before, which did not end */
	for (uint64_t k = one ? only : 0; k < n || time(NULL) < end; k++) {
		struct rnd g = {.state = seed * 1000003 + k, .most = 1u << k % GROWTH};

		for (const char *c = name; *c; c++)
			g.state = g.state * 31 + (unsigned char)*c;
		running.name = name;
		running.number = k;
		check(&g);
	}
	running.name = NULL;
}

static void report_abort(int number)
{
	(void)number;
	report();
}

/* Of AddressSanitizer, which ends the process. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

int property_main(int argc, char **argv)
{
	const char *share = getenv("SLUICE_SHARE");
	int code;

	file = argv[0];
	seed = share ? strtoull(share, NULL, 10) : 0;
	for (int i = 1; i + 1 < argc; i += 2) {
		const uint64_t number = strtoull(argv[i + 1], NULL, 10);

		if (strcmp(argv[i], "--seed") == 0)
			seed = number;
		else if (strcmp(argv[i], "--case") == 0)
			only = number;
		else if (strcmp(argv[i], "--seconds") == 0)
			seconds = (time_t)number;
	}
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	signal(SIGABRT, report_abort); /* abort() ends the process when the handler returns */
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(report);
	code = run_test_file(file);
	report();
	return code;
}
