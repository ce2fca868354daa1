/* version.h - the text of `sluice version`. */
#ifndef SL_PIPELINE_HELP_VERSION_H
#define SL_PIPELINE_HELP_VERSION_H

#include <stdio.h>

/* Prints version, commit, compilers, CUDA, HDF5 and CPU levels, one per line. */
void sl_version_print(FILE *out);

#endif
