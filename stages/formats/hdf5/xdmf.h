/*
 * xdmf.h - the text of an XDMF side file, with which ParaView and VisIt read the openPMD files of a
 * run.
 *
 * It is a temporal collection with one grid of points per batch that has survivors. It contains no
 * data, only paths of datasets in the HDF5 files. Points need the columns x, y and z with a value
 * per row. XDMF 2 is used, because older readers of both programs understand it.
 *
 * Each function prints to text, which has size bytes, and returns the length of the whole text as
 * snprintf does: the text is cut if the length is not below size.
 */
#ifndef SL_STAGES_FORMATS_HDF5_XDMF_H
#define SL_STAGES_FORMATS_HDF5_XDMF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stages/particle/table.h"

SL_C_BEGIN

/* Whether files with these columns can be shown as points. */
bool sl_xdmf_possible(const struct sl_table *t);

/* The text before all grids, and after them. */
size_t sl_xdmf_begin(char *text, size_t size, const char *run_name);
size_t sl_xdmf_end(char *text, size_t size);

/*
 * The grid of one batch, from the name of its file, its number, and its table (rows, columns, which
 * columns are constant; data is not used). Empty if the table has no rows.
 */
size_t sl_xdmf_grid(char *text, size_t size, const char *file, const char *species, uint64_t number,
	const struct sl_table *t);

SL_C_END

#endif
