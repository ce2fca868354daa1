/* rounds_host.c - the operations of rounds (rounds.h) and filters (resample.h) on the host. */
#include "stages/host/host.h"

#include "primitives/base/clock.h"
#include "stages/rounds/resample.h"
#include "stages/rounds/rounds.h"

/* The times of the marks of a round. */
struct clock {
	uint64_t ns[SL_ROUND_MARKS];
};

static enum sl_status mark(void *ctx, enum sl_round_mark m)
{
	((struct clock *)ctx)->ns[m] = sl_now_ns();
	return SL_OK;
}

static enum sl_status between(
	void *ctx, enum sl_round_mark from, enum sl_round_mark to, uint64_t *ns)
{
	const struct clock *c = (const struct clock *)ctx;

	*ns = c->ns[to] - c->ns[from];
	return SL_OK;
}

static enum sl_status advance(const struct sl_recipe *r, void *ctx, struct sl_batch *b)
{
	mark(ctx, SL_ROUND_BEGINS);
	SL_TRY(sl_run_rules(r, b, sl_rule_loops(r)->advance, b->active_set.n));
	return mark(ctx, SL_ROUND_ADVANCED);
}

static enum sl_status run_filter(const struct sl_recipe *r, void *ctx, struct sl_batch *b,
	enum sl_filter_work which, const struct sl_filter_pass *p)
{
	(void)ctx;
	if (which == SL_FILTER_ADVANCE) {
		SL_TRY(sl_run_rules(r, b, sl_rule_loops(r)->advance, b->n));
		return r->grids.each_step ? sl_run_loop(r, b, r->loops->count_step, b->n) : SL_OK;
	}
	r->loops->filter(which, p);
	if (which == SL_FILTER_END && b->ancestry && p->word[SL_FILTER_RESAMPLED])
		sl_ancestry_record(b, p);
	return sl_check_cancelled(r);
}

enum sl_status sl_filter_on_host(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	return sl_filter_run(r, x, b, run_filter, NULL, sl_filter_counters_of(r, b->bins));
}

enum sl_status sl_rounds_on_host(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b)
{
	static const struct sl_round_operations host = {
		.advance = advance, .mark = mark, .between = between};
	struct clock clock = {{0}};

	return sl_rounds_run(r, x, b, &host, &clock, &b->n_survivors);
}
