/*
 * mcpl_metadata.h - strings from the headers of input lists that output lists take over.
 *
 *	source       becomes a comment, "Read from a list of SOURCE"; equal ones once
 *	comments     equal ones once, in the order of the files; without sluice:columns:..., which
 *	             describes the records of the input file only
 *	stat:sum     values are added by key. A batch that contains a part of the particles of a list
 *	             takes the same part of its value (as mcpl_hdr_scale_stat_sums() of the reference
 *	             does); selecting particles by their properties does not change it. The parts of
 *	             an integer are integers that add up to it. A sum is -1, unknown, if a file lacks
 *	             the key, has -1, or was recovered
 *	blobs        equal ones once. A different blob of the same name becomes NAME_2, NAME_3, ...
 *
 * The strings of all lists are sorted to find equal ones, so the work is n log n in their bytes.
 * All headers together are limited to 1 GiB and 2^22 strings, and what the output takes over to the
 * limits of one header (mcpl_layout.h), so that this program can read its own files.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_METADATA_H
#define SL_STAGES_FORMATS_MCPL_MCPL_METADATA_H

#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_layout.h"

/* An input list in memory, and its range in the particles of all lists. */
struct sl_mcpl_part {
	const void *file;
	size_t bytes;
	uint64_t first, particles;
	struct sl_mcpl_head head; /* set by sl_mcpl_metadata_add() */
};

/* A string of a header. */
struct sl_mcpl_item {
	struct sl_mcpl_string
		text; /* of a sum: stat:sum:KEY:, without the value; of a blob: its name */
	struct sl_mcpl_string data; /* of a blob: its content */
	uint32_t part, place;       /* index of its list; place among all strings of all lists */
	uint32_t number;     /* of a blob: 1: the name is unchanged; else _NUMBER is appended */
	double own;          /* of a sum: its value in its list */
	const double *value; /* of a sum: one value per list; NULL: some list lacks the key */
};

struct sl_mcpl_items {
	struct sl_mcpl_item *at;
	uint32_t n;
};

struct sl_mcpl_metadata {
	uint32_t n_parts;
	struct sl_mcpl_part *part;
	struct sl_mcpl_items sources, comments, sums, blobs; /* each without equal ones */
	void *block;                                         /* memory of the items */
	size_t memory;                                       /* bytes allocated in all */
};

/*
 * Reads the headers of n lists, in the order of their particles. The files must stay valid as long
 * as *made. own_blob: the output has the blob sluice_config of this program. Call
 * sl_mcpl_metadata_free() even after a failure.
 */
enum sl_status sl_mcpl_metadata_add(const struct sl_mcpl_part *parts, uint32_t n, bool own_blob,
	struct sl_mcpl_metadata **made);
void sl_mcpl_metadata_free(struct sl_mcpl_metadata *c);

/* The value of sum k for the particles from .. to - 1 of all lists; -1: unknown. */
double sl_mcpl_metadata_sum(
	const struct sl_mcpl_metadata *c, uint32_t k, uint64_t from, uint64_t to);

/*
 * Whether the lists have no particles. The sums for the particles 0 .. -1 are then those of the
 * lists.
 */
bool sl_mcpl_metadata_is_empty(const struct sl_mcpl_metadata *c);

/*
 * Whether a list has the statistic sluice_generated. Its value then replaces the number of
 * particles that this run counts as generated.
 */
bool sl_mcpl_metadata_has_generated(const struct sl_mcpl_metadata *c);

/* Prints the suffix of the name of a blob with that number, "_2" or "", and returns it. */
enum { SL_MCPL_SUFFIX_BYTES = 16 };
const char *sl_mcpl_blob_suffix(uint32_t number, char text[SL_MCPL_SUFFIX_BYTES]);

#endif
