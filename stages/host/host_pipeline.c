/* host_pipeline.c - the stages on the host, for a whole batch or block by block. */
#include "stages/host/host.h"

#include <string.h>

#include "primitives/base/clock.h"
#include "primitives/base/record_copy.h"
#include "stages/counting/score_word.h"
#include "stages/inputs/inputs.h"
#include "stages/rounds/resample.h"
#include "stages/rounds/rounds.h"

/*
 * Items of a block: of a loop, which checks for cancellation between blocks, and see run_blocks().
 */
enum { BLOCK = SL_HOST_BLOCK };

static uint32_t block_items(uint32_t left)
{
	return left < BLOCK ? left : BLOCK;
}

enum sl_status sl_run_loop(const struct sl_recipe *r, struct sl_batch *b, sl_loop *loop, uint32_t n)
{
	for (uint32_t from = 0, items; from < n; from += items) {
		items = block_items(n - from);
		SL_TRY(sl_check_cancelled(r));
		loop(r, b, from, from + items);
	}
	return SL_OK;
}

enum sl_status sl_run_rules(
	const struct sl_recipe *r, struct sl_batch *b, sl_rule_loop *loop, uint32_t n)
{
	loop(&r->rules, r->seed, b, n, r);
	return sl_check_cancelled(r);
}

static enum sl_status generate(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	(void)x;
	if (r->inputs)
		return sl_inputs_read_part(r->inputs, b);
	return sl_run_rules(r, b, sl_rule_loops(r)->generate, b->n);
}

static enum sl_status advance(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	if (r->inputs)
		return SL_OK; /* a particle of a list has its fate, and takes no step */
	if (r->resampling.steps > 0)
		return sl_filter_on_host(r, x, b);
	if (r->schedule.steps > 0)
		return sl_rounds_on_host(r, x, b);
	sl_active_set_begin(b, UINT32_MAX);
	return sl_run_rules(r, b, sl_rule_loops(r)->advance, b->n);
}

enum sl_status sl_check_fate(const struct sl_model *m, uint64_t id, uint32_t fate)
{
	if (fate < SL_FATE_COUNT && SL_HAS(m->fates, fate))
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED,
		"model %s: particle %lu ends with fate %s, which SL_FATES_%s lacks; add it there",
		m->name, id, fate < SL_FATE_COUNT ? sl_fate_facts[fate].name : "?", m->name);
}

/* A rule of the user can give any fate. A device does not count those that are not declared. */
enum sl_status sl_check_fate_counts(const struct sl_recipe *r, const struct sl_batch *b)
{
	const bool external = r->model->digest && r->resampling.steps == 0;
	uint64_t sum = 0, unassigned = 0;

	for (int f = 0; f < SL_FATE_COUNT; f++) {
		sum += b->tally.count[f];
		if (!SL_HAS(sl_fates_of(r), f))
			unassigned += b->tally.count[f];
	}
	if (sum == b->n && unassigned == 0)
		return SL_OK;
	for (uint64_t id = b->first_id; external && id < b->first_id + b->n; id++) {
		const uint32_t fate = sl_compute_particle(r, id).fate;

		if (fate != SL_FATE_dropped)
			SL_TRY(sl_check_fate(r->model, id, fate));
	}
	return sl_fail(SL_CHECK_FAILED,
		"internal error: fate counts sum to %llu for %u particles, %llu with a "
		"fate this model never assigns; please report",
		(unsigned long long)sum, b->n, (unsigned long long)unassigned);
}

enum sl_status sl_check_tallies(const struct sl_recipe *r, const struct sl_batch *b)
{
	const char *problem =
		sl_grid_score_problem(&r->grids, b->bins, b->tally.steps, b->tally.collisions);
	enum sl_fate mismatch = sl_grid_mismatch(
		&r->grids, b->bins, b->tally.count, b->tally.weight, b->tally.square);

	if (problem)
		return sl_fail(SL_CHECK_FAILED, "the scores %s", problem);
	if (mismatch == SL_FATE_COUNT)
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED,
		"internal error: the histograms of fate %s do not add up to its particles and "
		"weight; please report",
		sl_fate_facts[mismatch].name);
}

/* Separates counts and sums of collisions (score_word.h); once, after the last step of a batch. */
static void separate_scores(const struct sl_grid_set *grids, uint64_t *sum)
{
	for (uint32_t k = 0; k < grids->n; k++) {
		const struct sl_grid_rule *g = &grids->grid[k];
		uint64_t *count = sum + g->words + g->base;

		for (uint32_t i = 0; sl_scores_collisions(g) && i < g->counters; i++)
			sl_score_separate(&count[i], &count[i + g->stride]);
	}
}

static void begin_counts(struct sl_batch *b)
{
	memset(&b->tally, 0, sizeof(b->tally));
	if (b->bin_words > 0)
		memset(b->bins, 0, b->bin_words * sizeof(*b->bins));
}

/* Completes the counts of all particles of b, and checks them. */
static enum sl_status end_counts(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	(void)x;
	separate_scores(&r->grids, b->bins);
	SL_TRY(sl_filter_complete(r, b));
	SL_TRY(sl_check_fate_counts(r, b));
	return sl_check_tallies(r, b);
}

/* Marks the particles of b and adds them to the counts. */
static enum sl_status mark_more(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	(void)x;
	return sl_run_loop(r, b, r->loops->mark, b->n);
}

static enum sl_status mark(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	SL_TRY(mark_more(r, x, b));
	return end_counts(r, x, b);
}

static enum sl_status compact(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	return sl_compact_indices(r, x, b, b->n, &b->n_survivors);
}

static enum sl_status sort(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	for (uint32_t j = 0; b->place && j < b->n_survivors; j++)
		b->index[j] = j;
	if (r->n_fields == 0)
		return SL_OK;
	SL_TRY(sl_run_loop(r, b, r->loops->sort, b->n_survivors));
	return sl_sort_indices(r, x, b);
}

/*
 * If the inputs have the source records in memory, rows lead to them there: by the number of the
 * particle in the batch, which takes the place of its position.
 */
static void find_records(const struct sl_recipe *r, struct sl_batch *b)
{
	if (!r->records)
		return;
	b->table.source = r->records + b->first_id * (r->source_bytes / sizeof(*r->records));
	for (uint32_t j = 0; b->place && j < b->n_survivors; j++)
		b->index[j] = b->place[b->index[j]];
}

static enum sl_status write_survivors(
	const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	(void)x;
	b->table.n = b->n_survivors;
	for (uint32_t k = 0; k < b->table.n_columns; k++)
		b->table.column[k].digest = 0;
	/* in one call, which cannot be cancelled: the gather is short compared with other stages */
	r->loops->write(r, b);
	find_records(r, b);
	return SL_OK;
}

const struct sl_stage sl_stages[SL_STAGE_COUNT] = {
#define X(name, on_host) {#name, on_host},
	SL_STAGES(X)
#undef X
};

bool sl_stage_is_run(enum sl_mode mode, int s)
{
	bool is_staged = s < SL_STAGE_select, is_fused = s == SL_STAGE_select;

	return mode == SL_MODE_fused ? !is_staged : !is_fused;
}

void sl_batch_begin(const struct sl_recipe *r, struct sl_batch *b, uint64_t number)
{
	b->number = number;
	b->first_id = b->table.first_id = number * r->batch;
	b->n = r->particles - b->first_id < r->batch ? (uint32_t)(r->particles - b->first_id)
	                                             : r->batch;
	b->turn = SL_NO_TURN;
	b->n_survivors = 0;
	b->rounds.n = 0;
}

/* Runs stage s by a function. */
static enum sl_status run_stage(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	int s, sl_host_stage *run, uint64_t ns[SL_STAGE_COUNT])
{
	uint64_t start = sl_now_ns();
	enum sl_status status = run(r, x, b);

	if (ns)
		ns[s] += sl_now_ns() - start;
	if (status != SL_OK)
		return sl_add_context(status, "batch %llu, stage %s", (unsigned long long)b->number,
			sl_stages[s].name);
	return SL_OK;
}

/* Runs the stages from first on. */
static enum sl_status run_stages(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	int first, uint64_t ns[SL_STAGE_COUNT])
{
	for (int s = first; s < SL_STAGE_COUNT; s++)
		if (sl_stage_is_run(r->mode, s))
			SL_TRY(run_stage(r, x, b, s, sl_stages[s].on_host, ns));
	return SL_OK;
}

/* --- block by block --------------------------------------------------------------------------- */

/* Moves the items with the given ascending numbers to the beginning of a column. */
static void move_items(void *column, uint32_t item_bytes, const uint32_t *number, uint32_t n)
{
	uint32_t *words = (uint32_t *)column;
	uint8_t *bytes = (uint8_t *)column;

	for (uint32_t j = 0; item_bytes == sizeof(*words) && j < n; j++)
		words[j] = words[number[j]];
	for (uint32_t j = 0; item_bytes == sizeof(*bytes) && j < n; j++)
		bytes[j] = bytes[number[j]];
}

/* The same for source records. */
static void move_records(uint32_t *source, uint32_t bytes, const uint32_t *number, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++)
		if (number[j] != j)
			sl_record_copy((char *)source + (size_t)j * bytes,
				(const char *)source + (size_t)number[j] * bytes, bytes);
}

/* Compacts a block: its survivors move to its beginning, and its index becomes their places. */
static enum sl_status compact_block(
	const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *block)
{
	const sl_column_set set = sl_survivor_columns(r);

	SL_TRY(compact(r, x, block));
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(set, c))
			move_items(sl_column_at(&block->columns, (enum sl_column)c),
				sl_column_facts[c].bytes, block->index, block->n_survivors);
	if (block->source)
		move_records(block->source, r->source_bytes, block->index, block->n_survivors);
	for (uint32_t j = 0; j < block->n_survivors; j++)
		block->index[j] += (uint32_t)(block->first_id - block->number * r->batch);
	return SL_OK;
}

/*
 * The columns of a block if n survivors are before it: those in kept from particle n on. No later
 * stage reads the others, so each block overwrites those of the block before it, which are in the
 * cache.
 */
static struct sl_columns columns_from(const struct sl_columns *c, sl_column_set kept, uint32_t n)
{
	struct sl_columns from;
#define COLUMN(name, type, unit, record, component, help) \
	from.name = c->name && SL_HAS(kept, SL_COLUMN_##name) ? c->name + n : c->name;
#include "stages/particle/columns.def"
#undef COLUMN
	return from;
}

/* Only a file that was changed, and whose size and time do not show it, can have more survivors. */
static enum sl_status more_survivors(const struct sl_recipe *r, const struct sl_batch *b)
{
	return sl_fail(SL_DISK,
		"batch %llu: has more than the %u survivors that were counted before the run, so an "
		"input was changed; restore it and rerun with --resume",
		(unsigned long long)b->number, r->survivors_most);
}

/*
 * Runs the stages up to compact on a batch, block by block. The particles of a block begin where
 * the survivors of the blocks before it end, and its survivors are moved there. So a block stays in
 * the cache from stage to stage, and only survivors leave it.
 */
static enum sl_status run_blocks(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	uint64_t ns[SL_STAGE_COUNT])
{
	static sl_host_stage *const run[] = {[SL_STAGE_generate] = generate,
		[SL_STAGE_advance] = advance,
		[SL_STAGE_mark] = mark_more,
		[SL_STAGE_compact] = compact_block};
	const sl_column_set kept = sl_survivor_columns(r);
	struct sl_batch block = *b;

	begin_counts(&block);
	for (uint32_t from = 0; from < b->n; from += block.n) {
		if (b->n_survivors > sl_most_survivors(r, b->n))
			return more_survivors(r, b);
		block.first_id = b->first_id + from;
		block.n = block_items(b->n - from);
		block.columns = columns_from(&b->columns, kept, b->n_survivors);
		block.index = b->place + b->n_survivors;
		if (b->source)
			block.source = b->source + (size_t)b->n_survivors *
			                                   (r->source_bytes / sizeof(*b->source));
		for (int s = SL_STAGE_generate; s <= SL_STAGE_compact; s++)
			SL_TRY(run_stage(r, x, &block, s, run[s], ns));
		b->n_survivors += block.n_survivors;
	}
	if (b->n_survivors > sl_most_survivors(r, b->n))
		return more_survivors(r, b);
	b->tally = block.tally;
	return run_stage(r, x, b, SL_STAGE_mark, end_counts, ns);
}

enum sl_status sl_stages_run(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	uint64_t ns[SL_STAGE_COUNT])
{
	enum sl_status s;

	if (!b->place) {
		begin_counts(b);
		return run_stages(r, x, b, SL_STAGE_generate, ns);
	}
	s = run_blocks(r, x, b, ns);
	if (r->inputs)
		sl_inputs_end_turn(r->inputs, b);
	return s != SL_OK ? s : run_stages(r, x, b, SL_STAGE_sort, ns);
}

struct sl_particle sl_compute_particle(const struct sl_recipe *r, uint64_t id)
{
	static _Thread_local struct sl_batch one; /* to clear it takes as long as a particle */
	const struct sl_rule_loops *loops = &r->model->loops[SL_LEVEL_baseline];
	struct sl_particle p = {0};
	uint8_t keep;

	one.first_id = id;
	one.n = 1;
	one.columns = sl_columns_of(&p);
	one.keep = &keep;
	sl_active_set_begin(&one, UINT32_MAX);
	loops->generate(&r->rules, r->seed, &one, 1, NULL);
	loops->advance(&r->rules, r->seed, &one, 1, NULL);
	p.id = id;
	sl_end_particle(r, &p);
	return p;
}
