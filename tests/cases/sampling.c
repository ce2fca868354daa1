/* sampling.c - see sampling.h. */
#include "sampling.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
enum { ONE_IN = 31 };
#elif defined(__SANITIZE_ADDRESS__)
enum { ONE_IN = 13 };
#else
enum { ONE_IN = 1 };
#endif

/* Limits set by the program, and those of the environment or the build (asked). */
static uint32_t largest_asked = UINT32_MAX;
static uint32_t one_in = 1, one_in_asked = ONE_IN, share_asked;

/* Leaves *n unchanged if name is not set. Returns false unless the value is from 1 to 2^32 - 1. */
static bool read_number(const char *name, const char *example, uint32_t *n)
{
	const char *text = getenv(name);
	size_t digits = text ? strspn(text, "0123456789") : 0;
	uint64_t value = digits > 0 && digits <= 10 ? strtoull(text, NULL, 10) : 0;

	if (!text)
		return true;
	if (text[digits] != '\0' || value == 0 || value > UINT32_MAX) {
		printf("%s=\"%s\" is not a number from 1 to %" PRIu32
		       "; write %s=%s, or unset it\n",
			name, text, UINT32_MAX, name, example);
		return false;
	}
	*n = (uint32_t)value;
	return true;
}

bool sl_sampling_from_environment(void)
{
	if (!read_number("SLUICE_ONE_IN", "31", &one_in_asked) ||
		!read_number("SLUICE_SHARE", "7", &share_asked) ||
		!read_number("SLUICE_LARGEST", "5000", &largest_asked))
		return false;
	if (one_in_asked > 1)
		printf("SLUICE_ONE_IN: 1 of %" PRIu32 " variants, share %" PRIu32 "\n",
			one_in_asked, share_asked % one_in_asked);
	if (largest_asked < UINT32_MAX)
		printf("SLUICE_LARGEST: sizes up to %" PRIu32 "\n", largest_asked);
	fflush(stdout);
	return true;
}

bool sl_sampling_skips_size(uint32_t n)
{
	return n > largest_asked;
}

uint32_t sl_sampling_size(uint32_t n)
{
	return n < largest_asked ? n : largest_asked;
}

void sl_sampling_one_in(uint32_t n)
{
	one_in = n;
}

bool sl_sampling_selects(void)
{
	static uint64_t phase;

	return (share_asked + phase++) % ((uint64_t)one_in * one_in_asked) == 0;
}

struct sl_sampled sl_sampling_share(uint64_t n)
{
	static uint64_t phase;
	const uint64_t step = (uint64_t)one_in * one_in_asked;
	const uint64_t first = (share_asked + phase++) % step;

	return (struct sl_sampled){n > 0 ? first % n : 0, step};
}

uint64_t sl_sampling_step(uint32_t step)
{
	return (uint64_t)step * one_in_asked;
}

uint64_t sl_sampling_next(uint64_t k, uint64_t last)
{
	static uint32_t sweeps;
	uint64_t step = k == 1 ? 1 + (share_asked + sweeps++) % one_in_asked : one_in_asked;

	return k < last && step > last - k ? last : k + step;
}
