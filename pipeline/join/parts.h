/*
 * parts.h - the parts that sluice join is given: finds their directories and reads them.
 *
 * All parts must be of one run: the same configuration, rules version and number of parts. What the
 * parts say is checked here; whether they are all there, and whether their files are, in
 * completeness.h.
 */
#ifndef SL_PIPELINE_JOIN_PARTS_H
#define SL_PIPELINE_JOIN_PARTS_H

#include "pipeline/output/existing_run.h"
#include "pipeline/results/manifest.h"
#include "pipeline/run/run.h"

struct sl_joined_part {
	char path[SL_PATH_BYTES];
	struct sl_part part;
	struct sl_manifest manifest;
	struct sl_part_times times;
};

struct sl_joined_parts {
	struct sl_joined_part *at; /* n parts by ascending number; each number once */
	size_t n, capacity;
	uint64_t of;                  /* parts of the run */
	struct sl_existing_run first; /* the run.json of at[0] */
	bool has_first;
	const char *setting[SL_EXISTING_RUN_SETS_MAX]; /* "key=value" that config leaves out */
	size_t n_settings;
	const char *deflate;       /* backend that compresses on the host; NULL if missing */
	char *members;             /* of run.json of at[0]: for struct sl_parts_origin */
	struct sl_session session; /* sums over the parts; seconds: the longest */
};

/*
 * Finds and reads the parts in n directories: each is the directory of a part, or has directories
 * of parts (--out of sluice run --part). The caller frees *parts, also after a failure.
 * SL_BAD_INPUT if a part is damaged or of another run; SL_USAGE if a part is given twice.
 */
enum sl_status sl_parts_open(const char *const *in, size_t n, struct sl_joined_parts *parts);
void sl_parts_free(struct sl_joined_parts *parts);

#endif
