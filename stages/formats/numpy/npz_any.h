/*
 * npz_any.h - reads npz files that numpy.savez() or numpy.savez_compressed() wrote.
 *
 * Read are the columns of a list of particles (sl_list_column()), in any order; other arrays are
 * left out. Numbers become those of the columns: reals are rounded to single precision.
 */
#ifndef SL_STAGES_FORMATS_NUMPY_NPZ_ANY_H
#define SL_STAGES_FORMATS_NUMPY_NPZ_ANY_H

#include "stages/formats/common/format.h"

/* In the way of sl_format.read. SL_BAD_INPUT also for a number that its column cannot hold. */
enum sl_status sl_npz_read_any(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);

/* Whether a zip archive has an energy, but not the member that all files of this program have. */
bool sl_npz_is_any(const void *file, size_t bytes);

#endif
