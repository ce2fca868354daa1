/*
 * input_files.h - opens and checks the particle lists that a model reads, and reports them.
 */
#ifndef SL_PIPELINE_PLAN_INPUT_FILES_H
#define SL_PIPELINE_PLAN_INPUT_FILES_H

#include "pipeline/plan/plan.h"
#include "pipeline/text/json.h"
#include "stages/inputs/inputs.h"

/*
 * If the model reads its particles from files: opens the files (sl_plan_free() closes them) and
 * compares their CRC-32 with model.list.checksums. Fills in model.list.checksums if it is absent.
 */
enum sl_status sl_plan_open_inputs(struct sl_plan *plan);

/* Reads particle id and sets its final fate. */
enum sl_status sl_inputs_particle(const struct sl_recipe *r, uint64_t id, struct sl_particle *p);

/*
 * Reads pilot->particles of the particles, which are all of them or a multiple of SL_PILOT_GROUP;
 * counts survivors and sets the time. They are groups of neighbours that are spread evenly over the
 * lists, because a list can be sorted, and few places of it are read. If a list must be
 * decompressed, they are the first ones. *variance is that of the share of survivors, from the
 * differences between groups.
 */
enum { SL_PILOT_GROUP = 32 };
enum sl_status sl_inputs_pilot(const struct sl_recipe *r, struct sl_pilot *pilot, double *variance);

/* Makes r refer to the particles in columns, the first of which has the id first_id. */
void sl_inputs_set_columns(
	struct sl_recipe *r, uint64_t first_id, const struct sl_columns *columns);

/*
 * Writes the members "inputs" and "renamed_blobs" of run.json. Their lines
 * (pipeline/print/result.h); a run can have thousands of files, so at most SL_INPUTS_SHOWN are
 * printed.
 */
void sl_inputs_json(struct sl_json *j, const struct sl_plan *plan);
#define SL_INPUTS_SHOWN "16"
#define SL_INPUT_LINE                                          \
	"{file}: {particles~particle}[; {notice}][; {unread}]" \
	"[{?metadata_left_out}; comments and blobs are not copied to the output]"
#define SL_BLOB_LINE                                              \
	"{file}: blob '{blob}' has the name of a different blob;" \
	" the output appends _{number} to the name"

#endif
