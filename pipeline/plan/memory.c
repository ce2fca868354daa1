/* memory.c - counts the bytes of a plan, makes it fit and refuses it. */
#include "pipeline/plan/memory.h"

#include <string.h>

#include "pipeline/plan/plan_table.h"
#include "pipeline/plan/candidates.h"
#include "pipeline/plan/host_slot.h"
#include "pipeline/results/histogram.h"
#include "pipeline/results/image_sum.h"
#include "stages/device/device_pipeline.h"
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
	return plan->recipe.inputs ? plan->recipe.inputs->memory : 0;
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

	sl_host_slot_lay_out(&block, &pinned, plan, r, &slot);
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
	struct sl_image_sum image_sum = {.image = plan->image};

	memset(room, 0, sizeof(*room));
	measure_by(plan, &recipe);
	for (uint32_t i = 0; i < plan->n_candidates; i++) {
		sl_candidate_apply(&recipe, &plan->candidate[i]);
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
	plan->schedule_reason = "there is no memory for other ways to choose from";
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
