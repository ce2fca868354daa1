/* formats.c - see formats.h. */
#include "stages/formats/formats.h"

#include <string.h>
#include <unistd.h>

#include "primitives/files/files.h"
#include "stages/formats/hdf5/hdf5.h"

const struct sl_format *const sl_formats[] = {
#define SL_FORMAT(name) &sl_format_##name,
#include "stages/formats/formats.def"
#undef SL_FORMAT
	NULL};

const struct sl_format *sl_format_find(const char *name)
{
	size_t i = 0;

	if (strcmp(sl_format_none.name, name) == 0)
		return &sl_format_none;
	while (sl_formats[i] && strcmp(sl_formats[i]->name, name) != 0)
		i++;
	return sl_formats[i];
}

const struct sl_format *sl_format_of(const char *file)
{
	for (size_t i = 0; sl_formats[i]; i++)
		if (sl_path_ends_in(file, sl_formats[i]->suffix))
			return sl_formats[i];
	return NULL;
}

enum sl_status sl_formats_start(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	SL_TRY(sl_h5_start());
	/*
	 * a core that makes HDF5 files is busy with small batches only, for which half of them
	 * suffice
	 */
	return sl_h5_writers_start(cores > 2 ? (uint32_t)cores / 2 : 1);
}
