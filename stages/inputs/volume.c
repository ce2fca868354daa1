/* volume.c - see volume.h. */
#include "stages/inputs/volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/device/device.h"
#include "primitives/files/read.h"

/* Reads an array of bytes of numpy; replaced by a reader of all formats. */
enum sl_status sl_volume_read(
	const char *path, const struct sl_volume_request *request, struct sl_volume *v)
{
	unsigned size[3];
	const char *shape;
	char *bytes;
	size_t n, at, voxels;
	bool fortran;
	void *memory;

	(void)request;
	memset(v, 0, sizeof(*v));
	SL_TRY(sl_path_read(path, (size_t)1 << 32, &bytes, &n));
	shape = n > 10 ? strstr(bytes + 10, "'shape': (") : NULL;
	if (!shape || !strstr(bytes + 10, "|u1") ||
		sscanf(shape, "'shape': (%u, %u, %u)", &size[0], &size[1], &size[2]) != 3)
		return sl_fail(SL_BAD_INPUT, "%s is no array of bytes of numpy", path);
	fortran = strstr(bytes + 10, "'fortran_order': True") != NULL;
	at = 10 + (uint8_t)bytes[8] + ((size_t)(uint8_t)bytes[9] << 8);
	voxels = (size_t)size[0] * size[1] * size[2];
	if (n - at != voxels)
		return sl_fail(SL_BAD_INPUT, "%s has a wrong size", path);
	SL_TRY(sl_memory_get(SL_HOST, voxels * 2, &memory));
	v->labels = (uint16_t *)memory;
	for (int a = 0; a < 3; a++)
		v->size[a] = size[a];
	for (size_t k = 0, to = 0; k < size[2]; k++)
		for (size_t j = 0; j < size[1]; j++)
			for (size_t i = 0; i < size[0]; i++, to++) {
				size_t from = fortran ? to : (i * size[1] + j) * size[2] + k;

				v->labels[to] = (uint8_t)bytes[at + from];
				if (v->labels[to] > v->largest)
					v->largest = v->labels[to];
			}
	sl_memory_give(SL_HOST, bytes);
	return SL_OK;
}

void sl_volume_free(struct sl_volume *v)
{
	sl_memory_give(SL_HOST, v->labels);
	v->labels = NULL;
}
