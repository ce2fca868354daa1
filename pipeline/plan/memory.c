/* room.c - slots and lanes: laid out, measured, made to fit, got and given back. */
#include "pipeline/plan/memory.h"

#include <string.h>

#include "pipeline/run/autotune.h"
#include "pipeline/text/messages.h"
#include "stages/formats/mcpl/mcpl_metadata.h"
#include "stages/inputs/input_reader.h"

enum {
	LANES_AUTO = 3, /* one computes, one is copied home, one begins */
	WRITERS_MOST = 16
};

/* A run of few particles has one batch that is smaller than the others would be. */
uint32_t sl_memory_plan_batch(const struct sl_plan *plan)
{
	const struct sl_recipe *r = &plan->recipe;

	return r->particles < r->batch ? (uint32_t)r->particles : r->batch;
}

/* --- measuring -------------------------------------------------------------------------------- */

/* One text for measuring a slot and for cutting it. */
static void lay_out_slot(struct sl_arena *block, struct sl_arena *pinned,
	const struct sl_plan *plan, const struct sl_recipe *r, struct sl_host_slot *s)
{
	uint32_t n = sl_memory_plan_batch(plan);
	struct sl_table most = sl_plan_table(plan, n);
	size_t scratch = plan->format->scratch(&most, &plan->facts);

	if (plan->on_device) {
		if (r->inputs)
			sl_columns_lay_out(pinned, r, n, &s->batch.columns);
		sl_table_lay_out(pinned, r, n, r->home, &s->batch.table);
		if (r->pack.form != SL_AS_COLUMNS)
			sl_device_packed_lay_out(pinned, r, n, &s->batch.device_packed);
	} else {
		size_t stages = sl_stages_scratch(r, n);

		sl_batch_lay_out(block, r, n, &s->batch);
		scratch = stages > scratch ? stages : scratch;
	}
	sl_histogram_lay_out(block, r, &s->batch);
	plan->format->lay_out(block, &most, &plan->facts, &s->packed);
	s->exec = (struct sl_exec){.space = SL_HOST};
	s->exec.scratch = (struct sl_arena){.base = sl_cut(block, scratch), .size = scratch};
}

/* What the sums over batches take; nothing where there are none. */
static size_t histogram_bytes(const struct sl_plan *plan)
{
	struct sl_histogram_sums h;
	struct sl_arena a = {0};

	sl_histogram_sums_lay_out(&a, &plan->recipe.bins, &h);
	return a.used;
}

/* What lists that are read take already, and their headers. */
static size_t inputs_bytes(const struct sl_plan *plan)
{
	return (plan->recipe.inputs ? plan->recipe.inputs->memory : 0) +
	       (plan->metadata ? plan->metadata->memory : 0);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* What a slot and a lane take by r, unless what there is suffices. */
static void measure_by(struct sl_plan *plan, const struct sl_recipe *r)
{
	struct sl_arena block = {0}, pinned = {0}, lane_block = {0}, lane_pinned = {0};
	struct sl_memory_plan *room = &plan->room;
	struct sl_device_pipeline lane;
	struct sl_host_slot slot = {0};

	lay_out_slot(&block, &pinned, plan, r, &slot);
	if (plan->on_device)
		sl_device_pipeline_lay_out(
			&lane_block, &lane_pinned, r, sl_memory_plan_batch(plan), &lane);
	room->slot = larger(room->slot, block.used);
	room->slot_pinned = larger(room->slot_pinned, pinned.used);
	room->lane = larger(room->lane, lane_block.used);
	room->lane_pinned = larger(room->lane_pinned, lane_pinned.used);
}

static void measure(struct sl_plan *plan)
{
	struct sl_table most = sl_plan_table(plan, sl_memory_plan_batch(plan));
	struct sl_memory_plan *room = &plan->room;
	struct sl_recipe recipe = plan->recipe;
	struct sl_arena all = {0};
	struct sl_image_sum image_sum = plan->image_sum;

	memset(room, 0, sizeof(*room));
	measure_by(plan, &recipe);
	for (uint32_t i = 0; i < plan->n_candidates; i++) {
		sl_autotune_take(&recipe, &plan->candidate[i]);
		measure_by(plan, &recipe);
	}
	room->image = sl_round_up(plan->format->image_bytes(&most, &plan->facts), SL_ALIGN);
	room->histograms = histogram_bytes(plan);
	sl_image_sum_lay_out(&all, &plan->facts, recipe.n_batches, &image_sum);
	room->image_sum = all.used;
	room->inputs = inputs_bytes(plan);
	room->host = sl_size_add(
		sl_size_add(sl_size_mul(room->image, plan->n_writers),
			sl_size_add(room->histograms, sl_size_add(room->image_sum, room->inputs))),
		sl_size_add(
			sl_size_mul(sl_size_add(room->slot, room->slot_pinned), plan->n_host_slots),
			sl_size_mul(room->lane_pinned, plan->n_device_slots)));
	room->device = sl_size_mul(room->lane, plan->n_device_slots);
}

/* --- fitting ---------------------------------------------------------------------------------- */

static bool host_fits(const struct sl_plan *plan)
{
	return plan->room.host <= plan->machine.free_bytes;
}

static bool device_fits(const struct sl_plan *plan)
{
	return plan->room.device <= plan->device.free_bytes;
}

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/*
 * A slot is free again when its batch is committed, in order, and cores are not all as fast: with
 * one to spare 16 threads wait 4 % of their time for another's batch, 64 threads 8 %; with one for
 * every eight more it is half of that (simulated, with cores that differ by 30 %).
 *
 * Of threads that compress on the host, a third could be writers before these were as busy. Where a
 * GPU packs all they have little to do, and a writer makes 1 GB/s of the ten that come.
 */
static void set_threads(struct sl_plan *plan, uint32_t threads)
{
	plan->threads = threads;
	plan->n_host_slots = threads + 1 + threads / 8;
	plan->n_writers = sl_plan_is_device_packed(plan) ? threads : (threads + 2) / 3;
	if (plan->n_writers > WRITERS_MOST)
		plan->n_writers = WRITERS_MOST;
}

/* As many threads and lanes as asked for, or as do good. */
static void choose_most(struct sl_plan *plan)
{
	const struct sl_config *c = &plan->config;
	uint64_t threads = c->run.threads > 0 ? c->run.threads : plan->machine.cores;
	uint64_t lanes = c->run.slots > 0 ? c->run.slots : LANES_AUTO;

	plan->threads = least(threads, plan->recipe.n_batches);
	/* a lane is driven by a thread, which then compresses while others drive it */
	if (plan->on_device && c->run.threads == 0)
		plan->threads = least(threads > lanes ? threads : lanes, plan->recipe.n_batches);
	set_threads(plan, plan->threads);
	plan->n_device_slots = plan->on_device ? least(lanes, plan->threads) : 0;
	measure(plan);
}

/* Fewer batches at a time, where that is left to us. */
static void choose_fewer(struct sl_plan *plan)
{
	while (!device_fits(plan) && plan->config.run.slots == 0 && plan->n_device_slots > 1) {
		plan->n_device_slots--;
		measure(plan);
	}
	while (!host_fits(plan) && plan->config.run.threads == 0 && plan->threads > 1) {
		set_threads(plan, plan->threads - 1);
		plan->n_device_slots = least(plan->n_device_slots, plan->threads);
		measure(plan);
	}
}

static void set_batch(struct sl_plan *plan, uint32_t batch)
{
	plan->recipe.batch = batch;
	plan->recipe.n_batches = sl_ceil_div(plan->recipe.particles, batch);
}

static bool fits(const struct sl_plan *plan)
{
	return host_fits(plan) && device_fits(plan);
}

/* Is there room, with smaller batches if need be? If not, all is as asked for. */
static bool fit(struct sl_plan *plan)
{
	uint32_t batch = plan->recipe.batch;

	choose_most(plan);
	choose_fewer(plan);
	while (!fits(plan) && plan->batch_is_ours && plan->recipe.batch > SL_BATCH_AUTO_LEAST) {
		set_batch(plan, plan->recipe.batch / 2);
		choose_most(plan);
		choose_fewer(plan);
	}
	if (fits(plan))
		return true;
	set_batch(plan, batch);
	choose_most(plan);
	return false;
}

void sl_memory_plan_fit(struct sl_plan *plan)
{
	if (fit(plan) || plan->n_candidates == 0)
		return;
	plan->n_candidates = 0;
	snprintf(plan->schedule_reason, sizeof(plan->schedule_reason),
		"there is no memory for other ways to choose from");
	(void)fit(plan);
}

/* The largest batch, by halves, that would fit with one at a time; 0 if none would. */
static uint32_t batch_that_fits(const struct sl_plan *plan)
{
	struct sl_plan probe = *plan;

	for (uint32_t batch = sl_memory_plan_batch(plan); batch > 0; batch /= 2) {
		set_batch(&probe, batch);
		set_threads(&probe, 1);
		probe.n_device_slots = least(plan->n_device_slots, 1);
		measure(&probe);
		if (fits(&probe))
			return batch;
	}
	return 0;
}

enum sl_status sl_memory_plan_refuse(const struct sl_plan *plan)
{
	char need[32], have[32], each[32];
	uint32_t most;

	if (fits(plan))
		return SL_OK;
	most = batch_that_fits(plan);
	if (!device_fits(plan))
		return sl_fail(SL_DEVICE_MEMORY,
			"the run needs %s of device memory and %s are free on %s (%u slots of %s "
			"for batches of %u particles), try fewer run.slots or a smaller run.batch "
			"(%u fit, one at a time)",
			sl_sized((double)plan->room.device, need),
			sl_sized((double)plan->device.free_bytes, have), plan->device.name,
			plan->n_device_slots, sl_sized((double)plan->room.lane, each),
			sl_memory_plan_batch(plan), most);
	return sl_fail(SL_HOST_MEMORY,
		"the run needs %s of memory and %s are free (%u slots of %s for batches of %u "
		"particles), try a smaller run.batch (%u fit, one at a time) or fewer run.threads",
		sl_sized((double)plan->room.host, need),
		sl_sized((double)plan->machine.free_bytes, have), plan->n_host_slots,
		sl_sized((double)plan->room.slot + (double)plan->room.slot_pinned, each),
		sl_memory_plan_batch(plan), most);
}

/* --- getting ---------------------------------------------------------------------------------- */

/* Cuts a slot from its memory. */
static void cut_slot(const struct sl_plan *plan, struct sl_host_slot *slot)
{
	struct sl_arena block = {.base = slot->block, .size = plan->room.slot},
			pinned = {.base = slot->pinned, .size = plan->room.slot_pinned};
	struct sl_host_slot cut = {.block = slot->block, .pinned = slot->pinned};

	lay_out_slot(&block, &pinned, plan, &plan->recipe, &cut);
	*slot = cut;
}

static enum sl_status get_slot(const struct sl_plan *plan, struct sl_host_slot *slot)
{
	SL_TRY(sl_memory_get(SL_HOST, plan->room.slot, &slot->block));
	if (plan->on_device)
		SL_TRY(sl_memory_get(SL_PINNED, plan->room.slot_pinned, &slot->pinned));
	cut_slot(plan, slot);
	return SL_OK;
}

/* Cuts a lane from its memory, and opens it. */
static enum sl_status cut_lane(const struct sl_plan *plan, struct sl_device_pipeline *lane)
{
	struct sl_arena block = {.base = lane->block, .size = plan->room.lane},
			pinned = {.base = lane->pinned, .size = plan->room.lane_pinned};

	sl_device_pipeline_lay_out(
		&block, &pinned, &plan->recipe, sl_memory_plan_batch(plan), lane);
	lane->block = block.base;
	lane->pinned = pinned.base;
	return sl_device_pipeline_open(lane);
}

static enum sl_status get_lane(const struct sl_plan *plan, struct sl_device_pipeline *lane)
{
	SL_TRY(sl_memory_get(SL_DEVICE, plan->room.lane, &lane->block));
	SL_TRY(sl_memory_get(SL_PINNED, plan->room.lane_pinned, &lane->pinned));
	return cut_lane(plan, lane);
}

enum sl_status sl_memory_plan_change(struct sl_plan *plan, const struct sl_candidate *way)
{
	sl_autotune_take(&plan->recipe, way);
	for (uint32_t i = 0; i < plan->n_host_slots; i++)
		cut_slot(plan, &plan->slot[i]);
	for (uint32_t i = 0; i < plan->n_device_slots; i++) {
		sl_device_pipeline_close(&plan->lane[i]);
		SL_TRY(cut_lane(plan, &plan->lane[i]));
	}
	return SL_OK;
}

static enum sl_status get_canvas(struct sl_plan *plan)
{
	struct sl_arena a = {.size = plan->room.image_sum};
	struct sl_image_sum got = plan->image_sum;

	if (a.size == 0 || plan->image_sum.block)
		return SL_OK;
	SL_TRY(sl_memory_get(SL_HOST, a.size, &a.base));
	memset(a.base, 0, a.size);
	sl_image_sum_lay_out(&a, &plan->facts, plan->recipe.n_batches, &got);
	got.block = a.base;
	plan->image_sum = got;
	return SL_OK;
}

/* n zeroed structs of some bytes. */
static enum sl_status get_zeroed(uint32_t n, size_t bytes, void **p)
{
	SL_TRY(sl_memory_get(SL_HOST, n * bytes, p));
	memset(*p, 0, n * bytes);
	return SL_OK;
}

static enum sl_status get_histograms(struct sl_plan *plan)
{
	struct sl_arena a = {.size = plan->room.histograms};

	if (plan->recipe.bins.n == 0 || plan->histogram_block)
		return SL_OK;
	SL_TRY(sl_memory_get(SL_HOST, a.size, &plan->histogram_block));
	memset(plan->histogram_block, 0, a.size); /* no batches are added up yet */
	a.base = plan->histogram_block;
	sl_histogram_sums_lay_out(&a, &plan->recipe.bins, &plan->histograms);
	return SL_OK;
}

enum sl_status sl_memory_plan_get_sums(struct sl_plan *plan)
{
	SL_TRY(get_histograms(plan));
	return get_canvas(plan);
}

enum sl_status sl_memory_plan_get(struct sl_plan *plan)
{
	void *memory;

	SL_TRY(get_zeroed(plan->n_host_slots, sizeof(*plan->slot), &memory));
	plan->slot = (struct sl_host_slot *)memory;
	SL_TRY(get_zeroed(plan->n_device_slots, sizeof(*plan->lane), &memory));
	plan->lane = (struct sl_device_pipeline *)memory;
	for (uint32_t i = 0; i < plan->n_host_slots; i++)
		SL_TRY(get_slot(plan, &plan->slot[i]));
	for (uint32_t i = 0; i < plan->n_device_slots; i++)
		SL_TRY(get_lane(plan, &plan->lane[i]));
	SL_TRY(sl_memory_plan_get_sums(plan));
	return sl_memory_get(SL_HOST, plan->n_writers * plan->room.image, &plan->image);
}

void sl_memory_plan_give(struct sl_plan *plan)
{
	for (uint32_t i = 0; plan->lane && i < plan->n_device_slots; i++) {
		sl_device_pipeline_close(&plan->lane[i]);
		sl_memory_give(SL_DEVICE, plan->lane[i].block);
		sl_memory_give(SL_PINNED, plan->lane[i].pinned);
	}
	for (uint32_t i = 0; plan->slot && i < plan->n_host_slots; i++) {
		sl_memory_give(SL_HOST, plan->slot[i].block);
		sl_memory_give(SL_PINNED, plan->slot[i].pinned);
	}
	sl_memory_give(SL_HOST, plan->lane);
	sl_memory_give(SL_HOST, plan->slot);
	sl_memory_give(SL_HOST, plan->image_sum.block);
	sl_memory_give(SL_HOST, plan->image);
	sl_memory_give(SL_HOST, plan->histogram_block);
}
