/*
 * tokens.h - what a segment is said with: literals, runs and matches, slice by slice.
 *
 * Where bytes follow each other in long runs nothing but runs is looked for, by the places where
 * they begin. Elsewhere the first places are tried both ways, and matches are looked up (matches.h)
 * where these become shorter by them: most planes of particles are either noise or long
 * runs, and a look-up of all places takes most of the time. Slices are parsed by themselves; a
 * match waits if there is a longer one a place on, as in zlib, and of two slices one may go on from
 * the first to the second. Long runs are cut every 258 bytes
 * from where they begin, so that each slice knows what those before it have said of its own.
 */
#ifndef SL_PRIMITIVES_DEFLATE_TOKENS_H
#define SL_PRIMITIVES_DEFLATE_TOKENS_H

#include "matches.h"

enum {
	SL_RUN_LENGTH_MEAN = 32, /* bytes; in longer runs nothing else is looked for */
	SL_PROBE_SLICES = 16,    /* that are looked up first, ... */
	SL_PROBE = SL_PROBE_SLICES * SL_SLICE,
	SL_PROBE_MATCHES_MIN = 16, /* ... and said both ways if so many matches are found, ... */
	SL_GAIN_DIVISOR = 100      /* ... which are to save one bit of so many */
};

/* --- ways ------------------------------------------------------------------------------------- */

/* Before anything is looked up: is there more than runs? */
SL_HD enum sl_match_mode sl_match_mode_initial(uint32_t runs, uint32_t n)
{
	return runs > n / SL_RUN_LENGTH_MEAN ? SL_MODE_MATCHES : SL_MODE_RUNS;
}

/* By what the first slices take, said by runs alone and by matches. */
SL_HD bool sl_matches_gain(uint32_t by_runs, uint32_t by_matches)
{
	return by_matches < by_runs - by_runs / SL_GAIN_DIVISOR;
}

/* When that is known. */
SL_HD enum sl_match_mode sl_match_mode_after_probe(
	bool gain, uint32_t runs, uint32_t sum, uint32_t n)
{
	if (gain)
		return SL_MODE_MATCHES;
	return sl_is_incompressible(sum, n) && runs > n - n / SL_RUN_LENGTH_MEAN ? SL_MODE_STORED
	                                                                         : SL_MODE_RUNS;
}

/* --- slices ----------------------------------------------------------------------------------- */

/* What is parsed. */
struct sl_parse {
	const uint8_t *data;
	const uint32_t *run_starts;
	const struct sl_costs *cost;
	uint32_t end; /* of the segment */
	/* Counts of symbols, literals, the end and lengths, then distances; NULL: costs are summed
	 * up, and no token is kept. */
	uint32_t *count;
};

/* Tokens of a slice, each so many words behind the one before: slices of a device stand side by
 * side, as its threads make a token each at the same time. */
struct sl_tokens {
	uint32_t *first;
	uint32_t step, n, cost;
};

/* So many more, which others may count at the same time. */
SL_HD void sl_counter_add(uint32_t *count, uint32_t more)
{
#if defined(__CUDA_ARCH__) || defined(SL_EMULATED)
	atomicAdd(count, more);
#else
	*count += more;
#endif
}

/* The symbols of a token. */
SL_HD void sl_token_count(const struct sl_parse *p, uint32_t token, uint32_t more)
{
	uint32_t length = sl_token_length(token), distance = sl_token_distance(token);

	sl_counter_add(&p->count[length ? sl_length_symbol(length).symbol : token], more);
	if (length > 0)
		sl_counter_add(
			&p->count[SL_LITLEN_SYMBOLS + sl_distance_symbol(distance).symbol], more);
}

/* What a token costs, about. */
SL_HD uint32_t sl_token_cost(const struct sl_parse *p, uint32_t token)
{
	uint32_t length = sl_token_length(token);

	return length ? sl_match_cost(length, sl_token_distance(token)) : p->cost->literal[token];
}

SL_HD void sl_token_add(const struct sl_parse *p, struct sl_tokens *t, uint32_t token)
{
	if (p->count == NULL) {
		t->cost += sl_token_cost(p, token);
		return;
	}
	t->first[t->n++ * t->step] = token;
	sl_token_count(p, token, 1);
}

/* Some tokens of n from i on, before any is used, as memory is far away; behind the last none. */
SL_HD void sl_tokens_load(
	const uint32_t *first, uint32_t step, uint32_t i, uint32_t n, uint32_t *token)
{
	for (uint32_t k = 0; k < SL_LOADS_IN_FLIGHT; k++)
		token[k] = i + k < n ? first[(i + k) * step] : 0;
}

/*
 * What was found from .. to - 1, a slice, place by place, as tokens, which may take the place of
 * what was found. All threads are at the same place of their slices: those of a match are passed
 * by.
 */
SL_HD void sl_parse_matches(const struct sl_parse *p, uint32_t from, uint32_t to,
	const uint32_t *found, struct sl_tokens *tokens)
{
	uint32_t n = to - from, coded_end = 0, here = found[0], next[SL_LOADS_IN_FLIGHT];

	for (uint32_t i = 0; i < n; i += SL_LOADS_IN_FLIGHT) {
		sl_tokens_load(found, tokens->step, i + 1, n, next);
		for (uint32_t k = 0; k < SL_LOADS_IN_FLIGHT && i + k < n; here = next[k++]) {
			uint32_t length = sl_token_length(here);

			if (i + k < coded_end)
				continue;
			if (length == 0 || sl_token_length(next[k]) > length)
				here = p->data[from + i + k];
			sl_token_add(p, tokens, here);
			coded_end = i + k + sl_token_length(here);
		}
	}
}

/* A match that is cut where a slice ends and the next begins becomes one again. */
SL_HD void sl_tokens_join(
	const struct sl_parse *p, const struct sl_tokens *left, struct sl_tokens *right)
{
	uint32_t *last = &left->first[(left->n - 1) * left->step], a = *last, b = right->first[0];
	uint32_t length = sl_token_length(a) + sl_token_length(b);

	if (sl_token_length(a) == 0 || sl_token_length(b) == 0 || length > SL_MATCH_MAX ||
		sl_token_distance(a) != sl_token_distance(b))
		return;
	sl_token_count(p, a, 0u - 1);
	sl_token_count(p, b, 0u - 1);
	*last = sl_match_token(length, sl_token_distance(a));
	sl_token_count(p, *last, 1);
	right->first += right->step;
	right->n--;
}

/* A run, which may go on behind its slice. */
SL_HD uint32_t sl_run_token(const struct sl_parse *p, uint32_t at)
{
	uint32_t left = p->end - at, most = left < SL_MATCH_MAX ? left : (uint32_t)SL_MATCH_MAX;

	return sl_run_at(p->data, p->run_starts, at, most, p->cost);
}

/* The last place from .. to - 1 that begins a run, plus 1; 0: none. */
SL_HD uint32_t sl_last_run_start(const uint32_t *run_starts, uint32_t from, uint32_t to)
{
	while (to > from) {
		uint32_t first = (to - 1) / 32 * 32, bits = run_starts[first / 32];

		bits &= 0xffffffffu >> (first + 32 - to);
		bits = first < from ? bits >> (from - first) << (from - first) : bits;
		if (bits)
			return first + sl_floor_log2(bits) + 1;
		to = first;
	}
	return 0;
}

/*
 * Where the first token from a slice on begins, when the last run before began at a place that is
 * given plus 1; 0: in the history. Its matches follow each other from the place behind.
 */
SL_HD uint32_t sl_run_resumed(const struct sl_parse *p, uint32_t run, uint32_t from)
{
	uint32_t first = run ? run : (uint32_t)SL_HISTORY;
	uint32_t at = from - (from - first) % SL_MATCH_MAX;
	bool starts_run = p->run_starts[from / 32] >> from % 32 & 1;
	uint32_t length = starts_run || at == from ? 0 : sl_token_length(sl_run_token(p, at));

	return length ? at + length : from;
}

/* The same as sl_parse_matches() for runs alone; the first token begins at at. */
SL_HD void sl_parse_runs(
	const struct sl_parse *p, uint32_t at, uint32_t to, struct sl_tokens *tokens)
{
	while (at < to) {
		uint32_t token = sl_run_token(p, at);

		sl_token_add(p, tokens, token ? token : p->data[at]);
		at += token ? sl_token_length(token) : 1;
	}
}

/*
 * What a slice takes, by matches of which found is that at its first place, or by runs that begin
 * in it, which may go on behind.
 */
SL_HD uint32_t sl_slice_cost(const struct sl_parse *p, enum sl_match_mode mode, uint32_t from,
	uint32_t *found, uint32_t step)
{
	struct sl_tokens tokens = {found, step, 0, 0};
	uint32_t to = from + SL_SLICE;

	if (mode == SL_MODE_MATCHES)
		sl_parse_matches(p, from, to, found, &tokens);
	else
		sl_parse_runs(p, from + sl_run_length(p->run_starts, from, SL_SLICE), to, &tokens);
	return tokens.cost;
}

#endif
