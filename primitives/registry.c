/*
 * registry.c - the backends that this build and the device in use can run, and look-up by name.
 *
 * There are two tables, both made from backends.def: one with the backends of CUDA devices (if the
 * build has them) and one with those of the emulated device. Host backends are in both.
 */
#include "primitives/primitives.h"

#include <stdio.h>
#include <string.h>

#include "primitives/catalog.h"

static const struct sl_backend *const built[] = {
#define SL_BACKEND(primitive, name, rank) &sl_##primitive##_##name,
#ifdef SL_WITH_CUDA
#define SL_DEVICE_BACKEND SL_BACKEND
#define SL_CUDA_BACKEND   SL_BACKEND
#else
#define SL_DEVICE_BACKEND(primitive, name, rank)
#define SL_CUDA_BACKEND(primitive, name, rank)
#endif
#include "primitives/backends.def"
#undef SL_DEVICE_BACKEND
#undef SL_CUDA_BACKEND
	NULL};

static const struct sl_backend *const emulated[] = {
#define SL_DEVICE_BACKEND(primitive, name, rank) &sl_##primitive##_##name##_emulated,
#define SL_CUDA_BACKEND(primitive, name, rank)
#include "primitives/backends.def"
#undef SL_BACKEND
#undef SL_DEVICE_BACKEND
#undef SL_CUDA_BACKEND
	NULL};

const struct sl_backend *sl_backend_at(size_t i)
{
	return sl_device_is_emulated() ? emulated[i] : built[i];
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
	case SL_EXPAND:
		return "expand";
	case SL_PRIMITIVE_COUNT:
		break;
	}
	return "unknown primitive";
}

/* "cpu, cpu_scan". */
static void list(enum sl_primitive p, char *text, size_t size)
{
	const struct sl_backend *b;
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		if (b->primitive != p || used >= size)
			continue;
		used += (size_t)snprintf(
			text + used, size - used, "%s%s", used > 0 ? ", " : "", b->name);
	}
}

static enum sl_status not_found(enum sl_primitive p, const char *name)
{
	char names[512];
	const char *why = sl_catalog_find(p, name)
	                          ? sl_device_is_emulated()
	                                    ? "it needs CUDA and the device is emulated"
	                                    : "it needs CUDA and this build has none"
	                          : "no backend has that name";

	list(p, names, sizeof(names));
	return sl_fail(SL_USAGE, "there is no %s '%.80s': %s; choose one of %s",
		sl_primitive_name(p), name, why, names);
}

enum sl_status sl_find(enum sl_primitive p, const char *name, const struct sl_backend **found)
{
	const struct sl_backend *b;

	if (!name || !found)
		return sl_fail(SL_USAGE, "sl_find: name or found is a null pointer; pass both");
	*found = NULL;
	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		if (b->primitive == p && strcmp(b->name, name) == 0) {
			*found = b;
			return SL_OK;
		}
	}
	return not_found(p, name);
}
