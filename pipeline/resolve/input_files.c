/*
 * input_files.c - reads the headers of the input files of model list, and stores what they contain
 * in its options.
 *
 * The files are closed afterwards; the plan opens them again, checks by the stamp that nothing
 * changed in between, and reads their particles (pipeline/plan/input_files.c).
 */
#define SL_MODEL_HOST
#include "pipeline/resolve/resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/results/results.h"
#include "primitives/files/files.h"
#include "stages/inputs/inputs.h"
#include "stages/inputs/volume.h"
#include "stages/models/list.h"

/* The configuration of model list. The bytes are aligned by the union that contains them. */
static struct sl_list_config *list_of(struct sl_config *c)
{
	return (struct sl_list_config *)(void *)c->model_config.bytes;
}

/* Stores what the files contain in the configuration, and checks the keys that depend on it. */
static void store_facts(struct sl_config *c, struct sl_reader *r, const struct sl_inputs *inputs)
{
	struct sl_list_config *list = list_of(c);

	list->constants = inputs->constants;
	list->constant = inputs->constant;
	list->weight = SL_HAS(inputs->constants, SL_COLUMN_weight) ? inputs->weight : 0;
	list->doubles = inputs->doubles;
	list->stamp = inputs->stamp;
	if (c->run.particles > inputs->particles)
		sl_config_add_problem(r, "run.particles",
			"is %" PRIu64 ", but the files contain %" PRIu64 " particles; use at most "
			"that many",
			c->run.particles, inputs->particles);
	if (c->run.particles == 0)
		c->run.particles = inputs->particles;
	if (list->checksums.n > 0 && list->checksums.n != list->files.n)
		sl_config_add_problem(r, SL_LIST_CHECKSUMS,
			"has %" PRIu32 " values for %" PRIu32
			" files; give one per file, or remove "
			"the key",
			list->checksums.n, list->files.n);
}

/*
 * Adds the error of an item as a problem of the configuration, if it is that no such file exists or
 * that too many do; other errors keep their status.
 */
static enum sl_status add_problem(
	struct sl_config *c, struct sl_reader *r, uint32_t item, enum sl_status s)
{
	const char *path = list_of(c)->files.at[item];
	char key[SL_WORD_BYTES];

	if (s == SL_OK || (s != SL_USAGE && !(s == SL_DISK && sl_path_is_missing(path, R_OK))))
		return s;
	snprintf(key, sizeof(key), SL_LIST_FILES "[%" PRIu32 "]", item);
	sl_config_add_problem(r, key, "%s%s", sl_last_error(),
		s == SL_DISK && path[0] != '/'
			? "; relative names start at the folder in which sluice runs"
			: "");
	return SL_OK;
}

/* Reads what a model needs of the files of its data. A wrong key is SL_USAGE. */
static enum sl_status load_data(struct sl_config *c, struct sl_reader *r)
{
	const struct sl_model *model = c->model;
	const struct sl_volume_reader reader = {sl_volume_read, sl_volume_keep};
	const char *file;
	char key[SL_WORD_BYTES];
	enum sl_status s = model->load(c->model_config.bytes, NULL, &reader, &file);

	if (s != SL_USAGE)
		return s;
	snprintf(key, sizeof(key), "model.%s.%s", model->name, file);
	sl_config_add_problem(r, key, "%s", sl_last_error());
	return SL_OK;
}

enum sl_status sl_resolve_inputs(struct sl_config *c, struct sl_reader *r)
{
	struct sl_inputs *inputs;
	enum sl_status s;
	uint32_t which;

	if (!c->model || sl_config_has_problem(r, "model"))
		return SL_OK;
	if (c->model->load)
		return load_data(c, r);
	if (!c->model->read || sl_config_has_problem(r, "run.particles"))
		return SL_OK;
	s = sl_inputs_open(&list_of(c)->files, sl_run_files_list, &inputs, &which);
	if (s == SL_OK)
		store_facts(c, r, inputs);
	sl_inputs_close(inputs);
	if (s == SL_OK)
		return SL_OK;
	SL_TRY(add_problem(c, r, which, s));
	/* the items after it were not opened; those that do not exist are reported too */
	while (++which < list_of(c)->files.n) {
		s = sl_look_up_input_files(list_of(c)->files.at[which], sl_run_files_list);
		(void)add_problem(c, r, which, s);
	}
	return SL_OK;
}
