/* sweep.c - see sweep.h. */
#include "sweep.h"

#include "primitives/base/size.h"

enum { WARP = 32 };

/* Two patterns, because an answer that depends on previous contents cannot be right with both. */
static const int poisons[] = {0xa5, 0x5a};

static enum sl_status try_poison(const struct sl_case *c, struct sl_trial *t, int poison)
{
	SL_TRY(c->load(t, poison));
	SL_TRY(c->run(t));
	SL_TRY(sl_stream_wait(NULL));
	return sl_add_context(c->right(t), "poison %02x", (unsigned)poison);
}

/* A call with nothing to do needs no scratch: no items, or a sort of one key or by no bits. */
static bool has_work(const struct sl_case *c, const struct sl_setting *set)
{
	return c->primitive != SL_SORT ? set->n > 0 : set->n > 1 && set->begin_bit < set->end_bit;
}

/* One byte of scratch too little must be refused. */
static enum sl_status try_short(const struct sl_case *c, struct sl_trial *t)
{
	enum sl_status s;

	if (t->scratch_bytes == 0 || !has_work(c, &t->set))
		return SL_OK;
	t->scratch_bytes--;
	s = c->run(t);
	t->scratch_bytes++;
	if (s != SL_USAGE)
		return sl_fail(SL_CHECK_FAILED, "a byte of scratch too little gave %s, not USAGE",
			sl_status_name(s));
	return SL_OK;
}

static enum sl_status try_setting(const struct sl_case *c, struct sl_trial *t)
{
	SL_TRY(c->make(t));
	SL_TRY(try_short(c, t));
	SL_TRY(try_poison(c, t, poisons[0]));
	return t->set.n > SL_SIZE_LARGE ? SL_OK : try_poison(c, t, poisons[1]);
}

static uint32_t key_bits(const struct sl_setting *set)
{
	return set->end_bit - set->begin_bit;
}

/* Sorts of whole keys, or of 24 bits, which take an odd number of passes. */
static bool is_long_sort(const struct sl_setting *set)
{
	return key_bits(set) == 24 || key_bits(set) == 8 * sl_type_bytes(set->type);
}

/*
 * Variants that b does not support, or that take too long. Large sizes are tested only aligned, with
 * random input or half of the flags set, without columns, and with an even and an odd number of sort
 * passes.
 */
static bool is_skipped(const struct sl_backend *b, const struct sl_setting *set)
{
	if (set->scan && set->scan->space != b->space)
		return true;
	if (set->n <= SL_SIZE_LARGE)
		return false;
	if (set->off[0] || set->off[1] || set->columns.n > 0)
		return true;
	if (b->primitive == SL_SORT && !is_long_sort(set))
		return true;
	return b->primitive == SL_COMPACT ? set->alive != SL_ALIVE_HALF
	                                  : set->input != SL_INPUT_RANDOM;
}

static enum sl_status sweep_variant(const struct sl_case *c, const struct sl_backend *b,
	const struct sl_setting *set, uint64_t *trials)
{
	struct sl_trial t = {.backend = b, .set = *set};
	enum sl_status s = try_setting(c, &t);
	char text[128];

	sl_trial_free(&t);
	c->describe(set, text, sizeof(text));
	(*trials)++;
	return sl_add_context(s, "%s/%s, n=%u, %s, block=%u, items=%u",
		sl_primitive_name(b->primitive), b->name, set->n, text, set->tuning.block,
		set->tuning.items);
}

/* Number of values that kind_of() returns. */
static uint32_t kinds(enum sl_primitive p)
{
	return p == SL_COMPACT ? (uint32_t)SL_ALIVE_COUNT : (uint32_t)SL_INPUT_COUNT;
}

static uint32_t kind_of(enum sl_primitive p, const struct sl_setting *set)
{
	return p == SL_COMPACT ? (uint32_t)set->alive : (uint32_t)set->input;
}

/*
 * At any share, each size tests the first variant of one kind of input, and the next size that of the
 * next kind, so that a backend is tested with all kinds.
 */
static enum sl_status sweep_size(
	const struct sl_backend *b, uint32_t n, struct sl_tuning tuning, uint64_t *trials)
{
	static uint32_t turn;
	const struct sl_case *c = sl_case_of(b->primitive);
	struct sl_setting set = {.n = n, .tuning = tuning};
	uint32_t due = turn++ % kinds(b->primitive);
	bool is_due = true;

	for (size_t i = 0; c && !sl_sampling_skips_size(n) && c->variant(i, &set); i++) {
		bool has_due_kind = is_due && kind_of(b->primitive, &set) == due;

		if (is_skipped(b, &set) || !(sl_sampling_selects() || has_due_kind))
			continue;
		is_due = is_due && !has_due_kind;
		SL_TRY(sweep_variant(c, b, &set, trials));
	}
	return SL_OK;
}

enum sl_status sl_sweep_backend(
	const struct sl_backend *b, struct sl_tuning tuning, uint64_t *trials)
{
	for (size_t i = 0; i < sl_sizes_count; i++)
		SL_TRY(sweep_size(b, sl_sizes[i], tuning, trials));
	return SL_OK;
}

enum sl_status sl_sweep_tiles(const struct sl_backend *b, uint64_t *trials)
{
	const struct sl_tunable *can = &b->tunable;
	const struct sl_tuning least = {
		.block = (uint32_t)sl_round_up(can->block ? WARP : 0, can->block_step),
		.items = can->items_can[0]};
	uint32_t tile = (least.block ? least.block : WARP) * (least.items ? least.items : 1);
	const uint32_t sizes[] = {tile - 1, tile, tile + 1, 7 * tile + 5, 70 * tile + 9};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		SL_TRY(sweep_size(b, sizes[i], least, trials));
	return SL_OK;
}

enum sl_status sl_sweep_space(enum sl_space space, uint64_t *trials)
{
	const struct sl_backend *b;

	const struct sl_tuning own = {0};

	*trials = 0;
	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (b->space == space)
			SL_TRY(sl_sweep_backend(b, own, trials));
	if (*trials == 0)
		return sl_fail(SL_CHECK_FAILED, "no backend of this memory space has a case");
	return SL_OK;
}
