/* catalog.c - backends.def as a table, and look-up in it. */
#include "primitives/catalog.h"

#include <string.h>

/* The primitives under the names that backends.def uses. */
enum {
	primitive_scan = SL_SCAN,
	primitive_compact = SL_COMPACT,
	primitive_sort = SL_SORT,
	primitive_deflate = SL_DEFLATE,
	primitive_expand = SL_EXPAND
};

#ifdef SL_WITH_CUDA
#define CUDA_ONLY(backend) &backend
#else
#define CUDA_ONLY(backend) NULL
#endif

#define ENTRY(primitive, name, rank, runs_on, backend) \
	{(enum sl_primitive)primitive_##primitive, #name, runs_on, rank, backend},

const struct sl_catalog_entry sl_catalog[SL_CATALOG_COUNT + 1] = {
#define SL_BACKEND(primitive, name, rank) \
	ENTRY(primitive, name, rank, SL_RUNS_ON_HOST, &sl_##primitive##_##name)
#define SL_DEVICE_BACKEND(primitive, name, rank) \
	ENTRY(primitive, name, rank, SL_RUNS_ON_DEVICE, &sl_##primitive##_##name##_emulated)
#define SL_CUDA_BACKEND(primitive, name, rank) \
	ENTRY(primitive, name, rank, SL_RUNS_ON_CUDA, CUDA_ONLY(sl_##primitive##_##name))
#include "primitives/backends.def"
#undef SL_BACKEND
#undef SL_DEVICE_BACKEND
#undef SL_CUDA_BACKEND
	{SL_PRIMITIVE_COUNT, NULL, SL_RUNS_ON_HOST, 0, NULL}};

const struct sl_catalog_entry *sl_catalog_find(enum sl_primitive p, const char *name)
{
	for (const struct sl_catalog_entry *e = sl_catalog; e->name; e++)
		if (e->primitive == p && strcmp(e->name, name) == 0)
			return e;
	return NULL;
}

const char *sl_runs_on_name(enum sl_runs_on runs_on)
{
	static const char *const names[] = {"host", "device", "cuda"};

	return names[runs_on];
}
