/*
 * device_pipeline.c - queues the stages of a batch on a device, waits, checks and copies the
 * results.
 */
#include "stages/device/device_pipeline.h"

#include <string.h>

#include "primitives/base/clock.h"
#include "stages/device/device.h"

/*
 * The event recorded before step i; the event after step i is the next one. The host waits after
 * step n_counted - 1, so there is one more event: the next step does not start when that step ends.
 * A mode of n steps thus has n + 2 events.
 */
static int mark_before(const struct sl_device_mode *mode, int i)
{
	return i < mode->n_counted ? i : i + 1;
}

/*
 * The memory of the counters is followed by that of the copies of the counters and by the scratch of
 * select, so that one fill clears all. The scratch shared by the steps was laid out by the mode.
 */
void sl_device_pipeline_lay_out(struct sl_arena *device, struct sl_arena *pinned,
	const struct sl_recipe *r, uint32_t n, struct sl_device_pipeline *pipeline)
{
	memset(pipeline, 0, sizeof(*pipeline));
	pipeline->mode = &sl_device_modes[r->mode];
	pipeline->has_rounds = r->schedule.steps > 0;
	pipeline->mode->lay_out(device, r, n, pipeline);
	pipeline->first_id = (uint64_t *)sl_cut(device, sizeof(*pipeline->first_id));
	pipeline->host_first_id = (uint64_t *)sl_cut(pinned, sizeof(*pipeline->host_first_id));
	pipeline->batch.first_id_on_device = pipeline->first_id;
	pipeline->counters_bytes = sl_batch_counters_bytes(sl_counter_words(r));
	pipeline->counters = (struct sl_batch_counters *)sl_cut(device, pipeline->counters_bytes);
	if (r->grids.copies > 0)
		pipeline->grid_copies = (uint64_t *)sl_cut_items(
			device, r->grids.copies * sl_grid_words(&r->grids), sizeof(uint64_t));
	pipeline->select_scratch.base = sl_cut(device, pipeline->select_scratch.size);
	pipeline->cleared_bytes =
		(size_t)((char *)pipeline->select_scratch.base - (char *)pipeline->counters) +
		pipeline->select_scratch.size;
	if (r->resident)
		sl_resident_lay_out(device, r, n, &pipeline->resident);
	if (r->grids.copies > 0) {
		pipeline->grids = (struct sl_grid_set *)sl_cut(device, sizeof(r->grids));
		pipeline->host_grids = (struct sl_grid_set *)sl_cut(pinned, sizeof(r->grids));
	}
	if (sl_recipe_has_data(r))
		pipeline->rules = (unsigned char *)sl_cut(pinned, SL_RULES_BYTES);
	pipeline->exec.space = SL_DEVICE;
	for (int i = 0; i < 2; i++)
		pipeline->host_counters[i] =
			(struct sl_batch_counters *)sl_cut(pinned, pipeline->counters_bytes);
	if (r->pack.form != SL_AS_COLUMNS)
		sl_pack_lay_out(device, pinned, r, n, &pipeline->pack);
}

void sl_device_pipeline_use_data(
	const struct sl_recipe *r, const void *data, struct sl_device_pipeline *pipeline)
{
	if (!pipeline->rules)
		return;
	memcpy(pipeline->rules, r->rules.bytes, SL_RULES_BYTES);
	r->model->data(pipeline->rules)->at = data;
}

/*
 * Each pipeline has its own stream, so pipelines overlap. Events are created here once, because
 * creating one in each batch would cost more than recording it.
 */
enum sl_status sl_device_pipeline_open(struct sl_device_pipeline *pipeline)
{
	struct sl_limits limits;

	SL_TRY(sl_device_limits(&limits));
	pipeline->whole_max =
		(uint64_t)pipeline->mode->whole_per_multiprocessor * limits.multiprocessors;
	SL_TRY(sl_stream_make(&pipeline->exec.stream));
	for (int i = 0; i < pipeline->mode->n + 2; i++)
		SL_TRY(sl_event_make(&pipeline->mark[i]));
	for (int i = 0; pipeline->has_rounds && i < SL_ROUND_MARKS; i++)
		SL_TRY(sl_event_make(&pipeline->round[i]));
	SL_TRY(sl_event_make(&pipeline->counted));
	SL_TRY(sl_event_make(&pipeline->device_packed));
	return sl_event_make(&pipeline->copied);
}

void sl_device_pipeline_close(struct sl_device_pipeline *pipeline)
{
	sl_graph_free(pipeline->graph);
	for (int i = 0; pipeline->mode && i < pipeline->mode->n + 2; i++)
		sl_event_free(pipeline->mark[i]);
	for (int i = 0; i < SL_ROUND_MARKS; i++)
		sl_event_free(pipeline->round[i]);
	sl_event_free(pipeline->counted);
	sl_event_free(pipeline->device_packed);
	sl_event_free(pipeline->copied);
	sl_stream_free(pipeline->exec.stream);
}

/* Queues steps from to to - 1, each after its event, and the event after the last. */
static enum sl_status queue(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, int from, int to)
{
	const struct sl_device_mode *mode = pipeline->mode;

	for (int i = from; i < to; i++) {
		enum sl_status status = sl_event_record(
			pipeline->mark[mark_before(mode, i)], pipeline->exec.stream);

		if (status == SL_OK)
			status = mode->step[i].queue(r, pipeline);
		if (status != SL_OK)
			return sl_add_context(
				status, "stage %s", sl_stages[mode->step[i].stage].name);
	}
	return sl_event_record(
		pipeline->mark[mark_before(mode, to - 1) + 1], pipeline->exec.stream);
}

/* --- a batch that is queued as a whole -------------------------------------------------------- */

/*
 * Queues all steps without a wait. Two calls, so that the same events are recorded as with a wait.
 */
static enum sl_status queue_all(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	SL_TRY(queue(r, pipeline, 0, pipeline->mode->n_counted));
	return queue(r, pipeline, pipeline->mode->n_counted, pipeline->mode->n);
}

/*
 * Records the steps as a graph instead of running them. After a failure the capture must still be
 * ended, or the stream could not be used again.
 */
static enum sl_status capture(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	enum sl_status s;

	SL_TRY(sl_capture_begin(pipeline->exec.stream));
	s = queue_all(r, pipeline);
	if (s == SL_OK)
		return sl_capture_end(pipeline->exec.stream, &pipeline->graph);
	sl_capture_drop(pipeline->exec.stream);
	return s;
}

enum { GRAPH_STEPS_MAX = 4096 }; /* of a filter: a graph has about seven kernels for each */

/*
 * Full batches of fused mode and of filters differ only in the first id, which is in device memory,
 * so their work can be one CUDA graph, unless particles are read from files, which are at changing
 * addresses. The first batch runs without a graph, which makes CUDA load the kernels.
 */
static enum sl_status queue_whole(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	const uint32_t steps = r->resampling.steps;
	bool repeatable = pipeline->batch.n == r->batch && !r->inputs &&
	                  (r->mode == SL_MODE_fused || (steps > 0 && steps <= GRAPH_STEPS_MAX));

	if (!repeatable || !pipeline->warm) {
		pipeline->warm |= repeatable;
		return queue_all(r, pipeline);
	}
	if (!pipeline->graph)
		SL_TRY(capture(r, pipeline));
	return sl_graph_queue(pipeline->graph, pipeline->exec.stream);
}

/* --- a batch ---------------------------------------------------------------------------------- */

/* Copies the counters to two places, so that an error of the transfer or of memory is detected. */
static enum sl_status copy_counters(struct sl_device_pipeline *pipeline)
{
	for (int i = 0; i < 2; i++)
		SL_TRY(sl_copy(pipeline->host_counters[i], pipeline->counters,
			pipeline->counters_bytes, pipeline->exec.stream));
	return SL_OK;
}

enum sl_status sl_transfer_error(const char *what)
{
	return sl_fail(SL_DEVICE_FAILED,
		"transfer error: two copies of %s from the device differ; rerun with --resume, "
		"and test the memory if it happens again",
		what);
}

/* Compares the two copies of the counters. Only after that may their numbers size a copy. */
static enum sl_status check_counters(const struct sl_device_pipeline *pipeline)
{
	if (memcmp(pipeline->host_counters[0], pipeline->host_counters[1],
		    pipeline->counters_bytes) == 0)
		return SL_OK;
	return sl_transfer_error("the tallies and digests");
}

/* Checks the number of survivors against the tally, before that number sizes anything. */
static enum sl_status check_survivors(const struct sl_recipe *r, const struct sl_batch *b)
{
	uint64_t kept = 0;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (SL_HAS(r->keep, f))
			kept += b->tally.count[f];
	if (b->n_survivors == kept)
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED,
		"internal error: %u survivors after compaction where %llu were marked; please "
		"report",
		b->n_survivors, (unsigned long long)kept);
}

/*
 * Whether the batch is queued as a whole: few particles, and a sort that takes the number of
 * survivors from the device.
 */
static bool is_whole(
	const struct sl_recipe *r, const struct sl_device_pipeline *pipeline, uint32_t n)
{
	return !r->resident && n <= pipeline->whole_max &&
	       (r->n_fields == 0 || r->sort.backend->takes_n_on_device);
}

/* Queues the work before the wait. In a batch queued as a whole, each particle may survive. */
static enum sl_status queue_batch(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, const struct sl_batch *b)
{
	pipeline->batch.number = b->number;
	pipeline->batch.first_id = pipeline->batch.table.first_id = b->first_id;
	pipeline->batch.n = b->n;
	pipeline->whole = is_whole(r, pipeline, b->n);
	pipeline->batch.n_survivors = b->n;
	pipeline->batch.n_counted = pipeline->whole ? &pipeline->counters->n_survivors : NULL;
	pipeline->input_columns = &b->columns;
	pipeline->input_source = b->source;
	*pipeline->host_first_id = b->first_id;
	SL_TRY(sl_copy(pipeline->first_id, pipeline->host_first_id,
		sizeof(*pipeline->host_first_id), pipeline->exec.stream));
	if (pipeline->grids) {
		*pipeline->host_grids = r->grids;
		SL_TRY(sl_copy(pipeline->grids, pipeline->host_grids, sizeof(r->grids),
			pipeline->exec.stream));
	}
	return pipeline->whole ? queue_whole(r, pipeline)
	                       : queue(r, pipeline, 0, pipeline->mode->n_counted);
}

/* Queues the work up to the number of survivors, waits for it, and checks the counters. */
static enum sl_status find_survivors(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, struct sl_batch *b)
{
	enum sl_status status;

	SL_TRY(queue_batch(r, pipeline, b));
	b->rounds = pipeline->batch.rounds;
	SL_TRY(copy_counters(pipeline));
	SL_TRY(sl_event_record(pipeline->counted, pipeline->exec.stream));
	SL_TRY(sl_event_wait(pipeline->counted));
	SL_TRY(check_counters(pipeline));
	b->tally = pipeline->host_counters[0]->tally;
	if (b->bin_words > 0)
		memcpy(b->bins, sl_batch_counters_tallies(pipeline->host_counters[0]),
			b->bin_words * sizeof(*b->bins));
	b->n_survivors = pipeline->batch.n_survivors = pipeline->host_counters[0]->n_survivors;
	SL_TRY(sl_filter_complete(r, b));
	status = sl_check_fate_counts(r, b);
	if (status == SL_OK)
		status = sl_check_tallies(r, b);
	SL_TRY(sl_add_context(status, "stage %s", sl_stages[pipeline->mode->marks].name));
	SL_TRY(sl_add_context(
		check_survivors(r, b), "stage %s", sl_stages[pipeline->mode->compacts].name));
	return sl_check_cancelled(r);
}

/* Queues the copies of those columns for which b's table has memory. */
static enum sl_status copy_table(struct sl_device_pipeline *pipeline, struct sl_batch *b)
{
	b->table.n = b->n_survivors;
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		struct sl_table_column *to = &b->table.column[k];
		size_t bytes = (size_t)b->n_survivors * sl_column_facts[to->column].bytes;

		if (!to->constant && to->data)
			SL_TRY(sl_copy(to->data, pipeline->batch.table.column[k].data, bytes,
				pipeline->exec.stream));
	}
	return copy_counters(pipeline);
}

/* Queues the rest of the batch and copies its results to the host. */
static enum sl_status copy_results(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, struct sl_batch *b)
{
	if (r->resident)
		SL_TRY(sl_resident_begin(
			r, &pipeline->resident, b, &pipeline->batch.table, pipeline->exec.stream));
	if (!pipeline->whole)
		SL_TRY(queue(r, pipeline, pipeline->mode->n_counted, pipeline->mode->n));
	pipeline->packs = false;
	if (b->device_packed.wanted)
		SL_TRY(sl_device_pipeline_pack(r, pipeline, b));
	SL_TRY(copy_table(pipeline, b));
	SL_TRY(sl_event_record(pipeline->copied, pipeline->exec.stream));
	SL_TRY(sl_event_wait(pipeline->copied));
	SL_TRY(check_counters(pipeline));
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		struct sl_table_column *c = &b->table.column[k];

		c->digest = pipeline->host_counters[0]->digest[c->column];
	}
	return SL_OK;
}

/* CUDA measures in milliseconds as a float, with a resolution of about 0.5 microseconds. */
enum sl_status sl_event_ns(sl_event from, sl_event to, uint64_t *ns)
{
	float ms;

	SL_TRY(sl_event_ms(from, to, &ms));
	*ns = (uint64_t)((double)ms * 1e6);
	return SL_OK;
}

/* Adds the time of each stage to ns, and sets the times of packing and transfer. */
static enum sl_status add_times(struct sl_device_pipeline *pipeline, uint64_t ns[SL_STAGE_COUNT])
{
	const struct sl_device_mode *mode = pipeline->mode;
	sl_event done;

	for (int i = 0; i < mode->n; i++) {
		int mark = mark_before(mode, i);
		uint64_t elapsed;

		SL_TRY(sl_event_ns(pipeline->mark[mark], pipeline->mark[mark + 1], &elapsed));
		ns[mode->step[i].stage] += elapsed;
	}
	done = pipeline->mark[mode->n + 1];
	pipeline->pack_ns = 0;
	if (pipeline->packs) {
		SL_TRY(sl_event_ns(done, pipeline->device_packed, &pipeline->pack_ns));
		done = pipeline->device_packed;
	}
	return sl_event_ns(done, pipeline->copied, &pipeline->transfer_ns);
}

/* A batch without particles, of empty lists, runs no kernel: all of its results are 0. */
static enum sl_status finish_empty(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, struct sl_batch *b)
{
	memset(&b->tally, 0, sizeof(b->tally));
	if (b->bin_words > 0)
		memset(b->bins, 0, b->bin_words * sizeof(*b->bins));
	b->table.n = b->n_survivors = 0;
	for (uint32_t k = 0; k < b->table.n_columns; k++)
		b->table.column[k].digest = 0;
	pipeline->transfer_ns = pipeline->pack_ns = 0;
	if (r->resident)
		SL_TRY(sl_resident_begin(
			r, &pipeline->resident, b, &pipeline->batch.table, pipeline->exec.stream));
	return b->device_packed.wanted ? sl_device_pipeline_pack(r, pipeline, b) : SL_OK;
}

enum sl_status sl_device_pipeline_run(const struct sl_recipe *r,
	struct sl_device_pipeline *pipeline, struct sl_batch *b, uint64_t ns[SL_STAGE_COUNT])
{
	enum sl_status s;

	if (b->n == 0)
		return finish_empty(r, pipeline, b);
	s = find_survivors(r, pipeline, b);

	if (s == SL_OK)
		s = copy_results(r, pipeline, b);
	if (s == SL_OK && ns)
		s = add_times(pipeline, ns);
	return sl_add_context(s, "batch %llu", (unsigned long long)b->number);
}
