/* registry.c - the matrix of this build, made from backends.def, and finding by name in it. */
#include "primitives.h"

#include <stdio.h>
#include <string.h>

static const struct sl_backend *const backends[] = {
#define BACKEND(primitive, name) &sl_##primitive##_##name,
#ifdef SL_WITH_CUDA
#define DEVICE_BACKEND BACKEND
#else
#define DEVICE_BACKEND(primitive, name)
#endif
#include "backends.def"
#undef BACKEND
#undef DEVICE_BACKEND
};

enum { BACKENDS = sizeof(backends) / sizeof(backends[0]) };

const struct sl_backend *sl_backend_at(size_t i)
{
	return i < BACKENDS ? backends[i] : NULL;
}

const char *sl_primitive_name(enum sl_primitive p)
{
	switch (p) {
	case SL_SCAN:
		return "scan";
	case SL_COMPACT:
		return "compact";
	case SL_SORT:
		return "sort";
	case SL_DEFLATE:
		return "deflate";
	case SL_PRIMITIVE_COUNT:
		break;
	}
	return "unknown primitive";
}

/* Is "scan", "naive" a line of the matrix that only a build with CUDA has? */
static bool needs_cuda(const char *primitive, const char *name)
{
#define BACKEND(of, called)
#define DEVICE_BACKEND(of, called)                                     \
	if (strcmp(primitive, #of) == 0 && strcmp(name, #called) == 0) \
		return true;
#include "backends.def"
#undef BACKEND
#undef DEVICE_BACKEND
	return false;
}

/* "cpu, cpu_scan". */
static void list(enum sl_primitive p, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < BACKENDS; i++) {
		if (backends[i]->primitive != p || used >= size)
			continue;
		used += (size_t)snprintf(
			text + used, size - used, "%s%s", used > 0 ? ", " : "", backends[i]->name);
	}
}

static enum sl_status not_found(enum sl_primitive p, const char *name)
{
	char there[512];
	const char *why = needs_cuda(sl_primitive_name(p), name)
	                          ? "it needs CUDA and this build has none"
	                          : "no backend has that name";

	list(p, there, sizeof(there));
	return sl_fail(SL_USAGE, "there is no %s '%.80s': %s; choose one of %s",
		sl_primitive_name(p), name, why, there);
}

enum sl_status sl_find(enum sl_primitive p, const char *name, const struct sl_backend **found)
{
	*found = NULL;
	for (size_t i = 0; i < BACKENDS; i++) {
		if (backends[i]->primitive == p && strcmp(backends[i]->name, name) == 0) {
			*found = backends[i];
			return SL_OK;
		}
	}
	return not_found(p, name);
}
