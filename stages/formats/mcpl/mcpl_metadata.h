/*
 * mcpl_metadata.h - what the headers of lists that are read leave to those of lists made of them.
 *
 *	source       as a comment, "Read from a list of SOURCE", each once
 *	comments     each text once, in the order of the files; but for sluice:columns:..., which
 *	             tells of records that are not these
 *	stat:sum     added up by key. A list has been made by so many simulated particles; who keeps
 *	             some of its particles for what they are changes nothing in that, and who takes
 *	             them by their place, as a batch does, takes the part of the sum that they are
 *	             of the list's particles (mcpl_hdr_scale_stat_sums() of the reference, with that
 *	             scale). Parts of a whole number are whole, and add up to it. -1 where a file
 *	             has no such key, has -1, or has lost its end
 *	blobs        by name, each content once. Another content of a name that is taken has the
 *	             name NAME_2, or as many as it takes
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_METADATA_H
#define SL_STAGES_FORMATS_MCPL_MCPL_METADATA_H

#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* A list in memory, and which of all particles are its. */
struct sl_mcpl_part {
	const void *file;
	size_t bytes;
	uint64_t first, particles;
	struct sl_mcpl_head head; /* set by sl_mcpl_metadata_add() */
};

struct sl_mcpl_blob {
	struct sl_mcpl_string name, data;
	uint32_t number; /* 1: it has its name; else _NUMBER stands behind it */
	uint32_t part;   /* that it is from */
};

struct sl_mcpl_metadata {
	uint32_t n_parts;
	struct sl_mcpl_part *part;
	uint32_t n_sources, n_comments, n_sums, n_blobs;
	struct sl_mcpl_string *source, *comment;
	struct sl_mcpl_string *sum; /* stat:sum:KEY: */
	struct sl_mcpl_blob *blob;
	void *block;
	size_t memory; /* bytes that all this takes */
};

/*
 * Reads the headers of n parts, in order of their particles. The files stay as long as *made, which
 * is to be freed even after a failure.
 */
enum sl_status sl_mcpl_metadata_add(
	const struct sl_mcpl_part *parts, uint32_t n, struct sl_mcpl_metadata **made);
void sl_mcpl_metadata_free(struct sl_mcpl_metadata *c);

/* What sum k is of the particles from .. to - 1; -1: not known. */
double sl_mcpl_metadata_sum(
	const struct sl_mcpl_metadata *c, uint32_t k, uint64_t from, uint64_t to);

/* Is there a sum that our own files have? It takes the place of what would be counted then. */
bool sl_mcpl_metadata_has_generated(const struct sl_mcpl_metadata *c);

/* What stands behind the name of a blob: "_2", or nothing. */
enum { SL_MCPL_BEHIND_BYTES = 16 };
const char *sl_mcpl_blob_behind(const struct sl_mcpl_blob *b, char text[SL_MCPL_BEHIND_BYTES]);

#endif
