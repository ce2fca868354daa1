/*
 * workspace.c - allocates the memory that the plan has counted, lays it out and frees it.
 *
 * The sizes in plan->memory were measured by the layout functions that are called here with memory,
 * so everything fits. They are maxima over the candidates of the plan: one block serves each
 * schedule.
 */
#include "pipeline/run/workspace.h"

#include <string.h>

#include "pipeline/plan/candidates.h"
#include "pipeline/plan/memory.h"

/*
 * Lays out a slot in its blocks for the recipe in use. Everything else in the slot is reset: batch,
 * times and pointers.
 */
static void place_slot(const struct sl_workspace *w, struct sl_host_slot *slot)
{
	const struct sl_memory_plan *memory = &w->plan->memory;
	struct sl_arena block = {.base = slot->block, .size = memory->slot},
			pinned = {.base = slot->pinned, .size = memory->slot_pinned};
	struct sl_host_slot placed = {.block = slot->block, .pinned = slot->pinned};

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
	const struct sl_workspace *w, struct sl_device_pipeline *d)
{
	const struct sl_memory_plan *memory = &w->plan->memory;
	struct sl_arena block = {.base = d->block, .size = memory->device_pipeline},
			pinned = {.base = d->pinned, .size = memory->device_pipeline_pinned};

	sl_device_pipeline_lay_out(&block, &pinned, &w->recipe, sl_memory_plan_batch(w->plan), d);
	d->block = block.base;
	d->pinned = pinned.base;
	return sl_device_pipeline_open(d);
}

static enum sl_status get_device_pipeline(
	const struct sl_workspace *w, struct sl_device_pipeline *d)
{
	SL_TRY(sl_memory_get(SL_DEVICE, w->plan->memory.device_pipeline, &d->block));
	SL_TRY(sl_memory_get(SL_PINNED, w->plan->memory.device_pipeline_pinned, &d->pinned));
	return place_device_pipeline(w, d);
}

/* Allocates n items of some bytes, filled with 0. */
static enum sl_status get_zeroed(uint32_t n, size_t bytes, void **p)
{
	SL_TRY(sl_memory_get(SL_HOST, n * bytes, p));
	memset(*p, 0, n * bytes);
	return SL_OK;
}

/* Allocates the histogram sums; all zero, as no batch is added yet. */
static enum sl_status get_histograms(struct sl_workspace *w)
{
	struct sl_arena a = {.size = w->plan->memory.histograms};

	SL_TRY(get_zeroed(1, a.size, &a.base));
	w->histogram_block = a.base;
	sl_histogram_sums_lay_out(&a, &w->plan->recipe, &w->histograms);
	return SL_OK;
}

/* Allocates the image of the run; all zero, as no batch is added yet. */
static enum sl_status get_image_sum(struct sl_workspace *w)
{
	struct sl_arena a = {.size = w->plan->memory.image_sum};

	SL_TRY(get_zeroed(1, a.size, &a.base));
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
	void *memory;

	*made = NULL;
	SL_TRY(get_zeroed(1, sizeof(*w), &memory));
	w = *made = (struct sl_workspace *)memory;
	w->plan = plan;
	atomic_init(&w->cancel, 0);
	use_recipe(w);
	snprintf(w->schedule_reason, sizeof(w->schedule_reason), "%s", plan->schedule_reason);
	SL_TRY(get_histograms(w));
	return get_image_sum(w);
}

enum sl_status sl_workspace_allocate(struct sl_workspace *w)
{
	const struct sl_plan *plan = w->plan;
	void *memory;

	SL_TRY(sl_plan_use_device(plan));
	SL_TRY(get_zeroed(plan->n_host_slots, sizeof(*w->slot), &memory));
	w->slot = (struct sl_host_slot *)memory;
	SL_TRY(get_zeroed(plan->n_device_slots, sizeof(*w->device_pipeline), &memory));
	w->device_pipeline = (struct sl_device_pipeline *)memory;
	for (uint32_t i = 0; i < plan->n_host_slots; i++)
		SL_TRY(get_slot(w, &w->slot[i]));
	for (uint32_t i = 0; i < plan->n_device_slots; i++)
		SL_TRY(get_device_pipeline(w, &w->device_pipeline[i]));
	return sl_memory_get(SL_HOST, plan->n_writers * plan->memory.image, &w->file_image);
}

enum sl_status sl_workspace_use(struct sl_workspace *w, const struct sl_candidate *candidate)
{
	use_recipe(w);
	sl_candidate_apply(&w->recipe, candidate);
	for (uint32_t i = 0; i < w->plan->n_host_slots; i++)
		place_slot(w, &w->slot[i]);
	for (uint32_t i = 0; i < w->plan->n_device_slots; i++) {
		sl_device_pipeline_close(&w->device_pipeline[i]); /* the blocks stay */
		SL_TRY(place_device_pipeline(w, &w->device_pipeline[i]));
	}
	return SL_OK;
}

/* Members are NULL where opening or allocating failed before them. */
void sl_workspace_close(struct sl_workspace *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->device_pipeline && i < w->plan->n_device_slots; i++) {
		sl_device_pipeline_close(&w->device_pipeline[i]);
		sl_memory_give(SL_DEVICE, w->device_pipeline[i].block);
		sl_memory_give(SL_PINNED, w->device_pipeline[i].pinned);
	}
	for (uint32_t i = 0; w->slot && i < w->plan->n_host_slots; i++) {
		sl_block_give(w->slot[i].batch.resident);
		sl_memory_give(SL_HOST, w->slot[i].block);
		sl_memory_give(SL_PINNED, w->slot[i].pinned);
	}
	sl_memory_give(SL_HOST, w->device_pipeline);
	sl_memory_give(SL_HOST, w->slot);
	sl_memory_give(SL_HOST, w->image_sum.block);
	sl_memory_give(SL_HOST, w->file_image);
	sl_memory_give(SL_HOST, w->histogram_block);
	sl_memory_give(SL_HOST, w);
}
