/* formats.c - see formats.h. */
#include "stages/formats/formats.h"

#include <string.h>

#include "primitives/files/crc32.h"
#include "stages/formats/hdf5/hdf5_file.h"
#include "stages/formats/hdf5/hdf5_writer.h"

const struct sl_format *const sl_formats[] = {
#define SL_FORMAT(name) &sl_format_##name,
#include "stages/formats/formats.def"
#undef SL_FORMAT
	NULL};

const struct sl_format *sl_format_find(const char *name)
{
	size_t i = 0;

	while (sl_formats[i] && strcmp(sl_formats[i]->name, name) != 0)
		i++;
	return sl_formats[i];
}

const struct sl_format *sl_format_of(const char *file)
{
	size_t n = strlen(file);

	for (size_t i = 0; sl_formats[i]; i++) {
		size_t suffix = strlen(sl_formats[i]->suffix);

		if (n > suffix && strcmp(file + n - suffix, sl_formats[i]->suffix) == 0)
			return sl_formats[i];
	}
	return NULL;
}

enum sl_status sl_formats_start(void)
{
	SL_TRY(sl_h5_start());
	return sl_h5_writer_start();
}
