/* observations.h - reads numbers from a csv file, such as the observations of a filter. */
#ifndef SL_STAGES_INPUTS_OBSERVATIONS_H
#define SL_STAGES_INPUTS_OBSERVATIONS_H

#include "stages/models/common/rules_data.h"
#include "stages/models/option.h"

enum { SL_OBSERVATIONS_MAX = 1 << 16 }; /* lines */

/*
 * Reads the named columns, or all if there are no names, at most n, of the text file path, plain or
 * in gzip: fields separated by semicolons (with decimal commas or points), commas, tabs or blanks,
 * with or without quotes. The first line may have names. Empty lines and lines that begin with # are
 * skipped. Sets v->pixels, row by row, v->size[0], the columns, and v->size[1], the rows. All numbers
 * of a row may be missing: NA, NaN or empty fields, which become NaN. SL_BAD_INPUT for a file without
 * numbers, a field that is no finite number, or another number of fields than in the first line;
 * SL_USAGE for a name that the file does not have. Free v with sl_volume_free().
 */
enum sl_status sl_observations_read(
	const char *path, const struct sl_texts *columns, uint32_t n, struct sl_volume *v);

#endif
