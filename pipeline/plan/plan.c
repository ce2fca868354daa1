/*
 * plan.c - makes a plan, refuses what does not fit, and answers questions about plans.
 *
 * Order matters: the recipe comes first, then the input files and the device that it needs, then
 * the text of the configuration, which each output file contains, and last the memory, which
 * depends on all of these. resources.c compares it with the free memory and disk.
 */
#include "pipeline/plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stages/device/kernels.h"
#include "stages/inputs/inputs.h"

void sl_plan_warn(struct sl_plan *plan, const char *format, ...)
{
	va_list words;

	if (plan->n_warnings == SL_WARNINGS_MAX)
		return;
	va_start(words, format);
	vsnprintf(plan->warning[plan->n_warnings++], SL_MESSAGE_BYTES, format, words);
	va_end(words);
}

/*
 * Opens all devices. The first one is opened last, because it is the current one afterwards. Ranks
 * that use the same device share its free memory.
 */
static enum sl_status open_devices(const struct sl_choices *c, struct sl_plan *plan)
{
	for (uint32_t i = c->n_devices; i-- > 0;)
		SL_TRY(sl_device_use(c->device_number[i], &plan->device[i]));
	for (uint32_t i = 0; i < c->n_devices && c->device_users > 1; i++)
		plan->device[i].free_bytes /= c->device_users;
	return SL_OK;
}

/* Opens the devices early, because a missing device makes the rest of the plan useless. */
static enum sl_status choose_device(const struct sl_choices *c, struct sl_plan *plan)
{
	const struct sl_choice *compact;

	plan->schedule_reason = "";
	sl_candidates_make(plan, c);
	plan->on_device = c->device != SL_ON_CPU;
	if (!plan->on_device)
		return SL_OK;
	plan->recipe.kernels = sl_kernels_find();
	SL_TRY(open_devices(c, plan));
	if (plan->recipe.n_fields > 0)
		SL_TRY(sl_tuning_check(plan->recipe.sort.backend, plan->recipe.sort.tuning,
			sl_key_type(&plan->recipe)));
	compact = sl_plan_compact(plan);
	return compact->backend ? sl_tuning_check(compact->backend, compact->tuning, SL_U32)
	                        : SL_OK;
}

enum sl_status sl_plan_use_device(const struct sl_plan *plan, uint32_t i)
{
	struct sl_device device;

	return plan->on_device ? sl_device_use(plan->device[i].number, &device) : SL_OK;
}

/* Stores the configuration texts. Every output file contains one, so file sizes depend on them. */
static enum sl_status print_config(struct sl_plan *plan)
{
	size_t length = sl_config_print(&plan->config, false, NULL, 0);

	if (length >= SL_CONFIG_TEXT_BYTES)
		return sl_fail(SL_USAGE,
			"the configuration has %zu bytes, at most %d can be stored in a file; shorten it",
			length, SL_CONFIG_TEXT_BYTES - 1);
	sl_memory_give(SL_HOST, plan->config_text);
	plan->config_text = NULL;
	SL_TRY(sl_host_get(2, length + 1, &plan->config_text));
	sl_config_print(&plan->config, false, plan->config_text, length + 1);
	plan->facts.config = plan->config_text;
	plan->batch_config = plan->config_text + length + 1;
	plan->config.run.particles = 0; /* left out */
	sl_config_print(&plan->config, false, plan->batch_config, length + 1);
	plan->config.run.particles = plan->recipe.particles;
	return SL_OK;
}

/*
 * What needs all batches is left to sluice join: the stop rule, the image, the joined file. All
 * parts need the same batches, so an automatic batch does not become smaller for lack of memory.
 */
static enum sl_status choose_part(struct sl_plan *plan)
{
	const struct sl_part *part = &plan->config.part;
	const char *text = sl_part_name(part);

	if (part->of > plan->recipe.n_batches)
		return sl_fail(SL_USAGE,
			"--part %lu/%lu: the run has %lu batches of %u particles, so it has at "
			"most %lu parts; use fewer parts, or a smaller run.batch",
			part->number, part->of, plan->recipe.n_batches, plan->recipe.batch,
			plan->recipe.n_batches);
	if (strlen(plan->to) < strlen(text) ||
		strcmp(plan->to + strlen(plan->to) - strlen(text), text) != 0)
		return sl_fail(SL_USAGE,
			"--part %lu/%lu: the path of the output directory is too long for the "
			"directory %s in it; choose a shorter --out",
			part->number, part->of, text);
	plan->choices.stop_rule.below = 0;
	plan->choices.image.width = plan->choices.image.height = 0;
	plan->batch_is_auto = false;
	return SL_OK;
}

/*
 * A smaller automatic batch changes the number of digits of run.batch in the stored text. Files
 * contain that text, so their sizes, and the memory for them, are computed again.
 */
enum sl_status sl_plan_make(
	const struct sl_config *config, const struct sl_choices *choices, struct sl_plan **made)
{
	struct sl_plan *plan;

	*made = NULL;
	SL_TRY(sl_host_get_zeroed(1, sizeof(*plan), made));
	plan = *made;
	plan->choices = *choices;
	plan->config = *config;
	sl_machine_read("", &plan->machine);
	sl_machine_divide(&plan->machine, &plan->config.share);
	SL_TRY(sl_recipe_make(choices, config, &plan->recipe));
	SL_TRY(sl_plan_open_inputs(plan));
	SL_TRY(sl_plan_load_data(plan));
	/* weights of particles that are read have any scale, so their fractions mean little */
	plan->choices.stop_rule.counts =
		!sl_sums_weights(&plan->recipe) || plan->recipe.model->read;
	sl_recipe_choose_kept(&plan->choices, &plan->recipe);
	SL_TRY(choose_device(choices, plan));
	sl_output_directory_name(config, plan->to);
	plan->facts = (struct sl_file_facts){.run_name = plan->config.run.name,
		.species = choices->model->species,
		.software_version = sl_version(),
		.seed = config->run.seed,
		.rules_version = SL_RULES_VERSION,
		.deflate = choices->deflate,
		.level = (int)config->output.level,
		.form = choices->form,
		.mcpl = choices->mcpl};
	if (plan->recipe.inputs && sl_format_is_mcpl(plan->choices.format)) {
		SL_TRY(sl_inputs_read_metadata(plan->recipe.inputs));
		plan->facts.mcpl.metadata = plan->recipe.inputs->metadata;
	}
	/*
	 * files depend on the batch, so the stored configuration states its size, also if it was
	 * auto
	 */
	plan->batch_is_auto = config->run.batch == 0;
	if (sl_plan_is_part(plan))
		SL_TRY(choose_part(plan));
	plan->config.run.batch = plan->recipe.batch;
	plan->config.stop.min_batches = choices->stop_rule.min_batches;
	SL_TRY(print_config(plan));
	SL_TRY(sl_memory_plan_fit(plan));
	plan->config.output.image = plan->choices.image.width > 0;
	if (plan->config.run.batch == plan->recipe.batch)
		return SL_OK;
	plan->config.run.batch = plan->recipe.batch;
	SL_TRY(print_config(plan));
	return sl_memory_plan_fit(plan); /* the text, and so the size of files, has changed */
}

struct sl_file_facts sl_plan_batch_facts(const struct sl_plan *plan)
{
	struct sl_file_facts facts = plan->facts;

	facts.config = plan->batch_config;
	return facts;
}

void sl_plan_free(struct sl_plan *plan)
{
	if (!plan)
		return;
	sl_memory_give(SL_HOST, plan->config_text);
	sl_inputs_close(plan->recipe.inputs);
	sl_inputs_close(plan->source.inputs);
	sl_memory_give(SL_HOST, plan->rules_data);
	sl_memory_give(SL_HOST, plan);
}

struct sl_table sl_plan_table(const struct sl_plan *plan, uint32_t n)
{
	struct sl_table t = {.n = n, .n_columns = plan->recipe.n_columns};

	memcpy(t.label, plan->recipe.label, sizeof(t.label));
	for (uint32_t k = 0; k < t.n_columns; k++) {
		t.column[k].column = plan->recipe.column[k];
		t.column[k].constant = SL_HAS(plan->recipe.constants, t.column[k].column);
		t.column[k].internal = SL_HAS(plan->recipe.internal, t.column[k].column);
	}
	return sl_format_table(plan->choices.format, &t);
}

bool sl_plan_is_part(const struct sl_plan *plan)
{
	return plan->config.part.of > 0;
}

struct sl_batch_range sl_plan_batches(const struct sl_plan *plan)
{
	const struct sl_recipe *r = &plan->recipe;

	return sl_plan_is_part(plan)
	               ? sl_part_batches(&plan->config.part, r->n_batches, r->batch, r->particles)
	               : (struct sl_batch_range){0, r->n_batches, r->particles};
}

bool sl_plan_is_joined(const struct sl_plan *plan)
{
	const struct sl_list_order *o = &plan->choices.list_order;

	return !sl_plan_is_part(plan) &&
	       (plan->config.output.joined || o->run || o->sample > 0 || o->limit > 0);
}

/* One batch is in the order of the run already, and so are batches without a key. */
struct sl_order_items sl_plan_order_items(const struct sl_plan *plan)
{
	const struct sl_list_order *o = &plan->choices.list_order;
	struct sl_order_items items = {
		.key = o->run && plan->recipe.n_fields > 0 && plan->recipe.n_batches > 1,
		.priority = o->sample > 0};

	items.bytes = (items.key + items.priority) * (uint32_t)sizeof(uint64_t);
	return items;
}

const struct sl_backend *sl_plan_deflate(const struct sl_plan *plan)
{
	const struct sl_backend *pack = plan->recipe.pack.backend;

	return pack ? pack : plan->facts.deflate;
}

bool sl_plan_is_device_packed(const struct sl_plan *plan)
{
	return sl_is_device_packed(&plan->recipe.pack.packing, plan->recipe.pack.form);
}
