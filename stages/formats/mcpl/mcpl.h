/*
 * mcpl.h - what an MCPL 3 file is made of, for those who write and read it.
 *
 *	MCPL003L, particles, flags ...  the header: 48 bytes, 56 with a weight that all have
 *	source, comments                text, each behind its length
 *	blobs                           names, then bytes, each behind its length
 *	records                         polarisation? position, direction and energy, time, weight?
 *	                                PDG code? user flags?
 *
 * Centimetres, milliseconds and MeV, in numbers of 4 or of 8 bytes, least byte first. (Kittelmann
 *et al., Monte Carlo Particle Lists: MCPL, Comput. Phys. Commun. 218, 2017;
 *mctools.github.io/mcpl.)
 *
 * Ours have the comments
 *
 *	stat:sum:sluice_generated:N     particles generated for these; sums up when files are merged
 *	...                             what lists have that were read (mcpl_metadata.h)
 *	Survivors of run ...            which run, and which seed
 *	User flags are fates ...        what they are, if there are any
 *	sluice:columns:x,y,z,...        the columns that the records are made of
 *
 * and the blob sluice_config, and those of lists; all but stat:sum the same in each file of a run,
 *so that mcpltool merges them. In .mcpl.gz the header is a gzip member of its own, and records are
 *in members of up to 1 MiB, before they are deflated.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_H
#define SL_STAGES_FORMATS_MCPL_MCPL_H

#include "stages/formats/common/format.h"
#include "stages/formats/mcpl/mcpl_record.h"

#define SL_MCPL_SOURCE  "Sluice "
#define SL_MCPL_STAT    "stat:sum:sluice_generated:"
#define SL_MCPL_COLUMNS "sluice:columns:"
#define SL_MCPL_CONFIG  "sluice_config"

/* Columns that any record is made of; energy is one where the particles have it. */
enum {
	SL_MCPL_NEEDED = SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) |
	                 SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |
	                 SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time)
};

/* Those of polarisation: all, or none. */
enum {
	SL_MCPL_POLARISATION =
		SL_BIT(SL_COLUMN_pol_x) | SL_BIT(SL_COLUMN_pol_y) | SL_BIT(SL_COLUMN_pol_z)
};

/* Those that can be user flags. */
#define FLAG(name) SL_BIT(SL_COLUMN_##name) |
enum { SL_MCPL_FLAGS = SL_MCPL_FLAG_COLUMNS(FLAG) 0 };
#undef FLAG

/* The fixed part of a header. */
struct sl_mcpl_header {
	uint32_t version; /* 3, or 2, whose directions are packed in another way */
	uint64_t particles;
	uint32_t comments, blobs;
	bool flags, polarised, single;
	int32_t pdg;           /* of all particles; 0: each has its own */
	double weight;         /* the same; 0: each has its own */
	uint32_t record_bytes; /* of a particle */
};

/* The bytes of a record with those flags. */
static inline uint32_t sl_mcpl_record_bytes(const struct sl_mcpl_header *h)
{
	uint32_t numbers = 7u + (h->polarised ? 3u : 0u) + (h->weight != 0 ? 0u : 1u);

	return numbers * (h->single ? 4u : 8u) + (h->pdg != 0 ? 0u : 4u) + (h->flags ? 4u : 0u);
}

/* Undoes sl_mcpl_pack(). */
void sl_mcpl_unpack(const double packed[3], double direction[3]);

/* Version 2: the sign tells nothing, two numbers lie on an octahedron (Meyer et al. 2010). */
void sl_mcpl_unpack_octahedron(const double packed[3], double direction[3]);

/* Of a table: has each particle a polarisation? The code that all have; 0: each has its own. */
bool sl_mcpl_is_polarised(const struct sl_table *t);
int32_t sl_mcpl_common_pdg(const struct sl_table *t, const struct sl_mcpl_facts *facts);

/* The weight that all rows of a table have, if it is one that a header can state; else 0. */
double sl_mcpl_common_weight(const struct sl_table *t);

/* What its records are made of. SL_USAGE, and which, if it lacks a column. */
enum sl_status sl_mcpl_record_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, struct sl_mcpl_record *r);

/* The header of a table's file; weight is that of all, or 0. */
struct sl_mcpl_header sl_mcpl_header_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, double weight);

/*
 * Writes it, with all strings, for the particles that batch generated, 0: not known; returns its
 * bytes, which do not depend on them. at NULL: measures, and batch is not looked at.
 */
size_t sl_mcpl_put_header(uint8_t *at, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, const struct sl_batch_facts *batch);

/* Writes the fixed part of any header, as its flags say; returns its bytes. at NULL: measures. */
size_t sl_mcpl_put_fixed(uint8_t *at, const struct sl_mcpl_header *h);

/* Records of so many bytes at most are a gzip member of .mcpl.gz. */
enum { SL_MCPL_MEMBER_BYTES = 1 << 20 };

/* The most bytes that such a member has, of so many bytes of records. */
static inline size_t sl_mcpl_member_most(size_t bytes)
{
	return sl_deflate_most(bytes, 0, 1);
}

/*
 * Makes that member in out, which has room for the most bytes, and sets *used to its bytes.
 * x->scratch is at least sl_mcpl_member_scratch(), as run has backend and level.
 */
size_t sl_mcpl_member_scratch(const struct sl_file_facts *run);
enum sl_status sl_mcpl_member(struct sl_exec *x, const struct sl_file_facts *run,
	const void *records, size_t bytes, uint8_t *out, size_t *used);

enum sl_status sl_mcpl_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

#endif
