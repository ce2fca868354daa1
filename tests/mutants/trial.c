/*
 * trial.c - what a mutant must not pass: one backend, or the stages, on the emulated device.
 *
 *	trial scan/shared [brief]      trial stages [brief]
 *
 * Tiles are made small, so that few items fill several. Threads take turns in order, then at random
 * with several blocks in flight, started from the last. brief: one size, for ThreadSanitizer. Ends
 * with 0 when all is right, and with 1 and a sentence at the first thing that is not. Not a test of
 * its own: mutants.py runs it.
 */
#include <stdio.h>
#include <string.h>

#include "primitives/base/emulated.h"
#include "tests/cases/case.h"
#include "tests/support/lane_check.h"

static bool brief;

/* Smallest block of two warps, fewest items: a tile of some hundred. */
static struct sl_tuning small_tuning(const struct sl_backend *b)
{
	struct sl_tuning t = {0};

	if (b->tunable.block)
		t.block = b->tunable.block_step < 64 ? 64 : b->tunable.block_step;
	t.items = b->tunable.items_can[0];
	return t;
}

static enum sl_status try_setting(const struct sl_backend *b, const struct sl_setting *set)
{
	const struct sl_case *c = sl_case_of(b->primitive);
	struct sl_trial t = {.backend = b, .set = *set};
	enum sl_status s = c->make(&t);

	for (int poison = 0x5a; s == SL_OK && poison <= 0xa5; poison += 0xa5 - 0x5a) {
		s = c->load(&t, poison);
		if (s == SL_OK)
			s = c->run(&t);
		if (s == SL_OK)
			s = sl_stream_wait(NULL);
		if (s == SL_OK)
			s = c->right(&t);
		if (brief)
			break;
	}
	sl_trial_free(&t);
	return s;
}

/* Variants by the thousand would take too long: those with something of their own to find. */
static bool is_worth_it(const struct sl_backend *b, const struct sl_setting *set)
{
	if (set->scan || (set->in_place && brief))
		return false;
	if (b->primitive == SL_COMPACT)
		return set->alive == SL_ALIVE_HALF || (!brief && set->alive == SL_ALIVE_ALL);
	return set->input == SL_INPUT_RANDOM || (!brief && set->input == SL_INPUT_LARGEST);
}

static enum sl_status try_size(const struct sl_backend *b, struct sl_tuning tuning, uint32_t n)
{
	struct sl_setting set = {.n = n, .tuning = tuning};
	int left = brief ? 1 : 1000;

	for (size_t i = 0; left > 0 && sl_case_of(b->primitive)->variant(i, &set); i++) {
		if (!is_worth_it(b, &set))
			continue;
		SL_TRY(sl_while(try_setting(b, &set), "n=%u, variant %zu", n, i));
		left--;
	}
	return SL_OK;
}

static enum sl_status try_backend(const struct sl_backend *b)
{
	static const uint32_t sizes[] = {1, 31, 257, 1100, 3333};
	const struct sl_tuning small = small_tuning(b), own = {0};

	if (brief)
		return try_size(b, small, 700);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		SL_TRY(try_size(b, small, sizes[i]));
	return try_size(b, own, 1000);
}

static enum sl_status find(const char *name, const struct sl_backend **found)
{
	for (int p = 0; p < SL_PRIMITIVE_COUNT; p++) {
		const char *primitive = sl_primitive_name((enum sl_primitive)p);
		size_t n = strlen(primitive);

		if (strncmp(name, primitive, n) == 0 && name[n] == '/')
			return sl_find((enum sl_primitive)p, name + n + 1, found);
	}
	return sl_fail(SL_USAGE, "'%s' is no primitive/backend", name);
}

static enum sl_status try_all(const char *name)
{
	const struct sl_backend *b;

	if (strcmp(name, "stages") == 0) {
		lane_check_shapes(brief ? 31 : 320); /* a wrong one ends the program */
		lane_check_reuse(brief ? 200 : 5000);
		return SL_OK;
	}
	SL_TRY(find(name, &b));
	return try_backend(b);
}

int main(int argc, char **argv)
{
	enum sl_status s = SL_OK;

	brief = argc > 2;
	sl_device_emulate(true);
	for (uint64_t seed = 0; argc > 1 && s == SL_OK && seed < (brief ? 1 : 4); seed++) {
		const struct sl_emulated_choices c = {.blocks = 1 + (uint32_t)seed,
			.seed = seed,
			.from_last = seed % 2 == 1,
			.memory_bytes = (size_t)1 << 30};

		sl_emulated_choose(&c);
		s = sl_while(try_all(argv[1]), "seed %llu", (unsigned long long)seed);
	}
	if (s != SL_OK)
		printf("%s\n", sl_story());
	return s != SL_OK;
}
