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
 *	...                             comments of the lists that were read (mcpl.h)
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

#include <math.h>
#include <string.h>

#include "stages/formats/common/format.h"
#include "stages/formats/mcpl/mcpl_layout.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/formats/mcpl/mcpl_stream.h"

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

/* --- mcpl_header ------------------------------------------------------------------------------ */

/*
 * The header of an MCPL file that this program writes, and what its records
 * contain.
 */

/*
 * The weight that all rows of a table have, if it is a constant column and a header can state it;
 * else 0, and each record has a weight. A weight that was read from headers has all digits of
 * facts.
 */
double sl_mcpl_common_weight(const struct sl_table *t, const struct sl_mcpl_facts *facts);

/* The contents of the records of a header, with user flags and energies of their own. */
static inline struct sl_mcpl_record sl_mcpl_record_of_header(const struct sl_mcpl_header *h)
{
	const struct sl_mcpl_record r = {h->record_bytes, h->single, h->polarised, h->weight == 0,
		h->pdg == 0, h->flags ? SL_COLUMN_userflags : SL_COLUMN_COUNT, (double)NAN};

	return r;
}

/* Sets *r to the contents of the records of a table. SL_USAGE if the table lacks a column. */
enum sl_status sl_mcpl_record_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, struct sl_mcpl_record *r);

/*
 * The columns of a table, as sl_mcpl_row() reads them. Pointers may be to device memory; the values
 * of constant columns must be on the host.
 */
struct sl_mcpl_rows sl_mcpl_rows_of(const struct sl_table *t);

/* The fixed part of the header of a table's file. weight: of all particles, or 0. */
struct sl_mcpl_header sl_mcpl_header_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, double weight);

/*
 * Writes the header, with all strings, of a list with the columns of t, and returns its size, which
 * does not depend on batch and particles. The number of particles may be larger than a table
 * allows. The comment on generated particles is of batch; batch->generated = 0: unknown. at = NULL:
 * only returns the size, and batch is not used.
 */
size_t sl_mcpl_put_header(uint8_t *at, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, uint64_t particles, const struct sl_batch_facts *batch);

/*
 * Writes the comments that a list takes over: statistics first, then sources, then others. The
 * order is the same in each file of a run, so that the files can be merged. c may be NULL.
 */
void sl_mcpl_put_metadata(struct sl_mcpl_buffer *w, const struct sl_mcpl_metadata *c,
	const struct sl_batch_facts *batch);

/*
 * Writes the blobs: that of this program, unless config is NULL, and those that a list takes over.
 */
void sl_mcpl_put_blobs(
	struct sl_mcpl_buffer *w, const char *config, const struct sl_mcpl_metadata *c);

/* --- mcpl_head -------------------------------------------------------------------------------- */

/*
 * Reads whole headers of MCPL files of any program, and merges several into one.
 *
 * A header is copied once; everything else works on that copy. The records of the files then follow
 * the merged header unchanged. Headers can be merged under the rules of the reference
 * implementation (mcpl_merge_files of MCPL 2): they must be equal except for the number of
 * particles and the values of comments stat:sum:KEY:VALUE. These values are added; -1, unknown,
 * plus anything is -1.
 */

/* A header with all of its strings. */
struct sl_mcpl_head {
	struct sl_mcpl_header fixed; /* particles: of all files that were joined */
	uint8_t *bytes;              /* as in a file, except the number of particles; owned */
	size_t size;
};

/*
 * Reads the whole header of a file in memory to a block that it allocates, at most twice the size
 * of the header; *recovered as in struct sl_mcpl_stream. Statistics of a recovered file become -1,
 * unknown. Two statistics with the same key are SL_BAD_INPUT, as in the reference implementation.
 * After SL_OK, call sl_mcpl_head_free().
 */
enum sl_status sl_mcpl_head_read(
	const void *file, size_t bytes, struct sl_mcpl_head *h, bool *recovered);
void sl_mcpl_head_free(struct sl_mcpl_head *h);

/* The same of a stream just opened, which is at its first record then. */
enum sl_status sl_mcpl_head_take(struct sl_mcpl_stream *s, struct sl_mcpl_head *h);

/* Reads the header and frees it: SL_OK if sl_mcpl_head_read() accepts it. */
enum sl_status sl_mcpl_head_check(const void *file, size_t bytes);

/*
 * Merges more into h, which is zeros before the first header, and takes over its memory.
 * SL_BAD_INPUT if they differ; the message says in what. merged: they are of several runs of this
 * program, whose comments on the run and configurations differ; those of the first header stay.
 */
enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, struct sl_mcpl_head *more, bool merged);

/* After the last merge: writes h->fixed into h->bytes. */
void sl_mcpl_head_finish(struct sl_mcpl_head *h);

/* --- mcpl_metadata ---------------------------------------------------------------------------- */

/*
 * Strings from the headers of input lists that output lists take over.
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

/* The particles of all lists. If there are none, the sums for 0 .. -1 are those of the lists. */
uint64_t sl_mcpl_metadata_particles(const struct sl_mcpl_metadata *c);

/*
 * Whether a list has the statistic sluice_generated. Its value then replaces the number of
 * particles that this run counts as generated.
 */
bool sl_mcpl_metadata_has_generated(const struct sl_mcpl_metadata *c);

/* Prints the suffix of the name of a blob with that number, "_2" or "", and returns it. */
enum { SL_MCPL_SUFFIX_BYTES = 16 };
const char *sl_mcpl_blob_suffix(uint32_t number, char text[SL_MCPL_SUFFIX_BYTES]);

/* --- mcpl_read -------------------------------------------------------------------------------- */

/*
 * MCPL files in memory as tables of columns.
 *
 * Sets *t to the columns that the file was made of, in the way of sl_format.read. Directions come
 * back rounded; energy and time too, if numbers have 4 bytes. Any other file, and any damage, is
 * SL_BAD_INPUT. With t->list, files of any program are read: other columns are then position,
 * direction, energy, weight, time and PDG code, and the user flags and polarisation that the records
 * have.
 */
enum sl_status sl_mcpl_read(const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* How a file is read, and what it has and its table lacks. */
struct sl_mcpl_reading {
	bool wide; /* columns of real numbers shall be doubles if the file has doubles; then
	              whether they are */
	struct sl_job_pool *pool; /* whose threads decode a plain file; or NULL */
	bool digits;              /* numbers of 8 bytes were rounded to 4; of a file of this program
	                             only set if the arena has a base */
	uint32_t comments, blobs; /* except those that this program adds to each file */
	bool recovered;           /* the header has no count: the writer did not finish, and a
	                             partial record at the end is possible */
	bool trailing;            /* bytes after the last particle */
};

/* Columns that a header can state once for all particles. */
enum { SL_MCPL_STATED_ONCE = SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_pdg) };

/*
 * Whether single precision cannot hold a number after its conversion by a factor: a finite one
 * would be infinite, or a weight other than 0 would be 0. Small numbers that lose digits, and other
 * numbers that become 0, are accepted: the error is below 1e-45.
 */
static inline bool sl_mcpl_is_beyond(double value, double factor, bool is_weight)
{
	const float narrow = (float)(value * factor);
	const int infinite = isinf(narrow) != 0, before = isinf(value) != 0, zero = narrow == 0;

	return (infinite > before) | (is_weight & zero & (value != 0));
}

/* How a message about a particle that a run cannot have ends. */
#define SL_MCPL_REMOVE_PARTICLE \
	"remove the particle from the list, or drop it by a run with list: {damaged: drop}"

/*
 * SL_BAD_INPUT for such a number of a particle, or if a particle has one; particle: its number in
 * the file.
 */
enum sl_status sl_mcpl_check_number(
	uint64_t particle, const char *name, double value, double factor, bool is_weight);
enum sl_status sl_mcpl_check_particle(uint64_t particle, const struct sl_mcpl_particle *p);

SL_C_END

#endif
