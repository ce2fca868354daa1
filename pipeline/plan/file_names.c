/*
 * file_names.c - the names of all files that a run writes.
 *
 * Names are cut rather than refused here: the configuration limits run.name to a length that fits
 * (%.200s), so only a name from a damaged run.json is ever cut.
 */
#include "pipeline/plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "stages/formats/formats.h"

/* A run without such files has no name for them. */
static void set_name(const struct sl_plan *plan, uint64_t batch, bool has_files, const char *suffix,
	struct sl_committed_file *file)
{
	if (has_files)
		sl_file_name(file->name, SL_FILE_NAME_BYTES, plan->config.run.name, batch, suffix);
	else
		file->name[0] = '\0';
}

void sl_batch_file_names(const struct sl_plan *plan, uint64_t batch, struct sl_manifest_line *line)
{
	const struct sl_format *f = plan->choices.format;

	set_name(plan, batch, f != &sl_format_none, f->suffix, &line->file);
	set_name(plan, batch, sl_counter_words(&plan->recipe) > 0, SL_COUNTERS_SUFFIX, &line->bins);
	set_name(plan, batch, sl_plan_order_items(plan).bytes > 0, SL_ORDER_SUFFIX, &line->order);
}

/* output.to can be empty in a configuration; the plan and run.json then use out/NAME. */
void sl_output_directory_name(const struct sl_config *config, char to[SL_TEXT_BYTES])
{
	if (config->output.to[0])
		memcpy(to, config->output.to, SL_TEXT_BYTES);
	else
		snprintf(to, SL_TEXT_BYTES, "out/%.1000s", config->run.name);
	if (config->part.of > 0)
		sl_append(to, SL_TEXT_BYTES, "/%s", sl_part_name(&config->part));
}

const char *sl_side_file_name(
	const char *run, enum sl_side_file which, char name[SL_FILE_NAME_BYTES])
{
	static const char *const suffix[SL_SIDE_COUNT] = {[SL_SIDE_XDMF] = ".xdmf",
		[SL_SIDE_STEPS] = ".steps.csv",
		[SL_SIDE_HISTOGRAMS] = ".tallies",
		[SL_SIDE_IMAGE] = SL_IMAGE_SUFFIX,
		[SL_SIDE_PNG] = ".png"};

	snprintf(name, SL_FILE_NAME_BYTES, "%.200s%s", run, suffix[which]);
	return name;
}

const char *sl_merged_list_name(
	const char *run, const struct sl_format *format, char name[SL_FILE_NAME_BYTES])
{
	snprintf(name, SL_FILE_NAME_BYTES, "%.200s%s", run, format->suffix);
	return name;
}

/*
 * NAME.tallies is HDF5. Runs whose other files are not HDF5 have their histograms in run.json, and
 * get the file for grids only, which can be too large for run.json. A run without other files has
 * it.
 */
bool sl_tallies_file_name(const struct sl_plan *plan, char name[SL_FILE_NAME_BYTES])
{
	sl_side_file_name(plan->config.run.name, SL_SIDE_HISTOGRAMS, name);
	return plan->recipe.grids.part[1].counters > 0 ||
	       (plan->recipe.grids.n > 0 && (plan->choices.format == &sl_format_openpmd ||
						    plan->choices.format == &sl_format_none));
}
