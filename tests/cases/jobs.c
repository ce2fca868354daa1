/* jobs.c - see jobs.h. */
#include "jobs.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>

#include "primitives/base/size.h"
#include "primitives/emulator/settings.h"

enum { WARP = 32, SMALL = 300, LARGE = 1 << 20, SIZES_MOST = 40, TILE_SIZES = 5 };

/* --- what a job is ---------------------------------------------------------------------------- */

/* A number below n; each call gives another. */
static uint32_t draw(uint64_t *seed, uint32_t n)
{
	return (uint32_t)(sl_mixed(++*seed) % n);
}

/* A scan backend of the space, or NULL. */
static const struct sl_backend *draw_scan(enum sl_space space, uint64_t *seed)
{
	uint32_t n = 0;

	while (sl_backend_of(SL_SCAN, space, n))
		n++;
	return sl_backend_of(SL_SCAN, space, draw(seed, n + 1));
}

/* Whole keys, whole digits, a few bits or none, or any range. */
static void draw_bits(uint64_t *seed, struct sl_setting *set)
{
	const uint32_t width = 8 * (uint32_t)sl_type_bytes(set->type);
	const uint32_t kind = draw(seed, 4), unit = kind == 1 ? 8 : 1;
	const uint32_t most = kind == 1 ? width / 8 : kind == 2 ? 9 : width;
	uint32_t n = draw(seed, most + 1), begin = draw(seed, width / unit + 1);

	n = n < width / unit - begin ? n : width / unit - begin;
	set->begin_bit = kind == 0 ? 0 : begin * unit;
	set->end_bit = kind == 0 ? width : (begin + n) * unit;
}

static void draw_columns(uint64_t *seed, struct sl_setting *set)
{
	static const uint32_t bytes[] = {0, 1, 2, 4, 8, 16, 32};

	set->columns.n = 1 + draw(seed, draw(seed, 4) ? 4 : SL_COMPACT_COLUMNS_MAX);
	set->columns.bytes = bytes[draw(seed, sizeof(bytes) / sizeof(bytes[0]))];
	set->no_indices = draw(seed, 2);
}

/* In one job of three, n in memory: below the most items of the job, equal to it, or above. */
static void draw_count(uint64_t *seed, struct sl_setting *set)
{
	const uint32_t kind = draw(seed, 9), most = set->n < SMALL ? 3 * SMALL : set->n / 2;

	set->counted = kind < 3;
	set->n_type = draw(seed, 2) ? SL_U64 : SL_U32;
	if (kind == 0)
		set->spare = 1 + draw(seed, most);
	if (kind == 1) /* as u32, a word above 2^32 would be below n */
		set->excess = set->n_type == SL_U32 ? 1 : (UINT64_C(1) << 32) - (set->n + 1) / 2;
}

void sl_random_setting(const struct sl_backend *b, uint64_t number, struct sl_setting *set)
{
	uint64_t seed = sl_mixed((uint64_t)set->n << 32 | number);
	struct sl_setting v = {.n = set->n, .tuning = set->tuning};

	v.input = (enum sl_input)(number % SL_INPUT_COUNT);
	v.alive = (enum sl_alive)(number % SL_ALIVE_COUNT);
	v.type = draw(&seed, 2) ? SL_U64 : SL_U32;
	if (b->primitive == SL_SCAN && !b->integers_only && draw(&seed, 2))
		v.type = v.type == SL_U64 ? SL_F64 : SL_F32;
	v.inclusive = draw(&seed, 2);
	v.in_place = draw(&seed, 2);
	for (int i = 0; i < 2; i++)
		v.off[i] = draw(&seed, 2) ? draw(&seed, 16) : 0;
	if ((b->primitive == SL_COMPACT || b->primitive == SL_EXPAND) && draw(&seed, 2))
		draw_columns(&seed, &v);
	if (b->primitive == SL_COMPACT || b->primitive == SL_EXPAND)
		v.scan = draw_scan(b->space, &seed);
	if (b->primitive == SL_EXPAND) {
		const uint32_t runs[] = {0, 1, v.n / 9 + 1, 3 * (v.n / 2) + 1};

		v.n_runs = runs[draw(&seed, 4)];
		v.form = (enum sl_run_form)draw(&seed, 3);
	}
	v.keys_only = draw(&seed, 2);
	v.sum = draw(&seed, 2);
	v.key_spent = !v.keys_only && draw(&seed, 3) == 0;
	draw_bits(&seed, &v);
	if (b->primitive != SL_EXPAND && !sl_type_is_float(v.type) &&
		(b->takes_n_on_device || b->space == SL_HOST))
		draw_count(&seed, &v);
	*set = v;
}

/* The smallest tiles: 32 threads, or the step of the backend, with the fewest items. */
static struct sl_tuning least_tuning(const struct sl_backend *b)
{
	return (struct sl_tuning){
		.block = (uint32_t)sl_round_up(b->tunable.block ? WARP : 0, b->tunable.block_step),
		.items = b->tunable.items_can[0]};
}

/*
 * The default, or a block of the smallest size, odd numbers, warps that are no power of two, or the
 * largest size. On the host, up to four threads.
 */
static struct sl_tuning draw_tuning(
	const struct sl_backend *b, uint64_t number, const struct sl_setting *set)
{
	const struct sl_tunable *can = &b->tunable;
	const uint32_t blocks[] = {
		can->block, can->block_step, 32, 96, 129, 256, can->block_most, 0};
	uint64_t seed = sl_mixed(~number);
	struct sl_tuning t = {.block = blocks[draw(&seed, sizeof(blocks) / sizeof(blocks[0]))]};
	uint32_t items = 0;

	if (can->threads)
		return (struct sl_tuning){.threads = (uint32_t)(number % 5)};
	while (can->items_can[items] != 0)
		items++;
	t.items = items > 0 && draw(&seed, 4) ? can->items_can[draw(&seed, items)] : 0;
	t.padding = can->padding && draw(&seed, 2) ? SL_PADDING_OFF : SL_PADDING_DEFAULT;
	return number % 2 && sl_tuning_check(b, t, set->type) == SL_OK ? t : (struct sl_tuning){0};
}

void sl_random_schedule(uint64_t number)
{
	const uint64_t r = sl_mixed(number);
	struct sl_emulator_settings s = {.blocks = 1, .memory_bytes = 1 << 30};

	if (r % 2) {
		s.blocks = r / 2 % 4 ? 1 + (uint32_t)(r >> 8) % 8 : SL_EMULATED_BLOCKS_MAX;
		s.seed = r >> 16 & 1 ? r >> 32 : 0;
		s.from_last = r >> 17 & 1;
		s.at_once = r >> 18 & 1;
		s.turing = (r >> 19) % 8 == 0;
	}
	sl_emulator_set_settings(&s);
}

/* --- running a job ---------------------------------------------------------------------------- */

static enum sl_status try_poison(const struct sl_case *c, struct sl_trial *t, int poison)
{
	SL_TRY(sl_trial_load(t, poison));
	SL_TRY(c->run(t));
	SL_TRY(sl_stream_wait(NULL));
	return sl_add_context(sl_trial_right(c, t), "poison %02x", (unsigned)poison);
}

/* A call with nothing to do needs no scratch: no items, or a sort of one key or by no bits. */
static bool has_work(const struct sl_case *c, const struct sl_setting *set)
{
	const uint32_t most = set->n + set->spare;

	return c->primitive != SL_SORT ? most > 0 : most > 1 && set->begin_bit < set->end_bit;
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

/*
 * An answer that depends on previous contents cannot be right with two patterns. The emulated
 * device takes one in turn.
 */
static enum sl_status try_all(const struct sl_case *c, struct sl_trial *t, uint64_t number)
{
	const bool two = t->set.n <= SL_SIZE_LARGE && !sl_device_is_emulated();

	SL_TRY(try_short(c, t));
	if (two || number / 8 % 2)
		SL_TRY(try_poison(c, t, 0xa5));
	return !two && number / 8 % 2 ? SL_OK : try_poison(c, t, 0x5a);
}

/* With one poison, or with -1 in all ways of the job with this number. */
static enum sl_status check_job(
	const struct sl_backend *b, const struct sl_setting *set, int poison, uint64_t number)
{
	const struct sl_case *c = sl_case_of(b->primitive);
	struct sl_trial t = {.backend = b, .set = *set};
	enum sl_status s = c->make(&t);
	char text[192];

	if (s == SL_OK)
		s = poison < 0 ? try_all(c, &t, number) : try_poison(c, &t, poison);
	sl_trial_free(&t);
	c->describe(set, text, sizeof(text));
	return sl_add_context(s, "%s/%s, n=%u, job %llu: %s, block=%u, items=%u, padding=%s",
		sl_primitive_name(b->primitive), b->name, set->n, (unsigned long long)number, text,
		set->tuning.block, set->tuning.items, sl_padding_name(set->tuning.padding));
}

enum sl_status sl_job_check(const struct sl_backend *b, const struct sl_setting *set, int poison)
{
	return check_job(b, set, poison, 0);
}

/* --- the sizes of a backend ------------------------------------------------------------------- */

/*
 * Sizes near one tile, and so many tiles that a tile must forward sums which it read from its
 * predecessors.
 */
static size_t sizes_of(const struct sl_backend *b, uint32_t sizes[SIZES_MOST])
{
	const struct sl_tuning least = least_tuning(b);
	uint32_t tile = (least.block ? least.block : WARP) * (least.items ? least.items : 1);
	const uint32_t tiles[TILE_SIZES] = {tile - 1, tile, tile + 1, 7 * tile + 5, 70 * tile + 9};
	size_t n = 0;

	for (; n < sl_sizes_count; n++)
		sizes[n] = sl_sizes[n];
	for (size_t i = 0; b->space == SL_DEVICE && i < TILE_SIZES; i++)
		sizes[n++] = tiles[i];
	return n;
}

static enum sl_status run_size(
	const struct sl_jobs *jobs, const struct sl_backend *b, uint32_t n, size_t i, uint64_t *ran)
{
	const uint32_t all = n <= SMALL ? jobs->small : n < LARGE ? jobs->medium : jobs->large;
	const struct sl_sampled share = sl_sampling_share(all);

	for (uint64_t k = share.first; k < all; k += share.step) {
		const uint64_t number = k + i;
		struct sl_setting set = {.n = n};

		if (sl_device_is_emulated())
			sl_random_schedule(number);
		sl_random_setting(b, number, &set);
		set.tuning = i < sl_sizes_count ? draw_tuning(b, number, &set) : least_tuning(b);
		if (n > SL_SIZE_LARGE)
			set.columns.n = 0;
		set.no_indices = set.no_indices && set.columns.n > 0;
		SL_TRY(check_job(b, &set, -1, number));
		++*ran;
	}
	return SL_OK;
}

enum sl_status sl_jobs_run(const struct sl_jobs *jobs)
{
	const struct sl_backend *b;
	uint64_t all = 0;

	/*
	 * Large blocks are used again and not given back to the system: page faults took half the
	 * time.
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	for (size_t k = 0; (b = sl_backend_at(k)) != NULL; k++) {
		uint32_t sizes[SIZES_MOST];
		size_t n = sizes_of(b, sizes);
		uint64_t ran = 0;

		if (b->space != jobs->space || !sl_case_of(b->primitive))
			continue;
		for (size_t i = 0; i < n; i++)
			if (sizes[i] <= jobs->largest && !sl_sampling_skips_size(sizes[i]))
				SL_TRY(run_size(jobs, b, sizes[i], i, &ran));
		printf("%s/%s: %llu jobs\n", sl_primitive_name(b->primitive), b->name,
			(unsigned long long)ran);
		all += ran;
	}
	return all > 0 ? SL_OK : sl_fail(SL_CHECK_FAILED, "no job was run");
}
