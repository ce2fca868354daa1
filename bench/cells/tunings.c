/* tunings.c - enumerates the tunings with which a backend is measured. */
#include "bench/cells/tunings.h"

/* The block sizes of --tunings: multiples of a warp, closer together where they are small. */
static const struct sl_number_list usual_blocks = {
	13, {32, 64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024}};

/* The default of the backend. */
static const struct sl_number_list own = {1, {0}};

/* The values of each parameter that are combined. */
struct values {
	struct sl_number_list blocks, items, paddings;
};

/* All values of items that the backend has, or its default if it has no choice. */
static struct sl_number_list all_items(const struct sl_tunable *tunable)
{
	struct sl_number_list all = {0};

	while (all.n < 8 && tunable->items_can[all.n] != 0) {
		all.at[all.n] = tunable->items_can[all.n];
		all.n++;
	}
	return all.n > 0 ? all : own;
}

static struct values values_of(
	const struct sl_backend *backend, const struct sl_bench_options *options)
{
	static const struct sl_number_list both = {2, {SL_PADDING_ON, SL_PADDING_OFF}};
	struct values v = {own, own, own};

	if (options->tunings) {
		v.blocks = usual_blocks;
		v.items = all_items(&backend->tunable);
		v.paddings = backend->tunable.padding ? both : own;
	}
	v.blocks = *sl_number_list_or(&options->blocks, &v.blocks);
	v.items = *sl_number_list_or(&options->items, &v.items);
	v.paddings = *sl_number_list_or(&options->paddings, &v.paddings);
	return v;
}

/* Combines a block with all items and paddings. Skips tunings that the backend cannot run with. */
static enum sl_status each_of_block(const struct sl_backend *backend, enum sl_type type,
	const struct values *v, uint32_t block, sl_each_tuning *each, void *ctx)
{
	for (uint32_t i = 0; i < v->items.n; i++)
		for (uint32_t k = 0; k < v->paddings.n; k++) {
			const struct sl_tuning tuning = {
				block, v->items.at[i], (enum sl_padding)v->paddings.at[k]};

			if (sl_tuning_check(backend, tuning, type) == SL_OK)
				SL_TRY(each(ctx, tuning));
		}
	return SL_OK;
}

enum sl_status sl_tunings_each(const struct sl_backend *backend, enum sl_type type,
	const struct sl_bench_options *options, sl_each_tuning *each, void *ctx)
{
	const struct values v = values_of(backend, options);
	bool is_asked = options->tunings || options->blocks.n > 0 || options->items.n > 0 ||
	                options->paddings.n > 0;

	if (options->tunings || !is_asked || backend->tunable.block == 0)
		SL_TRY(each(ctx, (struct sl_tuning){0}));
	if (!is_asked || backend->tunable.block == 0)
		return SL_OK;
	for (uint32_t i = 0; i < v.blocks.n; i++)
		SL_TRY(each_of_block(backend, type, &v, v.blocks.at[i], each, ctx));
	return SL_OK;
}
