/*
 * pilot.c - predicts survivors, time and bytes of a run from some of its particles, and checks its
 * key.
 */
#include "pipeline/plan/plan.h"

#include <math.h>
#include <string.h>

#include "primitives/base/clock.h"
#include "primitives/base/size.h"
#include "stages/host/host.h"

/*
 * Particles of the pilot. Lists are read in groups of neighbours, whose differences give the
 * variance.
 */
enum { PILOT = 4096, LIST_PILOT = 512 * SL_PILOT_GROUP };

/* Whether particles a and b differ in a column, or in a field of the key. */
static bool differ(struct sl_particle *a, struct sl_particle *b, enum sl_column c)
{
	const struct sl_columns in_a = sl_columns_of(a), in_b = sl_columns_of(b);

	return c == SL_COLUMN_id ? a->id != b->id
	                         : memcmp(sl_column_at(&in_a, c), sl_column_at(&in_b, c),
					   sl_column_facts[c].bytes) != 0;
}

static uint64_t field_of(const struct sl_key_rule *f, struct sl_particle *p)
{
	const struct sl_columns columns = sl_columns_of(p);

	return sl_key_pack(f, 1, &columns, 0, p->id);
}

void sl_pilot_add(struct sl_pilot *p, const struct sl_recipe *r, struct sl_particle *particle)
{
	if (!SL_HAS(r->keep, particle->fate))
		return;
	if (p->survivors++ == 0)
		p->first = *particle;
	for (uint32_t k = 0; k < r->n_fields; k++) {
		const struct sl_key_rule *f = &r->field[k];

		p->varies[k] |= differ(&p->first, particle, f->column);
		p->sorts[k] |= field_of(f, &p->first) != field_of(f, particle);
	}
}

/*
 * Computes particles that are spread over the run. The variance is that of a binomial distribution.
 */
static enum sl_status compute_pilot(const struct sl_recipe *r, struct sl_pilot *p, double *variance)
{
	double share;

	for (uint64_t i = 0; i < p->particles; i++) {
		struct sl_particle particle;

		SL_TRY(sl_check_cancelled(r));
		particle = sl_compute_particle(r, i * (r->particles / p->particles));
		sl_pilot_add(p, r, &particle);
	}
	share = (double)p->survivors / p->particles;
	*variance = share * (1 - share) / p->particles;
	return SL_OK;
}

/* Batches that are computed as by a run: so large that vectors have work for their idle lanes. */
enum { SAMPLES = 4, SAMPLE_BATCH = 8192 };
#define SAMPLES_MOST_NS 1e9 /* no further batch after so much time */

/* With fewer survivors, the packed bytes of each are not measured. */
enum { SURVIVORS_FEW = 64 };

/* Makes plan one of small batches on the host, which gives the same survivors. */
static enum sl_status make_small(struct sl_plan *plan)
{
	struct sl_recipe *r = &plan->recipe;

	r->batch = r->batch < SAMPLE_BATCH ? r->batch : SAMPLE_BATCH;
	r->n_batches = sl_ceil_div(r->particles, r->batch);
	if (!plan->on_device)
		return SL_OK;
	plan->on_device = false;
	plan->facts.form = SL_AS_COLUMNS;
	r->kernels = NULL;
	r->mode = SL_MODE_staged;
	r->scan = r->compact = r->sort = (struct sl_choice){0};
	r->pack = (struct sl_pack_rule){.form = SL_AS_COLUMNS};
	r->resident = false;
	r->unpacked = SL_EVERY_COLUMN;
	SL_TRY(sl_find(SL_COMPACT, "cpu", &r->compact.backend));
	return sl_find(SL_SORT, "cpu", &r->sort.backend);
}

/* Computes and packs n particles of a batch; adds the processor time to *ns. */
static enum sl_status compute_sample(const struct sl_plan *small, struct sl_host_slot *slot,
	uint64_t number, bool empty, double *ns)
{
	const struct sl_format *format = small->choices.format;
	uint64_t start = sl_thread_cpu_ns();
	struct sl_table t;

	sl_batch_begin(&small->recipe, &slot->batch, number);
	slot->batch.n = empty ? 0 : slot->batch.n;
	SL_TRY(sl_stages_run(&small->recipe, &slot->exec, &slot->batch, NULL));
	t = sl_format_table(format, &slot->batch.table);
	SL_TRY(sl_format_pack(format, &slot->exec, &small->facts, &t, NULL, &slot->packed));
	*ns += (double)(sl_thread_cpu_ns() - start);
	return SL_OK;
}

/*
 * Computes batches that are spread over the run; the first one twice, because pages and caches are
 * new to it. An empty batch has the time that each batch takes, such as that to clear its
 * histograms.
 */
static enum sl_status compute_samples(
	const struct sl_plan *small, struct sl_host_slot *slot, struct sl_pilot *p)
{
	double unused = 0, ns = 0, particles = 0, survivors = 0, bytes = 0;
	uint64_t n = 0;

	SL_TRY(compute_sample(small, slot, 0, false, &unused));
	SL_TRY(compute_sample(small, slot, 0, true, &p->batch_ns));
	for (; n < SAMPLES && ns < SAMPLES_MOST_NS; n++) {
		SL_TRY(compute_sample(
			small, slot, n * small->recipe.n_batches / SAMPLES, false, &ns));
		particles += slot->batch.n;
		survivors += slot->batch.table.n;
		bytes += (double)slot->packed.used;
	}
	p->ns = fmax(ns - (double)n * p->batch_ns, 0) / particles;
	p->bytes = survivors >= SURVIVORS_FEW ? bytes / survivors : 0;
	return SL_OK;
}

enum sl_status sl_pilot_sample(struct sl_plan *plan)
{
	struct sl_pilot *p = &plan->pilot;
	struct sl_plan small = *plan;
	struct sl_host_slot slot = {0};
	struct sl_arena size = {0}, pinned = {0};
	SL_CLOSED_BY(sl_host_give) void *block = NULL;

	if (plan->recipe.inputs || p->particles == 0 || p->ns > 0)
		return SL_OK;
	SL_TRY(make_small(&small));
	sl_host_slot_lay_out(&size, &pinned, &small, &small.recipe, &slot);
	size.size = size.used;
	size.used = 0;
	SL_TRY(sl_memory_get(SL_HOST, size.size, &block));
	size.base = slot.block = block;
	sl_host_slot_lay_out(&size, &pinned, &small, &small.recipe, &slot);
	return compute_samples(&small, &slot, p);
}

/* A key of a range that is too wide sorts nothing. */
static void check_key(struct sl_plan *plan)
{
	const struct sl_pilot *p = &plan->pilot;

	for (uint32_t k = 0; k < plan->recipe.n_fields; k++) {
		const struct sl_key_rule *f = &plan->recipe.field[k];
		const char *name = sl_label_name(plan->choices.named.label, f->column);

		if (p->varies[k] && !p->sorts[k])
			sl_plan_warn(plan,
				"key: %s:%u has one value for all %u survivors of a pilot, although %s "
				"has several: it sorts nothing; give the range of %s, as %s:%u:FROM..TO, or "
				"use more bits",
				name, f->bits, p->survivors, name, name, name, f->bits);
	}
}

/* Threads without a core take turns. */
static void check_threads(struct sl_plan *plan)
{
	if (plan->threads > plan->machine.cores && plan->machine.cores_limit)
		sl_plan_warn(plan,
			"%u threads share %u core%s, by %s; give the process more cores, "
			"or leave run.threads at auto",
			plan->threads, plan->machine.cores, plan->machine.cores == 1 ? "" : "s",
			plan->machine.cores_limit);
}

/*
 * Computes some particles. most_fraction bounds the predicted share of survivors from above:
 * the share plus four standard errors.
 */
enum sl_status sl_pilot_run(struct sl_plan *plan)
{
	const struct sl_recipe *r = &plan->recipe;
	struct sl_pilot *p = &plan->pilot;
	const uint32_t most = r->inputs ? LIST_PILOT : PILOT;
	double n, variance;

	*p = (struct sl_pilot){.particles = r->particles < most ? (uint32_t)r->particles : most};
	if (p->particles == 0)
		return SL_OK;
	SL_TRY((r->inputs ? sl_inputs_pilot : compute_pilot)(r, p, &variance));
	n = p->particles;
	/* 1/N keeps the variance above 0 if the pilot has no survivors */
	p->most_fraction = p->survivors / n + 4 * sqrt(variance + 1 / (n * n));
	if (p->most_fraction > 1)
		p->most_fraction = 1;
	check_key(plan);
	check_threads(plan);
	return SL_OK;
}
