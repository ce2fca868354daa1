/*
 * model_table.c - the table of a model, with checks of its sizes, and the rules one step at a time.
 *
 * For those steps the rules are compiled once more, with sl_draw() replaced by a function that
 * reports to the observer.
 */
#define SL_MODEL_HOST
#include "primitives/primitives.h"
#include "stages/models/model.h"

/* Of the draws of this thread, or NULL. Thread-local, because rules have no such argument. */
static _Thread_local sl_draw_observer *observer;
static _Thread_local void *observer_ctx;

static inline struct sl_words observed_draw(uint64_t seed, uint64_t id, uint64_t block)
{
	struct sl_words words = sl_draw(seed, id, block);

	if (observer)
		observer(observer_ctx, block, words);
	return words;
}

static sl_one_step one_step;

#define LOOPS_AT(level) {SL_LOOP_AT(generate, level), SL_LOOP_AT(advance, level)},
#define KERNELS_FOR(suffix)                                                                        \
	{                                                                                          \
		SL_OF_MODEL(queue_generate##suffix), SL_OF_MODEL(queue_advance##suffix),           \
			SL_MODEL_FACT(SCORED) ? SL_OF_MODEL(queue_scored##suffix) : NULL,          \
			SL_OF_MODEL(queue_select##suffix),                                         \
			SL_OF_MODEL(queue_select_scratch##suffix), SL_OF_MODEL(queue_rows##suffix) \
	}
#ifdef SL_WITH_CUDA
#define CUDA_KERNELS KERNELS_FOR()
#else
#define CUDA_KERNELS             \
	{                        \
		.generate = NULL \
	}
#endif

#ifdef SL_MODEL_DIGEST /* sluice model build defines it */
#define TABLE_DIGEST SL_MODEL_DIGEST
#else
#define TABLE_DIGEST NULL
#endif

/* The facts of the model whose header is included below, with its loops and kernels. */
#undef SL_MODEL
#define SL_MODEL(model, ...)                                                                  \
	static const struct sl_model sl_##model##_model = {SL_MODEL_FACTS(model),             \
		.digest = TABLE_DIGEST, .one_step = one_step, .loops = {SL_LEVELS(LOOPS_AT)}, \
		.cuda = CUDA_KERNELS, .emulated = KERNELS_FOR(_emulated), __VA_ARGS__}

/* random.h is included above, so this affects only the rules included below. */
#define sl_draw observed_draw
#include "stages/models/rules.h"

/* sl_NAME_table. The header of a model may include that of another, whose facts are not used. */
#pragma GCC diagnostic ignored \
	"-Wc++-compat" /* gcc takes an alias for a constant without a value */
extern const struct sl_model SL_OF_MODEL(table)
	__attribute__((alias(SL_QUOTED(SL_OF_MODEL(model)))));

#ifdef SL_MODEL_DIGEST
SL_API extern const struct sl_external sl_external;
const struct sl_external sl_external = {SL_MODEL_INTERFACE, &SL_OF_MODEL(model)};
#endif

static struct sl_particle one_step(const void *rules, uint64_t seed, uint64_t id,
	const struct sl_particle *before, sl_draw_observer *draw, void *ctx)
{
	const sl_rules *r = (const sl_rules *)rules;
	struct sl_particle p;

	observer = draw;
	observer_ctx = ctx;
	if (before) {
		p = *before;
		SL_OF_MODEL(advance)(r, SL_EVERY_COLUMN, seed, &p, 1);
	} else {
		p = SL_OF_MODEL(generate)(r, SL_EVERY_COLUMN, seed, id);
	}
	observer = NULL;
	return p;
}

/*
 * Compaction of the active set moves all stored columns and the place of a particle at once. Every
 * stage reads the fate of a particle; weights that differ are summed.
 */
#define REFUSE(condition, problem) \
	_Static_assert(!(condition), "model " SL_QUOTED(SL_MODEL_NAME) " " problem)
REFUSE(sizeof(struct SL_OF_MODEL(config)) > SL_MODEL_CONFIG_BYTES,
	"has a configuration larger than SL_MODEL_CONFIG_BYTES");
REFUSE(sizeof(sl_rules) > SL_RULES_BYTES, "has rules larger than SL_RULES_BYTES");
REFUSE(__builtin_popcountll(SL_MODEL_FACT(COLUMNS)) > SL_COMPACT_COLUMNS_MAX,
	"has more columns than SL_COMPACT_COLUMNS_MAX");
REFUSE(~SL_MODEL_FACT(COLUMNS) & (SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_fate)),
	"lacks the column id or fate");
REFUSE(SL_MODEL_FACT(WEIGHTED) && !SL_HAS(SL_MODEL_FACT(COLUMNS), SL_COLUMN_weight),
	"has weights, but not the column weight");
