/*
 * fuzz.c - the fuzz targets (tests/fuzz) with random changes of their corpora, in a build by any
 * compiler. With
 * --seconds N, as long as that; scripts/fuzz.sh runs libFuzzer, which follows the code that an input reaches.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/configs/configs.h"
#include "tests/support/property/property.h"

enum { SIZE_MOST = 4096, CHANGES = 20 };

struct input {
	uint8_t bytes[SIZE_MOST];
	size_t size;
};

/* One of the inputs in the corpus of a target, or an empty one. */
static void choose(struct rnd *g, const char *target, struct input *in)
{
	char path[512];
	glob_t found;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s/*", source_root(), target);
	in->size = 0;
	if (glob(path, 0, NULL, &found) != 0)
		return;
	file = fopen(found.gl_pathv[rnd_below(g, (uint32_t)found.gl_pathc)], "rb");
	assert_non_null(file);
	in->size = fread(in->bytes, 1, SIZE_MOST, file);
	fclose(file);
	globfree(&found);
}

/* A byte that means something in texts or sizes, or any. */
static uint8_t a_byte(struct rnd *g)
{
	static const char some[] = "\0\1\177\200\377 0123456789\"'{}[],:-+.e\n\\";

	return (uint8_t)(rnd_one_in(g, 2) ? some[rnd_below(g, sizeof(some) - 1)]
					  : (char)rnd_bits(g));
}

/* Replaces `cut` bytes at a place by n bytes, as far as there is room. */
static void replace(struct input *in, size_t at, size_t cut, const uint8_t *by, size_t n)
{
	uint8_t copy[SIZE_MOST];

	cut = cut < in->size - at ? cut : in->size - at;
	n = n < SIZE_MOST - (in->size - cut) ? n : SIZE_MOST - (in->size - cut);
	memcpy(copy, by, n);
	memmove(in->bytes + at + n, in->bytes + at + cut, in->size - at - cut);
	memcpy(in->bytes + at, copy, n);
	in->size += n - cut;
}

/* Replaces none or some bytes by none, by random ones, or by some of another input. */
static void change(struct rnd *g, struct input *in, const struct input *other)
{
	const size_t at = rnd_below(g, (uint32_t)in->size + 1);
	const size_t n = 1 + rnd_below(g, rnd_one_in(g, 4) ? 200 : 4);
	const size_t from = rnd_below(g, (uint32_t)other->size + 1);
	uint8_t bytes[4];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = a_byte(g);
	if (rnd_one_in(g, 4))
		replace(in, at, n, bytes, 0);
	else if (rnd_one_in(g, 2))
		replace(in, at, rnd_below(g, 5), bytes, 1 + n % 4);
	else
		replace(in, at, rnd_one_in(g, 2) ? 0 : n, other->bytes + from,
			n < other->size - from ? n : other->size - from);
}

static void run(const struct fuzz_target *target, const struct input *in)
{
	void *copy = fuzz_copy(in->bytes, in->size);

	target->run((const uint8_t *)copy, in->size);
	free(copy);
}

PROPERTY(targets_survive_changes_of_their_corpora, 3000)
{
	static struct input original, other, in;
	const struct fuzz_target *target;
	uint32_t n = 0;

	while (fuzz_targets[n].name)
		n++;
	target = &fuzz_targets[rnd_below(g, n)];
	choose(g, target->name, &original);
	choose(g, target->name, &other);
	run(target, &original);
	for (int i = 0; i < CHANGES; i++) {
		in = original;
		for (uint32_t k = 1 + rnd_below(g, 6); k > 0; k--)
			change(g, &in, &other);
		run(target, &in);
	}
}

PROPERTY_FILE()
