/*
 * workspace.c - allocates the memory that the plan has counted, lays it out and frees it.
 *
 * The sizes in plan->memory were measured by the layout functions that are called here with memory,
 * so everything fits. They are maxima over the candidates of the plan: one block serves each
 * schedule.
 */
#include "pipeline/run/run.h"

#include <string.h>

#include "pipeline/plan/plan.h"
#include "primitives/base/clock.h"

/*
 * Lays out a slot in its blocks for the recipe in use. Everything else in the slot is reset: batch,
 * times and pointers.
 */
static void place_slot(const struct sl_workspace *w, struct sl_host_slot *slot)
{
	const struct sl_memory_plan *memory = &w->plan->memory;
	struct sl_arena block = {.base = slot->block, .size = memory->slot},
			pinned = {.base = slot->pinned, .size = memory->slot_pinned};
	const struct sl_device_packed *packed = &slot->batch.device_packed;
	struct sl_host_slot placed = {.block = slot->block,
		.pinned = slot->pinned,
		.batch.device_packed = {.bytes = packed->bytes, .size = packed->size}};

	sl_block_give(slot->batch.resident);
	sl_host_slot_lay_out(&block, &pinned, w->plan, &w->recipe, &placed);
	*slot = placed;
}

/* Allocates the blocks of a slot. Pinned memory is only needed for copies from a device. */
static enum sl_status get_slot(const struct sl_workspace *w, struct sl_host_slot *slot)
{
	SL_TRY(sl_memory_get(SL_HOST, w->plan->memory.slot, &slot->block));
	if (w->plan->on_device)
		SL_TRY(sl_memory_get(SL_PINNED, w->plan->memory.slot_pinned, &slot->pinned));
	place_slot(w, slot);
	return SL_OK;
}

/*
 * Lays out a device pipeline in its blocks for the recipe in use, and creates its stream and
 * events. Laying out resets the struct, so the blocks are kept in the arenas.
 */
static enum sl_status place_device_pipeline(
	const struct sl_workspace *w, const void *rules_data, struct sl_device_pipeline *d)
{
	const struct sl_memory_plan *memory = &w->plan->memory;
	struct sl_arena block = {.base = d->block, .size = memory->device_pipeline},
			pinned = {.base = d->pinned, .size = memory->device_pipeline_pinned};

	sl_device_pipeline_lay_out(&block, &pinned, &w->recipe, sl_memory_plan_batch(w->plan), d);
	d->block = block.base;
	d->pinned = pinned.base;
	sl_device_pipeline_use_data(&w->recipe, rules_data, d);
	return sl_device_pipeline_open(d);
}

static enum sl_status get_device_pipeline(
	const struct sl_workspace *w, const void *rules_data, struct sl_device_pipeline *d)
{
	SL_TRY(sl_memory_get(SL_DEVICE, w->plan->memory.device_pipeline, &d->block));
	SL_TRY(sl_memory_get(SL_PINNED, w->plan->memory.device_pipeline_pinned, &d->pinned));
	return place_device_pipeline(w, rules_data, d);
}

/* Copies the data of the rules to device d, which is current. */
static enum sl_status get_rules_data(struct sl_workspace *w, uint32_t d)
{
	const struct sl_rules_data *data = sl_recipe_data(&w->recipe);

	if (!data || !w->plan->on_device)
		return SL_OK;
	SL_TRY(sl_memory_get(SL_DEVICE, data->bytes, &w->device[d].rules_data));
	SL_TRY(sl_copy(w->device[d].rules_data, data->at, data->bytes, NULL));
	return sl_stream_wait(NULL);
}

/* The devices that share the host slots; the CPU counts as one. */
static uint32_t sharers(const struct sl_plan *plan)
{
	return plan->n_devices > 0 ? plan->n_devices : 1;
}

static struct sl_device_pipeline *pipelines_of(const struct sl_workspace *w, uint32_t d)
{
	return &w->device_pipeline[d * w->plan->n_device_slots];
}

/*
 * Makes device d of several current; a single one is current already. False if it has failed: its
 * memory cannot be used or freed any more.
 */
static bool is_usable(const struct sl_workspace *w, uint32_t d)
{
	return w->plan->n_devices < 2 || sl_device_switch(&w->plan->device[d]);
}

/* Allocates the pipelines of device d, which is current, and the host slots near it. */
static enum sl_status get_slots(struct sl_workspace *w, uint32_t d)
{
	const struct sl_plan *plan = w->plan;

	for (uint32_t i = d; i < plan->n_host_slots; i += sharers(plan))
		SL_TRY(get_slot(w, &w->slot[i]));
	SL_TRY(get_rules_data(w, d));
	for (uint32_t i = 0; i < plan->n_device_slots; i++)
		SL_TRY(get_device_pipeline(w, w->device[d].rules_data, &pipelines_of(w, d)[i]));
	return SL_OK;
}

/* The threads of all devices that have the same processors near them as device d. */
static uint32_t threads_near(const struct sl_workspace *w, uint32_t d)
{
	uint32_t n = w->plan->n_devices, threads = 0;

	for (uint32_t i = 0; i < n; i++)
		if (CPU_EQUAL(&w->device[i].place.near, &w->device[d].place.near))
			threads += (w->plan->threads + n - 1 - i) / n;
	return threads;
}

/*
 * Finds the processors near each device. Threads are bound to them only if there is one for each
 * thread: a run on one device, whose threads compress, would otherwise leave the processors of
 * other nodes idle.
 */
static void find_places(struct sl_workspace *w)
{
	uint32_t n = w->plan->n_devices;

	for (uint32_t d = 0; d < n; d++)
		sl_placement_find("/sys", w->plan->device[d].pci, &w->device[d].place);
	for (uint32_t d = 0; d < n; d++)
		w->device[d].binds =
			w->device[d].place.known &&
			threads_near(w, d) <= (uint32_t)CPU_COUNT(&w->device[d].place.near);
}

/* Allocates what device d uses, in a thread near it, so that pages of its node are taken. */
static enum sl_status get_device(struct sl_workspace *w, uint32_t d)
{
	cpu_set_t before;
	enum sl_status s;

	SL_TRY(sl_plan_use_device(w->plan, d));
	sl_placement_enter(&w->device[d].place, &before);
	s = get_slots(w, d);
	sl_placement_leave(&w->device[d].place, &before);
	return s;
}

/* Allocates the histogram sums; all zero, as no batch is added yet. */
static enum sl_status get_histograms(struct sl_workspace *w)
{
	struct sl_arena a = {.size = w->plan->memory.histograms};

	SL_TRY(sl_host_get_zeroed(1, a.size, &a.base));
	w->histogram_block = a.base;
	sl_tally_sums_lay_out(&a, &w->plan->recipe, &w->tallies);
	return SL_OK;
}

/* Allocates the image of the run; all zero, as no batch is added yet. */
static enum sl_status get_image_sum(struct sl_workspace *w)
{
	struct sl_arena a = {.size = w->plan->memory.image_sum};

	SL_TRY(sl_host_get_zeroed(1, a.size, &a.base));
	w->image_sum = (struct sl_image_sum){
		.image = w->plan->choices.image, .white = w->plan->config.output.white};
	sl_image_sum_lay_out(&a, &w->plan->facts, w->plan->recipe.n_batches, &w->image_sum);
	w->image_sum.block = a.base;
	return SL_OK;
}

/* Copies the plan's recipe; the copy ends early when w->cancel is set. */
static void use_recipe(struct sl_workspace *w)
{
	w->recipe = w->plan->recipe;
	w->recipe.cancel = &w->cancel;
}

enum sl_status sl_workspace_open(const struct sl_plan *plan, struct sl_workspace **made)
{
	struct sl_workspace *w;

	*made = NULL;
	SL_TRY(sl_host_get_zeroed(1, sizeof(*w), made));
	w = *made;
	w->plan = plan;
	w->at.planned = sl_now_ns();
	atomic_init(&w->cancel, 0);
	use_recipe(w);
	snprintf(w->schedule_reason, sizeof(w->schedule_reason), "%s", plan->schedule_reason);
	SL_TRY(get_histograms(w));
	return get_image_sum(w);
}

enum sl_status sl_workspace_allocate(struct sl_workspace *w)
{
	const struct sl_plan *plan = w->plan;

	SL_TRY(sl_host_get_zeroed(plan->n_host_slots, sizeof(*w->slot), &w->slot));
	SL_TRY(sl_host_get_zeroed(sharers(plan), sizeof(*w->device), &w->device));
	SL_TRY(sl_host_get_zeroed(plan->n_devices * plan->n_device_slots,
		sizeof(*w->device_pipeline), &w->device_pipeline));
	find_places(w);
	for (uint32_t d = sharers(plan); d-- > 0;) /* the first one is current afterwards */
		SL_TRY(get_device(w, d));
	SL_TRY(sl_memory_get(SL_HOST, plan->n_writers * plan->memory.image, &w->file_image));
	w->at.allocated = sl_now_ns();
	return SL_OK;
}

/* Lays out the pipelines of device d, which is current, for the recipe in use; blocks stay. */
static enum sl_status replace_pipelines(const struct sl_workspace *w, uint32_t d)
{
	struct sl_device_pipeline *pipelines = pipelines_of(w, d);

	for (uint32_t i = 0; i < w->plan->n_device_slots; i++) {
		sl_device_pipeline_close(&pipelines[i]);
		SL_TRY(place_device_pipeline(w, w->device[d].rules_data, &pipelines[i]));
	}
	return SL_OK;
}

enum sl_status sl_workspace_use(struct sl_workspace *w, const struct sl_candidate *candidate)
{
	use_recipe(w);
	sl_candidate_apply(&w->recipe, candidate);
	for (uint32_t i = 0; i < w->plan->n_host_slots; i++)
		place_slot(w, &w->slot[i]);
	for (uint32_t d = w->plan->n_devices; d-- > 0;)
		if (!w->device[d].dropped && is_usable(w, d))
			SL_TRY(replace_pipelines(w, d));
	return SL_OK;
}

/* Frees the pipelines of device d, and the pinned memory of the slots near it. */
static void free_device(struct sl_workspace *w, uint32_t d)
{
	for (uint32_t i = 0; w->device_pipeline && i < w->plan->n_device_slots; i++) {
		struct sl_device_pipeline *pipeline = &pipelines_of(w, d)[i];

		sl_device_pipeline_close(pipeline);
		sl_memory_give(SL_DEVICE, pipeline->block);
		sl_memory_give(SL_PINNED, pipeline->pinned);
		*pipeline = (struct sl_device_pipeline){.block = NULL};
	}
	if (w->device) {
		sl_memory_give(SL_DEVICE, w->device[d].rules_data);
		w->device[d].rules_data = NULL;
	}
	for (uint32_t i = d; w->slot && i < w->plan->n_host_slots; i += sharers(w->plan)) {
		sl_memory_give(SL_PINNED, w->slot[i].pinned);
		sl_memory_give(SL_PINNED, w->slot[i].batch.device_packed.bytes);
		w->slot[i].pinned = w->slot[i].batch.device_packed.bytes = NULL;
	}
}

void sl_workspace_free_devices(struct sl_workspace *w)
{
	for (uint32_t i = 0; w->slot && i < w->plan->n_host_slots; i++) {
		sl_block_give(w->slot[i].batch.resident);
		w->slot[i].batch.resident = NULL;
	}
	for (uint32_t d = sharers(w->plan); d-- > 0;) /* the first one is current afterwards */
		if (is_usable(w, d))
			free_device(w, d);
}

/* Members are NULL where opening or allocating failed before them. */
void sl_workspace_close(struct sl_workspace *w)
{
	if (!w)
		return;
	sl_workspace_free_devices(w);
	for (uint32_t i = 0; w->slot && i < w->plan->n_host_slots; i++)
		sl_memory_give(SL_HOST, w->slot[i].block);
	sl_memory_give(SL_HOST, w->device_pipeline);
	sl_memory_give(SL_HOST, w->device);
	sl_memory_give(SL_HOST, w->slot);
	sl_memory_give(SL_HOST, w->image_sum.block);
	sl_memory_give(SL_HOST, w->file_image);
	sl_memory_give(SL_HOST, w->histogram_block);
	sl_memory_give(SL_HOST, w->rank);
	sl_memory_give(SL_HOST, w);
}
