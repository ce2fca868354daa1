/*
 * host_pipeline.h - runs the stages of a batch on the host.
 *
 *	generate -> advance -> mark -> compact -> sort -> write
 *
 * In fused mode, which only devices have (stages/device/device_modes.h), the stage select replaces the
 * first four. Stages call primitives; primitives never call stages. batch.h lists which fields
 * of the batch each stage sets.
 */
#ifndef SL_STAGES_HOST_HOST_PIPELINE_H
#define SL_STAGES_HOST_HOST_PIPELINE_H

#include "stages/batch/recipe.h"

/* All stages: the name, and the function of host_pipeline.c that runs it on the host, or NULL. */
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

/* Checks that the fates of b add up to its particles. SL_CHECK_FAILED if not. */
enum sl_status sl_check_fate_counts(const struct sl_recipe *r, const struct sl_batch *b);

/* Checks that each row of the histograms adds up to the count and the weight of its fate. */
enum sl_status sl_check_histograms(const struct sl_recipe *r, const struct sl_batch *b);

/*
 * Computes particle id alone, from its start to its final fate, with the loops of one lane: the other
 * lanes of a vector would be idle.
 */
struct sl_particle sl_compute_particle(const struct sl_recipe *r, uint64_t id);

#endif
