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

#include "pipeline/resolve/execution/execution.h"
#include "pipeline/resolve/output/output.h"
#include "primitives/base/size.h"
#include "stages/formats/formats.h"

enum {
	NAME_MAX_BYTES = 100,  /* so that number and suffix fit in the 255 bytes of a file name */
	BATCHES_FEW = 64,      /* at most for run.batch: auto: enough for all cores, few files */
	BATCHES_MOST = 1000000 /* upper limit of files per run */
};

/* --- run.name --------------------------------------------------------------------------------- */

/* Checks run.name, from which file names are made. */
static void resolve_name(struct sl_resolver *v)
{
	const char *name = v->c->run.name, *shown = sl_shown(name);

	if (strlen(name) > NAME_MAX_BYTES)
		sl_config_add_problem(v->r, "run.name",
			"%s is too long for file names: at most %d bytes are allowed; shorten it",
			shown, NAME_MAX_BYTES);
	else if (strspn(name, SL_RUN_NAME_CHARACTERS) != strlen(name))
		sl_config_add_problem(v->r, "run.name",
			"%s contains characters that are not allowed in file names; use letters, "
			"digits, '.', '_' and '-'",
			shown);
	else if (*name == '.' || *name == '-')
		sl_config_add_problem(v->r, "run.name",
			"%s starts with '.' or '-': its files would be hidden or taken for options; "
			"start with a letter",
			shown);
}

/* --- output.columns --------------------------------------------------------------------------- */

/* Sets the columns that are written; MCPL formats determine them. */
static void resolve_columns(struct sl_resolver *v)
{
	sl_column_set available = v->to->model->columns | SL_BIT(SL_COLUMN_id);
	sl_column_set set =
		sl_resolve_column_set(v, "output.columns", &v->c->output.columns, available);

	v->to->columns = sl_resolve_mcpl(v, v->c->output.columns.n > 0 ? set : available);
}

/* --- check ------------------------------------------------------------------------------------ */

/* Checks the expected fractions below check. */
static void resolve_check(struct sl_resolver *v)
{
	enum sl_fate fate;
	double sum = 0;

	for (int i = 0; i < SL_FATE_COUNT; i++)
		if (!isnan(v->c->check.fate[i])) {
			const char *name = sl_fate_facts[i].name;

			sum += v->c->check.fate[i];
			sl_resolve_fate(v, sl_said("check.%s", name), name, &fate);
		}
	if (sum > 1 + 1e-4) /* published fractions are rounded one by one */
		sl_config_add_problem(v->r, "check",
			"adds up to %g, but fractions of all particles add up to at most 1; use smaller fractions",
			sum);
}

/* --- output.format ---------------------------------------------------------------------------- */

/* Finds the file format. */
static void resolve_format(struct sl_resolver *v)
{
	const char *words[16];
	size_t n = 0;

	v->to->format = sl_format_find(v->c->output.format);
	if (v->to->format)
		return;
	for (; sl_formats[n] && n < 15; n++)
		words[n] = sl_formats[n]->name;
	words[n++] = sl_format_none.name;
	sl_config_add_problem(v->r, "output.format", "%s is not a format; use %s",
		sl_shown(v->c->output.format), sl_suggested(v->c->output.format, words, n));
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

/*
 * Sets batch and n_batches. Empty lists have one batch without particles, so that the run has a
 * file. A batch of a filter is a filter, and the run has whole filters.
 */
static void resolve_batches(struct sl_resolver *v)
{
	const struct sl_model *model = v->c->model;
	const uint64_t particles = v->c->run.particles, given = v->c->run.batch;
	const uint64_t filter = given ? given : 65536;

	if (sl_config_has_problem(v->r, "run.particles") ||
		sl_config_has_problem(v->r, "run.batch") ||
		(particles == 0 && !(model && model->read)))
		return;
	if (model && model->resampling && (given == 0 || particles % filter != 0))
		sl_config_add_problem(v->r, "run.batch",
			"is the number of particles of a filter, and run.particles is filters times "
			"run.batch; use for example run.batch: %lu and run.particles: %lu",
			filter, (sl_ceil_div(particles, filter) * filter));
	v->to->batch = given ? given : auto_batch(particles);
	v->to->n_batches = particles > 0 ? sl_ceil_div(particles, v->to->batch) : 1;
	if (v->to->n_batches > BATCHES_MOST)
		sl_config_add_problem(v->r, "run.batch",
			"gives %lu batches, each a file; at most %d are allowed; use %lu or more",
			v->to->n_batches, BATCHES_MOST, sl_ceil_div(particles, BATCHES_MOST));
}

/* --- the model -------------------------------------------------------------------------------- */

/* Makes the rules of the model; false when problems of the configuration prevent it. */
static bool make_rules(struct sl_resolver *v)
{
	const struct sl_model *model = v->to->model;
	const struct sl_model_common common = {.max_steps = v->c->transport.max_steps};
	const struct sl_model_check check = sl_config_check(v->r);

	if (!model->steps)
		sl_config_refuse_unused(
			v->r, "transport.max_steps", sl_model_why_no_steps(model), "remove it");
	/* the model computes with its parameters, so they must be valid */
	if (sl_config_has_problem(v->r, "model") || sl_config_has_problem(v->r, "transport"))
		return false;
	model->make(v->c->model_config.bytes, &common, v->to->rules.bytes, &check);
	return !sl_config_has_problem(v->r, "model");
}

/* An external model is identified by its source, so that no run mixes two of them. */
static void resolve_digest(struct sl_resolver *v)
{
	const char *digest = v->c->model->digest;

	if (!digest)
		sl_config_refuse_unused(
			v->r, "model_digest", "the model is part of the program", "remove it");
	else if (v->c->model_digest[0] && strcmp(v->c->model_digest, digest) != 0)
		sl_config_add_problem(v->r, "model_digest",
			"is not that of model %s, which is %s: its source has changed; use the old one, or "
			"remove the key for a new run",
			v->c->model->name, digest);
	else
		snprintf(v->c->model_digest, sizeof(v->c->model_digest), "%s", digest);
}

/*
 * Resolves everything that depends on the model. Rules and keep first: they determine which fates
 * exist.
 */
static void resolve_model(struct sl_resolver *v)
{
	v->to->model = v->c->model;
	sl_derived_begin(v);
	v->ranges = make_rules(v) && v->ranges;
	if (v->ranges && v->to->model->unused_fates)
		v->to->unused_fates = v->to->model->unused_fates(v->to->rules.bytes);
	sl_resolve_keep(v);
	resolve_columns(v);
	resolve_check(v);
	sl_resolve_stop(v);
	sl_resolve_key(v);
	sl_resolve_list_order(v);
	sl_resolve_tallies(v);
	sl_resolve_schedule(v);
	sl_resolve_image(v);
	sl_derived_end(v);
}

/* Problems of the configuration take precedence over a device or an input file that fails. */
enum sl_status sl_resolve(struct sl_config *c, struct sl_reader *r, struct sl_choices *choices)
{
	struct sl_resolver v = {.c = c, .r = r, .to = choices};
	/* first, because batches and ranges depend on the number of particles in the files */
	const struct sl_failure inputs = sl_failure_keep(sl_resolve_inputs(&v));
	enum sl_status s;

	memset(choices, 0, sizeof(*choices));
	v.ranges = inputs.status == SL_OK; /* a filter without observations has no range of steps */
	resolve_name(&v);
	resolve_format(&v);
	resolve_batches(&v);
	if (c->model) {
		resolve_digest(&v);
		resolve_model(&v);
	}
	s = sl_resolve_device(&v);
	if (s == SL_OK)
		s = sl_resolve_primitives(&v);
	if (s == SL_OK)
		sl_resolve_mode(&v);
	SL_TRY(sl_config_verdict(r));
	return sl_failure_first(&inputs, s);
}
