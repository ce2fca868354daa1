/* tunings.c - enumerates the tunings with which a backend is measured. */
#include "bench/cells/tunings.h"

#include "primitives/tuning.h"

/* The block sizes of --tunings: multiples of a warp, closer together where they are small. */
static const struct sl_number_list usual_blocks = {
	13, {32, 64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024}};

/* Skips tunings that the backend cannot run with. */
static enum sl_status each_items(const struct sl_backend *backend, enum sl_type type,
	const struct sl_number_list *items, uint32_t block, sl_each_tuning *each, void *ctx)
{
	for (uint32_t i = 0; i < items->n; i++) {
		const struct sl_tuning tuning = {block, items->at[i]};

		if (sl_tuning_check(backend, tuning, type) == SL_OK)
			SL_TRY(each(ctx, tuning));
	}
	return SL_OK;
}

/* Without a choice of items: one 0, the choice of the backend. */
static struct sl_number_list items_of(
	const struct sl_backend *backend, const struct sl_bench_options *options)
{
	struct sl_number_list all = {0};

	if (options->items.n > 0)
		return options->items;
	if (options->tunings)
		while (backend->tunable.items_can[all.n] != 0 && all.n < 8) {
			all.at[all.n] = backend->tunable.items_can[all.n];
			all.n++;
		}
	all.n += all.n == 0;
	return all;
}

enum sl_status sl_tunings_each(const struct sl_backend *backend, enum sl_type type,
	const struct sl_bench_options *options, sl_each_tuning *each, void *ctx)
{
	static const struct sl_number_list own = {1, {0}};
	const struct sl_number_list *blocks = options->blocks.n > 0 ? &options->blocks
	                                      : options->tunings    ? &usual_blocks
	                                                            : &own;
	struct sl_number_list items = items_of(backend, options);

	if (options->tunings || (options->blocks.n == 0 && options->items.n == 0) ||
		backend->tunable.block == 0)
		SL_TRY(each(ctx, (struct sl_tuning){0}));
	if ((!options->tunings && options->blocks.n == 0 && options->items.n == 0) ||
		backend->tunable.block == 0)
		return SL_OK;
	for (uint32_t i = 0; i < blocks->n; i++)
		SL_TRY(each_items(backend, type, &items, blocks->at[i], each, ctx));
	return SL_OK;
}
