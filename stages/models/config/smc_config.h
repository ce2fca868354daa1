/*
 * smc_config.h - the configuration of the model smc: option table, checks, the rules made from it,
 * and the observations. Host only; smc.h includes it.
 */
#ifndef SL_STAGES_MODELS_CONFIG_SMC_CONFIG_H
#define SL_STAGES_MODELS_CONFIG_SMC_CONFIG_H

#include <unistd.h>

#include "stages/models/config/checksum_config.h"

struct sl_smc_config {
	int state_space, resample;
	double resample_below;
	char observations[SL_TEXT_BYTES];
	struct sl_texts columns;
	struct sl_counts checksum;
	struct sl_reals quantiles, mean, variance, transition, transition_noise, observation,
		observation_noise;
	double sigma2_eta, sigma2_eps, mu, phi, sigma, dt;
	uint64_t n_steps, seen; /* of the file; set by sl_smc_load() */
};

static const char *const sl_smc_spaces[] = {
	"local_level", "linear_gaussian", "ungm", "stochastic_volatility", "bearings", NULL};

#define OPTION(...)                    SL_OPTION(sl_smc_config, __VA_ARGS__)
#define NUMBERS(path, least, text)     OPTION(path, REALS, NUMBER, least, 1e30, .help = text)
#define VALUE(path, least, most, text) OPTION(path, REAL, NUMBER, least, most, .help = text)
static const struct sl_option sl_smc_options[] = {
	OPTION(state_space, CHOICE, NUMBER, 0, 0, .required = true, .choices = sl_smc_spaces,
		.help = "local_level: x' = x + eta, y = x + eps; linear_gaussian: x' = F x + noise, "
			"y = H x + noise, up to 4 states; ungm: x' = x/2 + 25 x/(1 + x^2) + 8 cos(1.2 t) + "
			"eta, y = x^2/20 + eps; stochastic_volatility: x' = mu + phi (x - mu) + sigma eta, "
			"y = exp(x/2) eps; bearings: (x, y, vx, vy) with random accelerations, whose angle "
			"atan2(y, x) + eps is observed, rad"),
	OPTION(observations, TEXT, NUMBER, 0, 0, .required = true,
		.help = "csv file with a line for each observation, relative to the working directory; "
			"its first line may name the columns. A missing observation (NA, NaN or empty) "
			"weighs no state; at the end of the file, missing ones are forecasts"),
	OPTION(columns, TEXTS, NUMBER, 0, 0,
		.help = "names of the columns that are observed; if left out, all of the file"),
	OPTION(checksum, COUNTS, NUMBER, 0, UINT32_MAX,
		.help = "the CRC-32 of the observations as doubles: a different one is an error. If left "
			"out, it is computed and stored in run.json for --resume and verify"),
	OPTION(resample, CHOICE, NUMBER, 0, 0, .choices = sl_resampling_schemes,
		.help = "systematic (the default), stratified, residual or multinomial"),
	OPTION(resample_below, REAL, NUMBER, 0, 1, .fallback = "0.5",
		.help = "resample if the effective sample size is less than this share of the particles; "
			"1: after each step, 0: only at the end"),
	OPTION(quantiles, REALS, NUMBER, 0, 1,
		.help = "shares of the weight, such as [0.05, 0.5, 0.95]: these quantiles of each state are "
			"results of each step"),
	NUMBERS(mean, -1e30, "mean of each state at the first observation; default 0, or mu"),
	NUMBERS(variance, 0,
		"variance of each state at the first observation; default of "
		"stochastic_volatility: the stationary one"),
	NUMBERS(transition, -1e30, "linear_gaussian: the matrix F, row by row"),
	NUMBERS(transition_noise, -1e30, "linear_gaussian: covariance of the noise of the states"),
	NUMBERS(observation, -1e30, "linear_gaussian: the matrix H, row by row"),
	NUMBERS(observation_noise, -1e30,
		"linear_gaussian: covariance of the noise of observations"),
	VALUE(sigma2_eta, 0, 1e30, "local_level, ungm: variance of the noise of the state"),
	VALUE(sigma2_eps, 1e-30, 1e30,
		"local_level, ungm, bearings: variance of the noise of the observations"),
	VALUE(mu, -1e3, 1e3, "stochastic_volatility: mean of the state"),
	VALUE(phi, -1, 1, "stochastic_volatility: persistence of the state"),
	VALUE(sigma, 0, 1e3,
		"standard deviation of the noise of the state (stochastic_volatility), or of the "
		"accelerations along x and y (bearings)"),
	VALUE(dt, 1e-30, 1e30, "bearings: the time between two observations"),
};
#undef OPTION
#undef NUMBERS
#undef VALUE

/* --- observations ----------------------------------------------------------------------------- */

/* Writes the rows of the data: an observation, and what else depends on the time. */
static void sl_smc_fill(const struct sl_volume *v, const struct sl_smc *r)
{
	float *row = (float *)(uintptr_t)r->data.at;

	for (uint32_t t = 0; t < r->n_steps; t++, row += r->row) {
		for (uint32_t k = 0; k < r->seen; k++)
			row[k] = (float)v->pixels[(size_t)t * r->seen + k];
		if (r->space == SL_SMC_UNGM)
			row[1] = (float)(8 * cos(1.2 * t));
		if (r->space == SL_SMC_BEARINGS) {
			const double y = isnan(v->pixels[t]) ? 0 : v->pixels[t];

			row[1] = (float)cos(y);
			row[2] = (float)sin(y);
		}
	}
}

/* See struct sl_model. */
static enum sl_status sl_smc_load(
	void *config, const void *rules, const struct sl_volume_reader *reader, const char **key)
{
	struct sl_smc_config *c = (struct sl_smc_config *)config;
	struct sl_volume v = {.size = {0}};
	enum sl_status s;

	*key = "observations";
	c->n_steps = 0;
	s = reader->table(c->observations, &c->columns, SL_SMC_STATES, &v);
	if (s == SL_DISK && sl_path_is_missing(c->observations, R_OK))
		return SL_USAGE;
	SL_TRY(s);
	c->seen = v.size[0];
	c->n_steps = v.size[1];
	s = sl_check_crc(&c->checksum, 0, v.pixels,
		(size_t)c->seen * c->n_steps * sizeof(*v.pixels), c->observations, "observations",
		"smc");
	if (s == SL_OK && rules)
		sl_smc_fill(&v, (const struct sl_smc *)rules);
	reader->give(&v);
	return s;
}

/* --- the rules -------------------------------------------------------------------------------- */

/* The keys of state spaces, and the spaces that need and use each, as bits. */
static void sl_smc_check_keys(const struct sl_smc_config *c, const struct sl_model_check *check)
{
	static const struct {
		const char *key, *use;
		int needs, uses;
	} keys[] = {{"transition", "linear_gaussian", 2, 2},
		{"transition_noise", "linear_gaussian", 2, 2},
		{"observation", "linear_gaussian", 2, 2},
		{"observation_noise", "linear_gaussian", 2, 2},
		{"sigma2_eta", "local_level or ungm", 5, 5},
		{"sigma2_eps", "local_level, ungm or bearings", 21, 21},
		{"mu", "stochastic_volatility", 8, 8}, {"phi", "stochastic_volatility", 8, 8},
		{"sigma", "stochastic_volatility or bearings", 24, 24}, {"dt", "bearings", 16, 16},
		{"variance", "this state space", 23, 31}};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		sl_model_require(
			check, keys[k].needs >> c->state_space & 1, keys[k].key, keys[k].use);
		sl_model_refuse_unused(
			check, keys[k].uses >> c->state_space & 1, keys[k].key, keys[k].use);
	}
}

/* Copies a matrix of so many rows and columns; reports another number of items. */
static void sl_smc_matrix(const struct sl_reals *from, uint32_t rows, uint32_t columns,
	const char *key, const struct sl_model_check *check, double *to)
{
	if (from->n != rows * columns || (from->rows > 0 && from->rows != rows)) {
		check->complain(check->ctx, key,
			"has %u numbers, and %u rows of %u are needed, by the states of variance and "
			"the columns of the observations; write them row by row",
			from->n, rows, columns);
		return;
	}
	for (uint32_t i = 0; i < rows; i++)
		for (uint32_t k = 0; k < columns; k++)
			to[SL_SMC_STATES * i + k] = from->at[columns * i + k];
}

/*
 * Sets the lower triangular root of a covariance of n rows (Cholesky); false if it has none. A
 * variance may be 0.
 */
static bool sl_smc_root(const double *a, uint32_t n, double *root)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k <= i; k++) {
			double rest = a[SL_SMC_STATES * i + k], *to = &root[SL_SMC_STATES * i + k];

			if (fabs(a[SL_SMC_STATES * k + i] - rest) > 1e-12 * fabs(rest))
				return false;
			for (uint32_t j = 0; j < k; j++)
				rest -= root[SL_SMC_STATES * i + j] * root[SL_SMC_STATES * k + j];
			if (k < i)
				*to = root[SL_SMC_STATES * k + k] > 0
				              ? rest / root[SL_SMC_STATES * k + k]
				              : 0;
			else if (rest < -1e-12 * fabs(a[SL_SMC_STATES * i + i]))
				return false;
			else
				*to = rest > 0 ? sqrt(rest) : 0;
		}
	return true;
}

/* A state space in double precision. */
struct sl_smc_numbers {
	double start[SL_SMC_STATES], start_root[16], move[16], shift[SL_SMC_STATES], noise[16],
		see[16], seen_noise[16];
};

static void sl_smc_linear(const struct sl_smc_config *c, const struct sl_smc *r,
	const struct sl_model_check *check, struct sl_smc_numbers *s)
{
	double noise[16] = {0}, seen[16] = {0};

	sl_smc_matrix(&c->transition, r->dims, r->dims, "transition", check, s->move);
	sl_smc_matrix(&c->observation, r->seen, r->dims, "observation", check, s->see);
	sl_smc_matrix(&c->transition_noise, r->dims, r->dims, "transition_noise", check, noise);
	sl_smc_matrix(&c->observation_noise, r->seen, r->seen, "observation_noise", check, seen);
	if (!sl_smc_root(noise, r->dims, s->noise))
		check->complain(check->ctx, "transition_noise",
			"is not the covariance of a noise: make it symmetric, with no negative variance");
	if (!sl_smc_root(seen, r->seen, s->seen_noise))
		check->complain(check->ctx, "observation_noise",
			"is not the covariance of a noise: make it symmetric, with positive variances");
}

/* The spaces of one state. */
static void sl_smc_single(const struct sl_smc_config *c, struct sl_smc_numbers *s)
{
	const bool volatility = c->state_space == SL_SMC_STOCHASTIC_VOLATILITY;

	s->move[0] = volatility ? c->phi : 1;
	s->shift[0] = volatility ? c->mu * (1 - c->phi) : 0;
	s->noise[0] = volatility ? c->sigma : sqrt(c->sigma2_eta);
	s->see[0] = c->state_space == SL_SMC_UNGM ? 0.05 : 1;
	s->seen_noise[0] = volatility ? 1 : sqrt(c->sigma2_eps);
	if (volatility && c->mean.n == 0)
		s->start[0] = c->mu;
	if (volatility && c->variance.n == 0)
		s->start_root[0] = c->sigma / sqrt(1 - c->phi * c->phi);
}

/* Constant velocities, changed by accelerations that are constant between observations. */
static void sl_smc_bearings(const struct sl_smc_config *c, struct sl_smc_numbers *s)
{
	for (uint32_t k = 0; k < SL_SMC_STATES; k++)
		s->move[SL_SMC_STATES * k + k] = 1;
	for (uint32_t k = 0; k < 2; k++) {
		s->move[SL_SMC_STATES * k + k + 2] = c->dt;
		s->noise[SL_SMC_STATES * k + k] = c->sigma * c->dt * c->dt / 2;
		s->noise[SL_SMC_STATES * (k + 2) + k] = c->sigma * c->dt;
	}
	s->seen_noise[0] = sqrt(c->sigma2_eps);
}

/* Sets the inverse of the lower triangular root of the noise, and the constant of its density. */
static void sl_smc_set_density(
	const struct sl_smc_numbers *s, struct sl_smc *r, const struct sl_model_check *check)
{
	double inverse[16] = {0}, constant = 0;

	for (uint32_t i = 0; i < r->seen; i++) {
		const double *row = &s->seen_noise[SL_SMC_STATES * i];

		if (!(row[i] > 0)) {
			check->complain(check->ctx, "observation_noise",
				"has a variance of 0, so observations would have no density; make it positive");
			return;
		}
		constant -= log(row[i]) + 0.5 * log(2 * 3.14159265358979323846);
		inverse[SL_SMC_STATES * i + i] = 1 / row[i];
		for (uint32_t k = 0; k < i; k++) {
			double sum = 0;

			for (uint32_t j = k; j < i; j++)
				sum += row[j] * inverse[SL_SMC_STATES * j + k];
			inverse[SL_SMC_STATES * i + k] = -sum / row[i];
		}
	}
	for (uint32_t k = 0; k < 16; k++)
		r->scale[k] = (float)inverse[k];
	r->constant = (float)constant;
}

/* Sets the numbers of states and of observations; false after a problem. */
static bool sl_smc_make_sizes(
	const struct sl_smc_config *c, struct sl_smc *r, const struct sl_model_check *check)
{
	const bool linear = c->state_space == SL_SMC_LINEAR_GAUSSIAN;
	const bool bearings = c->state_space == SL_SMC_BEARINGS;
	const uint32_t most = linear || bearings ? SL_SMC_STATES : 1;

	r->dims = linear ? c->variance.n : most;
	r->seen = (uint32_t)c->seen;
	r->n_steps = (uint32_t)c->n_steps;
	r->row = r->space == SL_SMC_UNGM ? 2 : bearings ? 3 : r->seen;
	r->data = (struct sl_rules_data){.bytes = (size_t)r->row * r->n_steps * sizeof(float)};
	if (c->n_steps > 0 && !linear && r->seen != 1)
		check->complain(check->ctx, "columns",
			"are %u, and this state space has one number per observation; name one column",
			r->seen);
	if (c->variance.n > most || (linear && c->variance.n == 0) ||
		(bearings && c->variance.n != most))
		check->complain(check->ctx, "variance",
			"has %u numbers, and the state space has %s%u states; write one for each",
			c->variance.n, linear ? "1 to " : "", most);
	else if (c->mean.n > 0 && c->mean.n != r->dims)
		check->complain(check->ctx, "mean",
			"has %u numbers, and there are %u states; write one for each", c->mean.n,
			r->dims);
	else
		return c->n_steps > 0 && (linear || r->seen == 1);
	return false;
}

static void sl_smc_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_smc_config *c = (const struct sl_smc_config *)config;
	struct sl_smc *r = (struct sl_smc *)rules;
	struct sl_smc_numbers s = {{0}, {0}, {0}, {0}, {0}, {0}, {0}};

	(void)common;
	memset(r, 0, sizeof(*r));
	r->space = c->state_space;
	r->scheme = c->resample;
	r->below = c->resample_below;
	r->n_quantiles = c->quantiles.n;
	memcpy(r->quantile, c->quantiles.at, sizeof(r->quantile));
	sl_smc_check_keys(c, check);
	if (!sl_smc_make_sizes(c, r, check))
		return;
	for (uint32_t k = 0; k < r->dims; k++) {
		s.start[k] = c->mean.n > 0 ? c->mean.at[k] : 0;
		s.start_root[SL_SMC_STATES * k + k] =
			c->variance.n > 0 ? sqrt(c->variance.at[k]) : 0;
	}
	if (r->space == SL_SMC_LINEAR_GAUSSIAN)
		sl_smc_linear(c, r, check, &s);
	else if (r->space == SL_SMC_BEARINGS)
		sl_smc_bearings(c, &s);
	else
		sl_smc_single(c, &s);
	if (!(fabs(s.start_root[0]) <= 1e30))
		check->complain(check->ctx, "variance",
			"is missing: a phi of 1 or -1 has no stationary variance; set it");
	for (uint32_t k = 0; k < 16; k++) {
		r->start_root[k] = (float)s.start_root[k];
		r->move[k] = (float)s.move[k];
		r->noise[k] = (float)s.noise[k];
		r->see[k] = (float)s.see[k];
		r->start[k % 4] = (float)s.start[k % 4];
		r->shift[k % 4] = (float)s.shift[k % 4];
	}
	sl_smc_set_density(&s, r, check);
}

static struct sl_rules_data *sl_smc_data(void *rules)
{
	return &((struct sl_smc *)rules)->data;
}

static void sl_smc_resampling(const void *rules, struct sl_resampling *p)
{
	const struct sl_smc *r = (const struct sl_smc *)rules;

	*p = (struct sl_resampling){.steps = r->n_steps,
		.scheme = (enum sl_resampling_scheme)r->scheme,
		.below = r->below,
		.n_moments = r->dims,
		.n_quantiles = r->n_quantiles,
		.moment = {SL_COLUMN_state_1, SL_COLUMN_state_2, SL_COLUMN_state_3,
			SL_COLUMN_state_4}};
	memcpy(p->quantile, r->quantile, sizeof(p->quantile));
}

/* States are unbounded. A tally counts after the first step at the earliest. */
static bool sl_smc_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const bool known = sl_model_common_range(
		column, ((const struct sl_smc *)rules)->n_steps, SL_FATES_smc, lo, hi);

	*lo = column == SL_COLUMN_steps ? 1 : *lo;
	return known;
}

/* At the end all weights are equal, and states that the space does not have are 0. */
static sl_column_set sl_smc_constants(const void *rules, struct sl_particle *values)
{
	const struct sl_smc *r = (const struct sl_smc *)rules;
	sl_column_set set = SL_BIT(SL_COLUMN_log_weight) | SL_BIT(SL_COLUMN_steps);

	for (uint32_t k = r->dims; k < SL_SMC_STATES; k++)
		set |= SL_BIT(SL_COLUMN_state_1 + k);
	values->steps = r->n_steps;
	return set;
}

SL_MODEL(smc,
	.help = "particle filters of state spaces: likelihood and states by sequential Monte Carlo",
	.species = "particles", .data = sl_smc_data, .load = sl_smc_load,
	.resampling = sl_smc_resampling);

#endif
