/*
 * rules.h - the model that a file is compiled for.
 *
 * The build compiles some files once for each model (code.h), with the macros
 *
 *	SL_MODEL_NAME     the name of the model: slab
 *	SL_MODEL_HEADER   its header: "stages/models/slab.h"
 *
 *	SL_SCORED_slab    1 if histories of the model have scores, else 0
 *	SL_READ_slab      1 if its particles are read from files, else 0
 *
 * Such a file includes this header, and then calls the rules as SL_OF_MODEL(generate)(...), which is
 * sl_slab_generate(...), and names its columns SL_MODEL_FACT(COLUMNS), which is SL_COLUMNS_slab.
 */
#ifndef SL_STAGES_MODELS_RULES_H
#define SL_STAGES_MODELS_RULES_H

#include "stages/models/model.h"

#define SL_JOIN(a, b)       a##b
#define SL_JOINED(a, b)     SL_JOIN(a, b)
#define SL_MODEL_SYMBOL     SL_JOINED(sl_, SL_MODEL_NAME)
#define SL_OF_MODEL(what)   SL_JOINED(SL_JOINED(SL_MODEL_SYMBOL, _), what)
#define SL_MODEL_FACT(what) SL_JOINED(SL_JOINED(SL_##what, _), SL_MODEL_NAME)
#define SL_QUOTE(word)      #word
#define SL_QUOTED(word)     SL_QUOTE(word)

/* The loops of a level and the kernels of a kind of device (SL_NAME()), by their names. */
#define SL_LOOP_AT(stage, level) SL_JOINED(SL_OF_MODEL(loop_##stage##_), level)
#define SL_RULE_LOOP(stage)      SL_LOOP_AT(stage, SL_LEVEL)
#define SL_RULE_KERNEL(stage)    SL_OF_MODEL(SL_NAME(queue_##stage))

SL_C_BEGIN

#define X(level) sl_rule_loop SL_LOOP_AT(generate, level), SL_LOOP_AT(advance, level);
SL_LEVELS(X)
#undef X

#define X(suffix)                                                    \
	sl_generate_launcher SL_OF_MODEL(queue_generate##suffix);    \
	sl_advance_launcher SL_OF_MODEL(queue_advance##suffix);      \
	sl_scored_launcher SL_OF_MODEL(queue_scored##suffix);        \
	sl_select_launcher SL_OF_MODEL(queue_select##suffix);        \
	sl_select_scratch SL_OF_MODEL(queue_select_scratch##suffix); \
	sl_rows_launcher SL_OF_MODEL(queue_rows##suffix);
X()
X(_emulated)
#undef X

SL_C_END

#include SL_MODEL_HEADER

/* struct sl_NAME: the parameters of the rules. */
typedef struct SL_MODEL_SYMBOL sl_rules;

#endif
