/* version.h - the text of `sluice version`. */
#ifndef SL_PIPELINE_HELP_VERSION_H
#define SL_PIPELINE_HELP_VERSION_H

#include <stdio.h>

/*
 * Prints what a report of an error needs: version, commit, compilers, CUDA, HDF5 and CPU levels,
 * one per line. No device is opened, so it works on a machine whose GPU does not.
 */
void sl_version_print(FILE *out);

#endif
