/*
 * input_files.c - opens the input files of model list, or of a source, for a plan, and reports what
 * they contain.
 *
 * It compares the checksums of the files with those of the configuration, computes the particles of
 * single batches, and lists the files in run.json and in the printed plan.
 */
#define SL_MODEL_HOST
#include "pipeline/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "primitives/base/clock.h"
#include "primitives/files/files.h"
#include "stages/inputs/inputs.h"
#include "stages/inputs/observations.h"
#include "stages/inputs/volume.h"
#include "stages/models/list.h"

/* The decompressed records of gzip files are kept in at most a quarter of the free memory. */
enum { KEPT_SHARE = 4 };

/* --- the plan --------------------------------------------------------------------------------- */

/* The CRC-32 of the concatenated files of one item (a pattern); *k moves past them. */
static uint32_t crc_of(const struct sl_inputs *inputs, uint32_t item, uint32_t *k)
{
	uint32_t crc = 0;

	for (; *k < inputs->n && inputs->at[*k].item == item; ++*k) {
		const struct sl_input *f = &inputs->at[*k];

		crc = sl_crc32_combine(crc, f->crc, f->bytes);
	}
	return crc;
}

/* Compares the CRC-32 of a file or pattern with that of the configuration. */
static enum sl_status check(const struct sl_config *c, const char *path, uint32_t crc, uint64_t was)
{
	const char *key = sl_list_key(c, "checksums");

	if (crc == was)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"%s was changed (its CRC-32 is %u, %s has %lu); restore the file, or remove %s and start a new run",
		path, crc, key, was, key);
}

/* Warns of inputs that are runs which have not ended: their later batches are not read. */
static enum sl_status warn_unfinished(struct sl_plan *plan, const struct sl_lines *files)
{
	char state[SL_RUN_STATE_BYTES];
	bool is_folder;

	for (uint32_t item = 0; item < files->n; item++) {
		SL_TRY(sl_dir_exists(files->at[item], &is_folder));
		if (!is_folder)
			continue;
		SL_TRY(sl_run_files_state(files->at[item], state));
		if (state[0] && strcmp(state, "done") != 0)
			sl_plan_warn(plan,
				"%s[%u]: the run in %.200s has not ended (state %s); "
				"only its committed batches are read",
				sl_list_key(&plan->config, "files"), item, files->at[item], state);
	}
	return SL_OK;
}

/*
 * The files were opened once before, while the configuration was resolved. Equal stamps show that
 * they are the same files and unchanged since. Checksums are compared even if the survey finds
 * damage: they say that the file was changed. A resumed run also compares the checksums, which the
 * stored configuration contains.
 */
enum sl_status sl_plan_open_inputs(struct sl_plan *plan)
{
	struct sl_list_config *list = sl_lists_of(&plan->config);
	struct sl_inputs **made =
		plan->recipe.model->read ? &plan->recipe.inputs : &plan->source.inputs;
	struct sl_inputs *inputs;
	enum sl_status surveyed;
	uint32_t which, k = 0;

	if (!list)
		return SL_OK;
	SL_TRY(sl_inputs_open(&list->files, sl_run_files_list, made, &which));
	SL_TRY(warn_unfinished(plan, &list->files));
	inputs = *made;
	inputs->drops = list->damaged == SL_LIST_DROPS;
	if (inputs->stamp != list->stamp)
		return sl_fail(SL_DISK,
			"%s were written to since they were first read (a run needs unchanged "
			"files); try again when the writer has ended",
			sl_list_key(&plan->config, "files"));
	surveyed = sl_inputs_survey(
		inputs, plan->machine.free_bytes / KEPT_SHARE, sl_memory_plan_threads(plan));
	for (uint32_t item = 0; item < list->files.n; item++) {
		uint32_t crc = crc_of(inputs, item, &k);

		if (item < list->checksums.n)
			SL_TRY(check(&plan->config, list->files.at[item], crc,
				list->checksums.at[item]));
		list->checksums.at[item] = crc;
	}
	list->checksums.n = list->files.n;
	if (plan->recipe.inputs)
		plan->recipe.weight_shift = inputs->weight_shift;
	return surveyed;
}

/* The records of the lists that particles start from. */
static enum sl_status load_source(struct sl_plan *plan, struct sl_rules_data *data)
{
	const struct sl_source_config *source =
		sl_source_of(plan->recipe.model, plan->config.model_config.bytes);

	if (!source)
		return SL_OK;
	SL_TRY(sl_source_read(plan->source.inputs, source, sl_list_key(&plan->config, "damaged"),
		data, &plan->source.counts));
	return plan->source.counts.used == data->list.n
	               ? SL_OK
	               : sl_fail(SL_DISK,
				 "%s: the number of particles changed while they were read (a run "
				 "needs unchanged files); try again when the writer has ended",
				 sl_list_key(&plan->config, "files"));
}

/* The data of the rules, which the configuration described when it was resolved. */
enum sl_status sl_plan_load_data(struct sl_plan *plan)
{
	const struct sl_model *model = plan->recipe.model;
	struct sl_rules_data *data = sl_recipe_data(&plan->recipe);
	const struct sl_volume_reader reader = {
		sl_volume_read, sl_volume_free, sl_observations_read};
	const char *key;

	if (!data)
		return SL_OK;
	if (data->bytes > plan->machine.free_bytes)
		return sl_fail(SL_HOST_MEMORY,
			"the %s of model %s needs %s of memory and %s are free; use %s",
			data->list.n > 0 ? "list" : "volume", model->name,
			sl_sized((double)data->bytes), sl_sized((double)plan->machine.free_bytes),
			data->list.n > 0 ? "a shorter one" : "larger voxels");
	SL_TRY(sl_memory_get(SL_HOST, data->bytes, &plan->rules_data));
	data->at = plan->rules_data;
	if (model->load)
		SL_TRY(model->load(
			plan->config.model_config.bytes, plan->recipe.rules.bytes, &reader, &key));
	return load_source(plan, data);
}

/* --- particles -------------------------------------------------------------------------------- */

/* Particles that are read at once, in columns. */
enum { GROUP = SL_PILOT_GROUP };

/*
 * Reads a batch of n particles, at most GROUP, and sets their final fates. SL_NO_TURN: it waits for
 * no other batch, so it can be slow in gzip.
 */
static enum sl_status read_group(
	const struct sl_recipe *r, uint64_t id, uint32_t n, struct sl_particle *p)
{
	struct sl_batch batch = {.first_id = id, .turn = SL_NO_TURN, .n = n};
	uint64_t memory[SL_COLUMN_COUNT][GROUP] = {{0}}; /* as many bytes as those of any column */
	struct sl_arena arena = {memory, 0, sizeof(memory)};

	sl_layout_columns(&arena, SL_EVERY_COLUMN, GROUP, &batch.columns);
	SL_TRY(sl_inputs_read(r->inputs, &batch));
	for (uint32_t i = 0; i < n; i++) {
		p[i] = sl_load(&batch.columns, SL_EVERY_COLUMN, i);
		p[i].id = id + i;
		sl_end_particle(r, &p[i]);
	}
	return SL_OK;
}

enum sl_status sl_inputs_particle(const struct sl_recipe *r, uint64_t id, struct sl_particle *p)
{
	return read_group(r, id, 1, p);
}

/* Whether some list must be decompressed up to a particle to read it. */
static bool is_in_turn(const struct sl_inputs *inputs)
{
	for (uint32_t k = 0; k < inputs->n; k++)
		if (inputs->at[k].gzipped)
			return true;
	return false;
}

/*
 * Adds the survivors of a group to a pilot. The time is processor time of a second reading: the
 * first one may also read from the disk, which a run does in order and ahead of time. A list in
 * gzip is read once, because a second reading would decompress it from the beginning.
 */
static enum sl_status add_group(
	const struct sl_recipe *r, uint64_t id, uint32_t n, struct sl_pilot *pilot, double *squares)
{
	struct sl_particle p[GROUP];
	uint32_t survivors = pilot->survivors;
	uint64_t start = sl_thread_cpu_ns();

	SL_TRY(sl_check_cancelled(r));
	SL_TRY(read_group(r, id, n, p));
	if (!is_in_turn(r->inputs)) {
		start = sl_thread_cpu_ns();
		SL_TRY(read_group(r, id, n, p));
	}
	for (uint32_t i = 0; i < n; i++)
		sl_pilot_add(pilot, r, &p[i]);
	pilot->ns += (double)(sl_thread_cpu_ns() - start) / pilot->particles;
	survivors = pilot->survivors - survivors;
	*squares += (double)survivors * survivors;
	return SL_OK;
}

enum sl_status sl_inputs_pilot(const struct sl_recipe *r, struct sl_pilot *pilot, double *variance)
{
	const uint32_t groups = pilot->particles / GROUP, rest = pilot->particles % GROUP;
	const bool spread = pilot->particles < r->particles && !is_in_turn(r->inputs);
	const uint64_t step = spread ? r->particles / groups : GROUP;
	const uint64_t first = (step - GROUP) / 2; /* in the middle of the step */
	double squares = 0, mean, unused = 0;

	for (uint32_t k = 0; k < groups; k++)
		SL_TRY(add_group(r, first + k * step, GROUP, pilot, &squares));
	mean = groups > 0 ? (double)pilot->survivors / groups : 0;
	*variance =
		groups > 1 ? (squares / groups - mean * mean) / (groups - 1) / (GROUP * GROUP) : 0;
	if (rest > 0)
		SL_TRY(add_group(r, (uint64_t)groups * GROUP, rest, pilot, &unused));
	return SL_OK;
}

/*
 * The rules of model list are the columns that hold its particles; they refer to caller's memory.
 */
void sl_inputs_set_columns(struct sl_recipe *r, uint64_t first_id, const struct sl_columns *columns)
{
	struct sl_list listed;

	memcpy(&listed, r->rules.bytes, sizeof(listed));
	listed.first_id = first_id;
	listed.at = *columns;
	memcpy(r->rules.bytes, &listed, sizeof(listed));
}

/* --- reports ---------------------------------------------------------------------------------- */

/*
 * Why the run differs from the file; "" if it does not. Doubles stay doubles if records are copied
 * to files with doubles.
 */
static const char *notice_of(const struct sl_inputs *inputs, const struct sl_input *f)
{
	const struct sl_mcpl_header *layout = &inputs->layout;
	bool rounded = !f->single && (layout->record_bytes == 0 || layout->single);
	char *text = sl_message_part();

	*text = '\0';
	if (f->recovered)
		strcpy(text,
			"the file is incomplete: its writer stopped early, so only whole records are read");
	if (rounded)
		sl_append(text, SL_PART_BYTES,
			"%sit holds doubles, which are rounded to floats (24 bits)",
			*text ? "; " : "");
	if (f->damaged > 0)
		sl_append(text, SL_PART_BYTES, "%sdamaged particles, which are dropped: %lu",
			*text ? "; " : "", f->damaged);
	return text;
}

/* The bits of crc32 are those of the file as it is stored, compressed or not. */
static void write_input(struct sl_json *j, const struct sl_inputs *inputs, const struct sl_input *f)
{
	sl_json_add(j,
		"{ file %s format? %s bytes %lu crc32 %8x particles %lu first_id %lu doubles %d "
		"recovered %d notice? %s unread? %s metadata_left_out? %d }",
		f->path, f->format, f->bytes, f->crc, f->particles, f->first, !f->single,
		f->recovered, notice_of(inputs, f), f->unread,
		f->has_metadata && !inputs->metadata);
}

enum { BLOB_SHOWN = 79 }; /* bytes of the name of a blob */

/* Blobs that are renamed because another blob has the same name and other content. */
static void write_blobs(struct sl_json *j, const struct sl_inputs *inputs)
{
	struct sl_renamed_blob blob = {0};
	bool any = false;

	while (sl_renamed_blob_next(inputs, &blob)) {
		const char *name = sl_said("%.*s",
			(int)(blob.name_bytes < BLOB_SHOWN ? blob.name_bytes : BLOB_SHOWN),
			blob.name);

		if (!any)
			sl_json_array(j, "renamed_blobs");
		any = true;
		sl_json_add(j, "{ file %s blob %s number %u }", blob.path, name, blob.number);
	}
	if (any)
		sl_json_close(j);
}

/* What became of the particles of the lists that histories start from. */
static void write_source(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_source_counts *n = &plan->source.counts;

	sl_json_add(j, "list_source { used %lu other_kinds %lu damaged %lu weight %g }", n->used,
		n->other, n->damaged, n->weight);
}

const struct sl_inputs *sl_plan_inputs(const struct sl_plan *plan)
{
	return plan->recipe.inputs ? plan->recipe.inputs : plan->source.inputs;
}

void sl_inputs_json(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_inputs *inputs = sl_plan_inputs(plan);

	if (!inputs)
		return;
	if (plan->source.inputs)
		write_source(j, plan);
	sl_json_array(j, "inputs");
	for (uint32_t k = 0; k < inputs->n; k++)
		write_input(j, inputs, &inputs->at[k]);
	sl_json_close(j);
	write_blobs(j, inputs);
}
