/*
 * input_files.c - reads the headers of the input files of model list, or of the source of another
 * model, and stores what they contain in its options.
 *
 * The files are closed afterwards; the plan opens them again, checks by the stamp that nothing
 * changed in between, and reads their particles (pipeline/plan/input_files.c).
 */
#define SL_MODEL_HOST
#include "pipeline/resolve/resolve.h"

#include <unistd.h>

#include "primitives/files/files.h"
#include "stages/inputs/inputs.h"
#include "stages/inputs/observations.h"
#include "stages/inputs/volume.h"
#include "stages/models/list.h"

/* The bytes are aligned by the union that contains them. */
struct sl_list_config *sl_lists_of(struct sl_config *c)
{
	struct sl_source_config *source = sl_source_of(c->model, c->model_config.bytes);

	if (c->model->read)
		return (struct sl_list_config *)(void *)c->model_config.bytes;
	return source ? &source->list : NULL;
}

const char *sl_list_key(const struct sl_config *c, const char *leaf)
{
	const char *section = c->model->read ? "" : c->model->source_key;

	return sl_said("model.%s.%s%s%s", c->model->name, section, *section ? "." : "", leaf);
}

/*
 * Stores how many histories the lists start, of which *most is the number, and checks
 * run.particles. Where some particles may not start one, all are read to count those that do.
 */
static enum sl_status store_source(struct sl_resolver *v, struct sl_source_config *source,
	struct sl_inputs *inputs, uint64_t *most)
{
	struct sl_source_counts counts = {.used = inputs->particles};
	const uint64_t repeat = source->repeat > 0 ? source->repeat : 1;
	const char *files = sl_list_key(v->c, "files");

	inputs->drops = source->list.damaged == SL_LIST_DROPS;
	if (inputs->drops || source->pdg.n > 0) {
		SL_TRY(sl_inputs_survey(inputs, 0, 1));
		SL_TRY(sl_source_read(inputs, source, sl_list_key(v->c, "damaged"), NULL, &counts));
	}
	source->records = counts.used;
	*most = source->records * repeat; /* at most 2^28 times 1e12 */
	if (source->records == 0)
		sl_config_add_problem(v->r, files,
			"no particle of the lists starts a history: %lu were read; use other lists, or other codes in pdg",
			inputs->particles);
	else if (source->records > SL_SOURCE_RECORDS_MAX)
		sl_config_add_problem(v->r, files,
			"%lu particles would start histories, and a source has at most %lu; divide the lists among runs",
			source->records, SL_SOURCE_RECORDS_MAX);
	else if (v->c->run.particles > *most)
		sl_config_add_problem(v->r, "run.particles",
			"is %lu, but %lu particles of the lists, each used %lu times, start %lu histories; use at most that many, or set %s",
			v->c->run.particles, source->records, repeat, *most,
			sl_list_key(v->c, "repeat"));
	return SL_OK;
}

/* Stores what the files of model list contain, and checks run.particles. */
static void store_facts(
	struct sl_resolver *v, struct sl_list_config *list, const struct sl_inputs *inputs)
{
	list->constants = inputs->constants;
	list->constant = inputs->constant;
	list->weight = SL_HAS(inputs->constants, SL_COLUMN_weight) ? inputs->weight : 0;
	list->doubles = inputs->doubles;
	if (v->c->run.particles > inputs->particles)
		sl_config_add_problem(v->r, "run.particles",
			"is %lu, but the files contain %lu particles; use at most that many",
			v->c->run.particles, inputs->particles);
}

/* Stores what the files contain in the configuration, and checks the keys that depend on it. */
static enum sl_status store(struct sl_resolver *v, struct sl_inputs *inputs)
{
	struct sl_list_config *list = sl_lists_of(v->c);
	uint64_t most = inputs->particles;

	if (v->c->model->read)
		store_facts(v, list, inputs);
	else
		SL_TRY(store_source(
			v, sl_source_of(v->c->model, v->c->model_config.bytes), inputs, &most));
	list->stamp = inputs->stamp;
	if (v->c->run.particles == 0)
		v->c->run.particles = most;
	if (list->checksums.n > 0 && list->checksums.n != list->files.n)
		sl_config_add_problem(v->r, sl_list_key(v->c, "checksums"),
			"has %u values for %u files; give one per file, or remove the key",
			list->checksums.n, list->files.n);
	return SL_OK;
}

/*
 * Adds the error of an item as a problem of the configuration, if it is that no such file exists or
 * that too many do; other errors keep their status.
 */
static enum sl_status add_problem(struct sl_resolver *v, uint32_t item, enum sl_status s)
{
	const char *path = sl_lists_of(v->c)->files.at[item];

	if (s == SL_OK || (s != SL_USAGE && !(s == SL_DISK && sl_path_is_missing(path, R_OK))))
		return s;
	sl_config_add_problem(v->r, sl_said("%s[%u]", sl_list_key(v->c, "files"), item), "%s%s",
		sl_last_error(),
		s == SL_DISK && path[0] != '/'
			? "; relative names start at the folder in which sluice runs"
			: "");
	return SL_OK;
}

/* Reads what a model needs of the files of its data. A wrong key is SL_USAGE. */
static enum sl_status load_data(struct sl_resolver *v)
{
	const struct sl_model *model = v->c->model;
	const struct sl_volume_reader reader = {
		sl_volume_read, sl_volume_keep, sl_observations_read};
	const char *file;
	enum sl_status s = model->load(v->c->model_config.bytes, NULL, &reader, &file);

	if (s != SL_USAGE)
		return s;
	sl_config_add_problem(
		v->r, sl_said("model.%s.%s", model->name, file), "%s", sl_last_error());
	return SL_OK;
}

/* If an item cannot be opened, those after it that do not exist are reported too. */
enum sl_status sl_resolve_inputs(struct sl_resolver *v)
{
	const struct sl_list_config *list;
	struct sl_inputs *inputs;
	enum sl_status s, opened;
	uint32_t which;

	if (!v->c->model || sl_config_has_problem(v->r, "model"))
		return SL_OK;
	if (v->c->model->load)
		SL_TRY(load_data(v));
	list = sl_lists_of(v->c);
	if (!list || sl_config_has_problem(v->r, "run.particles"))
		return SL_OK;
	opened = sl_inputs_open(&list->files, sl_run_files_list, &inputs, &which);
	s = opened == SL_OK ? store(v, inputs) : add_problem(v, which, opened);
	sl_inputs_close(inputs);
	while (opened != SL_OK && s == SL_OK && ++which < list->files.n)
		(void)add_problem(
			v, which, sl_look_up_input_files(list->files.at[which], sl_run_files_list));
	return s;
}
