/* openmc_locate.h - finds the source bank of an OpenMC file with HDF5, in a child process. */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_OPENMC_LOCATE_H
#define SL_STAGES_FORMATS_PHASE_SPACE_OPENMC_LOCATE_H

#include "stages/formats/hdf5/hdf5_child.h"

/*
 * The block found is a struct sl_openmc. It holds what a file states, not what is true: openmc.c checks
 * each number.
 */
sl_h5_reader sl_openmc_locate;

#endif
