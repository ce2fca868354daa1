/* formats.c - the list of formats, and how files of a run are named. */
#include "stages/formats/common/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "primitives/files/crc32.h"

const struct sl_format *const sl_formats[] = {&sl_format_openpmd, &sl_format_csv_gz, &sl_format_npz,
	&sl_format_mcpl, &sl_format_mcpl_gz, NULL};

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

enum sl_status sl_format_check_image(size_t size, size_t needed)
{
	return size >= needed
	               ? SL_OK
	               : sl_fail(SL_USAGE,
				 "the image has %zu bytes, %zu are needed: give it image_bytes()",
				 size, needed);
}

/* Six digits: names sort as numbers up to a million batches, and stay right beyond. */
size_t sl_file_name(
	char *name, size_t size, const char *run_name, uint64_t number, const char *suffix)
{
	return (size_t)snprintf(name, size, "%s_%06" PRIu64 "%s", run_name, number, suffix);
}

size_t sl_file_pattern(char *name, size_t size, const char *run_name, const char *suffix)
{
	return (size_t)snprintf(name, size, "%s_%%06T%s", run_name, suffix);
}

void sl_pieces_add(struct sl_pieces *f, const void *at, size_t bytes)
{
	struct sl_piece *last = f->n > 0 ? &f->piece[f->n - 1] : NULL;

	if (last && (const char *)last->at + last->bytes == at)
		last->bytes += bytes;
	else
		f->piece[f->n++] = (struct sl_piece){at, bytes};
	f->bytes += bytes;
	f->crc = sl_crc32_update(f->crc, at, bytes);
}

void sl_pieces_join(const struct sl_pieces *f, void *to)
{
	char *at = (char *)to;

	for (uint32_t i = 0; i < f->n; i++) {
		memcpy(at, f->piece[i].at, f->piece[i].bytes);
		at += f->piece[i].bytes;
	}
}
