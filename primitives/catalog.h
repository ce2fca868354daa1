/*
 * catalog.h - every line of backends.def, whatever this build and the device in use can run.
 *
 * What can be run is found with sl_find(); this is for telling people what there is.
 */
#ifndef SL_PRIMITIVES_CATALOG_H
#define SL_PRIMITIVES_CATALOG_H

#include "primitives/primitives.h"

/* As the line begins: SL_BACKEND, SL_DEVICE_BACKEND or SL_CUDA_BACKEND. */
enum sl_reach {
	SL_RUNS_ON_HOST,
	SL_RUNS_ON_DEVICE, /* CUDA's and the emulated one */
	SL_RUNS_ON_CUDA    /* CUDA's alone */
};

struct sl_line {
	enum sl_primitive primitive;
	const char *name; /* NULL behind the last line */
	enum sl_reach reach;
	/* For its help and tunables; NULL: of CUDA alone, in a build without. */
	const struct sl_backend *facts;
};

extern const struct sl_line sl_matrix[];

/* The line of that name, or NULL. */
const struct sl_line *sl_matrix_find(enum sl_primitive p, const char *name);

/* "host", "device", "cuda". */
const char *sl_reach_name(enum sl_reach reach);

#endif
