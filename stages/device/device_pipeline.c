/* lane.c - the stages on a device: queued, counted, queued on, copied home. */
#include "stages/device/device_pipeline.h"

#include <string.h>

#include "primitives/base/clock.h"
#include "stages/device/pack_run.h"

/*
 * The mark before step i; the next one is behind it. The host waits behind the steps that count, so
 * what is behind the last of them is not before the next step.
 */
static int mark_before(const struct sl_device_mode *way, int i)
{
	return i < way->n_counted ? i : i + 1;
}

static int marks(const struct sl_device_mode *way)
{
	return way->n + 2;
}

void sl_device_pipeline_lay_out(struct sl_arena *device, struct sl_arena *pinned,
	const struct sl_recipe *r, uint32_t n, struct sl_device_pipeline *lane)
{
	memset(lane, 0, sizeof(*lane));
	lane->way = &sl_device_modes[r->mode];
	lane->in_rounds = r->schedule.steps > 0;
	lane->way->lay_out(device, r, n, lane);
	lane->begun = (uint64_t *)sl_cut(pinned, sizeof(*lane->begun));
	lane->census_bytes = sl_batch_counters_bytes(&r->bins);
	lane->counters = (struct sl_batch_counters *)sl_cut(device, lane->census_bytes);
	lane->select.base = sl_cut(device, lane->select.size);
	lane->cleared_bytes =
		(size_t)((char *)lane->select.base - (char *)lane->counters) + lane->select.size;
	lane->exec.space = SL_DEVICE;
	for (int i = 0; i < 2; i++)
		lane->seen[i] = (struct sl_batch_counters *)sl_cut(pinned, lane->census_bytes);
	if (r->pack.form != SL_AS_COLUMNS)
		sl_pack_lay_out(device, pinned, r, n, &lane->pack);
}

enum sl_status sl_device_pipeline_open(struct sl_device_pipeline *lane)
{
	struct sl_limits limits;

	SL_TRY(sl_device_limits(&limits));
	lane->whole_most = (uint64_t)lane->way->whole * limits.multiprocessors;
	SL_TRY(sl_stream_make(&lane->exec.stream));
	for (int i = 0; i < marks(lane->way); i++)
		SL_TRY(sl_event_make(&lane->mark[i]));
	for (int i = 0; lane->in_rounds && i < SL_ROUND_MARKS; i++)
		SL_TRY(sl_event_make(&lane->round[i]));
	SL_TRY(sl_event_make(&lane->counted));
	SL_TRY(sl_event_make(&lane->device_packed));
	return sl_event_make(&lane->home);
}

void sl_device_pipeline_close(struct sl_device_pipeline *lane)
{
	sl_graph_free(lane->graph);
	for (int i = 0; lane->way && i < marks(lane->way); i++)
		sl_event_free(lane->mark[i]);
	for (int i = 0; i < SL_ROUND_MARKS; i++)
		sl_event_free(lane->round[i]);
	sl_event_free(lane->counted);
	sl_event_free(lane->device_packed);
	sl_event_free(lane->home);
	sl_stream_free(lane->exec.stream);
}

/* Queues steps from .. to-1, each behind its mark. */
static enum sl_status queue(
	const struct sl_recipe *r, struct sl_device_pipeline *lane, int from, int to)
{
	const struct sl_device_mode *way = lane->way;

	for (int i = from; i < to; i++) {
		enum sl_status status =
			sl_event_record(lane->mark[mark_before(way, i)], lane->exec.stream);

		if (status == SL_OK)
			status = way->step[i].queue(r, lane);
		if (status != SL_OK)
			return sl_add_context(
				status, "stage %s", sl_stages[way->step[i].stage].name);
	}
	return sl_event_record(lane->mark[mark_before(way, to - 1) + 1], lane->exec.stream);
}

/* --- a batch that is queued whole ------------------------------------------------------------- */

static enum sl_status queue_all(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	SL_TRY(queue(r, lane, 0, lane->way->n_counted));
	return queue(r, lane, lane->way->n_counted, lane->way->n);
}

static enum sl_status capture(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	enum sl_status s;

	SL_TRY(sl_capture_begin(lane->exec.stream));
	s = queue_all(r, lane);
	if (s == SL_OK)
		return sl_capture_end(lane->exec.stream, &lane->graph);
	sl_capture_drop(lane->exec.stream);
	return s;
}

/*
 * Of all that is queued, the first id alone is another one for the next batch of the usual size;
 * what is read of one lies in other places, too. One batch alone is not worth a graph, and makes
 * CUDA load its kernels.
 */
static enum sl_status queue_whole(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	bool usual = lane->batch.n == r->batch && !r->inputs;

	if (!usual || !lane->warm) {
		lane->warm |= usual;
		return queue_all(r, lane);
	}
	if (!lane->graph)
		SL_TRY(capture(r, lane));
	return sl_graph_queue(lane->graph, lane->exec.stream);
}

/* --- a batch ---------------------------------------------------------------------------------- */

/* Twice, to two places: a bit that changes on the way, or in one of them, is seen. */
static enum sl_status copy_census(struct sl_device_pipeline *lane)
{
	for (int i = 0; i < 2; i++)
		SL_TRY(sl_copy(
			lane->seen[i], lane->counters, lane->census_bytes, lane->exec.stream));
	return SL_OK;
}

enum sl_status sl_device_pipeline_torn(const char *what)
{
	return sl_fail(SL_DEVICE_FAILED,
		"%s did not come whole from the device (two copies differ), run again with "
		"--resume; if it happens again, test the machine's memory",
		what);
}

static enum sl_status check_census(const struct sl_device_pipeline *lane)
{
	if (memcmp(lane->seen[0], lane->seen[1], lane->census_bytes) == 0)
		return SL_OK;
	return sl_device_pipeline_torn("the tallies and the digests");
}

/* As many must be left as were marked, before that number sizes anything. */
static enum sl_status check_survivors(const struct sl_recipe *r, const struct sl_batch *b)
{
	uint64_t kept = 0;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (SL_HAS(r->keep, f))
			kept += b->tally.count[f];
	if (b->n_survivors == kept)
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED,
		"%u particles are left of %llu that were marked (a fault of this program), please "
		"report it",
		b->n_survivors, (unsigned long long)kept);
}

/* Queues what comes before the wait: for what is queued whole, all places may have a survivor. */
static enum sl_status queue_batch(
	const struct sl_recipe *r, struct sl_device_pipeline *lane, const struct sl_batch *b)
{
	lane->batch.number = b->number;
	lane->batch.first_id = b->first_id;
	lane->batch.n = b->n;
	lane->whole = b->n <= lane->whole_most;
	lane->batch.n_survivors = b->n;
	lane->listed = &b->columns;
	if (lane->first_id) {
		*lane->begun = b->first_id;
		SL_TRY(sl_copy(
			lane->first_id, lane->begun, sizeof(*lane->begun), lane->exec.stream));
	}
	return lane->whole ? queue_whole(r, lane) : queue(r, lane, 0, lane->way->n_counted);
}

/* Up to the number of survivors: the one wait inside a batch. */
static enum sl_status find_survivors(
	const struct sl_recipe *r, struct sl_device_pipeline *lane, struct sl_batch *b)
{
	SL_TRY(queue_batch(r, lane, b));
	b->rounds = lane->batch.rounds;
	SL_TRY(copy_census(lane));
	SL_TRY(sl_event_record(lane->counted, lane->exec.stream));
	SL_TRY(sl_event_wait(lane->counted));
	SL_TRY(check_census(lane));
	b->tally = lane->seen[0]->tally;
	if (r->bins.n > 0)
		memcpy(b->bins, sl_batch_counters_histogram(lane->seen[0]),
			b->bin_words * sizeof(*b->bins));
	b->n_survivors = lane->batch.n_survivors = lane->seen[0]->n_survivors;
	SL_TRY(sl_add_context(sl_close_fates(r, b), "stage %s", sl_stages[lane->way->marks].name));
	SL_TRY(sl_add_context(
		sl_close_histograms(r, b), "stage %s", sl_stages[lane->way->marks].name));
	SL_TRY(sl_add_context(
		check_survivors(r, b), "stage %s", sl_stages[lane->way->compacts].name));
	return sl_give_up_if_dropped(r);
}

/* Queues the copies of what was gathered to b's table, as far as that has room for it. */
static enum sl_status copy_table(struct sl_device_pipeline *lane, struct sl_batch *b)
{
	b->table.n = b->n_survivors;
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		struct sl_table_column *to = &b->table.column[k];
		size_t bytes = (size_t)b->n_survivors * sl_column_facts[to->column].bytes;

		if (!to->constant && to->data)
			SL_TRY(sl_copy(to->data, lane->batch.table.column[k].data, bytes,
				lane->exec.stream));
	}
	return copy_census(lane);
}

static enum sl_status bring_home(
	const struct sl_recipe *r, struct sl_device_pipeline *lane, struct sl_batch *b)
{
	if (!lane->whole)
		SL_TRY(queue(r, lane, lane->way->n_counted, lane->way->n));
	lane->presses = false;
	if (b->device_packed.wanted)
		SL_TRY(sl_device_pipeline_press(r, lane, b));
	SL_TRY(copy_table(lane, b));
	SL_TRY(sl_event_record(lane->home, lane->exec.stream));
	SL_TRY(sl_event_wait(lane->home));
	SL_TRY(check_census(lane));
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		struct sl_table_column *c = &b->table.column[k];

		c->digest = lane->seen[0]->digest[c->column];
	}
	return SL_OK;
}

enum sl_status sl_event_ns(sl_event from, sl_event to, uint64_t *ns)
{
	float ms;

	SL_TRY(sl_event_ms(from, to, &ms));
	*ns = (uint64_t)((double)ms * 1e6);
	return SL_OK;
}

static enum sl_status add_times(struct sl_device_pipeline *lane, uint64_t ns[SL_STAGE_COUNT])
{
	const struct sl_device_mode *way = lane->way;
	sl_event done;

	for (int i = 0; i < way->n; i++) {
		int mark = mark_before(way, i);
		uint64_t took;

		SL_TRY(sl_event_ns(lane->mark[mark], lane->mark[mark + 1], &took));
		ns[way->step[i].stage] += took;
	}
	done = lane->mark[marks(way) - 1];
	lane->pack_ns = 0;
	if (lane->presses) {
		SL_TRY(sl_event_ns(done, lane->device_packed, &lane->pack_ns));
		done = lane->device_packed;
	}
	return sl_event_ns(done, lane->home, &lane->transfer_ns);
}

enum sl_status sl_device_pipeline_run(const struct sl_recipe *r, struct sl_device_pipeline *lane,
	struct sl_batch *b, uint64_t ns[SL_STAGE_COUNT])
{
	enum sl_status s = find_survivors(r, lane, b);

	if (s == SL_OK)
		s = bring_home(r, lane, b);
	if (s == SL_OK && ns)
		s = add_times(lane, ns);
	return sl_add_context(s, "batch %llu", (unsigned long long)b->number);
}
