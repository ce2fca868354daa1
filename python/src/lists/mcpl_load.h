/*
 * mcpl_load.h - reads an MCPL file of any program as columns.
 *
 * The result is that of sl_mcpl_table() (stages/formats/mcpl/mcpl_read.h), which it calls for what
 * is uncommon; or, in doubles, the same before numbers are rounded. The records are decoded on all
 * cores, and so are the members of a gzip file decompressed.
 */
#ifndef SL_PYTHON_LISTS_MCPL_LOAD_H
#define SL_PYTHON_LISTS_MCPL_LOAD_H

#include "stages/formats/mcpl/mcpl_read.h"

/*
 * The file can be a mapping that another program changes: each number that determines a size is
 * read once. The columns of t are in *block, of sl_memory_get(); NULL after a failure. *wide:
 * whether columns of real numbers shall be doubles if the file has doubles; then, whether they are.
 */
enum sl_status sl_py_mcpl_load(const void *file, size_t bytes, bool *wide, struct sl_table *t,
	struct sl_mcpl_lost *lost, void **block);

#endif
