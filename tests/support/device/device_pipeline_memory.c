/*
 * device_pipeline_memory.c - tests the memory of a device pipeline: reuse after other contents,
 * and single-bit transfer errors.
 */
#include <stdio.h>

#include "primitives/base/fault.h"
#include "stages/particle/digest.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/device/device_pipeline_check.h"
#include "tests/support/device/host_and_device.h"

/* --- a pipeline used again ------------------------------------------------------------------------ */

/* Queued whole, and as a graph (device_pipeline.h), on every device; more are not, on the emulated one. */
enum { SMALL = 8192 };

static void reuse(uint32_t n, const char *compact)
{
	static const uint64_t order[] = {2, 0, 2, 1, 3, 3, 0};
	struct sl_recipe r = test_recipe(SL_MODEL_slab, n), d;
	struct side host, pipeline;

	r.particles = (uint64_t)n * 3 + n / 2; /* the last batch is half as large */
	r.n_batches = 4;
	d = recipe_on_device(&r, compact, "naive");
	side_open_host(&host, &r);
	side_open_device(&pipeline, &d);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		run_host_and_device(&r, &host, &d, &pipeline, order[i]);
	side_close_device(&pipeline);
	side_close_host(&host);
}

void device_pipeline_check_reuse(uint32_t n)
{
	reuse(n, "naive");
	reuse(n, fused);
	if (n > SMALL)
		reuse(SMALL, fused);
}

/* --- flips ------------------------------------------------------------------------------------ */

/* Steps that have no factor in common with 64: word after word, every bit has its turn. */
enum { BIT_STEP = 37 };
enum { COPIES_MOST = 50 };

/* Runs the batch with a bit of its copy k flipped. Was it taken for whole? */
static bool is_taken(const struct sl_recipe *d, struct side *pipeline, unsigned k, size_t bit)
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

/* Of the copies from the device: two of the census, the columns, two of the census. */
static uint32_t count_columns(const struct sl_table *t)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		n += !t->column[k].constant;
	return n;
}

/* Bits of the i-th column that is copied, as many as there are rows of. */
static size_t bits_of_column(const struct sl_table *t, uint32_t i)
{
	uint32_t k = 0;

	while (t->column[k].constant || i-- > 0)
		k++;
	return 8 * (size_t)t->n * sl_column_facts[t->column[k].column].bytes;
}

/*
 * Up to which bit to flip in the i-th copy from the device. Of a column as many as the census has,
 * but none twice, as they go round and round. What copies the census and compares it knows nothing
 * of models: of the first all bits are flipped, of others the first.
 */
static size_t last_bit(const struct sl_recipe *r, const struct sl_table *t, uint32_t i)
{
	const size_t counters = 8 * sl_batch_counters_bytes(&r->bins);
	size_t round;

	if (i < 2 || i >= 2 + count_columns(t))
		return r->model == (enum sl_model_number)0 ? counters : 1;
	round = BIT_STEP * bits_of_column(t, i - 2);
	return round < counters ? round : counters;
}

/* Flips bits of copy k, if it is one from the device, which it is the i-th of; else nothing must
 * have changed. */
static bool flip(
	const struct sl_recipe *d, struct side *host, struct side *pipeline, unsigned k, uint32_t i)
{
	if (is_taken(d, pipeline, k, 1)) {
		assert_same_batch(&host->b, &pipeline->b);
		return false;
	}
	for (size_t bit = 1 + sl_sampling_step(BIT_STEP); bit <= last_bit(d, &host->b.table, i);
		bit += sl_sampling_step(BIT_STEP))
		if (is_taken(d, pipeline, k, bit))
			fail_msg("bit %zu of copy %u was flipped, but no error was reported", bit,
				k);
	return true;
}

/* Behind the last copy there is none to flip: of such numbers the environment's share is tried. */
static void flip_each(enum sl_model_number model, uint32_t n, const char *compact)
{
	const struct sl_histogram_axis halves = {
		SL_COLUMN_w, 2, SL_FATE_BIT(SL_FATE_hit) | SL_FATE_BIT(SL_FATE_transmitted), -1, 1};
	struct sl_recipe r = test_recipe(model, n), d;
	struct side host, pipeline;
	uint32_t flipped = 0, expected;

	r.n_fields = 0; /* thousands of batches: none is sorted */
	r.bins = sl_histogram_make(&halves, 1, true);
	d = recipe_on_device(&r, compact, "naive");
	side_open_host(&host, &r);
	side_open_device(&pipeline, &d);
	sl_batch_begin(&r, &host.b, 0);
	assert_ok(sl_stages_run(&r, &host.x, &host.b, NULL));
	assert_true(host.b.n_survivors > 0);
	expected = 4 + count_columns(&host.b.table);
	for (uint64_t k = 1; k <= COPIES_MOST; k += flipped < expected ? 1 : sl_sampling_step(1))
		flipped += flip(&d, &host, &pipeline, (unsigned)k, flipped);
	sl_fault_set(NULL);
	assert_int_equal(flipped, expected);
	side_close_device(&pipeline);
	side_close_host(&host);
}

void device_pipeline_check_flips(uint32_t n)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		flip_each((enum sl_model_number)model, n, "naive");
		flip_each((enum sl_model_number)model, n, fused);
	}
}
