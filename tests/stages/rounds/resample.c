/*
 * resample.c - compares the ends of the runs of copies with their definition (resample.h), and the
 * likelihoods of many small filters with the exact one, whose mean must be the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/execute/execute.h"
#include "pipeline/resolve/resolve.h"
#include "stages/host/host.h"
#include "stages/rounds/resample.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/filter_check.h"

enum { MOST = 300 };

/* --- copies ----------------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t some(void)
{
	state += 0x9e3779b97f4a7c15u;
	return sl_draw(1, state, 0).at[0] | (uint64_t)sl_draw(1, state, 1).at[0] << 32;
}

static uint64_t sorted_draws[MOST];

/* The slots j before `slots` with (j + u_j) S < C, for C = part / 2^32 of a unit. */
static uint32_t slots_below(const struct sl_filter_pass *p, uint32_t slots, sl_u128 c)
{
	const uint64_t s = p->weight[p->n - 1];
	uint32_t n = 0;

	for (uint32_t j = 0; j < slots; j++)
		n += ((sl_u128)j << 32 | sl_filter_uniform(p, j)) * s < c << 32;
	return n;
}

/* E_i by its definition. */
static uint32_t end_of(const struct sl_filter_pass *p, uint32_t i)
{
	const uint64_t s = p->weight[p->n - 1];
	uint32_t copies = 0, all = 0, n = 0;
	sl_u128 rest = 0;

	if (p->scheme == SL_RESAMPLE_MULTINOMIAL) {
		while (n < p->n && (sl_u128)sorted_draws[n] * s < (sl_u128)p->weight[i] << 63)
			n++;
		return n;
	}
	if (p->scheme != SL_RESAMPLE_RESIDUAL)
		return slots_below(p, p->n, (sl_u128)p->weight[i] * p->n);
	for (uint32_t k = 0; k < p->n; k++) {
		sl_u128 w = p->weight[k] - (k > 0 ? p->weight[k - 1] : 0);

		all += (uint32_t)(w * p->n / s);
		copies += k <= i ? (uint32_t)(w * p->n / s) : 0;
		rest += k <= i ? w * p->n % s : 0;
	}
	return copies + slots_below(p, p->n - all, rest);
}

/* Random weights, of which some are 0 or equal, or nearly all is in one. */
static void choose_weights(uint64_t *weight, uint32_t n, int k)
{
	const int kind = (int)(some() % 4);

	for (uint32_t i = 0; i < n; i++)
		weight[i] = kind == 0   ? UINT64_C(1) << k
		            : kind == 1 ? some() >> (64 - k)
		            : kind == 2 ? (some() >> (64 - k)) >> some() % 63
		                        : some() % 3 * (some() % 2);
	weight[some() % n] = UINT64_C(1) << k; /* the largest */
}

TEST(runs_of_copies_are_those_of_the_definition)
{
	static uint64_t weight[MOST], draw[MOST];
	static uint32_t end[MOST], steps[MOST];
	static uint8_t fate[MOST];
	static float log_weight[MOST];
	uint64_t word[SL_FILTER_MOMENTS];
	sl_u128 j;

	for (int test = 0; test < 400; test++) {
		uint64_t first_id = some();
		struct sl_filter_pass p = {.seed = some(),
			.first_id = &first_id,
			.last = true,
			.zeroes = true,
			.n = 1 + (uint32_t)(some() % MOST),
			.step = (uint32_t)test,
			.scheme = (enum sl_resampling_scheme)(test % 4),
			.weight = weight,
			.draw = draw,
			.end = end,
			.word = word};
		const struct sl_loops *loops = sl_find_loops(test % 8 < 4 ? "baseline" : NULL);

		p.columns =
			(struct sl_columns){.log_weight = log_weight, .fate = fate, .steps = steps};
		while (1u << p.log_n < p.n)
			p.log_n++;
		choose_weights(weight, p.n, 63 - p.log_n);
		for (uint32_t i = 1; i < p.n; i++)
			weight[i] += weight[i - 1];
		j = (sl_u128)(p.n / 2) << 32 | sl_filter_uniform(&p, 0); /* where a slot begins */
		if (p.n > 2 && test % 4 == 0 && test % 16 < 8)
			weight[p.n / 2] = (uint64_t)(j * weight[p.n - 1] / p.n >> 32) + some() % 2;
		loops->filter(SL_FILTER_DRAW, &p);
		qsort(draw, p.n, sizeof(*draw), filter_draw_order);
		memcpy(sorted_draws, draw, sizeof(draw));
		loops->filter(SL_FILTER_COPY, &p);
		for (uint32_t i = 1; i < p.n; i++)
			end[i] += end[i - 1];
		loops->filter(SL_FILTER_END, &p);
		for (uint32_t i = 0; i < p.n; i++)
			if (end[i] != end_of(&p, i))
				fail_msg("test %d, %s: run %u of %u ends at %u, not %u", test,
					sl_resampling_schemes[p.scheme], i, p.n, end[i],
					end_of(&p, i));
		assert_int_equal(end[p.n - 1], p.n);
	}
}

/* --- likelihoods ------------------------------------------------------------------------------ */

/* y = x + eps, x' = x + eta, variances 1 and 0.5, x(0) with variance 2, observed at 0.3, -1, 2, 1. */
static double exact(void)
{
	static const double y[] = {0.3, -1, 2, 1};
	double mean = 0, variance = 2, sum = 0;

	for (int t = 0; t < 4; t++) {
		double f = variance + 1, off = y[t] - mean;

		sum -= 0.5 * (log(2 * 3.14159265358979323846 * f) + off * off / f);
		mean += variance / f * off;
		variance = variance / f + 0.5;
	}
	return sum;
}

static void check_mean(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, bool stopped)
{
	double sum = 0, square = 0, n = (double)m->n;

	(void)w, (void)session, (void)stopped;
	for (size_t i = 0; i < m->n; i++) {
		double z = exp((double)m->line[i].tally.log_likelihood * 0x1p-32 - exact());

		sum += z;
		square += z * z;
	}
	print_message("%s: %.0f filters, mean %.5f +- %.5f\n", (const char *)ctx, n, sum / n,
		sqrt((square / n - sum * sum / n / n) / n));
	assert_true(fabs(sum / n - 1) < 4 * sqrt((square / n - sum * sum / n / n) / n));
	assert_true(square / n - sum * sum / n / n > 1e-3);
}

TEST(likelihoods_have_the_exact_mean)
{
	static struct sl_config c;
	static struct sl_choices choices;
	char path[] = "/tmp/smc_XXXXXX", text[512];
	int file = mkstemp(path);

	assert_true(file >= 0 && write(file, "0.3\n-1\n2\n1\n", 11) == 11 && close(file) == 0);
	for (int k = 0; sl_resampling_schemes[k]; k++) {
		struct sl_control control = {.discard = true};
		const struct sl_execution in_memory = {.in_memory = true,
			.control = &control,
			.results = check_mean,
			.ctx = (void *)(uintptr_t)sl_resampling_schemes[k]};
		struct sl_reader *reader;
		struct sl_workspace *w;
		struct sl_plan *plan;

		snprintf(text, sizeof(text),
			"run: {name: m, particles: 160000, batch: 16, device: cpu, threads: 2}\n"
			"model: {smc: {state_space: local_level, observations: %s, sigma2_eta: 0.5, "
			"sigma2_eps: 1, variance: 2, resample: %s}}\noutput: {format: none}\n",
			path, sl_resampling_schemes[k]);
		assert_ok(sl_config_open_text("m", text, strlen(text), NULL, 0, &c, &reader));
		assert_ok(sl_resolve(&c, reader, &choices));
		sl_config_close(reader);
		assert_ok(sl_execute_choose_memory(&choices, false));
		assert_ok(sl_plan_make(&c, &choices, &plan));
		assert_ok(sl_workspace_open(plan, &w));
		assert_ok(sl_workspace_allocate(w));
		assert_ok(sl_execute(w, &in_memory));
		sl_workspace_close(w);
		sl_plan_free(plan);
	}
	assert_int_equal(unlink(path), 0);
}
