/*
 * catalog.h - every line of backends.def as data, whether or not this build can run the backend.
 *
 * sl_find() and sl_backend_at() know only what the device in use can run. The catalog serves lists,
 * messages ("needs CUDA, which this build lacks") and the choice that `auto` makes.
 */
#ifndef SL_PRIMITIVES_CATALOG_H
#define SL_PRIMITIVES_CATALOG_H

#include "primitives/primitives.h"

SL_C_BEGIN

/* What a backend runs on: the first word of its line. */
enum sl_runs_on {
	SL_RUNS_ON_HOST,   /* SL_BACKEND */
	SL_RUNS_ON_DEVICE, /* SL_DEVICE_BACKEND: CUDA devices and the emulated device */
	SL_RUNS_ON_CUDA    /* SL_CUDA_BACKEND: CUDA devices only */
};

struct sl_catalog_entry {
	enum sl_primitive primitive;
	const char *name; /* NULL after the last entry */
	enum sl_runs_on runs_on;
	uint32_t rank; /* `auto` takes the lowest; unique within a primitive */
	/*
	 * For help and tunables, the same on all devices: the host backend, or the emulated one.
	 * NULL: an SL_CUDA_BACKEND in a build without CUDA.
	 */
	const struct sl_backend *backend;
};

/* Lines in backends.def. */
enum {
	SL_CATALOG_COUNT = 0
#define SL_BACKEND(primitive, name, rank)        +1
#define SL_DEVICE_BACKEND(primitive, name, rank) +1
#define SL_CUDA_BACKEND(primitive, name, rank)   +1
#include "primitives/backends.def"
#undef SL_BACKEND
#undef SL_DEVICE_BACKEND
#undef SL_CUDA_BACKEND
};

/* In the order of backends.def. */
extern const struct sl_catalog_entry sl_catalog[SL_CATALOG_COUNT + 1];

/* The entry of that name, or NULL. */
const struct sl_catalog_entry *sl_catalog_find(enum sl_primitive p, const char *name);

/* "host", "device" or "cuda". */
const char *sl_runs_on_name(enum sl_runs_on runs_on);

SL_C_END

#endif
