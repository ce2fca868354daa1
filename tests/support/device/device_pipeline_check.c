/* device_pipeline_check.c - see device_pipeline_check.h: recipes of every kind. */
#include "tests/support/device/device_pipeline_check.h"

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/device/host_and_device.h"
#include "tests/support/basic/schedules.h"

/* Each compact with each sort of the device in staged mode, and each sort in fused mode. */
static void compare_all_backends(const struct sl_recipe *r)
{
	const struct sl_backend *c, *s;
	int pairs = 0;

	for (size_t i = 0; (s = sl_backend_at(i)) != NULL; i++)
		if (s->primitive == SL_SORT && s->space == SL_DEVICE)
			compare_host_and_device(r, fused, s->name);
	for (size_t i = 0; (c = sl_backend_at(i)) != NULL; i++)
		for (size_t k = 0; (s = sl_backend_at(k)) != NULL; k++)
			if (c->primitive == SL_COMPACT && s->primitive == SL_SORT &&
				c->space == SL_DEVICE && s->space == SL_DEVICE) {
				compare_host_and_device(r, c->name, s->name);
				pairs++;
			}
	assert_true(pairs > 0);
}

void device_pipeline_check_backends(uint32_t n)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, n);

		compare_all_backends(&r);
	}
}

static void check_shapes(enum sl_model_number model, uint32_t n)
{
	const struct sl_key_field eighths = {.column = SL_COLUMN_id, .bits = 3, .lo = 0, .hi = n};
	struct sl_recipe r = test_recipe(model, n);
	sl_fate_set keep = r.keep;

	compare_host_and_device_modes(&r);
	r.keep = 0;
	compare_host_and_device_modes(&r);
	r.keep = SL_EVERY_FATE;
	compare_host_and_device_modes(&r);
	r.n_fields = 0;
	compare_host_and_device_modes(&r);
	r = test_recipe(model, n);
	r.keep = keep;
	r.field[1].bits = 31; /* more than 32 bits in total, so keys are of type u64 */
	r.field[1].most = (UINT64_C(1) << 31) - 1;
	r.field[1].top = 0x1p31f;
	r.key_bits = r.field[0].bits + 31;
	compare_host_and_device_modes(&r);
	r = test_recipe(model, n);
	r.keep = SL_EVERY_FATE;
	r.field[1] =
		r.field[0]; /* eight groups of ids, each sorted by the first field of the recipe */
	r.field[0] = sl_key_rule_make(&eighths);
	r.key_bits = r.field[0].bits + r.field[1].bits;
	compare_host_and_device_modes(&r);
}

void device_pipeline_check_shapes(uint32_t largest)
{
	static const uint32_t sizes[] = {1, 2, 31, 257,
		320, /* no padding between columns, and a block has idle threads */
		4097, (1 << 20) + 3};

	for (int model = 0; model < TEST_MODELS; model++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			if (sizes[i] <= largest)
				check_shapes((enum sl_model_number)model, sizes[i]);
}

/*
 * Whether the next column or operation is tested. ThreadSanitizer looks for races, and the kernels are the same for all
 * columns, so it tests a share of them.
 */
static bool selects_column(void)
{
#if defined(__SANITIZE_THREAD__)
	return sl_sampling_selects();
#else
	return true;
#endif
}

/* --- fused ------------------------------------------------------------------------------------ */

/* Some particles survive, sorted by a key and by id; then all survive. */
static void check_tiles(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = test_recipe(model, n);

	compare_host_and_device(&r, fused, "naive");
	r.n_fields = 0;
	compare_host_and_device(&r, fused, "naive");
	r.keep = SL_EVERY_FATE;
	compare_host_and_device(&r, fused, "naive");
}

/* Every number of columns, and so every size of a record; then one constant column only. */
static void check_tables(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = test_recipe(model, n);
	uint32_t all = r.n_columns;

	for (r.n_columns = 1; r.n_columns <= all; r.n_columns++)
		if (selects_column())
			compare_host_and_device(&r, fused, "naive");
	r.n_columns = 1;
	r.column[0] = SL_COLUMN_weight;
	/* rays have different weights; the weight of all other recipes is constant */
	assert_int_equal(SL_HAS(r.constants, SL_COLUMN_weight), model != SL_MODEL_rays);
	compare_host_and_device(&r, fused, "naive");
	r.column[0] = SL_COLUMN_fate;
	compare_host_and_device(&r, fused, "naive");
}

/* A key of each column, and keys with the maximum number of fields. */
static void check_keys(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = test_recipe(model, n);
	uint32_t fields = 0;

	for (uint32_t k = 0; k < r.n_columns; k++) {
		bool number = sl_column_facts[r.column[k]].type != SL_TYPE_F32;
		const struct sl_key_field field = {.column = r.column[k],
			.bits = 7,
			.lo = number ? 0 : -3,
			.hi = number ? n : 3,
			.descending = k % 2 == 1};

		r.field[fields] = sl_key_rule_make(&field);
		r.n_fields = ++fields;
		r.key_bits = 7 * fields;
		if (fields == SL_KEY_FIELDS_MAX || k + 1 == r.n_columns)
			compare_host_and_device_modes(&r);
		fields %= SL_KEY_FIELDS_MAX;
		if (!selects_column())
			continue;
		r.field[0] = sl_key_rule_make(&field);
		r.n_fields = 1;
		r.key_bits = 7;
		compare_host_and_device_modes(&r);
	}
}

void device_pipeline_check_tiles(uint32_t most, size_t step)
{
	/* a warp processes 32 particles at a time, a block 256 or a multiple */
	static const uint32_t sizes[] = {
		4097, 2303, 33, 511, 257, 513, 2047, 575, 255, 512, 4096, 256, 32};

	for (int model = 0; model < TEST_MODELS; model++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k += step)
			if (sizes[k] <= most)
				check_tiles((enum sl_model_number)model, sizes[k]);
}

/*
 * The tile of a block grows with the number of particles. On the emulated device, which has 16 blocks, the
 * largest tile has 512 particles (from 8192 particles on) if survivors are copied. If survivors are
 * recomputed, it has 2048 (from 32768 particles on).
 */
static void check_larger_tiles(void)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		bool recomputed = sl_models[model]->recomputed;
		struct sl_recipe r =
			test_recipe((enum sl_model_number)model, recomputed ? 32769 : 8193);

		r.n_batches = 1;
		compare_host_and_device(&r, fused, "naive");
	}
}

void device_pipeline_check_keys(uint32_t n)
{
	for (int model = 0; model < TEST_MODELS; model++)
		check_keys((enum sl_model_number)model, n);
}

/* A condition on all fates: the operation on a column and a number, as a postfix program. */
static struct sl_condition condition_of(
	enum sl_column column, double number, enum sl_operation operation)
{
	struct sl_condition k = {.fates = SL_EVERY_FATE,
		.columns = SL_BIT(column),
		.n_numbers = 1,
		.number = {number}};

	k.operation[k.n] = SL_OP_column;
	k.operand[k.n++] = (uint8_t)column;
	k.operation[k.n++] = SL_OP_number;
	k.operation[k.n++] = (uint8_t)operation;
	return k;
}

/* A comparison of every column, and every arithmetic operation with the absolute value and not. */
static void check_conditions(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = test_recipe(model, n);

	r.keep = SL_EVERY_FATE & ~SL_FATE_BIT(SL_FATE_dropped);
	for (uint32_t k = 0; k < r.n_columns; k++) {
		bool id = r.column[k] == SL_COLUMN_id;
		struct sl_recipe other;

		if (!selects_column())
			continue;
		r.condition = condition_of(r.column[k], id ? n / 2 : 0.25, SL_OP_more);
		compare_host_and_device_modes(&r);
		other = r; /* only the condition reads the column */
		other.n_columns = 1;
		other.n_fields = 0;
		compare_host_and_device(&other, fused, "naive");
	}
	for (int operation = SL_OP_plus; operation <= SL_OP_over; operation++) {
		struct sl_condition *k = &r.condition;

		if (!selects_column())
			continue;
		*k = condition_of(SL_COLUMN_w, 3.1, (enum sl_operation)operation);
		k->operation[k->n++] = SL_OP_absolute;
		k->number[k->n_numbers] = 2.8;
		k->operation[k->n] = SL_OP_number;
		k->operand[k->n++] = (uint8_t)k->n_numbers++;
		k->operation[k->n++] = SL_OP_at_most;
		k->operation[k->n++] = SL_OP_opposite;
		compare_host_and_device_modes(&r);
	}
}

void device_pipeline_check_conditions(uint32_t n)
{
	for (int model = 0; model < TEST_MODELS; model++)
		check_conditions((enum sl_model_number)model, n);
}

void device_pipeline_check_fused(uint32_t most)
{
	device_pipeline_check_tiles(most, 1);
	if (most > 4096)
		check_larger_tiles();
	for (int i = 0; i < TEST_MODELS; i++) {
		enum sl_model_number model = (enum sl_model_number)i;

		check_tables(model, most < 700 ? most : 700);
	}
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* Each round has the same width and number of living particles, and was compacted and sorted alike. */
static void assert_same_rounds(const struct sl_rounds *a, const struct sl_rounds *b)
{
	assert_true(a->n > 0);
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		assert_int_equal(a->at[i].width, b->at[i].width);
		assert_int_equal(a->at[i].alive, b->at[i].alive);
		assert_int_equal(a->at[i].compacted, b->at[i].compacted);
		assert_int_equal(a->at[i].sorted, b->at[i].sorted);
	}
}

static void check_rounds(uint32_t n, const char *compact, const char *sort)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, n);

		for (int i = 0; sl_models[model]->steps && i < SCHEDULES; i++) {
			struct sl_recipe d = recipe_on_device(&r, compact, sort);
			struct test_batch host, pipeline;

			if (!sl_sampling_selects())
				continue;
			r.schedule = d.schedule = schedule_at(i);
			test_batch_open_host(&host, &r);
			test_batch_open_device(&pipeline, &d);
			run_host_and_device(&r, &host, &d, &pipeline, 0);
			assert_same_rounds(&host.b.rounds, &pipeline.b.rounds);
			test_batch_close_device(&pipeline);
			test_batch_close_host(&host);
		}
	}
}

void device_pipeline_check_rounds(uint32_t n)
{
	check_rounds(n, "naive", "naive");
}

void device_pipeline_check_rounds_of_all(uint32_t n)
{
	const struct sl_backend *c, *s;

	for (size_t i = 0; (c = sl_backend_at(i)) != NULL; i++)
		for (size_t k = 0; (s = sl_backend_at(k)) != NULL; k++)
			if (c->primitive == SL_COMPACT && c->space == SL_DEVICE &&
				s->primitive == SL_SORT && s->space == SL_DEVICE &&
				strcmp(c->name, s->name) == 0)
				check_rounds(n, c->name, s->name);
}

/* --- histograms ------------------------------------------------------------------------------- */

/* Makes axes for the columns from number at on, with values outside of their ranges; returns their number. */
static uint32_t make_axes(
	const struct sl_recipe *r, uint32_t at, struct sl_histogram_axis field[SL_HISTOGRAMS_MAX])
{
	sl_fate_set some = SL_FATE_BIT(SL_FATE_transmitted) | SL_FATE_BIT(SL_FATE_hit);
	sl_fate_set fates = sl_models[r->model]->fates;
	uint32_t n = 0;

	for (; at < r->n_columns && n < SL_HISTOGRAMS_MAX; at++) {
		bool number = sl_column_facts[r->column[at]].type != SL_TYPE_F32;
		uint32_t bins = 5 + n;

		if (r->column[at] == SL_COLUMN_id)
			continue;
		field[n] = (struct sl_histogram_axis){.column = r->column[at],
			.bins = bins,
			.fates = n % 2 ? some : fates,
			.lo = number ? 1 : -0.75,
			.hi = number ? 1 + 2 * bins : 0.75};
		n++;
	}
	return n;
}

/* Histograms of all columns: eight of counts at a time, the maximum, or seven of weights. */
static void check_all_columns(struct sl_recipe *r)
{
	struct sl_histogram_axis field[SL_HISTOGRAMS_MAX];

	r->keep =
		SL_EVERY_FATE; /* all survive: a survivor flag that is counted as a fate is noticed */
	for (uint32_t at = 0; at < r->n_columns; at += SL_HISTOGRAMS_MAX - 1)
		for (uint32_t weighted = 0; weighted < 2; weighted++) {
			uint32_t n = make_axes(r, at, field);

			r->bins = sl_histogram_make(
				field, n == SL_HISTOGRAMS_MAX ? n - weighted : n, weighted);
			compare_host_and_device_modes(r);
		}
}

/* The maximum number of counters, with all columns written and without the column of the histogram. */
static void check_largest_histogram(struct sl_recipe *r, bool weighted)
{
	const struct sl_histogram_axis most = {.column = SL_COLUMN_w,
		.bins = SL_HISTOGRAM_SHARED / sl_histogram_shared(1, weighted) -
	                SL_HISTOGRAM_OUTSIDE,
		.fates = r->keep,
		.lo = -1,
		.hi = 1};

	r->bins = sl_histogram_make(&most, 1, weighted);
	compare_host_and_device_modes(r);
	r->n_columns = 1;
	compare_host_and_device_modes(r);
}

void device_pipeline_check_bins(uint32_t n)
{
	for (int model = 0; model < TEST_MODELS; model++)
		for (int weighted = 0; weighted < 2; weighted++) {
			struct sl_recipe r = test_recipe((enum sl_model_number)model, n);
			struct sl_recipe other = r;

			check_largest_histogram(&r, weighted);
			if (!weighted)
				check_all_columns(&other);
		}
}
