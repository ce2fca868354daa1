/*
 * resolve.c - resolves the parts of a configuration in the order of their dependencies.
 *
 * Input files first (they determine run.particles), then name, format, batches and everything that
 * the model determines; then the device and what depends on it: tuning, backends, mode. Each part
 * adds its problems to the reader, and the verdict is taken at the end.
 */
#include "pipeline/resolve/resolve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/condition/condition.h"
#include "pipeline/resolve/derived/derived.h"
#include "pipeline/resolve/execution/execution.h"
#include "pipeline/resolve/output/output.h"
#include "pipeline/text/text.h"
#include "primitives/base/size.h"
#include "stages/formats/formats.h"

enum {
	NAME_MAX_BYTES = 100, /* so that number and suffix fit in the 255 bytes of a file name */
	WORDS_BYTES = 400,
	BATCHES_FEW = 64,      /* at most for run.batch: auto: enough for all cores, few files */
	BATCHES_MOST = 1000000 /* upper limit of files per run */
};

/* --- run.name --------------------------------------------------------------------------------- */

/* Checks run.name, from which file names are made. */
static void resolve_name(const struct sl_config *c, struct sl_reader *r)
{
	const char *name = c->run.name;
	char shown[SL_SHOWN_BYTES];

	sl_show(shown, name);
	if (strlen(name) > NAME_MAX_BYTES)
		sl_config_add_problem(r, "run.name",
			"%s is too long for file names: at most %d bytes are allowed; shorten it",
			shown, NAME_MAX_BYTES);
	else if (strspn(name, SL_RUN_NAME_CHARACTERS) != strlen(name))
		sl_config_add_problem(r, "run.name",
			"%s contains characters that are not allowed in file names; use letters, "
			"digits, '.', '_' and '-'",
			shown);
	else if (*name == '.' || *name == '-')
		sl_config_add_problem(r, "run.name",
			"%s starts with '.' or '-': its files would be hidden or taken for options; "
			"start with a letter",
			shown);
}

/* --- output.columns --------------------------------------------------------------------------- */

/* Sets the columns that are written; MCPL formats determine them. */
static void resolve_columns(
	const struct sl_config *c, struct sl_reader *r, struct sl_derived *d, bool rules)
{
	struct sl_choices *choices = d->choices;
	sl_column_set available = choices->model->columns | SL_BIT(SL_COLUMN_id);
	sl_column_set set =
		sl_resolve_column_set(d, "output.columns", &c->output.columns, available);

	if (c->output.columns.n == 0)
		set = available;
	choices->columns = sl_resolve_mcpl(c, r, choices, set, rules);
}

/* --- check ------------------------------------------------------------------------------------ */

/* Checks the expected fractions below check. */
static void resolve_check(
	const struct sl_config *c, struct sl_reader *r, const struct sl_choices *choices)
{
	char key[SL_WORD_BYTES];
	enum sl_fate fate;
	double sum = 0;

	for (int i = 0; i < SL_FATE_COUNT; i++) {
		snprintf(key, sizeof(key), "check.%s", sl_fate_facts[i].name);
		if (isnan(c->check.fate[i]))
			continue;
		sum += c->check.fate[i];
		sl_resolve_fate(r, key, sl_fate_facts[i].name, choices, &fate);
	}
	if (sum > 1 + 1e-4) /* published fractions are rounded one by one */
		sl_config_add_problem(r, "check",
			"adds up to %g, but fractions of all particles add up to at most 1; use "
			"smaller fractions",
			sum);
}

/* --- output.format ---------------------------------------------------------------------------- */

/* Finds the file format. */
static void resolve_format(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	char shown[SL_SHOWN_BYTES], text[WORDS_BYTES];
	const char *words[16];
	size_t n = 0;

	choices->format = sl_format_find(c->output.format);
	if (choices->format)
		return;
	for (; sl_formats[n] && n < 15; n++)
		words[n] = sl_formats[n]->name;
	words[n++] = sl_format_none.name;
	sl_config_add_problem(r, "output.format", "%s is not a format; use %s",
		sl_show(shown, c->output.format),
		sl_suggest(c->output.format, words, n, text, sizeof(text)));
}

/* --- run.batch -------------------------------------------------------------------------------- */

/* Depends on the number of particles only, so that batches are the same on every machine. */
static uint64_t auto_batch(uint64_t particles)
{
	uint64_t batch = SL_BATCH_AUTO_LEAST;

	while (batch < SL_BATCH_AUTO_MAX && sl_ceil_div(particles, batch) > BATCHES_FEW)
		batch *= 2;
	return batch;
}

/* A batch is a filter, and the run has whole filters. */
static void check_filters(const struct sl_config *c, struct sl_reader *r)
{
	uint64_t batch = c->run.batch ? c->run.batch : 65536;

	if (c->model && c->model->resampling &&
		(c->run.batch == 0 || c->run.particles % batch != 0))
		sl_config_add_problem(r, "run.batch",
			"is the number of particles of a filter, and run.particles is filters times "
			"run.batch; use for example run.batch: %lu and run.particles: %lu",
			batch, (sl_ceil_div(c->run.particles, batch) * batch));
}

/*
 * Sets batch and n_batches. Empty lists have one batch without particles, so that the run has a
 * file.
 */
static void resolve_batches(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	bool reads = c->model && c->model->read;

	if (sl_config_has_problem(r, "run.particles") || sl_config_has_problem(r, "run.batch") ||
		(c->run.particles == 0 && !reads))
		return;
	check_filters(c, r);
	choices->batch = c->run.batch ? c->run.batch : auto_batch(c->run.particles);
	choices->n_batches =
		c->run.particles > 0 ? sl_ceil_div(c->run.particles, choices->batch) : 1;
	if (choices->n_batches > BATCHES_MOST)
		sl_config_add_problem(r, "run.batch",
			"gives %lu batches, each a file; at most %d are allowed; use %lu or more",
			choices->n_batches, BATCHES_MOST,
			sl_ceil_div(c->run.particles, BATCHES_MOST));
}

/* --- the model -------------------------------------------------------------------------------- */

/* Makes the rules of the model; false when problems of the configuration prevent it. */
static bool make_rules(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	const struct sl_model *model = choices->model;
	const struct sl_model_common common = {.max_steps = c->transport.max_steps};
	const struct sl_model_check check = sl_config_check(r);

	if (!model->steps)
		sl_config_refuse_unused(
			r, "transport.max_steps", sl_model_why_no_steps(model), "remove it");
	/* the model computes with its parameters, so they must be valid */
	if (sl_config_has_problem(r, "model") || sl_config_has_problem(r, "transport"))
		return false;
	model->make(c->model_config.bytes, &common, choices->rules.bytes, &check);
	return !sl_config_has_problem(r, "model");
}

/* An external model is identified by its source, so that no run mixes two of them. */
static void resolve_digest(struct sl_config *c, struct sl_reader *r)
{
	const char *digest = c->model->digest;

	if (!digest)
		sl_config_refuse_unused(
			r, "model_digest", "the model is part of the program", "remove it");
	else if (c->model_digest[0] && strcmp(c->model_digest, digest) != 0)
		sl_config_add_problem(r, "model_digest",
			"is not that of model %s, which is %s: its source has changed; use the old one, or "
			"remove the key for a new run",
			c->model->name, digest);
	else
		snprintf(c->model_digest, sizeof(c->model_digest), "%s", digest);
}

/* Resolves everything that depends on the model. Rules and keep first: they determine which fates
 * exist. */
static void resolve_model(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	struct sl_derived derived;
	bool ranges;

	if (!c->model)
		return;
	choices->model = c->model;
	sl_derived_begin(c, r, choices, &derived);
	ranges = make_rules(c, r, choices);
	if (ranges && choices->model->unused_fates)
		choices->unused_fates = choices->model->unused_fates(choices->rules.bytes);
	sl_resolve_keep(c, r, &derived.names, choices);
	resolve_columns(c, r, &derived, ranges);
	resolve_check(c, r, choices);
	sl_resolve_stop(c, r, choices);
	sl_resolve_key(c, r, choices, &derived, ranges);
	sl_resolve_list_order(c, r, choices, ranges);
	sl_resolve_schedule(c, r, choices);
	sl_resolve_tallies(c, r, choices, &derived, ranges);
	sl_resolve_image(c, r, choices, ranges);
	sl_derived_end(&derived);
}

/* Problems of the configuration take precedence over a device or an input file that fails. */
enum sl_status sl_resolve(struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	/* first, because batches and ranges depend on the number of particles in the files */
	enum sl_status s, inputs = sl_resolve_inputs(c, r);
	char message[SL_MESSAGE_BYTES];

	/* later calls overwrite the last error, so keep that of the inputs */
	memcpy(message, sl_last_error(), sizeof(message));
	memset(choices, 0, sizeof(*choices));
	resolve_name(c, r);
	resolve_format(c, r, choices);
	resolve_batches(c, r, choices);
	if (c->model)
		resolve_digest(c, r);
	resolve_model(c, r, choices);
	s = sl_resolve_device(c, r, choices);
	if (s == SL_OK)
		s = sl_resolve_primitives(c, r, choices);
	if (s == SL_OK)
		sl_resolve_mode(c, r, choices);
	SL_TRY(sl_config_verdict(r));
	if (inputs != SL_OK)
		sl_set_last_error(message);
	return inputs != SL_OK ? inputs : s;
}
