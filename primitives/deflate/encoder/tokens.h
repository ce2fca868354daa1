/*
 * encoder/tokens.h - turns a segment into tokens (literals, runs, matches), slice by slice; shared
 * by host and device.
 *
 * If runs are long, only runs are searched, by the positions where they start. Otherwise the first
 * positions are encoded both ways, and matches (matches.h) are searched in the rest only if they
 * made these positions shorter: most byte planes of particles are either noise or long runs, and
 * the search of all positions takes most of the time.
 *
 * Slices of 128 bytes are parsed independently. A match waits if the next position has a longer
 * one, as in zlib (lazy matching). A match that was cut at the border of two slices is joined
 * again. Long runs are cut every 258 bytes from where they start, so that each slice knows the cuts
 * of the slices before it.
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_TOKENS_H
#define SL_PRIMITIVES_DEFLATE_ENCODER_TOKENS_H

#include "matches.h"

enum {
	/* Mean bytes per run, above which only runs are searched. */
	SL_RUN_LENGTH_MEAN = 32,
	/* The probe: the first slices, whose cost is computed both by runs and by matches. */
	SL_PROBE_SLICES = 16,
	SL_PROBE = SL_PROBE_SLICES * SL_SLICE,
	/* With fewer matches in the probe, matches are not searched in the rest. */
	SL_PROBE_MATCHES_MIN = 16,
	/* Matches must save one part in this number of the cost by runs. */
	SL_GAIN_DIVISOR = 100
};

/* --- modes ------------------------------------------------------------------------------------ */

/* Mode before any search: matches are only worth a search if there are many short runs. */
SL_HD enum sl_match_mode sl_match_mode_initial(uint32_t runs, uint32_t n)
{
	return runs > n / SL_RUN_LENGTH_MEAN ? SL_MODE_MATCHES : SL_MODE_RUNS;
}

/* True if matches save enough in the probe; arguments: its cost by runs and by matches. */
SL_HD bool sl_matches_gain(uint32_t by_runs, uint32_t by_matches)
{
	return by_matches < by_runs - by_runs / SL_GAIN_DIVISOR;
}

/* Mode after the probe. */
SL_HD enum sl_match_mode sl_match_mode_after_probe(
	bool gain, uint32_t runs, uint32_t sum, uint32_t n)
{
	if (gain)
		return SL_MODE_MATCHES;
	return sl_is_incompressible(sum, n) && runs > n - n / SL_RUN_LENGTH_MEAN ? SL_MODE_STORED
	                                                                         : SL_MODE_RUNS;
}

/* Mode of an encoder without matches; initial is sl_match_mode_initial(). */
SL_HD enum sl_match_mode sl_match_mode_fast(
	enum sl_match_mode initial, uint32_t runs, uint32_t sum, uint32_t n)
{
	return initial == SL_MODE_MATCHES ? sl_match_mode_after_probe(false, runs, sum, n)
	                                  : initial;
}

/* --- slices ----------------------------------------------------------------------------------- */

/* Input of the parse of a segment. */
struct sl_parse {
	const uint8_t *data;
	const uint32_t *run_starts;
	const struct sl_costs *cost;
	uint32_t end; /* end of the segment */
	/*
	 * Counts of symbols: literals, end of block and lengths, then distances. NULL: only the
	 * cost is summed and no token is stored.
	 */
	uint32_t *count;
};

/*
 * Tokens of a slice, step words apart: on the device the slices are interleaved, so that the
 * threads of a warp, which parse one slice each, access neighbouring words.
 */
struct sl_tokens {
	uint32_t *first;
	uint32_t step, n, cost;
};

/* Adds to a counter that other threads may update at the same time. */
SL_HD void sl_counter_add(uint32_t *count, uint32_t more)
{
#if defined(__CUDA_ARCH__) || defined(SL_EMULATED)
	atomicAdd(count, more);
#else
	*count += more;
#endif
}

/* Adds more to the counts of the symbols of a token. */
SL_HD void sl_token_count(const struct sl_parse *p, uint32_t token, uint32_t more)
{
	uint32_t length = sl_token_length(token), distance = sl_token_distance(token);

	sl_counter_add(&p->count[length ? sl_length_symbol(length).symbol : token], more);
	if (length > 0)
		sl_counter_add(
			&p->count[SL_LITLEN_SYMBOLS + sl_distance_symbol(distance).symbol], more);
}

/* Estimated cost of a token. */
SL_HD uint32_t sl_token_cost(const struct sl_parse *p, uint32_t token)
{
	uint32_t length = sl_token_length(token);

	return length ? sl_match_cost(length, sl_token_distance(token)) : p->cost->literal[token];
}

/* Appends a token and counts its symbols, or adds its cost. */
SL_HD void sl_token_add(const struct sl_parse *p, struct sl_tokens *t, uint32_t token)
{
	if (p->count == NULL) {
		t->cost += sl_token_cost(p, token);
		return;
	}
	t->first[t->n++ * t->step] = token;
	sl_token_count(p, token, 1);
}

/*
 * Loads tokens i .. i + SL_LOADS_IN_FLIGHT - 1 of n before any is used, to overlap the latencies;
 * those past the end are 0.
 */
SL_HD void sl_tokens_load(
	const uint32_t *first, uint32_t step, uint32_t i, uint32_t n, uint32_t *token)
{
	for (uint32_t k = 0; k < SL_LOADS_IN_FLIGHT; k++)
		token[k] = i + k < n ? first[(i + k) * step] : 0;
}

/*
 * Parses the slice from .. to - 1 by the matches found at its positions. tokens may overwrite
 * found. Positions inside a match are skipped one by one instead of jumped over, so that all
 * threads of a warp stay at the same position of their slices.
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

/*
 * Joins a match that was cut at the border of two slices: extends the last token of left, drops the
 * first of right.
 */
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

/* The token of a run at a position; it may end after its slice. */
SL_HD uint32_t sl_run_token(const struct sl_parse *p, uint32_t at)
{
	uint32_t left = p->end - at, most = left < SL_MATCH_MAX ? left : (uint32_t)SL_MATCH_MAX;

	return sl_run_at(p->data, p->run_starts, at, most, p->cost);
}

/* Last position from .. to - 1 that starts a run, plus 1; 0: none. */
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
 * Position of the first token that starts in a slice, given where the last run before started, plus
 * 1 (0: in the history). The matches of that run follow each other every 258 bytes from its second
 * byte on.
 */
SL_HD uint32_t sl_run_resumed(const struct sl_parse *p, uint32_t run, uint32_t from)
{
	uint32_t first = run ? run : (uint32_t)SL_HISTORY;
	uint32_t at = from - (from - first) % SL_MATCH_MAX;
	bool starts_run = p->run_starts[from / 32] >> from % 32 & 1;
	uint32_t length = starts_run || at == from ? 0 : sl_token_length(sl_run_token(p, at));

	return length ? at + length : from;
}

/* Parses a slice by runs only; the first token starts at position at. */
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
 * Cost of a slice, by the matches found at its positions, or by the runs that start in it, which
 * may end after it.
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
