/*
 * backends.h - resolves primitives: the backend of each primitive and its tuning.
 */
#ifndef SL_PIPELINE_RESOLVE_EXECUTION_BACKENDS_H
#define SL_PIPELINE_RESOLVE_EXECUTION_BACKENDS_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/*
 * Sets scan, compact, sort, deflate, pack and form. The device, the format and the sort key must be
 * resolved. A wrong name or tuning adds a problem; a failure is that of the device.
 */
enum sl_status sl_resolve_primitives(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

enum { SL_CHOICE_BYTES = 64 };

/* A backend and its tuning as in a configuration: "naive:block=128:items=4". Returns text. */
const char *sl_choice_text(const struct sl_choice *c, char text[SL_CHOICE_BYTES]);

#endif
