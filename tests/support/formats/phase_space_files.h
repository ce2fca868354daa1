/*
 * phase_space_files.h - writes IAEA phase spaces and source files of OpenMC, byte by byte or member
 * by member as their descriptions say (stages/formats/phase_space/phase_space.h).
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_PHASE_SPACE_FILES_H
#define SL_TESTS_SUPPORT_FORMATS_PHASE_SPACE_FILES_H

#include "stages/formats/mcpl/mcpl_stream.h"
#include "tests/support/program/folder.h"

/* Particles of the files below, and the contents of an IAEA phase space. */
struct iaea_facts {
	uint32_t n;
	bool big_endian;
	bool constant[7]; /* x y z u v w weight: not stored, but in the header */
	uint32_t floats, longs;
	bool latch; /* the last extra long is LATCH */
};

/* The header of an IAEA phase space as text, valid until the next call. */
const char *iaea_header(const struct iaea_facts *facts);

/* The size of a record, and its bytes for particle i. */
uint32_t iaea_record_bytes(const struct iaea_facts *facts);
void iaea_record(const struct iaea_facts *facts, uint32_t i, uint8_t *record);

/* Writes NAME.IAEAheader and NAME.IAEAphsp. */
void make_iaea(const struct folder *f, const char *name, const struct iaea_facts *facts);

/* Particle i as it must be read, in the units of MCPL. */
struct sl_mcpl_particle iaea_expected(const struct iaea_facts *facts, uint32_t i);

/* The contents of a file of OpenMC. */
struct openmc_facts {
	uint32_t n;
	bool coded;           /* of version 18.2: particles are PDG codes */
	bool no_time;         /* without the member time */
	bool no_surface;      /* without the member surf_id */
	bool variable;        /* the attribute filetype has variable length */
	bool padded;          /* members at other offsets, and members of no use */
	bool chunked;         /* the dataset is stored in chunks */
	const char *filetype; /* NULL: source */
	const char *without;  /* a member that is missing: "E" */
};

void make_openmc(const struct folder *f, const char *name, const struct openmc_facts *facts);
struct sl_mcpl_particle openmc_expected(const struct openmc_facts *facts, uint32_t i);

#endif
