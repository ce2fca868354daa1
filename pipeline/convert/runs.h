/*
 * runs.h - the runs that the inputs of a conversion come from, and whether they can be merged.
 *
 * Runs are merged if their configurations differ only in what selects particles of one distribution
 * (section run: seed, particles, name) or how they are written (output, key, stop, check,
 * primitives). Their particles are then particles of one longer simulation. A particle is
 * identified by its seed and its id, so the ids of each run are shifted to follow those of the runs
 * before it.
 */
#ifndef SL_PIPELINE_CONVERT_RUNS_H
#define SL_PIPELINE_CONVERT_RUNS_H

#include "pipeline/convert/common/context.h"
#include "pipeline/output/existing_run.h"
#include "pipeline/results/statistics.h"

/* A run with inputs, and the sums over those of its batches that are inputs. */
struct sl_input_run {
	char folder[SL_PATH_BYTES];
	struct sl_existing_run existing;
	struct sl_manifest manifest;
	uint64_t seed;
	uint64_t shift; /* added to the ids of this run */
	size_t next;    /* line of the manifest after the last batch that an input names */
	uint64_t generated, survivors;
	uint64_t count[SL_FATE_COUNT];
	sl_sum weight[SL_FATE_COUNT]; /* in 2^-32 */
};

struct sl_runs {
	struct sl_input_run *at; /* n runs in the order of their first inputs; owned */
	size_t n;
	bool known;  /* each input is the file of a batch of these runs */
	bool merged; /* there are several runs, and they can be merged */
	char *json; /* of merged runs: their seeds, counts and sums (struct sl_file_facts); owned */
};

/*
 * Finds the runs, unless all inputs are in one folder and the output has no histograms. If an input
 * belongs to no run, or the runs cannot be merged, r->merged is false, and a note says in what
 * several runs differ. The caller frees r, also after a failure.
 */
enum sl_status sl_runs_find(struct sl_conversion *c, struct sl_runs *r);
void sl_runs_free(struct sl_runs *r);

/*
 * Notes a run that has not ended, or had not when its lines were read: the output then lacks its
 * later batches.
 */
void sl_runs_note_state(struct sl_conversion *c, const struct sl_existing_run *f, const char *path,
	size_t committed);

/* Shifts the ids of a table that was read from path, if runs are merged. */
void sl_runs_shift_ids(const struct sl_runs *r, const char *path, struct sl_table *t);

#endif
