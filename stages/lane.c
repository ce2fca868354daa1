/* lane.c - the stages on a device: queued, counted, queued on, copied home. */
#include "stages/lane.h"

#include <string.h>

#include "primitives/base/clock.h"

enum { MARKS = sizeof(((struct sl_lane *)0)->mark) / sizeof(sl_event) };

/*
 * The mark before stage s; the next one is behind it. Between compact and sort the host waits, so
 * what is behind the one is not before the other.
 */
static int mark_before(int s)
{
	return s < SL_STAGE_sort ? s : s + 1;
}

void sl_lane_lay_out(struct sl_arena *device, struct sl_arena *pinned, const struct sl_recipe *r,
	uint32_t n, struct sl_lane *lane)
{
	size_t scratch = sl_stages_scratch(r, n);

	memset(lane, 0, sizeof(*lane));
	sl_batch_lay_out(device, r, n, &lane->batch);
	lane->census = (struct sl_census *)sl_cut(device, sizeof(*lane->census));
	lane->exec.space = SL_DEVICE;
	lane->exec.scratch = (struct sl_arena){.base = sl_cut(device, scratch), .size = scratch};
	lane->seen = (struct sl_census *)sl_cut(pinned, 2 * sizeof(*lane->seen));
}

enum sl_status sl_lane_open(struct sl_lane *lane)
{
	SL_TRY(sl_stream_make(&lane->exec.stream));
	for (int i = 0; i < MARKS; i++)
		SL_TRY(sl_event_make(&lane->mark[i]));
	SL_TRY(sl_event_make(&lane->counted));
	return sl_event_make(&lane->home);
}

void sl_lane_close(struct sl_lane *lane)
{
	for (int i = 0; i < MARKS; i++)
		sl_event_free(lane->mark[i]);
	sl_event_free(lane->counted);
	sl_event_free(lane->home);
	sl_stream_free(lane->exec.stream);
}

/* --- the stages, queued ----------------------------------------------------------------------- */

typedef enum sl_status stage(const struct sl_recipe *r, struct sl_lane *lane);

static enum sl_status generate(const struct sl_recipe *r, struct sl_lane *lane)
{
	return r->kernels->generate(
		r->model, r->rules.bytes, r->seed, &lane->batch, lane->exec.stream);
}

static enum sl_status advance(const struct sl_recipe *r, struct sl_lane *lane)
{
	return r->kernels->advance(
		r->model, r->rules.bytes, r->seed, &lane->batch, lane->exec.stream);
}

static enum sl_status mark(const struct sl_recipe *r, struct sl_lane *lane)
{
	SL_TRY(sl_fill(lane->census, 0, sizeof(*lane->census), lane->exec.stream));
	return r->kernels->mark(r->keep, &lane->batch, &lane->census->tally, lane->exec.stream);
}

static enum sl_status compact(const struct sl_recipe *r, struct sl_lane *lane)
{
	struct sl_compact_job job = {.keep = lane->batch.keep,
		.out = lane->batch.index,
		.n_out = &lane->census->n_survivors,
		.n = lane->batch.n,
		.scan = r->scan};

	lane->exec.tuning = r->compact.tuning;
	return sl_compact(r->compact.backend, &lane->exec, &job);
}

static enum sl_status sort(const struct sl_recipe *r, struct sl_lane *lane)
{
	struct sl_sort_job job = {.key = lane->batch.key,
		.index = lane->batch.index,
		.n = lane->batch.n_survivors,
		.type = sl_key_type(r),
		.begin_bit = 0,
		.end_bit = r->key_bits,
		.scan = r->scan};

	if (r->n_fields == 0 || job.n == 0)
		return SL_OK;
	SL_TRY(r->kernels->key(
		r->field, r->n_fields, job.type == SL_U32, &lane->batch, lane->exec.stream));
	lane->exec.tuning = r->sort.tuning;
	return sl_sort(r->sort.backend, &lane->exec, &job);
}

static enum sl_status write(const struct sl_recipe *r, struct sl_lane *lane)
{
	if (lane->batch.n_survivors == 0)
		return SL_OK;
	return r->kernels->gather(&lane->batch, lane->census->digest, lane->exec.stream);
}

static stage *const stages[SL_STAGE_COUNT] = {
#define X(name) name,
	SL_STAGES(X)
#undef X
};

/* Queues stages from .. to-1, each behind its mark. */
static enum sl_status queue(const struct sl_recipe *r, struct sl_lane *lane, int from, int to)
{
	for (int s = from; s < to; s++) {
		enum sl_status status =
			sl_event_record(lane->mark[mark_before(s)], lane->exec.stream);

		if (status == SL_OK)
			status = stages[s](r, lane);
		if (status != SL_OK)
			return sl_while(status, "stage %s", sl_stages[s].name);
	}
	return sl_event_record(lane->mark[mark_before(to - 1) + 1], lane->exec.stream);
}

/* --- a batch ---------------------------------------------------------------------------------- */

/* Twice, to two places: a bit that changes on the way, or in one of them, is seen. */
static enum sl_status copy_census(struct sl_lane *lane)
{
	for (int i = 0; i < 2; i++)
		SL_TRY(sl_copy(
			&lane->seen[i], lane->census, sizeof(*lane->seen), lane->exec.stream));
	return SL_OK;
}

static enum sl_status check_census(const struct sl_lane *lane)
{
	if (memcmp(&lane->seen[0], &lane->seen[1], sizeof(*lane->seen)) == 0)
		return SL_OK;
	return sl_fail(SL_DEVICE_FAILED,
		"the tally and the digests did not come whole from the device (two copies of them "
		"differ), run again with --resume; if it happens again, test the machine's memory");
}

static enum sl_status give_up_if_dropped(const struct sl_recipe *r)
{
	if (r->drop && atomic_load_explicit(r->drop, memory_order_relaxed))
		return sl_fail(SL_STOPPED, "dropped (a signal asked to stop)");
	return SL_OK;
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

/* Up to the number of survivors: the one wait inside a batch. */
static enum sl_status find_survivors(
	const struct sl_recipe *r, struct sl_lane *lane, struct sl_batch *b)
{
	lane->batch.number = b->number;
	lane->batch.first_id = b->first_id;
	lane->batch.n = b->n;
	SL_TRY(queue(r, lane, SL_STAGE_generate, SL_STAGE_sort));
	SL_TRY(copy_census(lane));
	SL_TRY(sl_event_record(lane->counted, lane->exec.stream));
	SL_TRY(sl_event_wait(lane->counted));
	SL_TRY(check_census(lane));
	b->tally = lane->seen->tally;
	b->n_survivors = lane->batch.n_survivors = lane->seen->n_survivors;
	SL_TRY(sl_while(sl_close_fates(r, b), "stage %s", sl_stages[SL_STAGE_mark].name));
	SL_TRY(sl_while(check_survivors(r, b), "stage %s", sl_stages[SL_STAGE_compact].name));
	return give_up_if_dropped(r);
}

/* Queues the copies of what was gathered to b's table. */
static enum sl_status copy_table(struct sl_lane *lane, struct sl_batch *b)
{
	b->table.n = b->n_survivors;
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		struct sl_table_column *to = &b->table.column[k];
		size_t bytes = (size_t)b->n_survivors * sl_column_facts[to->column].bytes;

		if (!to->constant)
			SL_TRY(sl_copy(to->data, lane->batch.table.column[k].data, bytes,
				lane->exec.stream));
	}
	return copy_census(lane);
}

static enum sl_status bring_home(
	const struct sl_recipe *r, struct sl_lane *lane, struct sl_batch *b)
{
	SL_TRY(queue(r, lane, SL_STAGE_sort, SL_STAGE_COUNT));
	SL_TRY(copy_table(lane, b));
	SL_TRY(sl_event_record(lane->home, lane->exec.stream));
	SL_TRY(sl_event_wait(lane->home));
	SL_TRY(check_census(lane));
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		struct sl_table_column *c = &b->table.column[k];

		c->digest = lane->seen->digest[c->column];
	}
	return SL_OK;
}

static enum sl_status between(sl_event from, sl_event to, uint64_t *ns)
{
	float ms;

	SL_TRY(sl_event_ms(from, to, &ms));
	*ns = (uint64_t)((double)ms * 1e6);
	return SL_OK;
}

static enum sl_status add_times(struct sl_lane *lane, uint64_t ns[SL_STAGE_COUNT])
{
	for (int s = 0; s < SL_STAGE_COUNT; s++) {
		uint64_t took;

		SL_TRY(between(lane->mark[mark_before(s)], lane->mark[mark_before(s) + 1], &took));
		ns[s] += took;
	}
	return between(lane->mark[MARKS - 1], lane->home, &lane->home_ns);
}

enum sl_status sl_lane_run(const struct sl_recipe *r, struct sl_lane *lane, struct sl_batch *b,
	uint64_t ns[SL_STAGE_COUNT])
{
	enum sl_status s = find_survivors(r, lane, b);

	if (s == SL_OK)
		s = bring_home(r, lane, b);
	if (s == SL_OK && ns)
		s = add_times(lane, ns);
	return sl_while(s, "batch %llu", (unsigned long long)b->number);
}
