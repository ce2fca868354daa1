/* host.h - batches on the host */
#ifndef SL_STAGES_HOST_HOST_H
#define SL_STAGES_HOST_HOST_H

#include <stddef.h>

#include "stages/batch/loops.h"
#include "stages/batch/recipe.h"
#include "stages/particle/random.h"

/* --- count_survivors -------------------------------------------------------------------------- */

/*
 * Counts the survivors of a list before a run, so that a batch needs memory for them
 * only, and not for all of its particles.
 */

/*
 * Sets *most to the survivors of the batch that has the most of them. Reads and marks all particles
 * of the inputs of r, a block at a time, on the calling thread. SL_STOPPED if the run was
 * cancelled.
 */
enum sl_status sl_count_survivors(const struct sl_recipe *r, uint32_t *most);

/* --- rounds_host ------------------------------------------------------------------------------ */

/* The advance stage in rounds, on the host. */

/*
 * Advances all particles of b until none is alive, by the schedule of r. b has been generated.
 * Fills b->rounds. SL_STOPPED if the run was cancelled.
 */
enum sl_status sl_rounds_on_host(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b);

/* Advances the filter that the batch is (rounds/resample.h). */
enum sl_status sl_filter_on_host(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b);

/* --- batch_layout ----------------------------------------------------------------------------- */

/*
 * The memory of a batch on the host and on devices: arrays, tallies and scratch.
 *
 * The same functions measure the memory and set the pointers, so that sizes are exact. Sizes are in
 * bytes. The caller owns the arena; nothing is allocated, and no function fails.
 */

/* Particles that the host takes through the stages together, so that they stay in the cache. */
enum { SL_HOST_BLOCK = 1 << 12 };

/*
 * Lays out a batch of at most n particles in a and sets its pointers, which are NULL while a only
 * measures. The tallies are laid out separately (sl_tallies_lay_out()), because only batches
 * on the host have them. Returns the offset in a from which nothing is read after the stage write:
 * the caller can use the memory from there for other things then.
 */
size_t sl_batch_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b);

/* Lays out only the table: the columns of the recipe, with n items for those in set. */
void sl_table_lay_out(struct sl_arena *a, const struct sl_recipe *r, uint32_t n, sl_column_set set,
	struct sl_table *t);

/* Lays out the counters of the tallies of b, if the recipe has tallies. */
void sl_tallies_lay_out(struct sl_arena *a, const struct sl_recipe *r, struct sl_batch *b);

/* Upper bound of the scratch shared by all stages, in bytes; scratch of the sort stage. */
size_t sl_stages_scratch(const struct sl_recipe *r, uint32_t n);
size_t sl_sort_scratch(const struct sl_recipe *r, uint32_t n);

/* --- cpu_dispatch ----------------------------------------------------------------------------- */

/*
 * Chooses the loops over particles that were compiled for this processor.
 *
 * stages/batch/loops.h explains the CPU levels.
 */

/*
 * The loops of the best level that this processor supports. If name is not NULL, those of that
 * level, or NULL if there is no such level or the processor does not support it.
 */
const struct sl_loops *sl_find_loops(const char *name);

/*
 * Level k of this program, from best to worst, even if the processor does not support it; NULL
 * after the last.
 */
const struct sl_loops *sl_loops_at(size_t k);

/* --- host_pipeline ---------------------------------------------------------------------------- */

/*
 * Runs the stages of a batch on the host.
 *
 * 	generate -> advance -> mark -> compact -> sort -> write
 *
 * In fused mode, which only devices have (stages/device/device.h), the stage select replaces
 * the first four. Stages call primitives; primitives never call stages. batch.h lists which fields
 * of the batch each stage sets.
 */

/* All stages: the name, and the function of host_pipeline.c that runs it on the host, or NULL. */
#define SL_STAGES(X)          \
	X(generate, generate) \
	X(advance, advance)   \
	X(mark, mark)         \
	X(compact, compact)   \
	X(select, NULL)       \
	X(sort, sort)         \
	X(write, write_survivors)

enum sl_stage_number {
#define X(name, on_host) SL_STAGE_##name,
	SL_STAGES(X)
#undef X
		SL_STAGE_COUNT
};

/* Runs a stage on a batch. */
typedef enum sl_status sl_host_stage(
	const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b);

struct sl_stage {
	const char *name;
	sl_host_stage *on_host; /* NULL: the host does not have this stage */
};

extern const struct sl_stage sl_stages[SL_STAGE_COUNT];

/* Whether a mode has stage s. */
bool sl_stage_is_run(enum sl_mode mode, int s);

/* Makes b the batch with the given number: sets its ids and size. */
void sl_batch_begin(const struct sl_recipe *r, struct sl_batch *b, uint64_t number);

/*
 * Runs all stages on b. If ns is not NULL, adds the time of stage i to ns[i], in nanoseconds. Error
 * messages name the batch and the stage. SL_STOPPED if the run was cancelled.
 */
enum sl_status sl_stages_run(const struct sl_recipe *r, struct sl_exec *x, struct sl_batch *b,
	uint64_t ns[SL_STAGE_COUNT]);

/* Runs a loop over items 0 to n - 1 of a batch in pieces. SL_STOPPED soon after a cancellation. */
enum sl_status sl_run_loop(
	const struct sl_recipe *r, struct sl_batch *b, sl_loop *loop, uint32_t n);

/* Runs a loop of rules over the first n particles. SL_STOPPED soon after a cancellation. */
enum sl_status sl_run_rules(
	const struct sl_recipe *r, struct sl_batch *b, sl_rule_loop *loop, uint32_t n);

/* SL_CHECK_FAILED if the model does not declare the fate with which a particle ends. */
enum sl_status sl_check_fate(const struct sl_model *m, uint64_t id, uint32_t fate);

/*
 * Checks that the fates of b add up to its particles. SL_CHECK_FAILED if not: the message names the
 * first particle with a fate that an external model does not declare.
 */
enum sl_status sl_check_fate_counts(const struct sl_recipe *r, const struct sl_batch *b);

/* Checks that each row of the tallies adds up to the count and the weight of its fate. */
enum sl_status sl_check_tallies(const struct sl_recipe *r, const struct sl_batch *b);

/*
 * Computes particle id alone, from its start to its final fate, with the loops of one lane: the
 * other lanes of a vector would be idle.
 */
struct sl_particle sl_compute_particle(const struct sl_recipe *r, uint64_t id);

/* --- history ---------------------------------------------------------------------------------- */

/*
 * Follows one particle step by step and reports its states and random words. The rules are those of
 * the loops, so the particle ends with the same bits as in a batch.
 */

struct sl_history_step {
	uint64_t number; /* from 1; 0 is the start, made by the model's generate() */
	/*
	 * What happened, derived from the states before and after the step:
	 *
	 *	start      the particle was generated, alive or not
	 *	FATE       the name of the fate that this step decided
	 *	collision  its number of collisions has grown
	 *	surface    its direction changed without a collision
	 *	weighed    a step of a filter
	 *	resampled  of a filter: the particle before was copied to this slot
	 *	flight     none of these
	 */
	const char *event;
	struct sl_particle p; /* the state after the step */
};

/* Callbacks: step() once per step, then draw() for each block of random words of that step, in the
 * order in which they were drawn. ctx is passed to both. */
struct sl_history_observer {
	/* Returns false to stop. */
	bool (*step)(void *ctx, const struct sl_history_step *s);
	sl_draw_observer *draw;
	void *ctx;
};

/*
 * Follows particle id from its start until its fate is decided or step() returns false. Returns its
 * last state, with its final fate: the same bits as sl_compute_particle(). filter: NULL, or the
 * batch of a filter for which sl_ancestry_find() has found the ancestors of the particle: their
 * states are reported, with their ids.
 */
struct sl_particle sl_follow_history(const struct sl_recipe *r, uint64_t id,
	const struct sl_batch *filter, const struct sl_history_observer *observer);

/*
 * The ancestry of a filter of n particles: 2 n bits for each step. A step that resamples writes
 * them: for particle i = 0 .. n - 1 a zero for each slot that gets a copy of it, and then a one.
 */
size_t sl_ancestry_bytes(const struct sl_recipe *r, uint32_t n);

/* Records a step of b that resamples, whose ends of runs are known. */
void sl_ancestry_record(struct sl_batch *b, const struct sl_filter_pass *p);

/*
 * Replaces the first word of each step of b, which has been advanced, by the slot of the ancestor
 * that took this step, of the particle that ended in the given slot.
 */
void sl_ancestry_find(const struct sl_recipe *r, struct sl_batch *b, uint32_t slot);

#endif
