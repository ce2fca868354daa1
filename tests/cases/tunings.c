/*
 * tunings.c - every device backend with block sizes, items a thread and paddings that stand for all
 * it can have: sweep.h's sl_sweep_tunings().
 *
 * Each job is a cross check: made and checked on the host once, then done with every tuning of every
 * backend.
 */
#include "cross_check.h"
#include "sweep.h"

/*
 * Sizes: part of a block or a tile; more than most tiles, with every variant; enough to fill the
 * grid.
 */
static const uint32_t sizes[] = {257, 4097, (1 << 20) + 3};

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), FULL = 4097 };

/*
 * Selects jobs with the backend's default scan. Unaligned jobs only if small, because an offset
 * changes only the ends of a block.
 */
static bool is_selected(enum sl_primitive p, const struct sl_setting *set)
{
	if (set->scan)
		return false;
	if (set->n == FULL)
		return true;
	if (set->n > FULL && (set->off[0] || set->off[1]))
		return false;
	if (p == SL_SORT) /* every form, but one bit range only, as random keys use them all */
		return set->input == SL_INPUT_REVERSED;
	return p == SL_COMPACT ? set->alive == SL_ALIVE_HALF : set->input == SL_INPUT_RANDOM;
}

/*
 * The i-th block size to try: the smallest, odd numbers, warps that are no power of two, the
 * largest; 0 after the last. sl_tuning_check() refuses those that a backend does not support.
 */
static uint32_t block_at(const struct sl_tunable *can, size_t i)
{
	const uint32_t blocks[] = {can->block, can->block_step, 32, 96, 129, 256, can->block_most};

	return i < sizeof(blocks) / sizeof(blocks[0]) ? blocks[i] : 0;
}

static enum sl_status try_tuning(struct sl_cross_check *c, const struct sl_backend *b,
	struct sl_tuning tuning, uint64_t *trials)
{
	enum sl_status s;

	if (sl_tuning_check(b, tuning, c->trial.set.type) != SL_OK || !sl_sampling_selects())
		return SL_OK;
	s = sl_cross_check_select(c, b, tuning);
	if (s == SL_OK)
		s = sl_cross_check_run(c);
	(*trials)++;
	return sl_add_context(s, "%s/%s, block=%u, items=%u, padding=%s",
		sl_primitive_name(b->primitive), b->name, tuning.block, tuning.items,
		sl_padding_name(tuning.padding));
}

static enum sl_status try_padding(struct sl_cross_check *c, const struct sl_backend *b,
	enum sl_padding padding, uint64_t *trials)
{
	const struct sl_tunable *can = &b->tunable;
	struct sl_tuning tuning = {.padding = padding};

	SL_TRY(try_tuning(c, b, tuning, trials));
	for (size_t i = 0; (tuning.block = block_at(can, i)) != 0; i++) {
		tuning.items = 0;
		SL_TRY(try_tuning(c, b, tuning, trials));
		for (size_t k = 0; (tuning.items = can->items_can[k]) != 0; k++)
			SL_TRY(try_tuning(c, b, tuning, trials));
	}
	return SL_OK;
}

static enum sl_status try_backend(
	struct sl_cross_check *c, const struct sl_backend *b, uint64_t *trials)
{
	SL_TRY(try_padding(c, b, SL_PADDING_DEFAULT, trials));
	return b->tunable.padding ? try_padding(c, b, SL_PADDING_OFF, trials) : SL_OK;
}

static enum sl_status try_setting(
	enum sl_primitive p, const struct sl_setting *set, uint64_t *trials)
{
	const struct sl_backend *b;
	enum sl_status s = SL_OK;
	struct sl_cross_check c;
	char text[128];

	SL_TRY(sl_cross_check_open(p, set, &c));
	for (size_t i = 0; s == SL_OK && (b = sl_backend_at(i)) != NULL; i++)
		if (b->primitive == p && b->space == SL_DEVICE)
			s = try_backend(&c, b, trials);
	c.of->describe(set, text, sizeof(text));
	sl_cross_check_close(&c);
	return sl_add_context(s, "n=%u, %s", set->n, text);
}

enum sl_status sl_sweep_tunings(enum sl_primitive p, uint64_t *trials)
{
	const struct sl_case *of = sl_case_of(p);

	for (int k = 0; k < SIZES && !sl_sampling_skips_size(sizes[k]); k++) {
		struct sl_setting set = {.n = sizes[k]};

		for (size_t i = 0; of->variant(i, &set); i++)
			if (is_selected(p, &set))
				SL_TRY(try_setting(p, &set, trials));
	}
	return SL_OK;
}
