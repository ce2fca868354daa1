/* history.c - runs the rules of a model one step at a time, and reports each step and its random words. */
#include "stages/host/host.h"

#include <string.h>

#include "stages/rounds/resample.h"

/* --- ancestry --------------------------------------------------------------------------------- */

/* The words of a step. */
static size_t words_of(uint32_t n)
{
	return ((size_t)n + 31) / 32;
}

size_t sl_ancestry_bytes(const struct sl_recipe *r, uint32_t n)
{
	return sl_size_mul(sl_size_mul(words_of(n), sizeof(uint64_t)), r->resampling.steps);
}

void sl_ancestry_record(struct sl_batch *b, const struct sl_filter_pass *p)
{
	uint64_t *bits = b->ancestry + p->step * words_of(b->n);

	memset(bits, 0, words_of(b->n) * sizeof(*bits));
	for (uint32_t i = 0; i < b->n; i++) {
		const uint64_t at = (uint64_t)i + p->end[i];

		bits[at / 64] |= UINT64_C(1) << at % 64;
	}
}

/* The particle whose copy a slot gets: the number of ones before the zero of the slot. */
static uint32_t ancestor_of(const uint64_t *bits, uint32_t slot)
{
	uint32_t zeros, left = slot;
	uint64_t at = 0, rest;

	for (;; at += 64, bits++, left -= zeros) {
		zeros = 64 - (uint32_t)__builtin_popcountll(*bits);
		if (left < zeros)
			break;
	}
	for (rest = ~*bits; left > 0; left--)
		rest &= rest - 1;
	return (uint32_t)(at + (uint64_t)__builtin_ctzll(rest) - slot);
}

static bool is_resampled(const struct sl_recipe *r, const struct sl_batch *b, uint64_t step)
{
	const struct sl_resampling *f = &r->resampling;
	const uint64_t words = sl_filter_step_words(f->n_moments, f->n_quantiles);

	return sl_filter_counters_of(r, b->bins)[step * words + SL_FILTER_RESAMPLED] > 0;
}

void sl_ancestry_find(const struct sl_recipe *r, struct sl_batch *b, uint32_t slot)
{
	for (uint32_t step = r->resampling.steps; step-- > 0;) {
		uint64_t *bits = b->ancestry + step * words_of(b->n);

		if (is_resampled(r, b, step))
			slot = ancestor_of(bits, slot);
		*bits = slot;
	}
}

/* The id of the ancestor of particle id before a step of a filter, counted from 0. */
static uint64_t ancestor_before(
	const struct sl_recipe *r, const struct sl_batch *b, uint64_t id, uint64_t step)
{
	return step < r->resampling.steps ? b->first_id + b->ancestry[step * words_of(b->n)] : id;
}

/* --- history ---------------------------------------------------------------------------------- */

/* The name of the event between two states, as listed in struct sl_history_step. */
static const char *event_of(
	const struct sl_recipe *r, const struct sl_particle *before, const struct sl_particle *p)
{
	if (!before)
		return "start";
	if (p->fate != SL_FATE_alive)
		return sl_fate_facts[p->fate].name;
	if (p->collisions > before->collisions)
		return "collision";
	if (p->u != before->u || p->v != before->v || p->w != before->w)
		return "surface";
	return r->resampling.steps > 0 ? "weighed" : "flight";
}

/*
 * A step is a pure function of the state before it, so it is computed twice, the second time to
 * report its draws. They can thus be reported after the step without storing them, however many
 * there are.
 */
struct sl_particle sl_follow_history(const struct sl_recipe *r, uint64_t id,
	const struct sl_batch *filter, const struct sl_history_observer *observer)
{
	sl_one_step *const next = r->model->one_step;
	const uint64_t first = filter ? ancestor_before(r, filter, id, 0) : id;
	const struct sl_particle *before = NULL;
	struct sl_history_step taken = {0};
	struct sl_particle previous;
	bool more;

	do {
		taken.p = next(&r->rules, r->seed, first, before, NULL, NULL);
		taken.event = event_of(r, before, &taken.p);
		more = observer->step(observer->ctx, &taken);
		next(&r->rules, r->seed, first, before, observer->draw, observer->ctx);
		if (more && filter && before && is_resampled(r, filter, taken.number - 1)) {
			taken.p.id = ancestor_before(r, filter, id, taken.number);
			taken.p.log_weight = 0;
			taken.event = "resampled";
			more = observer->step(observer->ctx, &taken);
		}
		previous = taken.p;
		before = &previous;
		/* the loops of the host also take at most UINT32_MAX steps */
	} while (more && taken.p.fate == SL_FATE_alive && taken.number++ < UINT32_MAX);
	sl_end_particle(r, &taken.p);
	return taken.p;
}
