/*
 * input_files.c - reads the headers of the input files of model list, or of the source of another
 * model, and stores what they contain in its options.
 *
 * The files are closed afterwards; the plan opens them again, checks by the stamp that nothing
 * changed in between, and reads their particles (pipeline/plan/input_files.c).
 */
#define SL_MODEL_HOST
#include "pipeline/resolve/resolve.h"

#include <stdio.h>
#include <unistd.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/results/results.h"
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

const char *sl_list_key(const struct sl_config *c, const char *leaf, char key[SL_WORD_BYTES])
{
	const char *section = c->model->read ? "" : c->model->source_key;

	snprintf(key, SL_WORD_BYTES, "model.%s.%s%s%s", c->model->name, section,
		*section ? "." : "", leaf);
	return key;
}

/*
 * The number of particles that start histories. Where some of the lists may not, all are read to
 * count them.
 */
static enum sl_status count_records(struct sl_config *c, struct sl_inputs *inputs, uint64_t *n)
{
	const struct sl_source_config *source = sl_source_of(c->model, c->model_config.bytes);
	struct sl_source_counts counts = {.used = inputs->particles};
	char key[SL_WORD_BYTES];

	inputs->drops = source->list.damaged == SL_LIST_DROPS;
	if (inputs->drops || source->pdg.n > 0) {
		SL_TRY(sl_inputs_survey(inputs, 0, 1));
		SL_TRY(sl_source_read(
			inputs, source, sl_list_key(c, "damaged", key), NULL, &counts));
	}
	*n = counts.used;
	return SL_OK;
}

/* Stores how many histories the lists start, and checks run.particles. */
static enum sl_status store_source(
	struct sl_config *c, struct sl_reader *r, struct sl_inputs *inputs)
{
	struct sl_source_config *source = sl_source_of(c->model, c->model_config.bytes);
	uint64_t repeat, most;
	char key[SL_WORD_BYTES];

	SL_TRY(count_records(c, inputs, &source->records));
	source->list.stamp = inputs->stamp;
	repeat = source->repeat > 0 ? source->repeat : 1;
	most = source->records * repeat; /* at most 2^28 times 1e12 */
	sl_list_key(c, "files", key);
	if (source->records == 0)
		sl_config_add_problem(r, key,
			"no particle of the lists starts a history: %lu were read; use other lists, or other codes in pdg",
			inputs->particles);
	else if (source->records > SL_SOURCE_RECORDS_MAX)
		sl_config_add_problem(r, key,
			"%lu particles would start histories, and a source has at most %lu; divide the lists among runs",
			source->records, SL_SOURCE_RECORDS_MAX);
	else if (c->run.particles > most)
		sl_config_add_problem(r, "run.particles",
			"is %lu, but %lu particles of the lists, each used %lu times, start %lu histories; use at most that many, or set %s",
			c->run.particles, source->records, repeat, most,
			sl_list_key(c, "repeat", key));
	if (c->run.particles == 0)
		c->run.particles = most;
	return SL_OK;
}

/* Stores what the files of model list contain, and checks run.particles. */
static void store_facts(struct sl_config *c, struct sl_reader *r, const struct sl_inputs *inputs)
{
	struct sl_list_config *list = sl_lists_of(c);

	list->constants = inputs->constants;
	list->constant = inputs->constant;
	list->weight = SL_HAS(inputs->constants, SL_COLUMN_weight) ? inputs->weight : 0;
	list->doubles = inputs->doubles;
	list->stamp = inputs->stamp;
	if (c->run.particles > inputs->particles)
		sl_config_add_problem(r, "run.particles",
			"is %lu, but the files contain %lu particles; use at most "
			"that many",
			c->run.particles, inputs->particles);
	if (c->run.particles == 0)
		c->run.particles = inputs->particles;
}

/* Stores what the files contain in the configuration, and checks the keys that depend on it. */
static enum sl_status store(struct sl_config *c, struct sl_reader *r, struct sl_inputs *inputs)
{
	const struct sl_list_config *list = sl_lists_of(c);
	char key[SL_WORD_BYTES];

	if (c->model->read)
		store_facts(c, r, inputs);
	else
		SL_TRY(store_source(c, r, inputs));
	if (list->checksums.n > 0 && list->checksums.n != list->files.n)
		sl_config_add_problem(r, sl_list_key(c, "checksums", key),
			"has %u values for %u files; give one per file, or remove "
			"the key",
			list->checksums.n, list->files.n);
	return SL_OK;
}

/*
 * Adds the error of an item as a problem of the configuration, if it is that no such file exists or
 * that too many do; other errors keep their status.
 */
static enum sl_status add_problem(
	struct sl_config *c, struct sl_reader *r, uint32_t item, enum sl_status s)
{
	const char *path = sl_lists_of(c)->files.at[item];
	char files[SL_WORD_BYTES], key[SL_WORD_BYTES + 16];

	if (s == SL_OK || (s != SL_USAGE && !(s == SL_DISK && sl_path_is_missing(path, R_OK))))
		return s;
	snprintf(key, sizeof(key), "%s[%u]", sl_list_key(c, "files", files), item);
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
	const struct sl_volume_reader reader = {
		sl_volume_read, sl_volume_keep, sl_observations_read};
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
	const struct sl_list_config *list;
	struct sl_inputs *inputs;
	enum sl_status s;
	uint32_t which;

	if (!c->model || sl_config_has_problem(r, "model"))
		return SL_OK;
	if (c->model->load)
		SL_TRY(load_data(c, r));
	list = sl_lists_of(c);
	if (!list || sl_config_has_problem(r, "run.particles"))
		return SL_OK;
	s = sl_inputs_open(&list->files, sl_run_files_list, &inputs, &which);
	if (s == SL_OK) {
		s = store(c, r, inputs);
		sl_inputs_close(inputs);
		return s;
	}
	sl_inputs_close(inputs);
	SL_TRY(add_problem(c, r, which, s));
	/* the items after it were not opened; those that do not exist are reported too */
	while (++which < list->files.n) {
		s = sl_look_up_input_files(list->files.at[which], sl_run_files_list);
		(void)add_problem(c, r, which, s);
	}
	return SL_OK;
}
