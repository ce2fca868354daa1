/* side_files.c - the image of a run, whose sum is in results/, the XDMF file, and steps of filters. */
#include "pipeline/output/output.h"

#include <math.h>

#include "pipeline/plan/plan.h"
#include "pipeline/text/text.h"
#include "primitives/files/files.h"
#include "stages/formats/openpmd/openpmd.h"

/* --- image ------------------------------------------------------------------------------------ */

static enum sl_status commit_file(const struct sl_workspace *w, const struct sl_dir *dir,
	enum sl_side_file which, size_t bytes)
{
	char name[SL_FILE_NAME_BYTES];

	sl_side_file_name(w->plan->config.run.name, which, name);
	return sl_file_commit(dir, name, w->image_sum.file, bytes, true);
}

enum sl_status sl_image_files_commit(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	struct sl_image_sum *c = &w->image_sum;
	size_t bytes;

	SL_TRY(sl_image_sum_read_back(c, dir, m));
	SL_TRY(sl_image_sum_finish(c, m));
	SL_TRY(sl_image_sum_numbers(c, &w->plan->facts, &bytes));
	SL_TRY(commit_file(w, dir, SL_SIDE_IMAGE, bytes));
	SL_TRY(sl_image_sum_png(c, &bytes));
	return commit_file(w, dir, SL_SIDE_PNG, bytes);
}

/* --- XDMF ------------------------------------------------------------------------------------- */

static void write_xdmf(const struct sl_workspace *w, const struct sl_manifest *m, FILE *out)
{
	const struct sl_plan *plan = w->plan;
	struct sl_table table = sl_plan_table(plan, 0);

	sl_xdmf_begin(plan->config.run.name, out);
	for (size_t i = 0; i < m->n; i++) {
		table.n = (uint32_t)m->line[i].survivors;
		sl_xdmf_grid(
			m->line[i].file.name, plan->facts.species, m->line[i].batch, &table, out);
	}
	sl_xdmf_end(out);
}

/* --- steps of filters ------------------------------------------------------------------------- */

static void write_steps(const struct sl_workspace *w, FILE *out)
{
	const struct sl_recipe *r = &w->plan->recipe;
	const struct sl_filter_sum *s = w->tallies.filter;
	const uint32_t n = 2 * sl_filter_quantities(r);

	fputs("step", out);
	for (uint32_t k = 0; k < n; k++)
		fprintf(out, ",%s", sl_filter_name(&r->resampling, k));
	for (uint32_t step = 0; w->tallies.batches->n > 0 && step < r->resampling.steps; step++) {
		fprintf(out, "\n%u", step + 1);
		for (uint32_t k = 0; k < n; s += k++ % 2) {
			double value =
				k % 2 ? sl_filter_sum_error(s, w->tallies.batches->n) : s->mean;

			fprintf(out, ",%s", isnan(value) ? "NaN" : sl_double_text(value));
		}
	}
	fputs("\n", out);
}

/* --- texts ------------------------------------------------------------------------------------ */

bool sl_side_text_name(const struct sl_plan *plan, enum sl_side_file which, char *name)
{
	struct sl_table table = sl_plan_table(plan, 0);

	sl_side_file_name(plan->config.run.name, which, name);
	if (which == SL_SIDE_STEPS)
		return plan->recipe.resampling.steps > 0;
	return plan->choices.format == &sl_format_openpmd && sl_xdmf_possible(&table);
}

void sl_side_text_write(const struct sl_workspace *w, enum sl_side_file which,
	const struct sl_manifest *m, FILE *out)
{
	if (which == SL_SIDE_STEPS)
		write_steps(w, out);
	else
		write_xdmf(w, m, out);
}

enum sl_status sl_side_text_commit(const struct sl_workspace *w, enum sl_side_file which,
	const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];
	struct sl_text_file f;

	if (!sl_side_text_name(w->plan, which, name))
		return SL_OK;
	SL_TRY(sl_text_file_begin(&f, dir, name));
	sl_side_text_write(w, which, m, f.out);
	return sl_text_file_commit(&f);
}
