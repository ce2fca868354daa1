/*
 * filter.c - see filter.h.
 *
 * The program of a condition is executed for a tile of particles at a time: each step is one loop
 * over the tile, by the operations of stages/selection/program.h.
 */
#include "python/src/filter/filter.h"

#include <string.h>

#include "primitives/primitives.h"
#include "python/src/lists/lists.h"
#include "stages/selection/key.h"
#include "stages/selection/program_block.h"

/* Particles of a tile, whose stack stays in the caches, and of a block, which is one thread's. */
enum { TILE = 512, BLOCK = 1 << 16 };

struct filtering {
	const struct sl_py_table *t;
	const struct sl_choices *choices;
	uint32_t *index;
	uint32_t *count; /* of kept particles, by block */
	struct sl_key_rule rule[SL_KEY_FIELDS_MAX];
	bool wide;
	void *key; /* uint64_t if wide, else uint32_t */
};

static bool stop(void *ctx)
{
	return ((struct filtering *)ctx)->t->stop(NULL);
}

static uint32_t least(size_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

/* --- the condition ---------------------------------------------------------------------------- */

static void push_fate(const double *fate, uint32_t operand, uint32_t n, double *to)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = fate[i] == operand ? 1.0 : 0.0;
}

static void push_number(double number, uint32_t n, double *to)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = number;
}

/* Executes the program for n particles; stack[1] has the results. fate: of the particles. */
static enum sl_status evaluate(const struct filtering *f, const double *fate, size_t from,
	uint32_t n, double stack[][TILE])
{
	const struct sl_program *k = &f->choices->condition;
	uint32_t top = 0;

	for (uint32_t step = 0; step < k->n; step++) {
		enum sl_operation operation = (enum sl_operation)k->operation[step];
		uint32_t operand = k->operand[step], under = top + 1 - sl_program_takes(operation);

		if (operation == SL_OP_column && operand == SL_COLUMN_fate)
			memcpy(stack[under], fate, n * sizeof(*fate));
		else if (operation == SL_OP_column)
			SL_TRY(sl_py_table_load(f->t, (int)operand, from, n, stack[under]));
		else if (operation == SL_OP_number)
			push_number(k->number[operand], n, stack[under]);
		else if (operation == SL_OP_fate)
			push_fate(fate, operand, n, stack[under]);
		else
			sl_program_operate_block(operation, operand, n, stack[under], stack[top]);
		top = under;
	}
	return SL_OK;
}

/* The fates of a tile: those of the column, or that of a list. */
static enum sl_status load_fates(const struct filtering *f, size_t from, uint32_t n, double *fate)
{
	if (sl_py_table_has(f->t, SL_COLUMN_fate))
		return sl_py_table_load(f->t, SL_COLUMN_fate, from, n, fate);
	push_number(SL_FATE_listed, n, fate);
	return SL_OK;
}

/* As sl_condition_fate(): particles with other fates need not meet the condition. */
static bool is_kept(const struct sl_choices *c, uint8_t fate, double holds)
{
	return fate < SL_FATE_COUNT && SL_HAS(c->keep, fate) &&
	       (!SL_HAS(c->condition.fates, fate) || holds != 0.0);
}

/* Appends the kept particles of a tile to index. stack[0] is for the fates. */
static enum sl_status keep_tile(const struct filtering *f, size_t from, uint32_t n,
	double stack[][TILE], uint32_t *index, uint32_t *count)
{
	double *fate = stack[0];

	SL_TRY(load_fates(f, from, n, fate));
	if (f->choices->condition.n > 0)
		SL_TRY(evaluate(f, fate, from, n, stack));
	else
		push_number(1, n, stack[1]);
	for (uint32_t i = 0; i < n; i++) {
		index[*count] = (uint32_t)from + i;
		*count += is_kept(f->choices, (uint8_t)fate[i], stack[1][i]);
	}
	return SL_OK;
}

/* The kept particles of block k go to the place of the block in index. */
static enum sl_status keep_block(void *ctx, unsigned thread, size_t k)
{
	struct filtering *f = (struct filtering *)ctx;
	size_t from = k * BLOCK, end = from + least(f->t->n - from, BLOCK);

	double stack[SL_PROGRAM_DEPTH + 1][TILE]; /* compilers can initialise it: once per block */

	(void)thread;
	f->count[k] = 0;
	for (size_t at = from; at < end; at += TILE)
		SL_TRY(keep_tile(
			f, at, least(end - at, TILE), stack, f->index + from, &f->count[k]));
	return SL_OK;
}

static enum sl_status keep(struct filtering *f, uint32_t *n_kept)
{
	struct sl_py_blocks b = {.n = (f->t->n + (size_t)BLOCK - 1) / BLOCK,
		.ctx = f,
		.make = keep_block,
		.stop = stop};
	void *block;
	enum sl_status s;

	b.threads = sl_py_blocks_threads(b.n);
	SL_TRY(sl_memory_get(SL_HOST, b.n * sizeof(*f->count), &block));
	f->count = (uint32_t *)block;
	s = sl_py_blocks_run(&b);
	*n_kept = 0;
	for (size_t k = 0; s == SL_OK && k < b.n; k++) {
		memmove(f->index + *n_kept, f->index + k * BLOCK, f->count[k] * sizeof(*f->index));
		*n_kept += f->count[k];
	}
	sl_memory_give(SL_HOST, block);
	return s;
}

/* --- the order -------------------------------------------------------------------------------- */

/* The key of a particle. */
static enum sl_status pack_key(const struct filtering *f, uint32_t i, uint64_t *key)
{
	const uint32_t n = f->choices->n_fields;
	struct sl_particle p = {.fate = SL_FATE_listed};
	struct sl_columns columns = sl_columns_of(&p);

	for (uint32_t k = 0; k < n; k++)
		if (sl_py_table_has(f->t, (int)f->rule[k].column) ||
			f->rule[k].column == SL_COLUMN_id)
			SL_TRY(sl_py_table_get(f->t, (int)f->rule[k].column, i, &p));
	*key = sl_key_pack(f->rule, n, &columns, 0, p.id);
	return SL_OK;
}

/* The keys of a block of kept particles; ctx->count is their number. */
static enum sl_status key_block(void *ctx, unsigned thread, size_t k)
{
	struct filtering *f = (struct filtering *)ctx;
	size_t from = k * BLOCK, end = from + least(*f->count - from, BLOCK);

	(void)thread;
	for (size_t j = from; j < end; j++) {
		uint64_t key;

		SL_TRY(pack_key(f, f->index[j], &key));
		if (f->wide)
			((uint64_t *)f->key)[j] = key;
		else
			((uint32_t *)f->key)[j] = (uint32_t)key;
	}
	return SL_OK;
}

/* Makes the keys of n kept particles, and sorts index by them. */
static enum sl_status sort_by_key(
	struct filtering *f, const struct sl_backend *b, struct sl_exec *x, uint32_t n)
{
	struct sl_py_blocks keys = {
		.n = (n + (size_t)BLOCK - 1) / BLOCK, .ctx = f, .make = key_block, .stop = stop};
	struct sl_sort_job job = {.key = f->key,
		.index = f->index,
		.key_spent = true,
		.n = n,
		.type = f->wide ? SL_U64 : SL_U32,
		.end_bit = f->choices->key_bits};

	keys.threads = sl_py_blocks_threads(keys.n);
	f->count = &n;
	SL_TRY(sl_py_blocks_run(&keys));
	return sl_sort(b, x, &job);
}

static enum sl_status order(struct filtering *f, uint32_t n)
{
	const struct sl_backend *cpu;
	struct sl_exec x = {.space = SL_HOST};
	struct sl_arena a = {0};
	struct sl_shape shape = {.n = n};
	void *block = NULL;
	enum sl_status s;

	f->wide = f->choices->key_bits > 32;
	shape.type = f->wide ? SL_U64 : SL_U32;
	for (uint32_t k = 0; k < f->choices->n_fields; k++)
		f->rule[k] = sl_key_rule_make(&f->choices->field[k]);
	SL_TRY(sl_find(SL_SORT, "cpu", &cpu));
	for (int i = 0; i < 2; i++) {
		f->key = sl_cut_items(&a, n, sl_type_bytes(shape.type));
		x.scratch.size = sl_scratch(cpu, &shape);
		x.scratch.base = sl_cut(&a, x.scratch.size);
		if (i == 0) {
			SL_TRY(sl_memory_get(SL_HOST, a.used, &block));
			a = (struct sl_arena){block, 0, a.used};
		}
	}
	s = sort_by_key(f, cpu, &x, n);
	sl_memory_give(SL_HOST, block);
	return s;
}

/* --- derived columns -------------------------------------------------------------------------- */

struct deriving {
	const struct sl_program *d;
	const struct sl_py_table *t;
	float *column[SL_COLUMN_COUNT]; /* NULL: it is not derived */
};

static bool stop_deriving(void *ctx)
{
	return ((struct deriving *)ctx)->t->stop(NULL);
}

static enum sl_status derive_one(const struct deriving *g, uint32_t i)
{
	struct sl_particle p = {.fate = SL_FATE_listed};

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(g->d->reads, c))
			SL_TRY(sl_py_table_get(g->t, c, i, &p));
	sl_derive_particle(g->d, &p);
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (g->column[c])
			memcpy(&g->column[c][i], (char *)&p + sl_column_facts[c].in_particle,
				sizeof(float));
	return SL_OK;
}

static enum sl_status derive_block(void *ctx, unsigned thread, size_t k)
{
	const struct deriving *g = (const struct deriving *)ctx;
	uint32_t from = (uint32_t)(k * BLOCK), end = from + least(g->t->n - from, BLOCK);

	(void)thread;
	for (uint32_t i = from; i < end; i++)
		SL_TRY(derive_one(g, i));
	return SL_OK;
}

/* Adds the columns that the selection derives to *with, a copy of t; *block has their memory. */
static enum sl_status derive(const struct sl_py_table *t, const struct sl_program *d,
	struct sl_py_table *with, void **block)
{
	struct deriving g = {.d = d, .t = t};
	struct sl_py_blocks b = {.n = (t->n + (size_t)BLOCK - 1) / BLOCK,
		.ctx = &g,
		.make = derive_block,
		.stop = stop_deriving};
	size_t at = 0, columns = 0;

	*block = NULL;
	if (d->n == 0)
		return SL_OK;
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		columns += SL_HAS(d->stores, c);
	SL_TRY(sl_memory_get(SL_HOST, columns * sizeof(float) * t->n, block));
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		if (!SL_HAS(d->stores, c))
			continue;
		g.column[c] = (float *)*block + at;
		with->column[c] = (struct sl_py_array){.data = g.column[c],
			.n = t->n,
			.stride = sizeof(float),
			.kind = 'f',
			.bytes = sizeof(float)};
		at += t->n;
	}
	b.threads = sl_py_blocks_threads(b.n);
	return sl_py_blocks_run(&b);
}

enum sl_status sl_py_filter(const struct sl_py_table *t, const struct sl_py_selection *s,
	uint32_t *index, uint32_t *n_kept)
{
	struct sl_py_table with = *t;
	struct filtering f = {.t = &with, .choices = &s->choices, .index = index};
	void *block;
	enum sl_status status = derive(t, &s->choices.derivation, &with, &block);

	if (status == SL_OK)
		status = keep(&f, n_kept);
	if (status == SL_OK && s->choices.n_fields > 0)
		status = order(&f, *n_kept);
	sl_memory_give(SL_HOST, block);
	return status;
}
