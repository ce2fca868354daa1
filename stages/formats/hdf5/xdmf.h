/*
 * xdmf.h - the text of a side-car file by which ParaView and VisIt read a run's openPMD files.
 *
 * One collection in time, a grid of points for each batch with survivors; nothing is copied, all
 * points to the datasets in the HDF5 files. Points need x, y and z, each with a value per row.
 *
 * The functions append nothing themselves: each prints to text and returns the length of the whole
 * as snprintf does; when that is not below size, text is cut.
 */
#ifndef SL_STAGES_FORMATS_HDF5_XDMF_H
#define SL_STAGES_FORMATS_HDF5_XDMF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stages/particle/table.h"

SL_C_BEGIN

/* Can files with these columns be shown as points? */
bool sl_xdmf_possible(const struct sl_table *t);

/* What stands before all grids, and behind them. */
size_t sl_xdmf_begin(char *text, size_t size, const char *run_name);
size_t sl_xdmf_end(char *text, size_t size);

/*
 * The grid of one batch: the name of its file, its number, and its table (rows, columns and which
 * are constant; no data). A table of no rows has none: empty text.
 */
size_t sl_xdmf_grid(char *text, size_t size, const char *file, const char *species, uint64_t number,
	const struct sl_table *t);

SL_C_END

#endif
