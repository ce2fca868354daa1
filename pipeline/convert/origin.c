/*
 * origin.c - finds the run of the inputs and fills the facts of the output file.
 *
 * A run is only accepted if its manifest lists every input. Otherwise the number of generated
 * particles would be unknown, and normalised results from the output file would be wrong.
 */
#include "pipeline/convert/convert.h"

#include "pipeline/text/text.h"

#include <math.h>
#include <string.h>

enum { PHOTON = 22 }; /* Particle Data Group code */

/*
 * Plans an existing run. If an MCPL file is made from its tables, the plan is that of an MCPL run
 * with the settings of the job, because its header needs the checks and defaults of output.mcpl.
 */
static enum sl_status plan_existing(struct sl_conversion *c, const struct sl_existing_run *existing)
{
	const struct sl_convert_job *job = c->job;
	const char *sets[SL_EXISTING_RUN_SETS_MAX] = {
		c->format == &sl_format_mcpl ? "output.format=mcpl" : "output.format=mcpl.gz",
		"output.columns=[]"};
	bool to_list = sl_format_is_mcpl(c->format);

	if (existing->format && sl_format_is_mcpl(existing->format))
		to_list = false;
	for (size_t i = 0; i < job->n_sets; i++)
		sets[2 + i] = job->set[i];
	return sl_existing_run_plan(existing, sets, to_list ? 2 + job->n_sets : 0, &c->plan);
}

/*
 * Sets c->plan and c->batch if the inputs are files of one run, or of merged runs: the facts of these
 * are those of the first, and the sums over all; ids begin at 0.
 */
static enum sl_status use_runs(struct sl_conversion *c)
{
	struct sl_input_run *first = &c->runs.at[0];

	if (!c->runs.known || (c->runs.n > 1 && !c->runs.merged))
		return SL_OK;
	if (!c->runs.merged)
		SL_TRY(sl_input_run_read(first->folder, &first->existing));
	c->batch.first_id = c->runs.merged ? 0 : first->first_id;
	for (size_t i = 0; i < c->runs.n; i++)
		c->batch.generated += c->runs.at[i].generated;
	SL_TRY(plan_existing(c, &first->existing));
	c->plan->facts.merged = c->runs.json;
	return SL_OK;
}

/* The column for MCPL user flags: the flags of the particles, else the pixel, else the fate. */
static enum sl_column find_flags(sl_column_set columns)
{
	if (SL_HAS(columns, SL_COLUMN_userflags))
		return SL_COLUMN_userflags;
	if (SL_HAS(columns, SL_COLUMN_pixel))
		return SL_COLUMN_pixel;
	return SL_HAS(columns, SL_COLUMN_fate) ? SL_COLUMN_fate : SL_COLUMN_COUNT;
}

/* Fills the facts for particles of an unknown run, from their columns alone. */
static void set_unknown_origin(struct sl_conversion *c)
{
	struct sl_file_facts *f = &c->facts;
	bool typed = SL_HAS(c->all.columns, SL_COLUMN_pdg);

	snprintf(c->run_name, sizeof(c->run_name), "%.*s",
		(int)(strlen(c->name) - strlen(c->format->suffix)), c->name);
	f->run_name = sl_format_is_mcpl(c->format) ? "unknown" : c->run_name;
	f->species = "particles";
	f->software_version = sl_version();
	f->config = "# of no run that is known: put together by sluice convert\n";
	f->mcpl = (struct sl_mcpl_facts){
		.pdg = typed ? 0 : PHOTON, .energy = NAN, .flags = find_flags(c->all.columns)};
	sl_convert_note(c,
		"unknown: the run, its seed, its configuration and the number of generated "
		"particles");
	if (sl_format_is_mcpl(c->format) && !typed)
		sl_convert_note(c, "assumed: the particles are photons (PDG code 22)");
}

/* Does a setting name the user flags? If not, flags whose column is missing are omitted. */
static bool are_flags_named(const struct sl_convert_job *job)
{
	bool named = false;

	for (size_t i = 0; i < job->n_sets; i++)
		named = named || strstr(job->set[i], "userflags");
	return named;
}

/*
 * The facts of the run replace those of the conversion, except deflate and level: a conversion
 * compresses in one way, whatever the run used.
 */
enum sl_status sl_origin_find(struct sl_conversion *c)
{
	const struct sl_backend *deflate = c->facts.deflate;
	int level = c->facts.level;
	struct sl_mcpl_facts *facts = &c->facts.mcpl;

	SL_TRY(use_runs(c));
	if (c->job->n_sets > 0 && (!c->plan || !sl_format_is_mcpl(c->format)))
		return sl_fail(SL_USAGE,
			"--set %s: has no effect (it is for MCPL made from the tables of a known "
			"run); remove it",
			c->job->set[0]);
	if (!c->plan) {
		set_unknown_origin(c);
		return SL_OK;
	}
	c->facts = sl_plan_batch_facts(c->plan);
	if (facts->flags < SL_COLUMN_COUNT && !SL_HAS(c->all.columns, facts->flags) &&
		!are_flags_named(c->job))
		facts->flags = SL_COLUMN_COUNT;
	c->facts.deflate = deflate;
	c->facts.level = level;
	return SL_OK;
}
