/* rules_data.h - data of rules that are too large for their struct. */
#ifndef SL_STAGES_MODELS_RULES_DATA_H
#define SL_STAGES_MODELS_RULES_DATA_H

#include <stdint.h>

/* A member of the rules. A device has its own copy of the data, and of the rules. */
struct sl_rules_data {
	const void *at; /* NULL until the plan has allocated it */
	uint64_t bytes;
};

#endif
