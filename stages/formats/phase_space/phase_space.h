/*
 * phase_space.h - a particle list of another format than MCPL, which gives any of its particles.
 *
 *	iaea      IAEA phase space (iaea.h), by the suffix of its name: .IAEAphsp and .IAEAheader, or .phsp
 *	          and .header
 *	topas     phase space of TOPAS (topas.h), by the same suffixes and the beginning of its header
 *	openmc    source file of OpenMC (openmc.h): HDF5 without the checksum line of this program
 *	openpmd   survivors of this program (particle_table.h): HDF5 with that line
 *	npz, csv  the same in an npz archive or as text; and such files of any program (csv_read.h, npz_any.h)
 *
 * A particle has the fields and units of an MCPL record (struct sl_mcpl_particle), and `fields` says
 * which of them the list has and in which precision, as the header of an MCPL file does. So a list can
 * also be written as MCPL: one record, or the whole list.
 */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_PHASE_SPACE_H
#define SL_STAGES_FORMATS_PHASE_SPACE_PHASE_SPACE_H

#include "primitives/files/map.h"
#include "stages/formats/phase_space/iaea.h"
#include "stages/formats/phase_space/openmc.h"
#include "stages/formats/phase_space/particle_table.h"
#include "stages/formats/phase_space/topas.h"

struct sl_phase_space;

/* A format. */
struct sl_phase_space_format {
	const char *name; /* "iaea" */
	const char *what; /* "IAEA phase space" */

	/* Opens s->file and sets s->fields. */
	enum sl_status (*open)(struct sl_phase_space *s, const char *path);

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
	 * The header of an MCPL file without particles, for metadata: a source and, of a phase space, the
	 * title and the number of histories as stat:sum.
	 */
	uint8_t head[SL_PHASE_SPACE_HEAD_BYTES];
	size_t head_bytes;

	struct sl_iaea iaea;
	struct sl_topas topas;
	struct sl_map records; /* one of the two files */
	struct sl_openmc openmc;
	struct sl_particle_table table;
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
 * *made to NULL. SL_BAD_INPUT if it is damaged. Call sl_phase_space_close(*made) even after a failure.
 */
enum sl_status sl_phase_space_open(
	const char *path, const struct sl_map *file, struct sl_phase_space **made);
void sl_phase_space_close(struct sl_phase_space *s);

/* Whether the second file of the list, opened as path, was written to since. */
bool sl_phase_space_is_changed(const struct sl_phase_space *s, const char *path);

/* Reads particle i, less than s->fields.particles. Any number of threads may read. */
enum sl_status sl_phase_space_particle(
	const struct sl_phase_space *s, uint64_t i, struct sl_mcpl_particle *p);

#endif
