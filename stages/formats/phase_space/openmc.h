/*
 * openmc.h - source files of OpenMC: source.h5, surface_source.h5 and state points.
 *
 * The root of the HDF5 file has the attribute filetype, "source" or "statepoint", and the dataset
 * source_bank, whose items are compounds:
 *
 *	r             x, y, z (f64): position in cm
 *	u             x, y, z (f64): direction
 *	E             f64: energy in eV
 *	time          f64: time in s (not in old files: 0)
 *	wgt           f64: weight
 *	delayed_group i32: not read
 *	surf_id       i32: the surface, which becomes the user flags (not in old files)
 *	particle      i32: PDG code, if the attribute version is at least 18.2; before that 0 neutron,
 *	              1 photon, 2 electron, 3 positron
 *
 * The members are found by name, so their order and other members do not matter. (OpenMC: Source File
 * Format, docs.openmc.org.) HDF5 finds the dataset in a child process (hdf5_child.h); the items are read
 * from the file directly, so they must be in one piece, as OpenMC writes them.
 */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_OPENMC_H
#define SL_STAGES_FORMATS_PHASE_SPACE_OPENMC_H

#include "stages/formats/mcpl/mcpl_stream.h"

enum sl_openmc_member {
	SL_OPENMC_X,
	SL_OPENMC_Y,
	SL_OPENMC_Z,
	SL_OPENMC_U,
	SL_OPENMC_V,
	SL_OPENMC_W,
	SL_OPENMC_ENERGY,
	SL_OPENMC_WEIGHT,
	SL_OPENMC_PARTICLE,
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

#endif
