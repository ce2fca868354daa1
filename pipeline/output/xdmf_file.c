/* xdmf_file.c - see output.h. */
#include "pipeline/output/output.h"

#include "pipeline/plan/plan.h"
#include "pipeline/text/text.h"
#include "stages/formats/formats.h"
#include "stages/formats/openpmd/openpmd.h"

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
