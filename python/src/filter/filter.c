/*
 * filter.c - see filter.h.
 *
 * Columns that the condition or the key reads are used where they are, if they have the type of the
 * column and no gaps; else they are converted to memory of the call, block by block. Conditions,
 * derived columns and keys are those of the stages (stages/selection).
 */
#include "python/src/filter/filter.h"

#include <string.h>

#include "primitives/base/clock.h"
#include "primitives/primitives.h"
#include "stages/selection/program_block.h"

/* Particles of a block, which is one thread's. */
enum { BLOCK = 1 << 16 };

struct host_filter {
	const struct sl_py_table *t;
	const struct sl_py_selection *s;
	struct sl_columns columns;
	sl_column_set converted;
	uint32_t *index, n_kept;
	uint32_t *count; /* of kept particles, by block */
	void *key;
	struct sl_exec exec;
	struct sl_job_pool pool;
	uint64_t asked_ns; /* for sl_py_check_signals() */
};

/* Runs a task for each block of n items. */
static enum sl_status run_blocks(struct host_filter *f, uint32_t n, sl_task *task)
{
	return sl_tasks_run(&f->pool, f->pool.n + 1, (uint32_t)sl_ceil_div(n, BLOCK), task, f);
}

/* As sl_condition_fate(): particles with other fates need not meet the condition. */
static bool is_kept(const struct sl_choices *c, uint8_t fate, double holds)
{
	return fate < SL_FATE_COUNT && SL_HAS(c->keep, fate) &&
	       (!SL_HAS(c->condition.fates, fate) || holds != 0.0);
}

/* The indices of the particles of block k that are kept go to the place of the block. */
static enum sl_status keep_block(void *ctx, uint32_t worker, uint32_t k)
{
	struct host_filter *f = (struct host_filter *)ctx;
	const struct sl_choices *c = &f->s->choices;
	const uint32_t from = k * BLOCK;
	const uint32_t end = f->t->n - from < BLOCK ? f->t->n : from + BLOCK;
	uint32_t *index = f->index + from, count = 0;
	struct sl_program_block b = {.c = &f->columns};

	SL_TRY(sl_py_check_signals(worker, &f->asked_ns));
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(f->converted, i))
			SL_TRY(sl_py_table_convert(f->t, i, from, end - from,
				sl_py_column_item(&f->columns, i, from)));
	if (!sl_py_table_has(f->t, SL_COLUMN_fate))
		memset(f->columns.fate + from, SL_FATE_listed, end - from);
	sl_program_range(&c->derivation, &f->columns, 0, from, end);
	for (b.first = from; b.first < end; b.first += b.n) {
		const double *holds;

		b.n = end - b.first < SL_PROGRAM_BLOCK ? end - b.first : (uint32_t)SL_PROGRAM_BLOCK;
		b.id = b.first;
		holds = sl_program_results(&c->condition, &b);
		for (uint32_t i = 0; i < b.n; i++) {
			index[count] = b.first + i;
			count += is_kept(c, f->columns.fate[b.first + i], holds[i]);
		}
	}
	f->count[k] = count;
	return SL_OK;
}

static enum sl_status keep(struct host_filter *f)
{
	SL_TRY(run_blocks(f, f->t->n, keep_block));
	for (size_t k = 0; k * BLOCK < f->t->n; k++) {
		memmove(f->index + f->n_kept, f->index + k * BLOCK,
			f->count[k] * sizeof(*f->index));
		f->n_kept += f->count[k];
	}
	return SL_OK;
}

/* The keys of a block of kept particles. */
static enum sl_status key_block(void *ctx, uint32_t worker, uint32_t k)
{
	struct host_filter *f = (struct host_filter *)ctx;
	const size_t from = (size_t)k * BLOCK,
		     end = f->n_kept - from < BLOCK ? f->n_kept : from + BLOCK;
	const bool wide = f->s->choices.key_bits > 32;

	SL_TRY(sl_py_check_signals(worker, &f->asked_ns));
	for (size_t j = from; j < end; j++) {
		const uint32_t i = f->index[j];
		const uint64_t id = f->columns.id ? f->columns.id[i] : i;
		const uint64_t key =
			sl_key_pack(f->s->rule, f->s->choices.n_fields, &f->columns, i, id);

		if (wide)
			((uint64_t *)f->key)[j] = key;
		else
			((uint32_t *)f->key)[j] = (uint32_t)key;
	}
	return SL_OK;
}

static enum sl_status order(struct host_filter *f, const struct sl_backend *cpu)
{
	struct sl_sort_job job = {.key = f->key,
		.index = f->index,
		.key_spent = true,
		.n = f->n_kept,
		.type = sl_py_key_type(f->s),
		.end_bit = f->s->choices.key_bits};

	SL_TRY(run_blocks(f, f->n_kept, key_block));
	return sl_sort(cpu, &f->exec, &job);
}

/* Cuts all memory; called twice, first to measure. */
static void lay_out(struct host_filter *f, const struct sl_backend *cpu, struct sl_arena *a)
{
	const struct sl_shape shape = {.n = f->t->n, .type = sl_py_key_type(f->s)};

	f->converted = sl_py_table_columns(f->t, f->s, a, &f->columns);
	if (!sl_py_table_has(f->t, SL_COLUMN_fate))
		f->columns.fate = (uint8_t *)sl_cut(a, f->t->n);
	f->count = (uint32_t *)sl_cut_items(a, f->t->n / BLOCK + 1, sizeof(*f->count));
	if (f->s->choices.n_fields == 0)
		return;
	f->key = sl_cut_items(a, f->t->n, sl_type_bytes(shape.type));
	f->exec.scratch.size = sl_scratch(cpu, &shape);
	f->exec.scratch.base = sl_cut(a, f->exec.scratch.size);
}

enum sl_status sl_py_filter(const struct sl_py_table *t, const struct sl_py_selection *s,
	uint32_t *index, uint32_t *n_kept)
{
	struct host_filter f = {.t = t,
		.s = s,
		.index = index,
		.exec = {.space = SL_HOST},
		.asked_ns = sl_now_ns()};
	enum sl_status status;
	const struct sl_backend *cpu;
	struct sl_arena a = {0};
	SL_CLOSED_BY(sl_host_give) void *block = NULL;

	SL_TRY(sl_find(SL_SORT, "cpu", &cpu));
	lay_out(&f, cpu, &a);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &block));
	a = (struct sl_arena){block, 0, a.used};
	lay_out(&f, cpu, &a);
	sl_py_pool_open(&f.pool, (size_t)sl_ceil_div(t->n, BLOCK));
	status = keep(&f);
	*n_kept = f.n_kept;
	if (status == SL_OK && s->choices.n_fields > 0)
		status = order(&f, cpu);
	sl_job_pool_close(&f.pool);
	return status;
}
