/*
 * part.h - a part of a run: which of the batches one process of many computes (--part).
 *
 * Batches are functions of the configuration and their number, so the processes need not
 * communicate: part I of N has a range of consecutive batches, and sluice join makes the run of all
 * parts. The parts of a run have a directory each, which is named after the part, so that they can
 * share one
 * --out.
 */
#ifndef SL_PIPELINE_CONFIG_PART_H
#define SL_PIPELINE_CONFIG_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/base/status.h"

struct sl_part {
	uint64_t number; /* from 1 */
	uint64_t of;     /* parts of the run; 0: the whole run */
};

enum { SL_PARTS_MAX = 1000000, SL_PART_NAME_BYTES = 64 };

/*
 * Reads "I/N", or "slurm": then the environment of a task of a Slurm job array gives I and N.
 * SL_USAGE if the text is neither, or if the tasks of the array are not consecutive.
 */
enum sl_status sl_part_read(const char *text, struct sl_part *part);

/* Writes the name of the directory of the part, such as part_03_of_20. Returns name. */
const char *sl_part_name(const struct sl_part *part, char name[SL_PART_NAME_BYTES]);

/* Reads such a name; false if it is another one. */
bool sl_part_find(const char *name, struct sl_part *part);

/*
 * The batches of the part, from first to end - 1, of n_batches. Parts differ by at most one batch.
 */
void sl_part_batches(
	const struct sl_part *part, uint64_t n_batches, uint64_t *first, uint64_t *end);

#endif
