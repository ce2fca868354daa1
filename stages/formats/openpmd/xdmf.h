/*
 * xdmf.h - the text of an XDMF side file, with which ParaView and VisIt read the openPMD files of a
 * run.
 *
 * It is a temporal collection with one grid of points per batch that has survivors. It contains no
 * data, only paths of datasets in the HDF5 files. Points need the columns x, y and z with a value
 * per row. XDMF 2 is used, because older readers of both programs understand it.
 */
#ifndef SL_STAGES_FORMATS_OPENPMD_XDMF_H
#define SL_STAGES_FORMATS_OPENPMD_XDMF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "stages/particle/table.h"

SL_C_BEGIN

/* Whether files with these columns can be shown as points. */
bool sl_xdmf_possible(const struct sl_table *t);

/* The text before all grids, and after them. */
void sl_xdmf_begin(const char *run_name, FILE *out);
void sl_xdmf_end(FILE *out);

/*
 * The grid of one batch, from the name of its file, its number, and its table (rows, columns, which
 * columns are constant; data is not used). Nothing if the table has no rows.
 */
void sl_xdmf_grid(const char *file, const char *species, uint64_t number, const struct sl_table *t,
	FILE *out);

SL_C_END

#endif
