/*
 * phase_space.h - a particle list of another format than MCPL, which gives any of its particles.
 *
 * 	iaea      IAEA phase space (iaea.c), by the suffix of its name: .IAEAphsp and .IAEAheader, or .phsp
 * 	          and .header
 * 	topas     phase space of TOPAS (topas.c), by the same suffixes and the beginning of its header
 * 	openmc    source file of OpenMC (openmc.c): HDF5 without the checksum line of this program
 * 	openpmd   survivors of this program: HDF5 with that line
 * 	npz, csv  the same in an npz archive or as text; and such files of any program (tables.h)
 *
 * A particle has the fields and units of an MCPL record (struct sl_mcpl_particle), and `fields`
 * says which of them the list has and in which precision, as the header of an MCPL file does. So a
 * list can also be written as MCPL: one record, or the whole list.
 */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_PHASE_SPACE_H
#define SL_STAGES_FORMATS_PHASE_SPACE_PHASE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/base/status.h"
#include "primitives/files/files.h"
#include "stages/formats/common/format.h"
#include "stages/formats/hdf5/hdf5_child.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* --- iaea_header ------------------------------------------------------------------------------ */

/* Reads the header of an IAEA phase space, whose sections phase_space.h describes. */

enum sl_iaea_variable {
	SL_IAEA_X,
	SL_IAEA_Y,
	SL_IAEA_Z,
	SL_IAEA_U,
	SL_IAEA_V,
	SL_IAEA_W,
	SL_IAEA_WEIGHT,
	SL_IAEA_VARIABLES
};

/* Limits: of a header in bytes, of the extra values of one kind in a record, of a title. */
enum { SL_IAEA_HEADER_MOST = 1 << 20, SL_IAEA_EXTRA_MOST = 64, SL_IAEA_TITLE_BYTES = 128 };

/* What a header says. */
struct sl_iaea {
	uint64_t particles;
	uint32_t record_bytes;
	bool big_endian;
	bool stored[SL_IAEA_VARIABLES];    /* of w: whether it follows from u, v and the sign */
	float constant[SL_IAEA_VARIABLES]; /* of those that are not stored */
	uint32_t extra_floats, extra_longs;
	uint32_t latch_at; /* offset of LATCH in a record; 0: there is none */
	double histories;  /* primary particles; -1: unknown */
	char title[SL_IAEA_TITLE_BYTES];
};

/*
 * Reads a header, the caller's copy with a 0 after its end, because a mapped file can change while
 * it is read. records_bytes is the size of the .IAEAphsp file, which must be that of the
 * particles. SL_BAD_INPUT with the line if a value is missing or wrong.
 */
enum sl_status sl_iaea_open(const char *text, uint64_t records_bytes, struct sl_iaea *h);

/* --- iaea ------------------------------------------------------------------------------------- */

/*
 * IAEA phase space files: a header in text (.IAEAheader) and binary records (.IAEAphsp). TOPAS
 * and others name them .header and .phsp.
 *
 * The header has sections, "$KEY:" and lines of values. Programs also write keys in lower case and
 * without the colon, and the value on the line of its key. These are read:
 *
 * 	$FILE_TYPE        0: particles; 1: an event generator, which has no particles
 * 	$CHECKSUM         bytes of the .IAEAphsp file
 * 	$RECORD_CONTENTS  nine numbers: are x y z u v w and weight stored (0 or 1), how many extra floats
 * 	                  and extra longs; then the type of each extra value
 * 	$RECORD_CONSTANT  the value of each of the seven that is not stored
 * 	$RECORD_LENGTH    bytes of a record
 * 	$BYTE_ORDER       1234: least significant byte first, also if the section is missing, as in files of
 * 	                  TOPAS; 4321: most significant byte first
 * 	$ORIG_HISTORIES   primary particles that were simulated
 * 	$PARTICLES        records
 * 	$TITLE
 *
 * A record has no padding:
 *
 * 	i8    1 photon, 2 electron, 3 positron, 4 neutron, 5 proton; negative if w is negative
 * 	f32   kinetic energy in MeV; negative for the first particle of a history
 * 	f32   x y z in cm, u v, weight, each if it is stored; w is never stored
 * 	f32   extra floats
 * 	i32   extra longs; one of type 2 is LATCH of EGS
 *
 * (Capote, Jeraj, Ma, Rogers, Sanchez-Doblado, Sempau, Seuntjens, Siebers: Phase-Space Database for
 * External Beam Radiotherapy, INDC(NDS)-0484, IAEA 2006.).
 */

/*
 * The direction with these components, and w negative if it is down. u and v with u^2 + v^2 > 1 are
 * divided by their length, and w is then 0 (as in the reference implementation).
 */
void sl_iaea_direction(double u, double v, bool down, double direction[3]);

/*
 * Reads a record of h->record_bytes bytes. The user flags are LATCH if records have it; otherwise 1
 * for the first particle of a history and 0 for others. SL_BAD_INPUT if the type of the particle is
 * unknown.
 */
enum sl_status sl_iaea_particle(
	const struct sl_iaea *h, const uint8_t *record, struct sl_mcpl_particle *p);

/* --- openmc ----------------------------------------------------------------------------------- */

/*
 * Source files of OpenMC: source.h5, surface_source.h5 and state points.
 *
 * The root of the HDF5 file has the attribute filetype, "source" or "statepoint", and the dataset
 * source_bank, whose items are compounds:
 *
 * 	r             x, y, z (f64): position in cm
 * 	u             x, y, z (f64): direction
 * 	E             f64: energy in eV
 * 	time          f64: time in s (not in old files: 0)
 * 	wgt           f64: weight
 * 	delayed_group i32: not read
 * 	surf_id       i32: the surface, which becomes the user flags (not in old files)
 * 	particle      i32: PDG code, if the attribute version is at least 18.2; before that 0 neutron,
 * 	              1 photon, 2 electron, 3 positron
 *
 * The members are found by name, so their order and other members do not matter. (OpenMC: Source
 * File Format, docs.openmc.org.) HDF5 finds the dataset in a child process (hdf5_child.h); the
 * items are read from the file directly, so they must be in one piece, as OpenMC writes them.
 */

/* Members of an item; those before are numbers (openmc.c). */
enum {
	SL_OPENMC_PARTICLE = 8,
	SL_OPENMC_TIME, /* from here on optional */
	SL_OPENMC_SURFACE,
	SL_OPENMC_MEMBERS
};

/* Upper limit of the bytes of an item; OpenMC needs 84. */
enum { SL_OPENMC_ITEM_MOST = 1 << 16 };

/* Where the particles are. */
struct sl_openmc {
	uint64_t particles;
	uint64_t at;         /* offset of the first item in the file */
	uint32_t item_bytes; /* of one particle */
	uint32_t coded;      /* not 0: particle is a PDG code */
	uint32_t present;    /* bit i: the items have member i */
	uint32_t offset[SL_OPENMC_MEMBERS];
};

/* Finds the particles of a file in memory. SL_BAD_INPUT if it is not such a file, or is damaged. */
enum sl_status sl_openmc_open(const void *file, size_t bytes, struct sl_openmc *o);

/* Reads an item of o->item_bytes bytes. SL_BAD_INPUT if the type of the particle is unknown. */
enum sl_status sl_openmc_particle(
	const struct sl_openmc *o, const uint8_t *item, struct sl_mcpl_particle *p);

/* --- particle_table --------------------------------------------------------------------------- */

/*
 * Survivor files of this program as particle lists: npz and openPMD.
 *
 * The columns are decompressed to memory, and a particle is a row. Needed are the columns of
 * position, direction, energy, weight and time. Without the column pdg the particles are photons,
 * as in MCPL files that runs write by default. Polarisation and userflags are optional; other
 * columns are not read.
 */

/* --- topas ------------------------------------------------------------------------------------ */

/*
 * Phase spaces of TOPAS in its layouts binary and ASCII: a header in text (.header) and particles
 * (.phsp). Its layout "limited" has the records and the header of the IAEA (iaea.c).
 *
 * The header, line by line; what follows the list of columns is not read:
 *
 * 	TOPAS Binary Phase Space                                or: TOPAS ASCII Phase Space
 *
 * 	Number of Original Histories: 100                       with those that left no particle
 * 	Number of Original Histories that Reached Phase Space: 99
 * 	Number of Scored Particles: 106
 * 	Number of Bytes per Particle: 34                        only in binary
 *
 * 	Byte order of each record is as follows:                ASCII: Columns of data are as follows:
 * 	f4: Position X [cm]                                      1: Position X [cm]
 * 	...                                                     ...
 *
 * The first ten columns are always the same: x y z in cm, u v, kinetic energy in MeV, weight (f4),
 * PDG code (i4), whether w is negative, and whether the particle is the first one of its history
 * (b1). Others can follow, of which "Time of Flight [ns]" is read. Binary numbers are little-endian
 * and have no padding; a line of text has the numbers of a particle. A negative weight stands for
 * histories without particles; such entries are not counted as particles, and are left out.
 *
 * (TOPAS User Guide, Phase Space Sources and Scorers; the source TsSourcePhaseSpace and the files
 * in tests/phasespaces of OpenTOPAS, github.com/OpenTOPAS/OpenTOPAS.).
 */

struct sl_topas {
	uint64_t particles;
	double histories;       /* primary particles; -1: unknown */
	const uint8_t *records; /* binary, of record_bytes bytes: in the file, or in block */
	uint32_t record_bytes;  /* 0: nothing was opened */
	uint32_t
		time_at; /* offset of the time of flight in a record, or number of its column; 0: none */
	void *block; /* records that were made of text, or that lie between empty histories */
	size_t block_bytes;
};

/*
 * Reads a header, the caller's copy with a 0 after its end, and finds the particles in the other
 * file, which stays in use. SL_BAD_INPUT with the line if they do not agree. The caller frees t->block,
 * also after a failure.
 */
enum sl_status sl_topas_open(
	const char *header, const void *file, size_t file_bytes, struct sl_topas *t);

/*
 * Particle i, less than t->particles. Its user flags are 1 for the first one of a history.
 * SL_BAD_INPUT if it stands for empty histories.
 */
enum sl_status sl_topas_particle(const struct sl_topas *t, uint64_t i, struct sl_mcpl_particle *p);

/* --- phase_space ------------------------------------------------------------------------------ */

struct sl_phase_space;

/* A format. */
struct sl_phase_space_format {
	const char *name; /* "iaea" */
	const char *what; /* "IAEA phase space" */

	/* Opens s->file and sets s->fields; read: NULL, or the reader of a format of columns. */
	enum sl_status (*open)(struct sl_phase_space *s, const char *path);
	sl_format_reader *read;

	/* Reads particle i, less than s->fields.particles. */
	enum sl_status (*particle)(
		const struct sl_phase_space *s, uint64_t i, struct sl_mcpl_particle *p);
};

/* Limit of the header of a list as MCPL, in bytes; its strings are short. */
enum { SL_PHASE_SPACE_HEAD_BYTES = 512 };

struct sl_phase_space {
	const struct sl_phase_space_format *format;
	struct sl_map file;    /* what was opened; the caller's */
	struct sl_map partner; /* of an IAEA or TOPAS phase space: the other one of its two files */
	struct sl_mcpl_header fields;
	const char *unread; /* what of a particle is not read; NULL: nothing */
	size_t memory;      /* bytes allocated */
	double histories;   /* primary particles; -1: unknown */

	/*
	 * The header of an MCPL file without particles, for metadata: a source and, of a phase
	 * space, the title and the number of histories as stat:sum.
	 */
	uint8_t head[SL_PHASE_SPACE_HEAD_BYTES];
	size_t head_bytes;

	struct sl_iaea iaea;
	struct sl_topas topas;
	struct sl_map records; /* one of the two files */
	struct sl_openmc openmc;
	struct sl_table table; /* of a file of columns */
	struct sl_mcpl_rows rows;
	void *block; /* memory of the columns */
};

/* Whether the name is that of an IAEA or TOPAS phase space, by its suffix. */
bool sl_phase_space_is_iaea(const char *path);

/* Whether the name is that of the header of one. */
bool sl_phase_space_is_header(const char *path);

/* Whether a mapped file is of another program: a phase space, a source of OpenMC, or npz or csv. */
bool sl_phase_space_is_foreign(const char *path, const struct sl_map *file);

/* The same for a file that is not open; false if it cannot be opened. */
bool sl_phase_space_names_foreign(const char *path);

/*
 * Opens the mapped file path, which the caller keeps, if it has one of the formats; otherwise sets
 * *made to NULL. SL_BAD_INPUT if it is damaged. Call sl_phase_space_close(made) even after a
 * failure.
 */
enum sl_status sl_phase_space_open(
	const char *path, const struct sl_map *file, struct sl_phase_space **made);
void sl_phase_space_close(struct sl_phase_space **s);

/* Whether the second file of the list, opened as path, was written to since. */
bool sl_phase_space_is_changed(const struct sl_phase_space *s, const char *path);

/* Reads particle i, less than s->fields.particles. Any number of threads may read. */
enum sl_status sl_phase_space_particle(
	const struct sl_phase_space *s, uint64_t i, struct sl_mcpl_particle *p);

/* --- phase_space_mcpl ------------------------------------------------------------------------- */

/* Particle lists of other formats as MCPL records and files. */

/* Writes a particle as a record with the layout of a header of version 3. */
void sl_phase_space_record(
	const struct sl_mcpl_header *to, const struct sl_mcpl_particle *p, uint8_t *out);

/* Writes s->head, with another number of particles, and returns its size. */
size_t sl_phase_space_head(
	const struct sl_phase_space *s, uint64_t particles, uint8_t out[SL_PHASE_SPACE_HEAD_BYTES]);

/*
 * Makes the MCPL file of the whole list in memory, which the caller frees with sl_memory_give();
 * NULL after a failure.
 */
enum sl_status sl_phase_space_to_mcpl(const struct sl_phase_space *s, void **file, size_t *bytes);

#endif
