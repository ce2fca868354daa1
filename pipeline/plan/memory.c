/*
 * memory.c - counts the bytes of a plan, makes it fit and refuses it.
 *
 * measure() computes all sizes for the present numbers of threads, slots and particles per batch;
 * the functions that choose change one of these numbers and measure again. A measurement only adds
 * up layouts and allocates nothing.
 */
#include "pipeline/plan/joined_memory.h"

#include <string.h>

#include "stages/device/device_pipeline.h"
#include "stages/host/host.h"
#include "stages/inputs/inputs.h"

/* --- host_slot -------------------------------------------------------------------------------- */

/*
 * Lays out a batch on the host and the packed survivors in memory that its stages no longer need,
 * so that a slot has less memory, which the system must provide.
 */
static void lay_out_on_host(struct sl_arena *block, const struct sl_plan *plan,
	const struct sl_recipe *r, const struct sl_table *most, struct sl_host_slot *s)
{
	struct sl_arena spent = *block;

	spent.used = sl_batch_lay_out(block, r, sl_memory_plan_batch(plan), &s->batch);
	sl_format_lay_out(plan->choices.format, &spent, most, &plan->facts, &s->packed);
	if (spent.used > block->used)
		block->used = spent.used;
}

/*
 * On the host, the stages and the compression of a batch share one scratch, because the same thread
 * runs them one after the other. With a device, the stages use scratch of the device pipeline.
 */
void sl_host_slot_lay_out(struct sl_arena *block, struct sl_arena *pinned,
	const struct sl_plan *plan, const struct sl_recipe *r, struct sl_host_slot *s)
{
	uint32_t n = sl_memory_plan_batch(plan);
	struct sl_table most = sl_plan_table(plan, sl_most_survivors(r, n));
	size_t scratch = plan->choices.format->sizes(&most, &plan->facts).scratch;

	if (plan->on_device) {
		sl_format_lay_out(plan->choices.format, block, &most, &plan->facts, &s->packed);
		if (r->inputs)
			sl_layout_columns(pinned, sl_stored_columns(r), n, &s->batch.columns);
		sl_table_lay_out(pinned, r, n, r->unpacked, &s->batch.table);
		sl_layout_source(pinned, r, n, &s->batch);
		if (r->pack.form != SL_AS_COLUMNS)
			sl_device_packed_lay_out(pinned, r, n, &s->batch.device_packed);
	} else {
		size_t stages = sl_stages_scratch(r, n);

		lay_out_on_host(block, plan, r, &most, s);
		scratch = stages > scratch ? stages : scratch;
	}
	sl_tallies_lay_out(block, r, &s->batch);
	s->exec = (struct sl_exec){.space = SL_HOST};
	s->exec.scratch = (struct sl_arena){.base = sl_cut(block, scratch), .size = scratch};
}

/* --- memory ----------------------------------------------------------------------------------- */

enum {
	DEVICE_SLOTS_AUTO = 3, /* one computes, one is copied to the host, one starts */
	/* filters of few particles leave most of a device idle: on an H200 six of 2^16 particles
	   at a time are 1.6 times as fast as three, and no slower than twelve */
	FILTER_SLOTS_AUTO = 6,
	FILTER_PARTICLES_FEW = 1 << 17,
	WRITERS_MAX = 16,
	TAKEN = 3 /* resident batches: two that wait for the caller, and one that it has */
};

/* A run with fewer particles than run.batch has a single, smaller batch. */
uint32_t sl_memory_plan_batch(const struct sl_plan *plan)
{
	const struct sl_recipe *r = &plan->recipe;

	return r->particles < r->batch ? (uint32_t)r->particles : r->batch;
}

uint32_t sl_memory_plan_rows(const struct sl_plan *plan)
{
	return sl_most_survivors(&plan->recipe, sl_memory_plan_batch(plan));
}

size_t sl_memory_plan_slot(const struct sl_plan *plan)
{
	const struct sl_memory_plan *m = &plan->memory;

	return sl_size_add(sl_size_add(m->slot, m->slot_pinned), m->slot_packed);
}

/* --- measuring -------------------------------------------------------------------------------- */

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Raises the sizes of a device pipeline to those of recipe r on the current device. */
static void measure_pipeline(struct sl_plan *plan, const struct sl_recipe *r)
{
	struct sl_arena block = {0}, pinned = {0};
	struct sl_memory_plan *memory = &plan->memory;
	struct sl_device_pipeline pipeline;

	sl_device_pipeline_lay_out(&block, &pinned, r, sl_memory_plan_batch(plan), &pipeline);
	memory->device_pipeline = larger(memory->device_pipeline, block.used);
	memory->device_pipeline_pinned = larger(memory->device_pipeline_pinned, pinned.used);
}

/*
 * Raises the sizes of a slot and a device pipeline to those of recipe r. The scratch of a pipeline
 * depends on the kind of device, and a machine can have several; the first one is current at the
 * end.
 */
static void measure_by(struct sl_plan *plan, const struct sl_recipe *r)
{
	struct sl_arena block = {0}, pinned = {0};
	struct sl_memory_plan *memory = &plan->memory;
	struct sl_host_slot slot = {0};

	sl_host_slot_lay_out(&block, &pinned, plan, r, &slot);
	for (uint32_t i = plan->choices.n_devices; i-- > 0;)
		if (plan->choices.n_devices == 1 || sl_device_switch(&plan->device[i]))
			measure_pipeline(plan, r);
	memory->slot = larger(memory->slot, block.used);
	memory->slot_pinned = larger(memory->slot_pinned, pinned.used);
	memory->slot_packed = larger(memory->slot_packed, slot.batch.device_packed.most);
}

/* The columns of a table on the device (stages/batch/resident.h). */
static size_t resident_bytes(const struct sl_table *t)
{
	struct sl_arena a = {0};

	for (uint32_t k = 0; k < t->n_columns; k++)
		(void)sl_cut_items(&a, t->n, sl_column_facts[t->column[k].column].bytes);
	return a.used;
}

/*
 * Sets plan->memory. A slot has the size that the largest candidate needs, because the run changes
 * between candidates without allocating. Sums saturate at SIZE_MAX, which never fits.
 */
static void measure(struct sl_plan *plan)
{
	struct sl_table most = sl_plan_table(plan, sl_memory_plan_rows(plan));
	struct sl_memory_plan *memory = &plan->memory;
	struct sl_recipe recipe = plan->recipe;
	const struct sl_inputs *inputs = sl_plan_inputs(plan);
	const size_t data = sl_recipe_data(&recipe) ? sl_recipe_data(&recipe)->bytes : 0;
	struct sl_arena histograms = {0}, images = {0};
	struct sl_tally_sums histogram_sums;
	struct sl_image_sum image_sum = {.image = plan->choices.image};

	memset(memory, 0, sizeof(*memory));
	measure_by(plan, &recipe);
	for (uint32_t i = 0; i < plan->n_candidates; i++) {
		sl_candidate_apply(&recipe, &plan->candidate[i]);
		measure_by(plan, &recipe);
	}
	memory->image =
		sl_round_up(plan->choices.format->sizes(&most, &plan->facts).image, SL_ALIGN);
	sl_tally_sums_lay_out(&histograms, &recipe, &histogram_sums);
	memory->histograms = histograms.used;
	sl_image_sum_lay_out(&images, &plan->facts, recipe.n_batches, &image_sum);
	memory->image_sum = images.used;
	memory->inputs = inputs ? inputs->memory : 0;
	memory->volume = data;
	memory->joined = sl_joined_memory(plan);
	memory->host =
		sl_size_add(sl_size_add(sl_size_mul(memory->image, plan->n_writers),
				    sl_size_add(memory->histograms,
					    sl_size_add(memory->image_sum,
						    sl_size_add(memory->inputs + memory->volume,
							    memory->joined)))),
			sl_size_add(sl_size_mul(sl_memory_plan_slot(plan), plan->n_host_slots),
				sl_size_mul(memory->device_pipeline_pinned,
					(size_t)plan->n_devices * plan->n_device_slots)));
	memory->resident = recipe.resident ? resident_bytes(&most) : 0;
	memory->device = sl_size_add(
		data, sl_size_add(sl_size_mul(memory->device_pipeline, plan->n_device_slots),
			      sl_size_mul(memory->resident, plan->n_host_slots + TAKEN)));
}

/* --- fitting ---------------------------------------------------------------------------------- */

/* Free bytes of the machine are those when the plan was made; nothing reserves them. */
static bool host_fits(const struct sl_plan *plan)
{
	return plan->memory.host <= plan->machine.free_bytes;
}

/* The first device that the run uses and that has less free memory than it needs; NULL: none. */
static const struct sl_device *find_full_device(const struct sl_plan *plan)
{
	for (uint32_t i = 0; i < plan->n_devices; i++)
		if (plan->memory.device > plan->device[i].free_bytes)
			return &plan->device[i];
	return NULL;
}

static bool device_fits(const struct sl_plan *plan)
{
	return find_full_device(plan) == NULL;
}

static bool fits(const struct sl_plan *plan)
{
	return host_fits(plan) && device_fits(plan);
}

uint32_t sl_memory_plan_threads(const struct sl_plan *plan)
{
	uint64_t asked = plan->config.run.threads;

	return asked > 0 ? (uint32_t)asked : plan->machine.cores;
}

/*
 * A slot becomes free when its batch is committed. Batches are committed in order, so a slow core
 * delays the others. With one spare slot, 16 threads wait 4 % of their time and 64 threads 8 %; one
 * more slot per eight threads halves this (simulated, core speeds differ by 30 %).
 *
 * If host threads compress, one writer per three threads is enough: writers are less busy than
 * threads then. If a GPU packs the survivors, it delivers about 10 GB/s and a writer writes 1 GB/s,
 * so there are as many writers as threads.
 */
static void set_threads(struct sl_plan *plan, uint32_t threads)
{
	plan->threads = threads;
	plan->n_host_slots = threads + 1 + threads / 8;
	plan->n_writers = sl_plan_is_device_packed(plan) ? threads : (threads + 2) / 3;
	if (plan->n_writers > WRITERS_MAX)
		plan->n_writers = WRITERS_MAX;
}

/*
 * A thread serves one device, so there are at most as many devices as threads, and slots on each.
 */
static void set_devices(struct sl_plan *plan, uint64_t devices, uint64_t device_slots)
{
	plan->n_devices = least(devices, plan->threads);
	plan->n_device_slots =
		plan->on_device ? least(device_slots, sl_ceil_div(plan->threads, plan->n_devices))
				: 0;
}

/* Sets the requested number of threads and device slots, or the defaults. */
static void choose_most(struct sl_plan *plan)
{
	const struct sl_config *c = &plan->config;
	uint64_t threads = sl_memory_plan_threads(plan);
	bool small_filters =
		plan->recipe.resampling.steps > 0 && plan->recipe.batch <= FILTER_PARTICLES_FEW;
	uint64_t device_slots = c->run.slots > 0 ? c->run.slots
	                        : small_filters  ? (uint64_t)FILTER_SLOTS_AUTO
	                                         : (uint64_t)DEVICE_SLOTS_AUTO;
	uint64_t batches = device_slots * plan->choices.n_devices; /* on all devices */

	/* a thread drives a device slot, then compresses while another thread drives the slot */
	if (plan->on_device && c->run.threads == 0 && threads < batches)
		threads = batches;
	/*
	 * what a device packs is only checked and written; more threads would only hold more of it
	 */
	if (sl_plan_is_device_packed(plan) && c->run.threads == 0)
		threads = least(threads, (uint64_t)WRITERS_MAX * plan->choices.n_devices);
	/* resident survivors are not compressed, so more threads would only hold more of them */
	if (plan->recipe.resident && c->run.threads == 0)
		threads = batches + 1;
	set_threads(plan, least(threads, plan->recipe.n_batches));
	set_devices(plan, plan->choices.n_devices, device_slots);
	measure(plan);
}

/*
 * Reduces the number of concurrent batches where run.slots or run.threads is auto, then that of
 * devices: a run on several devices must not need a smaller batch, and so other files, than on the
 * first.
 */
static void choose_fewer(struct sl_plan *plan)
{
	while (!device_fits(plan) && plan->config.run.slots == 0 && plan->n_device_slots > 1) {
		plan->n_device_slots--;
		measure(plan);
	}
	while (!host_fits(plan) && plan->config.run.threads == 0 && plan->threads > 1) {
		set_threads(plan, plan->threads - 1);
		set_devices(plan, plan->n_devices, plan->n_device_slots);
		measure(plan);
	}
	while (!fits(plan) && plan->n_devices > 1) {
		plan->n_devices--;
		measure(plan);
	}
}

/* Results depend on run.batch, so only a batch size of auto may change. */
static void set_batch(struct sl_plan *plan, uint32_t batch)
{
	plan->recipe.batch = batch;
	if (plan->recipe.particles > 0) /* else there is one batch, without particles */
		plan->recipe.n_batches = sl_ceil_div(plan->recipe.particles, batch);
}

/* Halves an automatic batch until the plan fits. On failure restores the requested sizes. */
static bool fit(struct sl_plan *plan)
{
	uint32_t batch = plan->recipe.batch;

	choose_most(plan);
	choose_fewer(plan);
	while (!fits(plan) && plan->batch_is_auto && plan->recipe.batch > SL_BATCH_AUTO_LEAST) {
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

/*
 * Counts the survivors of a list if batches of the requested size do not fit with the requested
 * number of threads: an exact count costs one more pass over the files. A device has memory for all
 * particles.
 */
static enum sl_status count_survivors(struct sl_plan *plan)
{
	struct sl_recipe *r = &plan->recipe;

	if (!r->inputs || plan->on_device || r->counted)
		return SL_OK;
	choose_most(plan);
	if (host_fits(plan))
		return SL_OK;
	SL_TRY(sl_count_survivors(r, &r->survivors_most));
	r->counted = true;
	return SL_OK;
}

/* Without candidates, a run of auto or measure uses histories, the first candidate. */
enum sl_status sl_memory_plan_fit(struct sl_plan *plan)
{
	SL_TRY(count_survivors(plan));
	if (fit(plan) || plan->n_candidates == 0)
		return SL_OK;
	plan->n_candidates = 0;
	plan->schedule_reason =
		"not enough memory for the other schedules, so they are not measured";
	(void)fit(plan);
	return SL_OK;
}

/* The largest batch, found by halving, that fits if one batch is processed at a time; or 0. */
static uint32_t batch_that_fits(const struct sl_plan *plan)
{
	struct sl_plan probe = *plan;

	for (uint32_t batch = sl_memory_plan_batch(plan); batch > 0; batch /= 2) {
		set_batch(&probe, batch);
		set_threads(&probe, 1);
		set_devices(&probe, plan->n_devices, 1);
		measure(&probe);
		if (fits(&probe))
			return batch;
	}
	return 0;
}

/*
 * The number of slots and threads is chosen again for each size, as it would be by a configuration.
 */
uint32_t sl_memory_plan_larger_batch(const struct sl_plan *plan, uint64_t batches)
{
	const uint32_t largest = (uint32_t)1 << 31;
	struct sl_plan probe = *plan;
	uint32_t best = plan->recipe.batch;

	while (probe.recipe.n_batches > batches && probe.recipe.batch <= largest / 2) {
		set_batch(&probe, probe.recipe.batch * 2);
		choose_most(&probe);
		if (!fits(&probe))
			break;
		best = probe.recipe.batch;
	}
	return best;
}

/* The message states a batch that fits, so that one change of the configuration is enough. */
enum sl_status sl_memory_plan_check(const struct sl_plan *plan)
{
	const struct sl_device *full = find_full_device(plan);
	uint32_t most;

	if (fits(plan))
		return SL_OK;
	most = batch_that_fits(plan);
	if (full)
		return sl_fail(SL_DEVICE_MEMORY,
			"the run needs %s of device memory and %s are free on %s, for %u slots of "
			"%s with batches of %u particles; use fewer run.slots or a smaller "
			"run.batch (with one slot, %u particles fit)",
			sl_sized((double)plan->memory.device), sl_sized((double)full->free_bytes),
			full->name, plan->n_device_slots,
			sl_sized((double)plan->memory.device_pipeline), sl_memory_plan_batch(plan),
			most);
	return sl_fail(SL_HOST_MEMORY,
		"the run needs %s of memory and %s are free, for %u slots of %s with batches of %u "
		"particles; use fewer run.threads or a smaller run.batch (with one thread, %u particles fit)",
		sl_sized((double)plan->memory.host), sl_sized((double)plan->machine.free_bytes),
		plan->n_host_slots, sl_sized((double)sl_memory_plan_slot(plan)),
		sl_memory_plan_batch(plan), most);
}
