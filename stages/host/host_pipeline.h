/*
 * host_pipeline.h - the stages of a batch, in order, and the memory that one batch needs.
 *
 *	generate -> advance -> mark -> compact -> sort -> write
 *
 * Fused, on a device alone (device_modes.h), the first four are one, the sieve.
 *
 * One call direction: pipeline -> stage -> primitive. batch.h says what each stage leaves behind.
 */
#ifndef SL_STAGES_HOST_HOST_PIPELINE_H
#define SL_STAGES_HOST_HOST_PIPELINE_H

#include "stages/batch/recipe.h"

/* Their names, and what runs them on the host. */
#define SL_STAGES(X)          \
	X(generate, generate) \
	X(advance, advance)   \
	X(mark, mark)         \
	X(compact, compact)   \
	X(select, NULL)       \
	X(sort, sort)         \
	X(write, write)

enum sl_stage_number {
#define X(name, on_host) SL_STAGE_##name,
	SL_STAGES(X)
#undef X
		SL_STAGE_COUNT
};

struct sl_stage {
	const char *name;
	/* NULL: not one of the host's */
	enum sl_status (*on_host)(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b);
};

extern const struct sl_stage sl_stages[SL_STAGE_COUNT];

/*
 * Lays out a batch of at most n particles in a; sets its pointers (NULL when a only measures). The
 * table has the recipe's columns. The sums of tallies by bins are laid out behind it, by
 * themselves, as a batch has them on the host alone.
 */
void sl_batch_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b);

/* The columns that the model's particles are stored in, n rows each. */
void sl_layout_columns(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_columns *c);

/* The table of a batch alone: the recipe's columns, n rows each, of those in that set. */
void sl_table_lay_out(struct sl_arena *a, const struct sl_recipe *r, uint32_t n, uint32_t set,
	struct sl_table *t);

/* Tallies by bins of b, where the recipe has any: sets its pointer, and how many words there are.
 */
void sl_histogram_lay_out(struct sl_arena *a, const struct sl_recipe *r, struct sl_batch *b);

/* Is stage s one that batches go through? */
bool sl_stage_is_run(enum sl_mode mode, int s);

/* Scratch that the stages of a batch need, at most; they share it. That of the sort alone. */
size_t sl_stages_scratch(const struct sl_recipe *r, uint32_t n);
size_t sl_sort_scratch(const struct sl_recipe *r, uint32_t n);

/* Makes b the batch of that number: its ids and size, nothing computed yet. */
void sl_batch_begin(const struct sl_recipe *r, struct sl_batch *b, uint64_t number);

/*
 * Runs all stages on b; ns[i], when ns is not NULL, is increased by the time of stage i in
 * nanoseconds. A failure tells the batch and the stage. SL_STOPPED when r->drop was set.
 */
enum sl_status sl_stages_run(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	uint64_t ns[SL_STAGE_COUNT]);

/* A loop over the first n of a batch, by pieces: SL_STOPPED soon after r->drop was set. */
enum sl_status sl_run_loop(
	const struct sl_recipe *r, struct sl_batch *b, sl_loop *each, uint32_t n);

/* Every particle is accounted for, exactly: SL_CHECK_FAILED if b's tally does not add up. */
enum sl_status sl_check_fate_counts(const struct sl_recipe *r, const struct sl_batch *b);

/* The same of the tallies by bins: each row adds up to its fate's particles and weight. */
enum sl_status sl_check_histograms(const struct sl_recipe *r, const struct sl_batch *b);

/* The particle id alone, remade from its number and run to its fate. */
struct sl_particle sl_compute_particle(const struct sl_recipe *r, uint64_t id);

#endif
