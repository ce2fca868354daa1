/* execution.h - resolves where and how a run computes */
#ifndef SL_PIPELINE_RESOLVE_EXECUTION_EXECUTION_H
#define SL_PIPELINE_RESOLVE_EXECUTION_EXECUTION_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"

/* --- device ----------------------------------------------------------------------------------- */

/* Resolves run.device: the devices that compute the batches, or the CPU. */

/*
 * Sets device, n_devices, device_number and device_reason, and makes the first device current for
 * the calling thread. Of several ranks on a machine (c->share), each gets other devices, or shares
 * one if there are more ranks than devices: device_users. An unknown name adds a problem. The
 * result for a device that is named but cannot be used is SL_NO_DEVICE or SL_USAGE; choices->device
 * then stays SL_ON_AUTO.
 */
enum sl_status sl_resolve_device(struct sl_resolver *v);

/* Where the run computes and why, for messages (sl_message_part()). */
const char *sl_device_text(const struct sl_choices *choices);

/* --- backends --------------------------------------------------------------------------------- */

/* Resolves primitives: the backend of each primitive and its tuning. */

/*
 * Sets scan, compact, sort, deflate, pack and form. The device, the format and the sort key must be
 * resolved. A wrong name or tuning adds a problem; a failure is that of the device.
 */
enum sl_status sl_resolve_primitives(struct sl_resolver *v);

/* A backend and its tuning as in a configuration: "naive:block=128:items=4". */
const char *sl_choice_text(const struct sl_choice *c);

/* --- mode ------------------------------------------------------------------------------------- */

/* Resolves run.mode: staged or fused execution of a batch. */

/*
 * Sets mode and mode_reason, and turns a schedule of auto into histories where no GPU can measure.
 * Call it after sl_resolve_primitives().
 */
void sl_resolve_mode(struct sl_resolver *v);

/*
 * Whether fused mode can run what is chosen: it has room for the columns, and there are no scores
 * along histories.
 */
bool sl_mode_allows_fused(const struct sl_choices *c);

/* --- schedule --------------------------------------------------------------------------------- */

/*
 * Resolves transport: how a batch of a model with many steps runs.
 *
 * History: one thread follows a particle to its end. Rounds: each launch advances all alive
 * particles by some steps; between launches they are compacted.
 */

/*
 * Sets schedule and rounds, after the tallies. A model with a single step has nothing to schedule.
 */
void sl_resolve_schedule(struct sl_resolver *v);

/* A schedule for people: "rounds of 16 steps, finish alive < 0.01". */
const char *sl_schedule_text(const struct sl_schedule *s);

#endif
