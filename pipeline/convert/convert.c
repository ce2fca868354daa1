/* convert.c - what is to be converted, into what, and what is told of it. */
#include "pipeline/convert/convert.h"

#include <inttypes.h>
#include <string.h>

#include "pipeline/convert/mcpl_to_mcpl.h"
#include "pipeline/convert/tables.h"
#include "primitives/device/device.h"
#include "primitives/files/dirs.h"
#include "primitives/files/files.h"
#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"

/* --- inputs ----------------------------------------------------------------------------------- */

/* As mcpltool has it: what is given twice would count twice. */
static enum sl_status check_twice(const struct sl_convert_job *job)
{
	for (size_t i = 1; i < job->n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(job->in[i], job->in[k]) == 0)
				return sl_fail(SL_USAGE,
					"%s: is given twice (its particles would count twice), try "
					"leaving it out once",
					job->in[i]);
	return SL_OK;
}

/* Is it a run? Then what it has committed is read; else it is a file. */
static enum sl_status look_at(struct sl_converting *c, struct sl_convert_operand *o)
{
	struct sl_dir dir;
	enum sl_status s;

	if (sl_format_of(o->path))
		return SL_OK;
	if (sl_dir_open(o->path, false, &dir) != SL_OK)
		return sl_fail(SL_USAGE,
			"%s: is no directory of a run, and its suffix is that of no format (sluice "
			"list names them), try a file that ends in .h5, .npz, .csv.gz, .mcpl or "
			".mcpl.gz",
			o->path);
	o->is_run = true;
	s = sl_manifest_read(&dir, &o->manifest);
	if (s == SL_OK && o->manifest.n == 0)
		s = sl_fail(SL_BAD_INPUT,
			"%s: has no committed batches (no run has begun there, or none has come "
			"far enough), try another directory",
			o->path);
	sl_dir_close(&dir);
	if (s == SL_OK && o->manifest.damaged > 0)
		sl_convert_note(c, "%s: %zu damaged lines of the manifest are left out", o->path,
			o->manifest.damaged);
	return s;
}

/* Are inputs lists? SL_USAGE when some are and some are not. */
static enum sl_status kind_of(const struct sl_converting *c, bool *lists)
{
	struct sl_convert_at at = {0};
	bool any = false;

	while (sl_convert_next(c, &at)) {
		const struct sl_format *f = sl_format_of(at.path);
		bool list = f && sl_format_is_mcpl(f);

		if (any && list != *lists)
			return sl_fail(SL_USAGE,
				"%s: is %s, and the files before it are %s (files of one kind are "
				"joined), try converting some of them first",
				at.path, list ? "MCPL" : "no MCPL", list ? "not" : "MCPL");
		*lists = list;
		any = true;
	}
	return SL_OK;
}

/* --- output ----------------------------------------------------------------------------------- */

static enum sl_status open_output(struct sl_converting *c)
{
	char folder[SL_PATH_BYTES];

	c->format = sl_format_of(c->job->to);
	c->name = sl_path_split(c->job->to, folder);
	if (!c->format)
		return sl_fail(SL_USAGE,
			"--to %s: its suffix is that of no format (sluice list names them), try .h5, "
			".npz, .csv.gz, .mcpl or .mcpl.gz",
			c->job->to);
	SL_TRY(sl_dir_open(folder, false, &c->dir));
	if (sl_file_exists(&c->dir, c->name)) {
		sl_dir_close(&c->dir);
		return sl_fail(SL_OUTPUT_IN_USE,
			"--to %s: is there already (nothing is overwritten), try another name",
			c->job->to);
	}
	return SL_OK;
}

static void tell(const struct sl_converting *c, FILE *out)
{
	fprintf(out, "%s: %s, %" PRIu64 " particles of %" PRIu64 " file%s, %" PRIu64 " bytes\n%s",
		c->job->to, c->format->name, c->particles, c->files, c->files == 1 ? "" : "s",
		c->bytes, c->notes);
}

/* Of all settings, those of output.mcpl alone do not describe the run. */
static enum sl_status check_sets(const struct sl_convert_job *job)
{
	static const char key[] = "output.mcpl";
	enum { KEY = sizeof(key) - 1 };

	for (size_t i = 0; i < job->n_sets; i++)
		if (strncmp(job->set[i], key, KEY) != 0 || !strchr(".=", job->set[i][KEY]))
			return sl_fail(SL_USAGE,
				"--set %s: is not for convert (it takes output.mcpl.energy, .pdg, "
				".precision and .userflags, for what is MCPL), try leaving it out",
				job->set[i]);
	return SL_OK;
}

static enum sl_status convert(struct sl_converting *c)
{
	bool lists = false;

	SL_TRY(check_sets(c->job));
	SL_TRY(check_twice(c->job));
	for (size_t i = 0; i < c->job->n; i++) {
		c->operand[i].path = c->job->in[i];
		SL_TRY(look_at(c, &c->operand[i]));
	}
	SL_TRY(kind_of(c, &lists));
	if (!lists || !sl_format_is_mcpl(c->format))
		return sl_convert_tables(c, lists);
	if (c->job->n_sets > 0)
		return sl_fail(SL_USAGE,
			"--set %s: does nothing here (records of a list go by as they are), try "
			"leaving it out",
			c->job->set[0]);
	return sl_convert_lists(c);
}

enum sl_status sl_convert(const struct sl_convert_job *job, FILE *out)
{
	struct sl_converting c = {.job = job, .facts = {.level = 1}};
	size_t bytes = sl_size_mul(job->n, sizeof(*c.operand));
	enum sl_status s;
	void *block;

	SL_TRY(sl_find(SL_DEFLATE, "libdeflate", &c.facts.deflate));
	SL_TRY(sl_memory_get(SL_HOST, bytes, &block));
	memset(block, 0, bytes);
	c.operand = (struct sl_convert_operand *)block;
	s = open_output(&c);
	if (s == SL_OK) {
		s = convert(&c);
		sl_dir_close(&c.dir);
	}
	if (s == SL_OK && out)
		tell(&c, out);
	for (size_t i = 0; i < job->n; i++)
		sl_manifest_free(&c.operand[i].manifest);
	sl_memory_give(SL_HOST, block);
	return s;
}
