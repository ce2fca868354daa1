/* matrix.c - backends.def as a table. */
#include "primitives/catalog.h"

#include <string.h>

/* What the first word of a line stands for. */
enum {
	first_scan = SL_SCAN,
	first_compact = SL_COMPACT,
	first_sort = SL_SORT,
	first_deflate = SL_DEFLATE
};

#ifdef SL_WITH_CUDA
#define OF_CUDA(backend) &backend
#else
#define OF_CUDA(backend) NULL
#endif

const struct sl_line sl_matrix[] = {
#define LINE(primitive, name, reach, facts) \
	{(enum sl_primitive)first_##primitive, #name, reach, facts},
#define SL_BACKEND(primitive, name) LINE(primitive, name, SL_RUNS_ON_HOST, &sl_##primitive##_##name)
#define SL_DEVICE_BACKEND(primitive, name) \
	LINE(primitive, name, SL_RUNS_ON_DEVICE, &sl_##primitive##_##name##_emulated)
#define SL_CUDA_BACKEND(primitive, name) \
	LINE(primitive, name, SL_RUNS_ON_CUDA, OF_CUDA(sl_##primitive##_##name))
#include "primitives/backends.def"
#undef SL_BACKEND
#undef SL_DEVICE_BACKEND
#undef SL_CUDA_BACKEND
#undef LINE
	{SL_PRIMITIVE_COUNT, NULL, SL_RUNS_ON_HOST, NULL}};

const struct sl_line *sl_matrix_find(enum sl_primitive p, const char *name)
{
	for (const struct sl_line *l = sl_matrix; l->name; l++)
		if (l->primitive == p && strcmp(l->name, name) == 0)
			return l;
	return NULL;
}

const char *sl_reach_name(enum sl_reach reach)
{
	static const char *const names[] = {"host", "device", "cuda"};

	return names[reach];
}
