/*
 * rounds.c - the loop over rounds, and how active particles move.
 *
 * Host and device share this loop. What differs between them is in struct sl_round_operations.
 */
#include "stages/rounds/rounds.h"

#include <string.h>

#include "stages/batch/recipe.h"
#include "stages/rounds/resample.h"

/* --- memory ----------------------------------------------------------------------------------- */

static void lay_out_state(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_active_set *l)
{
	memset(l, 0, sizeof(*l));
	if (r->schedule.steps == 0)
		return;
	sl_layout_columns(a, sl_stored_columns(r), n, &l->columns);
	l->place = (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t));
}

void sl_rounds_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b)
{
	if (r->resampling.steps > 0) {
		sl_filter_lay_out(a, r, n, b);
		return;
	}
	/* a compaction may write as many items as it reads */
	lay_out_state(a, r, n, &b->state[0]);
	lay_out_state(a, r, n, &b->state[1]);
}

size_t sl_rounds_scratch(const struct sl_recipe *r, uint32_t n)
{
	const struct sl_shape compact = {.n = n,
		.tuning = r->compact.tuning,
		.scan = r->scan,
		.n_columns = SL_COMPACT_COLUMNS_MAX};

	if (r->resampling.steps > 0)
		return sl_filter_scratch(r, n);
	return r->schedule.steps > 0 ? sl_scratch(r->compact.backend, &compact) : 0;
}

/* --- a batch ---------------------------------------------------------------------------------- */

/* The state of the loop over the rounds of a batch. */
struct loop_state {
	const struct sl_recipe *r;
	struct sl_exec *x;
	struct sl_batch *b;
	const struct sl_round_operations *operations;
	void *ctx;
	uint32_t *n_out;
	uint32_t round;
	bool to_other; /* use the second of the two states next */
};

void sl_active_set_begin(struct sl_batch *b, uint32_t steps)
{
	b->active_set = (struct sl_active_set){
		.columns = b->columns, .n = b->n, .steps = steps, .alive = b->n};
}

/* The memory, for n particles, that the active set moves to next. The two states alternate. */
static struct sl_active_set next_state(struct loop_state *w, uint32_t n)
{
	struct sl_active_set to = w->b->state[w->to_other];

	w->to_other = !w->to_other;
	to.n = to.alive = n;
	to.steps = w->b->active_set.steps;
	return to;
}

/*
 * Lists all columns, and the place, to be moved from one active set to another. Returns how many.
 */
static uint32_t columns_between(const struct sl_recipe *r, const struct sl_active_set *from,
	const struct sl_active_set *to, struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX])
{
	uint32_t n = 0;

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(sl_stored_columns(r), c))
			column[n++] = (struct sl_compact_column){
				.from = sl_column_at(&from->columns, (enum sl_column)c),
				.to = sl_column_at(&to->columns, (enum sl_column)c),
				.bytes = sl_column_facts[c].bytes};
	if (from->place)
		column[n++] = (struct sl_compact_column){
			.from = from->place, .to = to->place, .bytes = sizeof(uint32_t)};
	return n;
}

/* Compacts the active set. If it is the batch itself, the indices are the places. */
static enum sl_status compact(struct loop_state *w)
{
	struct sl_active_set *from = &w->b->active_set, to = next_state(w, from->alive);
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX];
	struct sl_compact_job job = {.keep = w->b->keep,
		.out = from->place ? NULL : to.place,
		.n_out = w->n_out,
		.n = from->n,
		.n_columns = columns_between(w->r, from, &to, column),
		.column = column,
		.scan = w->r->scan};

	SL_TRY(w->operations->mark(w->ctx, SL_ROUND_MOVES));
	w->x->tuning = w->r->compact.tuning;
	SL_TRY(sl_compact(w->r->compact.backend, w->x, &job));
	*from = to;
	return w->operations->mark(w->ctx, SL_ROUND_COMPACTED);
}

/* The entry that counts a round. */
static struct sl_round *round_of(struct loop_state *w, uint32_t number)
{
	return &w->b->rounds.at[number < SL_ROUNDS_MAX ? number : SL_ROUNDS_MAX - 1];
}

/*
 * Adds the time of the compaction after the previous round. The marks are complete once the steps
 * of this round are.
 */
static enum sl_status time_compaction(struct loop_state *w)
{
	struct sl_round *last = round_of(w, w->round - 1);
	uint64_t ns;

	SL_TRY(w->operations->between(w->ctx, SL_ROUND_MOVES, SL_ROUND_COMPACTED, &ns));
	last->compact_ns += ns;
	last->compacted++;
	return SL_OK;
}

/* Advances the active set by one round, and adds its time. */
static enum sl_status advance(struct loop_state *w)
{
	struct sl_round *now = round_of(w, w->round);
	uint64_t ns;

	now->width += w->b->active_set.n;
	SL_TRY(w->operations->advance(w->r, w->ctx, w->b));
	SL_TRY(w->operations->between(w->ctx, SL_ROUND_BEGINS, SL_ROUND_ADVANCED, &ns));
	now->advance_ns += ns;
	now->alive += w->b->active_set.alive;
	now->batches += w->round < SL_ROUNDS_MAX;
	return SL_OK;
}

enum sl_status sl_rounds_run(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	const struct sl_round_operations *operations, void *ctx, uint32_t *n_out)
{
	struct loop_state w = {
		.r = r, .x = x, .b = b, .operations = operations, .ctx = ctx, .n_out = n_out};
	struct sl_active_set *a = &b->active_set;
	bool compacts = false;

	memset(&b->rounds, 0, sizeof(b->rounds));
	sl_active_set_begin(b, r->schedule.steps);
	for (; a->alive > 0; w.round++) {
		SL_TRY(sl_check_cancelled(r));
		if (a->alive < r->schedule.finish * b->n)
			a->steps = UINT32_MAX;
		SL_TRY(advance(&w));
		if (compacts)
			SL_TRY(time_compaction(&w));
		compacts = a->alive > 0 && a->alive < a->n;
		if (compacts)
			SL_TRY(compact(&w));
	}
	b->rounds.longest = w.round;
	b->rounds.n = w.round < SL_ROUNDS_MAX ? w.round : (uint32_t)SL_ROUNDS_MAX;
	return SL_OK;
}

void sl_rounds_add(struct sl_rounds *sum, const struct sl_rounds *batch)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		struct sl_round *to = &sum->at[i];
		const struct sl_round *from = &batch->at[i];

		to->batches += from->batches;
		to->width += from->width;
		to->alive += from->alive;
		to->compacted += from->compacted;
		to->advance_ns += from->advance_ns;
		to->compact_ns += from->compact_ns;
	}
	sum->n = batch->n > sum->n ? batch->n : sum->n;
	sum->longest = batch->longest > sum->longest ? batch->longest : sum->longest;
}
