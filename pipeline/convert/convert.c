/*
 * convert.c - checks inputs and output of a conversion, selects the kind, and prints the result.
 *
 * The suffix of a file selects its format. All refusals happen before the output file is created,
 * so a refused conversion leaves no file.
 */
#include "pipeline/convert/convert.h"

#include <string.h>
#include <unistd.h>

#include "primitives/device/device.h"
#include "stages/formats/formats.h"
#include "stages/formats/phase_space/phase_space.h"

/* --- inputs ----------------------------------------------------------------------------------- */

/* mcpltool refuses this too: particles of a file given twice would count twice. */
static enum sl_status check_twice(const struct sl_convert_job *job)
{
	for (size_t i = 1; i < job->n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(job->in[i], job->in[k]) == 0)
				return sl_fail(SL_USAGE,
					"%s: the file is given twice (its particles would count "
					"twice); name it once",
					job->in[i]);
	return SL_OK;
}

/* A path without the suffix of a format must be a run directory; its manifest is read. */
static enum sl_status open_operand(struct sl_conversion *c, struct sl_convert_operand *o)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};

	if (sl_format_of(o->path) || sl_phase_space_is_iaea(o->path))
		return SL_OK;
	SL_TRY(sl_dir_exists(o->path, &o->is_run));
	if (!o->is_run && !sl_path_is_missing(o->path, F_OK))
		return sl_fail(SL_USAGE,
			"%s: not a run directory, and no format has its suffix (see sluice list); "
			"name a file that ends in .h5, .npz, .csv, .csv.gz, .mcpl, .mcpl.gz, "
			".IAEAphsp or .phsp",
			o->path);
	SL_TRY(sl_dir_open(o->path, false, &dir));
	SL_TRY(sl_manifest_read(&dir, &o->manifest));
	if (o->manifest.n == 0)
		return sl_fail(SL_BAD_INPUT,
			"%s: the directory has no committed batches (no run started there, or it "
			"has not finished a batch); name another directory",
			o->path);
	if (o->manifest.damaged > 0)
		sl_convert_note(c, "%s: %zu damaged lines of the manifest are ignored", o->path,
			o->manifest.damaged);
	return SL_OK;
}

/* Sets c->of_lists; SL_USAGE if only some inputs are particle lists. */
static enum sl_status find_kind(struct sl_conversion *c)
{
	struct sl_convert_cursor at = {0};
	bool any = false;

	/*
	 * a file of a run directory whose format is unknown counts as no list; reading it fails
	 * later
	 */
	while (sl_convert_next(c, &at)) {
		const struct sl_format *f = sl_format_of(at.path);
		bool list = (f && sl_format_is_mcpl(f)) || sl_phase_space_names_foreign(at.path);

		if (any && list != c->of_lists)
			return sl_fail(SL_USAGE,
				"%s: the file is %s, the files before it are %s (all inputs must "
				"be particle lists, as MCPL is, or none); convert one kind first",
				at.path, list ? "a list" : "not a list", list ? "not" : "lists");
		c->of_lists = list;
		any = true;
	}
	return SL_OK;
}

/* --- output ----------------------------------------------------------------------------------- */

/*
 * Opens the directory of the output file. The directory must exist: convert creates no directories.
 */
static enum sl_status open_output(struct sl_conversion *c)
{
	char folder[SL_PATH_BYTES];

	c->format = sl_format_of(c->job->to);
	c->name = sl_path_split(c->job->to, folder);
	c->tallies = sl_path_ends_in(c->name, SL_TALLIES_SUFFIX);
	if (!c->format && !c->tallies)
		return sl_fail(SL_USAGE,
			"--to %s: no format has this suffix (see sluice list); use .h5, .npz, "
			".csv, .csv.gz, .mcpl or .mcpl.gz, or .tallies for the histograms of runs",
			c->job->to);
	SL_TRY(sl_dir_open(folder, false, &c->dir));
	SL_TRY(sl_file_exists(&c->dir, c->name, &c->replaces));
	if (c->replaces && !c->job->force)
		return sl_fail(SL_OUTPUT_IN_USE,
			"--to %s: the file exists; choose another name, or replace it with --force",
			c->job->to);
	return c->replaces
	               ? sl_file_identity(&c->dir, c->name, &c->replaces, &c->device, &c->number)
	               : SL_OK;
}

/* Only output.mcpl may be set: all other keys describe a run that is already computed. */
static enum sl_status check_sets(const struct sl_convert_job *job)
{
	static const char key[] = "output.mcpl";
	enum { KEY = sizeof(key) - 1 };

	for (size_t i = 0; i < job->n_sets; i++)
		if (strncmp(job->set[i], key, KEY) != 0 || !strchr(".=", job->set[i][KEY]))
			return sl_fail(SL_USAGE,
				"--set %s: convert does not take this key (it takes "
				"output.mcpl.energy, .pdg, .precision and .userflags, for MCPL "
				"output); remove it",
				job->set[i]);
	return SL_OK;
}

/* --- conversion ------------------------------------------------------------------------------- */

/*
 * Joins tables, or lists read as tables, into one MCPL file or one table. The first pass checks
 * that the columns agree, counts the rows and finds the columns that have one value everywhere; the
 * second pass writes. One input is in memory at a time.
 */
static enum sl_status convert_tables(struct sl_conversion *c)
{
	SL_TRY(sl_for_each_table(c, sl_survey_add));
	/* what tables of lists lack; their real columns have 4 bytes */
	if (c->all.lost.comments || c->all.lost.blobs)
		sl_convert_note(c, "dropped: %u comments, %u blobs (only MCPL has them)",
			c->all.lost.comments, c->all.lost.blobs);
	if (c->all.lost.digits)
		sl_convert_note(c, "rounded: 8-byte numbers to 4-byte columns");
	if (c->runs.merged && SL_HAS(c->all.columns, SL_COLUMN_id))
		sl_convert_note(
			c, "shifted: the ids of each run follow those of the run before it");
	SL_TRY(sl_origin_find(c));
	return sl_tables_write(c);
}

/* Refuses runs of output.format: none: they have manifests, but no files that could be read. */
static enum sl_status check_files(const struct sl_conversion *c)
{
	for (size_t i = 0; i < c->job->n; i++)
		if (c->operand[i].is_run && !c->operand[i].manifest.line[0].file.name[0])
			return sl_fail(SL_USAGE,
				"%s: the run has no files of survivors (output.format: none), so only "
				"its histograms can be converted; use --to FILE.tallies, or another run",
				c->operand[i].path);
	return SL_OK;
}

/*
 * Notes inputs that are runs which have not ended: the output lacks their later batches. Merged runs
 * are noted where they are found. A damaged run.json is reported by what needs it.
 */
static enum sl_status note_unfinished(struct sl_conversion *c)
{
	for (size_t i = 0; i < c->job->n && !c->runs.merged; i++) {
		SL_CLOSED_BY(sl_existing_run_free) struct sl_existing_run run = {.tree = NULL};
		const struct sl_convert_operand *o = &c->operand[i];
		enum sl_status s = o->is_run ? sl_input_run_read(o->path, &run) : SL_BAD_INPUT;

		if (s == SL_OK)
			sl_runs_note_state(c, &run, o->path, o->manifest.n);
		else if (s == SL_HOST_MEMORY)
			return s;
	}
	return SL_OK;
}

/* Selects the kind of conversion. */
static enum sl_status convert_inputs(struct sl_conversion *c)
{
	if (c->tallies)
		return sl_runs_to_tallies(c);
	SL_TRY(check_files(c));
	SL_TRY(find_kind(c));
	if (!c->of_lists || !sl_format_is_mcpl(c->format))
		return convert_tables(c);
	if (c->job->n_sets > 0)
		return sl_fail(SL_USAGE,
			"--set %s: has no effect (MCPL records are copied unchanged); remove it",
			c->job->set[0]);
	return sl_convert_mcpl(c);
}

/* Checks the job, and reads the manifests of run directories. */
static enum sl_status convert(struct sl_conversion *c)
{
	SL_TRY(open_output(c));
	SL_TRY(check_sets(c->job));
	SL_TRY(check_twice(c->job));
	for (size_t i = 0; i < c->job->n; i++) {
		c->operand[i].path = c->job->in[i];
		SL_TRY(open_operand(c, &c->operand[i]));
	}
	SL_TRY(sl_runs_find(c));
	SL_TRY(note_unfinished(c));
	return convert_inputs(c);
}

static void close_all(struct sl_conversion *c)
{
	sl_table_output_close(c->table);
	sl_record_output_end(&c->records);
	if (c->records.pool)
		sl_job_pool_close(&c->pool);
	sl_runs_free(&c->runs);
	sl_mcpl_head_free(&c->head);
	sl_file_drop(&c->file);
	sl_dir_close(&c->dir);
	sl_plan_free(c->plan);
	for (size_t i = 0; c->operand && i < c->job->n; i++)
		sl_manifest_free(&c->operand[i].manifest);
	sl_memory_give(SL_HOST, c->operand);
}

/*
 * Compression always uses libdeflate at level 1 on one thread, so the bytes of the output do not
 * depend on the machine.
 */
enum sl_status sl_convert(const struct sl_convert_job *job, FILE *out)
{
	SL_CLOSED_BY(close_all)
	struct sl_conversion c = {.job = job,
		.facts = {.level = 1},
		.file = {.fd = -1},
		.dir = {.fd = -1, .lock = -1}};

	SL_TRY(sl_find(SL_DEFLATE, "libdeflate", &c.facts.deflate));
	SL_TRY(sl_host_get_zeroed(job->n, sizeof(*c.operand), &c.operand));
	SL_TRY(convert(&c));
	if (out)
		fprintf(out, "%s: %s, %lu particles of %lu file%s, %lu bytes\n%s", job->to,
			c.tallies ? "histograms" : c.format->name, c.particles, c.files,
			c.files == 1 ? "" : "s", c.bytes, c.notes);
	return SL_OK;
}
