/* device_pipeline_counting.c - see device_pipeline_check.h: derived columns, grids and scores. */
#include "tests/support/basic/check.h"
#include "tests/support/basic/schedules.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/device/device_pipeline_check.h"
#include "tests/support/device/host_and_device.h"

static const double edges[SL_GRID_EDGES_MAX] = {-1, -0.25, 0.5, 0.75, 1};

/* Derives r, the square root of the id, and rho, the quotient of r and the weight. */
static struct sl_derivation derivation_of_id(void)
{
	static const struct {
		uint32_t operation, operand;
	} steps[] = {{SL_OP_column, SL_COLUMN_id}, {SL_FN_sqrt, 0}, {SL_FN_store, SL_COLUMN_r},
		{SL_OP_column, SL_COLUMN_r}, {SL_OP_column, SL_COLUMN_weight}, {SL_OP_over, 0},
		{SL_FN_store, SL_COLUMN_rho}};
	struct sl_derivation d = {.columns = SL_BIT(SL_COLUMN_r) | SL_BIT(SL_COLUMN_rho),
		.reads = SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_weight)};

	for (; d.n < sizeof(steps) / sizeof(steps[0]); d.n++) {
		d.operation[d.n] = (uint8_t)steps[d.n].operation;
		d.operand[d.n] = (uint8_t)steps[d.n].operand;
	}
	return d;
}

/*
 * Two grids: x by w for all fates, and the derived columns. Some values are outside of their ranges. The two
 * columns are neighbours in memory: a value after the end of r is the first one of rho.
 */
static void add_grids(struct sl_recipe *r, uint32_t n, bool weighted)
{
	const struct sl_grid_field field[] = {
		{.n_axes = 2,
			.axis = {{.column = SL_COLUMN_x, .bins = 4, .lo = -0.5, .hi = 0.5},
				{.column = SL_COLUMN_w,
					.spacing = SL_SPACING_EDGES,
					.bins = 4,
					.lo = -1,
					.hi = 1}},
			.fates = SL_EVERY_FATE},
		{.n_axes = 2,
			.axis = {{.column = SL_COLUMN_rho, .bins = 5, .lo = 0, .hi = 15},
				{.column = SL_COLUMN_r,
					.spacing = SL_SPACING_RATIO,
					.bins = 7,
					.lo = 1.5,
					.hi = sqrt(0.8 * n + 4)}},
			.fates = SL_EVERY_FATE}};

	sl_grid_make(field, 2, edges, weighted, 1, &r->grids);
}

/* The deposited weight, two estimators of the fluence and the weight that crosses a plane. */
static void add_scores(struct sl_recipe *r)
{
	const struct sl_grid_axis depth = {.column = SL_COLUMN_z, .bins = 5, .lo = 0, .hi = 0.4},
				  radius = {.column = SL_COLUMN_r, .bins = 3, .lo = 0, .hi = 0.3};
	struct sl_grid_field field[4] = {{.score = SL_SCORE_DEPOSIT}, {.score = SL_SCORE_FLUENCE},
		{.score = SL_SCORE_TRACK}, {.score = SL_SCORE_CROSSING, .plane = 0.25}};

	for (int k = 0; k < 4; k++) {
		field[k].fates = SL_FATE_BIT(SL_SCORE_ROW);
		field[k].n_axes = k < 3 ? 2 : 1;
		field[k].axis[0] = k < 3 ? depth : radius;
		field[k].axis[1] = radius;
	}
	sl_grid_make(field, 4, edges, false, 1, &r->grids);
}

/* Two scores of collisions, with axes that are EVEN or not. All of their counters fit in shared memory. */
static void add_collisions(struct sl_recipe *r, bool even)
{
	const struct sl_grid_axis depth = {.column = SL_COLUMN_z, .bins = 5, .lo = 0.05, .hi = 0.4},
				  radius = {.column = SL_COLUMN_r, .bins = 3, .lo = 0, .hi = 0.3},
				  place = {.column = SL_COLUMN_x,
					  .spacing = even ? SL_SPACING_EVEN : SL_SPACING_EDGES,
					  .bins = 4,
					  .lo = -1,
					  .hi = 1};
	struct sl_grid_field field[2] = {
		{.score = SL_SCORE_DEPOSIT, .n_axes = 2}, {.score = SL_SCORE_FLUENCE, .n_axes = 2}};

	for (int k = 0; k < 2; k++) {
		field[k].fates = SL_FATE_BIT(SL_SCORE_ROW);
		field[k].axis[k] = depth;
		field[k].axis[1 - k] = k == 0 ? radius : place;
	}
	sl_grid_make(field, 2, edges, false, 1, &r->grids);
}

/* The second batch is half as large: the fates of the first one follow those of its particles. */
static void check_counting(enum sl_model_number model, uint32_t n)
{
	struct sl_recipe r = test_recipe(model, n);

	r.particles = n + n / 2;
	r.n_batches = 2;
	r.derivation = derivation_of_id();
	compare_host_and_device_modes(&r);
	add_grids(&r, n, false);
	compare_host_and_device_modes(&r);
	add_grids(&r, n, true);
	compare_host_and_device_modes(&r);
	if (model != SL_MODEL_slab)
		return;
	r.derivation.n = 0; /* a score sets r */
	r.derivation.columns = r.derivation.reads = 0;
	add_scores(&r); /* which fused mode does not have */
	compare_host_and_device(&r, "naive", "naive");
	for (int i = 0; i < SCHEDULES; i++) { /* a round has fewer particles than the one before */
		r.schedule = schedule_at(i);
		compare_host_and_device(&r, "naive", "naive");
	}
}

void device_pipeline_check_counting(uint32_t n)
{
	for (int model = 0; model < TEST_MODELS; model++)
		check_counting((enum sl_model_number)model, n);
}

/* By histories also with memory after the particles that looks like living ones. */
void device_pipeline_check_collisions(uint32_t n)
{
	const unsigned char poison = test_batch_poison;

	for (int even = 0; even < 2; even++) {
		struct sl_recipe r = test_recipe(SL_MODEL_slab, n);

		add_collisions(&r, even);
		if (even)
			r.schedule = schedule_at(3);
		test_batch_poison = even ? poison : 0;
		compare_host_and_device(&r, "naive", "naive");
	}
	test_batch_poison = poison;
}
