/*
 * origin.h - finds the run that produced the inputs of a conversion, for the output's metadata.
 *
 * The run is known if all inputs are in one directory with run.json and manifest.jsonl, and the
 * manifest lists all of them, or if they are files of runs that are merged (runs.h). Otherwise the
 * output states no seed, configuration or number of generated particles.
 */
#ifndef SL_PIPELINE_CONVERT_ORIGIN_H
#define SL_PIPELINE_CONVERT_ORIGIN_H

#include "pipeline/convert/runs.h"

struct sl_plan;

struct sl_origin {
	struct sl_plan *plan;          /* of the run; NULL: the run is unknown */
	struct sl_batch_facts batch;   /* number 0, the first id, all generated; 0: unknown */
	char name[SL_FILE_NAME_BYTES]; /* run name for an unknown run, from the output file */
};

/*
 * Finds the run and fills c->facts; columns is the set of columns of the inputs. An MCPL file made
 * from the tables of a run follows output.mcpl of its configuration and of the settings of the job;
 * SL_USAGE if these do not fit. c->facts points into *o, so the caller frees *o last, in any case.
 */
enum sl_status sl_origin_find(struct sl_conversion *c, const struct sl_runs *runs,
	sl_column_set columns, struct sl_origin *o);
void sl_origin_free(struct sl_origin *o);

#endif
