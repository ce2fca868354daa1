/* device_pipeline_check.c - see device_pipeline_check.h. */
#include "tests/support/device/device_pipeline_check.h"

#include <stdio.h>

#include "primitives/device/device_driver.h"
#include "stages/particle/digest.h"
#include "tests/cases/sampling.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/schedules.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/device/host_and_device.h"
#include "tests/support/device/pack_check.h"
#include "tests/support/models/models.h"
#include "tests/support/models/random_batches.h"

/* Runs batches in this order in one pipeline, whose device memory is filled with poison before. */
static void compare(const struct sl_recipe *r, const struct sl_recipe *d, unsigned char poison,
	const uint64_t *order, size_t n)
{
	struct batch_memory host;
	struct test_batch pipeline;

	open_batch_memory(&host, r, 0xa5);
	test_batch_open_device(&pipeline, d, poison);
	for (size_t i = 0; i < n; i++) {
		run_host_and_device(r, &host, d, &pipeline, order[i]);
		if (d->pack.form != SL_AS_COLUMNS)
			check_packed(d, &host.b, &pipeline.b);
	}
	test_batch_close_device(&pipeline);
	close_batch_memory(&host);
}

/* --- at random -------------------------------------------------------------------------------- */

/* The k-th backend of a primitive that runs on the device, modulo their number. */
static const char *device_backend(enum sl_primitive primitive, uint64_t k)
{
	const struct sl_backend *b;
	uint64_t n = 0;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		n += b->primitive == primitive && b->space == SL_DEVICE;
	k %= n;
	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (b->primitive == primitive && b->space == SL_DEVICE && k-- == 0)
			return b->name;
	return NULL;
}

static void check_seed(uint64_t seed, uint32_t largest)
{
	static const uint64_t orders[][4] = {{0, 1, 2, 0}, {2, 0, 2, 1}, {1, 1, 0, 2}};
	struct sl_recipe r = random_batches(seed, largest), d;
	uint64_t state = seed + 1, order[4];
	bool staged = r.grids.scored || r.schedule.steps > 0 || random_below(&state, 3) == 0;
	const char *compact = staged ? device_backend(SL_COMPACT, random_below(&state, 64)) : fused;
	const char *sort = device_backend(SL_SORT, random_below(&state, 64));
	int packing = (int)random_below(&state, 2 * PACKINGS);

	d = recipe_on_device(&r, compact, sort);
	if (packing < PACKINGS && can_pack(&r, packing))
		set_packing(&d, packing);
	else
		packing = PACKINGS;
	print_message("seed %llu: %s, %s, packing %d\n", (unsigned long long)seed,
		staged ? compact : "fused", sort, packing);
	for (int i = 0; i < 4; i++)
		order[i] = orders[random_below(&state, 3)][i] % r.n_batches;
	compare(&r, &d, random_below(&state, 2) ? 0xa5 : 0, order, r.n_batches > 1 ? 4 : 1);
}

void device_pipeline_check(uint64_t first, uint64_t n, uint32_t largest)
{
	for (uint64_t k = 0; k < n; k++)
		check_seed(first + k, largest);
}

/* --- tiles, scores and backends --------------------------------------------------------------------------------- */

void device_pipeline_check_tiles(uint32_t largest)
{
	const uint64_t order[] = {0};

	for (int model = 0; model < TEST_MODELS; model++) {
		uint32_t n = sl_models[model]->recomputed ? 32769 : 8193;
		struct sl_recipe r =
			test_recipe((enum sl_model_number)model, n < largest ? n : largest);
		struct sl_recipe d = recipe_on_device(&r, fused, "naive");

		compare(&r, &d, 0xa5, order, 1);
	}
}

/* By histories also with memory after the particles that looks like living ones. */
void device_pipeline_check_collisions(uint32_t n)
{
	const uint64_t order[] = {0};

	for (int even = 0; even < 2; even++) {
		struct sl_recipe r = test_recipe(SL_MODEL_slab, n), d;

		score_collisions(&r, even);
		if (even)
			r.schedule = schedule_at(3);
		d = recipe_on_device(&r, "naive", "naive");
		compare(&r, &d, even ? 0xa5 : 0, order, 1);
	}
}

void device_pipeline_check_backends(uint32_t n)
{
	const struct sl_backend *c, *s;
	const uint64_t order[] = {0};
	int pairs = 0;

	for (size_t i = 0; (c = sl_backend_at(i)) != NULL; i++)
		for (size_t k = 0; (s = sl_backend_at(k)) != NULL; k++)
			if ((c->primitive == SL_COMPACT || c->primitive == SL_SCAN) &&
				s->primitive == SL_SORT && c->space == SL_DEVICE &&
				s->space == SL_DEVICE) {
				enum sl_model_number m =
					(enum sl_model_number)(pairs++ % TEST_MODELS);
				struct sl_recipe r = test_recipe(m, n),
						 d = recipe_on_device(&r,
							 c->primitive == SL_COMPACT ? c->name
										    : fused,
							 s->name);

				compare(&r, &d, 0xa5, order, 1);
			}
	assert_true(pairs > 1);
}

/* --- flipped bits ----------------------------------------------------------------------------- */

/* Distance of the flipped bits, coprime to 64: over many words, each bit position of a word is flipped. */
enum { BIT_STEP = 37 };
enum { COPIES_MOST = 50 };

/* Runs the batch with one flipped bit in copy k. Returns true if no error was reported. */
static bool is_accepted(
	const struct sl_recipe *d, struct test_batch *pipeline, unsigned k, size_t bit)
{
	char fault[64];
	enum sl_status s;

	snprintf(fault, sizeof(fault), "dev_flip:%u:%zu", k, bit);
	assert_null(sl_fault_set(fault));
	sl_batch_begin(d, &pipeline->b, 0);
	s = sl_device_pipeline_run(d, &pipeline->pipeline, &pipeline->b, NULL);
	if (s == SL_OK)
		s = sl_digest_check(&pipeline->b.table);
	if (s != SL_OK && (s != SL_DEVICE_FAILED || !strstr(sl_last_error(), "transfer error")))
		fail_msg("%s: %s: %s", fault, sl_status_name(s), sl_last_error());
	return s == SL_OK;
}

/* Columns that are copied from the device; constant columns are not. */
static uint32_t count_copied_columns(const struct sl_table *t)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		n += !t->column[k].constant;
	return n;
}

/*
 * Flips bits of copy k, as many as of the counters of a batch; bit numbers are taken modulo the size of the copy. Returns true
 * if it is a copy from the device. Other copies are not flipped, so the batch must be correct.
 */
static bool flip_copy(const struct sl_recipe *d, struct batch_memory *host,
	struct test_batch *pipeline, unsigned k)
{
	const size_t bits = 8 * sl_batch_counters_bytes(sl_counter_words(d));

	if (is_accepted(d, pipeline, k, 1)) {
		assert_same_batch(&host->b, &pipeline->b);
		return false;
	}
	for (size_t bit = 1 + sl_sampling_step(BIT_STEP); bit <= bits;
		bit += sl_sampling_step(BIT_STEP))
		if (is_accepted(d, pipeline, k, bit))
			fail_msg("bit %zu of copy %u was flipped, but no error was reported", bit,
				k);
	return true;
}

/*
 * Flips bits in every copy of a batch: two of its counters, the columns, two of its counters again. Of the numbers after the
 * last copy only a share is tested (sampling.h).
 */
static void flip_every_copy(enum sl_model_number model, uint32_t n, const char *compact)
{
	const struct sl_histogram_axis halves = {
		SL_COLUMN_w, 2, SL_FATE_BIT(SL_FATE_hit) | SL_FATE_BIT(SL_FATE_transmitted), -1, 1};
	struct sl_recipe r = test_recipe(model, n), d;
	struct batch_memory host;
	struct test_batch pipeline;
	uint32_t flipped = 0, expected;

	r.n_fields = 0; /* sorting thousands of batches would take long */
	r.bins = sl_histogram_make(&halves, 1, true);
	d = recipe_on_device(&r, compact, "naive");
	open_batch_memory(&host, &r, 0xa5);
	test_batch_open_device(&pipeline, &d, 0xa5);
	run_batch(&r, &host, 0);
	assert_true(host.b.n_survivors > 0);
	expected = 4 + count_copied_columns(&host.b.table);
	for (uint64_t k = 1; k <= COPIES_MOST; k += flipped < expected ? 1 : sl_sampling_step(1))
		flipped += flip_copy(&d, &host, &pipeline, (unsigned)k);
	sl_fault_set(NULL);
	assert_int_equal(flipped, expected);
	test_batch_close_device(&pipeline);
	close_batch_memory(&host);
}

void device_pipeline_check_flips(uint32_t n)
{
	struct sl_sampled share = sl_sampling_share(2 * TEST_MODELS);

	for (uint64_t i = share.first; i < 2 * TEST_MODELS; i += share.step)
		flip_every_copy((enum sl_model_number)(i / 2), n, i % 2 ? fused : "naive");
}

/* --- failed calls ----------------------------------------------------------------------------- */

static const char *watched;
static uint64_t calls_watched;

static void watch(const char *call)
{
	calls_watched += strcmp(call, watched) == 0;
}

/* Every call of this name fails, once per batch, and then the batch fails. Returns their number. */
static uint64_t fail_calls(const struct sl_recipe *d, struct test_batch *pipeline)
{
	uint64_t k = 1;

	sl_fault_watch = watch;
	for (;; k = sl_sampling_next(k, UINT64_MAX)) {
		char fault[64];
		enum sl_status s;

		snprintf(fault, sizeof(fault), "%s:%u:%d", watched, (unsigned)k, SL_ERROR_VALUE);
		assert_null(sl_fault_set(fault));
		calls_watched = 0;
		sl_batch_begin(d, &pipeline->b, 0);
		s = sl_device_pipeline_run(d, &pipeline->pipeline, &pipeline->b, NULL);
		sl_fault_set(NULL);
		if (calls_watched < k)
			break;
		if (s == SL_OK)
			fail_msg("%s: the batch does not fail", fault);
		assert_fails(s, SL_DEVICE_FAILED, "error 1");
	}
	sl_fault_watch = NULL;
	return calls_watched;
}

void device_pipeline_check_failures(uint32_t n)
{
	static const char *const calls[] = {
		"dev_record", "dev_sync", "dev_elapsed", "dev_copy", "dev_fill", "dev_launch"};
	struct sl_recipe r = test_recipe(SL_MODEL_slab, n), d;
	struct batch_memory host;
	struct test_batch pipeline;

	r.schedule = schedule_at(8); /* compacts and sorts */
	d = recipe_on_device(&r, "naive", "naive");
	open_batch_memory(&host, &r, 0xa5);
	test_batch_open_device(&pipeline, &d, 0xa5);
	run_batch(&r, &host, 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		watched = calls[i];
		assert_true(fail_calls(&d, &pipeline) > 5);
		assert_same_batch(&host.b, &pipeline.b); /* without a fault, after those with one */
	}
	test_batch_close_device(&pipeline);
	close_batch_memory(&host);
}
