/* resample.c - the steps of a filter on host and device, and what its counters say. */
#include "stages/rounds/resample.h"

#include "stages/batch/recipe.h"
#include "stages/rounds/rounds.h"

/* --- memory ----------------------------------------------------------------------------------- */

/* Columns of a slot: those of the particle that moves there do not matter. */
#define OF_SLOT (SL_BIT(SL_COLUMN_log_weight) | SL_BIT(SL_COLUMN_fate) | SL_BIT(SL_COLUMN_steps))

/* Columns that move with a particle. Constant ones are in place. */
static sl_column_set moved_columns(const struct sl_recipe *r)
{
	return sl_stored_columns(r) & ~r->constants & ~OF_SLOT;
}

static bool sorts(const struct sl_resampling *f)
{
	return f->scheme == SL_RESAMPLE_MULTINOMIAL || f->n_quantiles > 0;
}

void sl_filter_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b)
{
	sl_layout_columns(a, moved_columns(r), n, &b->state[0].columns);
	b->filter_weight = (uint64_t *)sl_cut_items(a, n, sizeof(*b->filter_weight));
	b->filter_end = (uint32_t *)sl_cut_items(a, n, sizeof(*b->filter_end));
	if (sorts(&r->resampling))
		b->filter_draw = (uint64_t *)sl_cut_items(a, n, sizeof(*b->filter_draw));
	if (r->resampling.n_quantiles > 0)
		b->filter_key = (uint32_t *)sl_cut_items(a, n, sizeof(*b->filter_key));
}

/* The backends of a filter: those of the run, or the best of its device. */
static struct sl_choice choose(const struct sl_recipe *r, enum sl_primitive p)
{
	struct sl_choice c = p == SL_SORT   ? r->sort
	                     : p == SL_SCAN ? r->scan
	                                    : (struct sl_choice){0};

	if (!c.backend)
		(void)sl_find(p, r->kernels ? "shared" : "cpu", &c.backend);
	return c;
}

size_t sl_filter_scratch(const struct sl_recipe *r, uint32_t n)
{
	struct sl_shape shape = {.n = n,
		.n_out = n,
		.type = SL_U64,
		.n_columns = SL_COMPACT_COLUMNS_MAX,
		.keys_only = r->resampling.n_quantiles == 0};
	size_t most = 0;

	for (int p = SL_SCAN; p <= SL_EXPAND; p++) {
		struct sl_choice c = choose(r, (enum sl_primitive)p);
		size_t bytes;

		if (p == SL_COMPACT || p == SL_DEFLATE || (p == SL_SORT && !sorts(&r->resampling)))
			continue;
		shape.tuning = c.tuning;
		bytes = sl_scratch(c.backend, &shape);
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* --- a step ----------------------------------------------------------------------------------- */

static uint32_t log_of(uint32_t n)
{
	uint32_t log = 0;

	while (log < 31 && UINT32_C(1) << log < n)
		log++;
	return log;
}

/* The pass after a step, whose counters are at word. */
static struct sl_filter_pass begin_pass(
	const struct sl_recipe *r, const struct sl_batch *b, uint32_t step, uint64_t *word)
{
	const struct sl_resampling *f = &r->resampling;
	struct sl_filter_pass p = {.seed = r->seed, .n = b->n, .step = step};

	p.first_id = b->first_id_on_device ? b->first_id_on_device : &b->first_id;
	p.n_moments = f->n_moments;
	p.n_quantiles = f->n_quantiles;
	for (uint32_t k = 0; k < f->n_quantiles; k++)
		p.quantile[k] = (uint64_t)fmax(1, floor(fma(f->quantile[k], 0x1p32, 0.5)));
	p.scheme = f->scheme;
	p.least = (uint32_t)ceil(f->below * b->n);
	p.last = step + 1 == f->steps;
	p.zeroes = p.last || !b->first_id_on_device;
	p.log_n = (int)log_of(b->n);
	p.columns = b->columns;
	p.weight = b->filter_weight, p.draw = b->filter_draw, p.end = b->filter_end, p.word = word;
	p.key = b->filter_key;
	for (uint32_t k = 0; k < f->n_moments; k++)
		p.moment[k] = (const float *)sl_column_at(&b->columns, f->moment[k]);
	return p;
}

static enum sl_status scan(
	const struct sl_recipe *r, struct sl_exec *x, void *at, uint32_t n, enum sl_type type)
{
	struct sl_scan_job job = {.in = at, .out = at, .n = n, .type = type, .inclusive = true};
	struct sl_choice c = choose(r, SL_SCAN);

	x->tuning = c.tuning;
	return sl_scan(c.backend, x, &job);
}

/* Sorts n keys of 63 bits, or of 32 bits with an index. */
static enum sl_status sort(
	const struct sl_recipe *r, struct sl_exec *x, void *key, uint32_t *index, uint32_t n)
{
	struct sl_sort_job job = {.key = key, .index = index, .n = n, .scan = r->scan};
	struct sl_choice c = choose(r, SL_SORT);

	job.type = index ? SL_U32 : SL_U64;
	job.end_bit = index ? 32 : 63;
	x->tuning = c.tuning;
	return sl_sort(c.backend, x, &job);
}

/* Copies the columns of the particles to their slots. */
static enum sl_status move(const struct sl_recipe *r, struct sl_exec *x, const struct sl_batch *b,
	const struct sl_filter_pass *p)
{
	const sl_column_set set = moved_columns(r);
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX];
	struct sl_expand_job job = {.runs = p->end,
		.n = p->n,
		.n_out = p->n,
		.type = SL_U32,
		.form = SL_RUN_ENDS,
		.column = column,
		.scan = r->scan};
	struct sl_choice c = choose(r, SL_EXPAND);

	for (int k = 0; k < SL_COLUMN_COUNT; k++)
		if (SL_HAS(set, k))
			column[job.n_columns++] = (struct sl_compact_column){
				.from = sl_column_at(&b->columns, (enum sl_column)k),
				.to = sl_column_at(&b->state[0].columns, (enum sl_column)k),
				.bytes = sl_column_facts[k].bytes};
	x->tuning = c.tuning;
	return sl_expand(c.backend, x, &job);
}

/* Sets the quantiles of all moments, after the scan of the weights. */
static enum sl_status find_quantiles(const struct sl_recipe *r, struct sl_exec *x,
	struct sl_batch *b, struct sl_filter_pass p, sl_filter_runner *run, void *ctx)
{
	for (; p.n_quantiles > 0 && p.sorted < p.n_moments; p.sorted++) {
		SL_TRY(run(r, ctx, b, SL_FILTER_KEY, &p));
		SL_TRY(sort(r, x, p.key, p.end, p.n));
		SL_TRY(run(r, ctx, b, SL_FILTER_RANK, &p));
		SL_TRY(scan(r, x, p.draw, p.n, SL_U64));
		SL_TRY(run(r, ctx, b, SL_FILTER_QUANTILE, &p));
	}
	return SL_OK;
}

static enum sl_status resample(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	const struct sl_filter_pass *p, sl_filter_runner *run, void *ctx)
{
	SL_TRY(run(r, ctx, b, SL_FILTER_LARGEST, p));
	SL_TRY(run(r, ctx, b, SL_FILTER_WEIGH, p));
	SL_TRY(scan(r, x, p->weight, p->n, SL_U64));
	SL_TRY(find_quantiles(r, x, b, *p, run, ctx));
	if (p->scheme == SL_RESAMPLE_RESIDUAL) {
		SL_TRY(run(r, ctx, b, SL_FILTER_COPY, p));
		SL_TRY(scan(r, x, p->end, p->n, SL_U32));
	}
	if (p->scheme == SL_RESAMPLE_MULTINOMIAL) {
		SL_TRY(run(r, ctx, b, SL_FILTER_DRAW, p));
		SL_TRY(sort(r, x, p->draw, NULL, p->n));
	}
	SL_TRY(run(r, ctx, b, SL_FILTER_END, p));
	return move(r, x, b, p);
}

/* The constant columns that are 0, such as the states that a state space does not have. */
static sl_column_set zero_columns(const struct sl_recipe *r)
{
	struct sl_particle constant = r->constant;
	const struct sl_columns at = sl_columns_of(&constant);
	sl_column_set set = 0;

	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		double value =
			sl_column_value((enum sl_column)k, sl_column_at(&at, (enum sl_column)k));

		if (SL_HAS(r->constants & ~OF_SLOT, k) && value == 0 && !signbit(value))
			set |= SL_BIT(k);
	}
	return set;
}

/*
 * All particles take the step of p. Their fates and numbers of steps are read only after the last
 * one, or where each step is counted.
 */
static void begin_step(const struct sl_recipe *r, struct sl_batch *b,
	const struct sl_filter_pass *p, const uint64_t *resampled, sl_column_set zero)
{
	const sl_column_set same = SL_BIT(SL_COLUMN_steps) | SL_BIT(SL_COLUMN_fate);
	struct sl_filter_peaks *peaks = &b->active_set.peaks;

	sl_active_set_begin(b, 1);
	b->active_set.zero = zero;
	b->active_set.unstored = p->last || r->grids.each_step ? 0 : same;
	b->active_set.taken = p->step;
	peaks->resampled = resampled;
	peaks->peak = &p->word[SL_FILTER_PEAK];
	peaks->magnitude = &p->word[SL_FILTER_MOMENTS + 2 * p->n_moments];
	memcpy(peaks->moment, p->moment, sizeof(p->moment));
}

/* Exchanges the two sets of columns that move. */
static void exchange(const struct sl_recipe *r, struct sl_columns *a, struct sl_columns *b)
{
	const sl_column_set set = moved_columns(r);

#define COLUMN(name, type, unit, record, component, help) \
	if (SL_HAS(set, SL_COLUMN_##name)) {              \
		type *at = a->name;                       \
                                                          \
		a->name = b->name;                        \
		b->name = at;                             \
	}
#include "stages/particle/columns.def"
#undef COLUMN
}

enum sl_status sl_filter_run(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	sl_filter_runner *run, void *ctx, uint64_t *counters)
{
	const uint32_t words =
		sl_filter_step_words(r->resampling.n_moments, r->resampling.n_quantiles);
	const sl_column_set zero = zero_columns(r);
	const uint64_t *resampled = NULL;

	for (uint32_t step = 0; b->n > 0 && step < r->resampling.steps; step++) {
		struct sl_filter_pass p = begin_pass(r, b, step, counters + (size_t)step * words);

		SL_TRY(sl_check_cancelled(r));
		begin_step(r, b, &p, resampled, zero);
		SL_TRY(run(r, ctx, b, SL_FILTER_ADVANCE, &p));
		SL_TRY(resample(r, x, b, &p, run, ctx));
		exchange(r, &b->columns, &b->state[0].columns);
		resampled = &p.word[SL_FILTER_RESAMPLED];
	}
	return SL_OK;
}

/* --- results ---------------------------------------------------------------------------------- */

/* The mean of x^power by its sum in a word. */
static double mean_of(uint64_t sum, int log_n, uint64_t largest, int power, double weight)
{
	return (double)(int64_t)sum / sl_filter_scale(log_n, largest, power) / weight;
}

void sl_filter_read_step(const struct sl_resampling *f, uint32_t n, const uint64_t *word,
	double *before, double value[SL_FILTER_VALUES])
{
	const uint64_t *q = word + SL_FILTER_SQUARES, *moment = word + SL_FILTER_MOMENTS;
	const int log_n = (int)log_of(n);
	const double sum = (double)word[SL_FILTER_SUM], weight = sum * sl_filter_power(log_n - 63);
	double squares = 0;

	for (int k = 3; k >= 0; k--)
		squares = squares * 0x1p32 + (double)q[k];
	value[0] = (double)sl_filter_of_order((uint32_t)word[SL_FILTER_PEAK]) +
	           sl_log_double(weight / n) + *before;
	value[1] = sum / squares * sum;
	value[2] = (double)word[SL_FILTER_RESAMPLED];
	*before = value[2] > 0 ? value[0] : *before;
	for (uint32_t k = 0; k < f->n_moments; k++) {
		const uint64_t largest = moment[2 * f->n_moments + k];
		const double mean = mean_of(moment[2 * k], log_n, largest, 1, weight);

		value[3 + 2 * k] = mean;
		value[4 + 2 * k] =
			fma(-mean, mean, mean_of(moment[2 * k + 1], log_n, largest, 2, weight));
	}
	for (uint32_t k = 0; k < f->n_quantiles * f->n_moments; k++)
		value[3 + 2 * f->n_moments + k] =
			(double)sl_filter_of_order((uint32_t)moment[3 * f->n_moments + k]);
}

enum sl_status sl_filter_complete(const struct sl_recipe *r, struct sl_batch *b)
{
	const struct sl_resampling *f = &r->resampling;
	const uint64_t *word = sl_filter_counters_of(r, b->bins);
	double before = 0, value[SL_FILTER_VALUES] = {0};

	for (uint32_t step = 0; b->n > 0 && step < f->steps; step++) {
		if (word[SL_FILTER_SUM] > 0)
			sl_filter_read_step(f, b->n, word, &before, value);
		if (word[SL_FILTER_SUM] == 0 || !(fabs(value[0]) < 0x1p30))
			return sl_fail(SL_CHECK_FAILED,
				"no particle has a weight after observation %u (all are 0 or not "
				"numbers), or the likelihood is out of range: the state space cannot "
				"have produced this observation; check its parameters and the data",
				step + 1);
		word += sl_filter_step_words(f->n_moments, f->n_quantiles);
	}
	b->tally.log_likelihood = (int64_t)floor(fma(value[0], 0x1p32, 0.5));
	return SL_OK;
}
