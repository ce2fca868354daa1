/* device_pipeline_check.c - see device_pipeline_check.h. */
#include "tests/support/device/device_pipeline_check.h"

#include <stdio.h>

#include "primitives/device/device_driver.h"
#include "stages/models/models.h"
#include "stages/particle/digest.h"
#include "tests/cases/inputs.h"
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

/* Backend k of a primitive on the device, modulo their number. */
static const char *device_backend(enum sl_primitive primitive, uint64_t k)
{
	uint64_t n = 0;

	while (sl_backend_of(primitive, SL_DEVICE, n))
		n++;
	return sl_backend_of(primitive, SL_DEVICE, k % n)->name;
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

/* --- tiles, scores and backends --------------------------------------------------------------- */

/* Batch 0. */
static void compare_one(
	const struct sl_recipe *r, const char *compact, const char *sort, unsigned char poison)
{
	const struct sl_recipe d = recipe_on_device(r, compact, sort);
	const uint64_t order[] = {0};

	compare(r, &d, poison, order, 1);
}

void device_pipeline_check_tiles(uint32_t largest)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		uint32_t n = sl_models[model]->recomputed ? 32769 : 8193;
		struct sl_recipe r =
			test_recipe((enum sl_model_number)model, n < largest ? n : largest);

		compare_one(&r, fused, "naive", 0xa5);
	}
}

/* By histories also with memory after the particles that looks like living ones. */
void device_pipeline_check_collisions(uint32_t n)
{
	for (int even = 0; even < 2; even++) {
		struct sl_recipe r = test_recipe(SL_MODEL_slab, n);

		score_collisions(&r, even);
		if (even)
			r.schedule = schedule_at(3);
		compare_one(&r, "naive", "naive", even ? 0xa5 : 0);
	}
}

void device_pipeline_check_backends(uint32_t n)
{
	const struct sl_backend *c, *s;
	int pairs = 0;

	for (size_t i = 0; (c = sl_backend_of(SL_COMPACT, SL_DEVICE, i / 2)) != NULL; i++)
		for (size_t k = 0; (s = sl_backend_of(SL_SORT, SL_DEVICE, k)) != NULL; k++) {
			enum sl_model_number m = (enum sl_model_number)(pairs++ % TEST_MODELS);
			struct sl_recipe r = test_recipe(m, n);

			compare_one(&r, i % 2 ? fused : c->name, s->name, 0xa5);
		}
	assert_true(pairs > 1);
}

/* --- flipped bits ----------------------------------------------------------------------------- */

/* A batch has fewer copies, whose counters have fewer bits. */
enum { COPIES_MOST = 50, BITS_MOST = 1 << 15 };

/*
 * Runs the batch with one flipped bit: it is right, or the error is reported. Returns whether it is
 * reported.
 */
static bool flip(const struct sl_recipe *d, const struct sl_batch *host,
	struct test_batch *pipeline, uint64_t number)
{
	char fault[64];
	enum sl_status s;

	snprintf(fault, sizeof(fault), "dev_flip:%u:%u", 1 + (unsigned)(number % COPIES_MOST),
		1 + (unsigned)(sl_digest_mix(number, 5) % BITS_MOST));
	assert_null(sl_fault_set(fault));
	sl_batch_begin(d, &pipeline->b, 0);
	s = sl_device_pipeline_run(d, &pipeline->pipeline, &pipeline->b, NULL);
	if (s == SL_OK)
		s = sl_digest_check(&pipeline->b.table);
	if (s == SL_OK)
		assert_same_batch(host, &pipeline->b);
	else if (s != SL_DEVICE_FAILED || !strstr(sl_last_error(), "transfer error"))
		fail_msg("%s: %s: %s", fault, sl_status_name(s), sl_last_error());
	return s != SL_OK;
}

/* Flips a bit of each copy of a batch; round selects the bits. */
static void flip_copies(enum sl_model_number model, uint32_t n, const char *compact, uint64_t round)
{
	const struct sl_grid_field halves = {.n_axes = 1,
		.axis = {{SL_COLUMN_w, SL_SPACING_EVEN, 2, -1, 1, 0}},
		.fates = SL_FATE_BIT(SL_FATE_hit) | SL_FATE_BIT(SL_FATE_transmitted)};
	static const double no_edges[SL_GRID_EDGES_MAX] = {0};
	struct sl_recipe r = test_recipe(model, n), d;
	struct batch_memory host;
	struct test_batch pipeline;
	unsigned reported = 0;

	r.n_fields = 0; /* sorting thousands of batches would take long */
	sl_grid_make(&halves, 1, no_edges, true, &r.grids);
	d = recipe_on_device(&r, compact, "naive");
	open_batch_memory(&host, &r, 0xa5);
	test_batch_open_device(&pipeline, &d, 0xa5);
	run_batch(&r, &host, 0);
	for (uint64_t copy = 0; copy < COPIES_MOST; copy++)
		reported += flip(&d, &host.b, &pipeline, round * COPIES_MOST + copy);
	sl_fault_set(NULL);
	assert_true(reported > 4); /* counters are copied twice, and again with the columns */
	test_batch_close_device(&pipeline);
	close_batch_memory(&host);
}

void device_pipeline_check_flips(uint32_t n)
{
	enum { PAIRS = 2 * TEST_MODELS, ROUNDS = 21 };
	const struct sl_sampled share = sl_sampling_share(PAIRS * ROUNDS);

	for (uint64_t i = share.first; i < PAIRS * ROUNDS; i += share.step)
		flip_copies((enum sl_model_number)(i / 2 % TEST_MODELS), n, i % 2 ? fused : "naive",
			i / PAIRS);
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

	r.schedule = schedule_at(0);
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
