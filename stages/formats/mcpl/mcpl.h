/*
 * mcpl.h - MCPL 3 files: the format, the facts that it needs, and its gzip members.
 *
 *	header     48 bytes, 56 with a common weight: "MCPL003L", particles, flags ...
 *	strings    source, comments, names of blobs, blobs; each after its length
 *	records    one per particle (mcpl_record.h); those of lists that were read are copied
 *
 * Units are centimetres, milliseconds and MeV. Numbers have 4 or 8 bytes, least significant byte
 * first. (Kittelmann et al., Monte Carlo Particle Lists: MCPL, Comput. Phys. Commun. 218, 2017;
 * mctools.github.io/mcpl.)
 *
 * Files of this program have these comments
 *
 *	stat:sum:sluice_generated:N     particles generated for this file; added up when files merge
 *	...                             comments of the lists that were read (mcpl_metadata.h)
 *	Survivors of run ...            the run and its seed
 *	Survivors of merged runs {...}  instead, if sluice convert merged runs: their seeds and counts
 *	User flags are fates ...        the meaning of the user flags, if there are any
 *	sluice:columns:x,y,z,...        the columns that the records are made of
 *
 * and the blob sluice_config, after it the blobs of lists that were read. All of these except
 * stat:sum are the same in each file of a run, so mcpltool can merge the files. In .mcpl.gz the
 * header is one gzip member and the records are members of at most 1 MiB before compression.
 *
 * Purpose of the folder: particle lists for other Monte Carlo codes. Input: the columns of a batch,
 * records that a device made, or an MCPL file of any program. Output: byte ranges of a file,
 * columns, or single particles.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_H
#define SL_STAGES_FORMATS_MCPL_MCPL_H

#include <string.h>

#include "stages/formats/common/format.h"
#include "stages/formats/mcpl/mcpl_record.h"

SL_C_BEGIN

extern const struct sl_format sl_format_mcpl;
extern const struct sl_format sl_format_mcpl_gz;

/* Is it one of the two formats of this folder? */
static inline bool sl_format_is_mcpl(const struct sl_format *f)
{
	return f == &sl_format_mcpl || f == &sl_format_mcpl_gz;
}

/* How files of this program begin their source and comments, and the name of their first blob. */
#define SL_MCPL_SOURCE  "Sluice "
#define SL_MCPL_STAT    "stat:sum:sluice_generated:"
#define SL_MCPL_RUN     "Survivors of run "
#define SL_MCPL_MERGED  "Survivors of merged runs "
#define SL_MCPL_COLUMNS "sluice:columns:"
#define SL_MCPL_CONFIG  "sluice_config"

/*
 * Sets of columns. NEEDED: every record needs them; energy is also needed, unless all particles have
 * one energy. POLARISATION: a record has all of them or none. LIST: the records of a list fill them.
 */
enum {
	SL_MCPL_NEEDED = SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) |
	                 SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |
	                 SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time),
	SL_MCPL_POLARISATION =
		SL_BIT(SL_COLUMN_pol_x) | SL_BIT(SL_COLUMN_pol_y) | SL_BIT(SL_COLUMN_pol_z),
	SL_MCPL_LIST = SL_MCPL_NEEDED | SL_MCPL_POLARISATION | SL_BIT(SL_COLUMN_energy) |
	               SL_BIT(SL_COLUMN_pdg) | SL_BIT(SL_COLUMN_userflags)
};

/* Columns that can be the user flags. */
#define FLAG(name) SL_BIT(SL_COLUMN_##name) |
enum { SL_MCPL_FLAGS = SL_MCPL_FLAG_COLUMNS(FLAG) 0 };
#undef FLAG

struct sl_mcpl_metadata;

/* What the format needs in addition to columns: struct sl_file_facts.own. */
struct sl_mcpl_facts {
	bool wide;            /* numbers of 8 bytes, not 4 */
	int32_t pdg;          /* PDG code of all particles; 0: they have a column */
	double energy;        /* of all particles, in keV; NaN: they have a column */
	enum sl_column flags; /* the column of the user flags; SL_COLUMN_COUNT: none */
	double weight; /* of all particles, as headers of lists state it; 0: as in the column */
	const struct sl_mcpl_metadata *metadata; /* of lists that were read, or NULL; not owned */
};

/*
 * The facts are copied to and from bytes of struct sl_file_facts: only this folder knows their
 * type, and a copy needs no alignment.
 */
static inline void sl_mcpl_set_facts(struct sl_file_facts *run, const struct sl_mcpl_facts *facts)
{
	memcpy(run->own.bytes, facts, sizeof(*facts));
}

static inline struct sl_mcpl_facts sl_mcpl_facts_of(const struct sl_file_facts *run)
{
	struct sl_mcpl_facts facts;

	memcpy(&facts, run->own.bytes, sizeof(facts));
	return facts;
}

/* A gzip member of .mcpl.gz contains records of at most so many bytes. */
enum { SL_MCPL_MEMBER_BYTES = 1 << 20 };

/*
 * Bytes of scratch that sl_format_deflate() needs for a member, with the backend and level of run.
 */
size_t sl_mcpl_member_scratch(const struct sl_file_facts *run);

/* --- mcpl_columns ----------------------------------------------------------------------------- */

/*
 * Decodes MCPL records of versions 2 and 3 column by column.
 *
 * The values have the bits of those of sl_mcpl_decode() and sl_mcpl_to_particle(), which decode one
 * record at a time. A loop over one column has no branches that depend on the layout, so it is
 * several times faster.
 */

struct sl_mcpl_header;

/*
 * The columns that records are decoded to; NULL: not wanted. Polarisation and user flags that the
 * records lack are 0; user flags are cut to the type of a column. wide: real numbers are doubles.
 * checked: numbers are compared with what single precision can hold.
 */
struct sl_mcpl_target {
	void *column[SL_COLUMN_COUNT];
	bool wide, checked;
};

/* What single precision loses: a number is beyond its range; one that keeps its unit is rounded. */
enum sl_mcpl_found { SL_MCPL_BEYOND = 1, SL_MCPL_ROUNDED = 2 };

/*
 * Decodes n records of a header to the places from `place` on. Returns a set of enum sl_mcpl_found
 * if numbers are checked, else 0.
 */
unsigned sl_mcpl_to_columns(const struct sl_mcpl_header *h, const uint8_t *records, size_t n,
	const struct sl_mcpl_target *to, size_t place);

/*
 * Decodes the records numbered place[0], place[1], ..., to the first n places of the columns.
 */
void sl_mcpl_to_columns_from(const struct sl_mcpl_header *h, const void *records,
	const uint32_t *place, uint32_t n, const struct sl_mcpl_target *to);

SL_C_END

#endif
