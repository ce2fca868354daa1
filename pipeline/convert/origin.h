/*
 * origin.h - which run the inputs of a conversion are of, and so what their file states.
 *
 * It is told by run.json and manifest.jsonl in the folder that all of them are in. Files that lie
 * elsewhere, or are of another program, are of no known run: what they state is little.
 */
#ifndef SL_PIPELINE_CONVERT_ORIGIN_H
#define SL_PIPELINE_CONVERT_ORIGIN_H

#include "pipeline/convert/convert.h"

struct sl_plan;

struct sl_origin {
	struct sl_plan *plan; /* of the run; NULL: none is known */
	struct sl_batch_facts
		batch; /* number 0, the first id, and all that were generated; 0: not known */
	char name[SL_FILE_NAME_BYTES];
};

/*
 * Finds it and fills c->facts; columns are those of the inputs. A list made of a run's tables
 * states what output.mcpl of its configuration and of the job's settings says: SL_USAGE when these
 * do not fit. To be freed in any case, after the facts are no longer used.
 */
enum sl_status sl_origin_find(struct sl_converting *c, uint32_t columns, struct sl_origin *o);
void sl_origin_free(struct sl_origin *o);

#endif
