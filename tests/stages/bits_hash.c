/*
 * bits_hash.c - prints one hash over the results of math.h, random.h and the models: of rules.h,
 * each with many items.
 *
 * tests/stages/bits.c builds it with several compilers and options and expects the same number from
 * each. It is plain C without a test framework, so that a compiler alone can build it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/cases/rule_items.h"

/* What the configuration of the model voxels calls, and the hash does not. */
uint32_t sl_crc32(const void *bytes, size_t size)
{
	return bytes ? (uint32_t)size : 0;
}

enum sl_status sl_fail(enum sl_status s, const char *format, ...)
{
	return format ? s : SL_INTERNAL;
}

bool sl_path_is_missing(const char *path, int mode)
{
	return path && mode;
}

/* Numbers of items: even a few of a model are long histories. */
static const struct {
	void (*rule)(const struct sl_rule_parameters *w, const uint32_t *in, uint32_t *out);
	uint32_t words, items;
} hashed[] = {{sl_rule_log, 2, 1 << 20}, {sl_rule_sincospi, 4, 1 << 20}, {sl_rule_draw, 4, 1 << 16},
	{sl_rule_mcpl_single, 13, 1 << 16}, {sl_rule_mcpl_double, 16, 1 << 16},
	{sl_rule_slab, 15, 150000}, {sl_rule_slab_paths, 10, 50000}, {sl_rule_detector, 15, 200000},
	{sl_rule_cavity, 15, 30000}, {sl_rule_rays, 15, 50000}};

int main(void)
{
	static struct sl_rule_parameters world;
	uint64_t hash = 0, n = 0;

	make_world(&world);
	for (size_t h = 0; h < sizeof(hashed) / sizeof(hashed[0]); h++)
		for (uint32_t i = 0; i < hashed[h].items; i++) {
			uint32_t in[SL_RULE_IN], out[SL_RULE_OUT];

			for (int k = 0; k < SL_RULE_IN; k++)
				in[k] = word_of(i, hashed[h].items, k);
			hashed[h].rule(&world, in, out);
			for (uint32_t k = 0; k < hashed[h].words; k++)
				hash += sl_digest_mix(n++, out[k]);
		}
	printf("hash %016" PRIx64 "\n", hash);
	return 0;
}
