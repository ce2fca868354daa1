/* side_files.c - the image of a run, whose sum is in results/, and the XDMF file. */
#include "pipeline/output/output.h"

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

/* The columns of the files. */
static struct sl_table table_of(const struct sl_plan *plan)
{
	struct sl_table table = sl_plan_table(plan, 0);

	return sl_format_table(plan->choices.format, &table);
}

bool sl_xdmf_file_name(const struct sl_plan *plan, char *name)
{
	struct sl_table table = table_of(plan);

	sl_side_file_name(plan->config.run.name, SL_SIDE_XDMF, name);
	return plan->choices.format == &sl_format_openpmd && sl_xdmf_possible(&table);
}

void sl_xdmf_file_write(const struct sl_plan *plan, const struct sl_manifest *m, FILE *out)
{
	struct sl_table table = table_of(plan);

	sl_xdmf_begin(plan->config.run.name, out);
	for (size_t i = 0; i < m->n; i++) {
		table.n = (uint32_t)m->line[i].survivors;
		sl_xdmf_grid(m->line[i].file, plan->facts.species, m->line[i].batch, &table, out);
	}
	sl_xdmf_end(out);
}

enum sl_status sl_xdmf_file_commit(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];
	struct sl_text_file f;

	if (!sl_xdmf_file_name(plan, name))
		return SL_OK;
	SL_TRY(sl_text_file_begin(&f, dir, name));
	sl_xdmf_file_write(plan, m, f.out);
	return sl_text_file_commit(&f);
}
