/*
 * fuzz.c - the targets of libFuzzer (tests/fuzz) with random changes of their corpus, in a build by any compiler. With
 * --seconds N, as long as that; scripts/fuzz.sh runs libFuzzer, which follows the code that an input reaches.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/files/read.h"
#include "primitives/primitives.h"
#include "tests/support/configs/configs.h"
#include "tests/support/property/property.h"

#define TARGET(name) int fuzz_##name(const uint8_t *data, size_t size);
#include "targets.def"
#undef TARGET

static const struct {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "targets.def"
#undef TARGET
};

enum { SIZE_MOST = 4096, CHANGES = 20 };

struct input {
	uint8_t bytes[SIZE_MOST];
	size_t size;
};

/* One of the inputs in the corpus of a target, or an empty one. */
static void choose(struct rnd *g, const char *target, struct input *in)
{
	char path[512], file_path[1024];
	const struct dirent *e;
	uint32_t seen = 0;
	size_t bytes;
	char *file;
	DIR *d;

	in->size = 0;
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", source_root(), target);
	d = opendir(path);
	file_path[0] = '\0';
	while (d && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && rnd_one_in(g, ++seen))
			snprintf(file_path, sizeof(file_path), "%s/%s", path, e->d_name);
	if (d)
		closedir(d);
	if (!file_path[0])
		return;
	assert_ok(sl_path_read(file_path, SIZE_MAX, &file, &bytes));
	in->size = bytes < SIZE_MOST ? bytes : SIZE_MOST;
	memcpy(in->bytes, file, in->size);
	sl_memory_give(SL_HOST, file);
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

static void change(struct rnd *g, struct input *in, const struct input *other)
{
	const size_t at = rnd_below(g, (uint32_t)in->size + 1);
	const size_t n = 1 + rnd_below(g, rnd_one_in(g, 4) ? 200 : 4);
	const size_t from = rnd_below(g, (uint32_t)other->size + 1);
	const size_t more = n < other->size - from ? n : other->size - from;
	uint8_t bytes[4];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = a_byte(g);
	switch (rnd_below(g, 6)) {
	case 0:
		replace(in, at, n, bytes, 0);
		break;
	case 1:
		replace(in, at, 0, bytes, 1 + n % 4);
		break;
	case 2:
		replace(in, at, n, other->bytes + from, more);
		break;
	case 3:
		replace(in, at, 0, other->bytes + from, more);
		break;
	case 4:
		replace(in, at, 1 + n % 4, bytes, 1 + n % 4);
		break;
	default:
		if (at < in->size)
			in->bytes[at] ^= (uint8_t)(1u << rnd_below(g, 8));
	}
}

/* Runs a target on a copy of exactly the size of the input. */
static void run(uint32_t target, const struct input *in)
{
	uint8_t *copy = (uint8_t *)malloc(in->size + (in->size == 0));

	assert_non_null(copy);
	memcpy(copy, in->bytes, in->size);
	targets[target].run(copy, in->size);
	free(copy);
}

PROPERTY(targets_survive_changes_of_their_corpus, 6000)
{
	const uint32_t target = rnd_below(g, sizeof(targets) / sizeof(targets[0]));
	static struct input original, other, in;

	choose(g, targets[target].name, &original);
	choose(g, targets[target].name, &other);
	run(target, &original);
	for (int i = 0; i < CHANGES; i++) {
		in = original;
		for (uint32_t k = 1 + rnd_below(g, 6); k > 0; k--)
			change(g, &in, &other);
		run(target, &in);
	}
}

PROPERTY_FILE()
