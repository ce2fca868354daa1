/*
 * selection.h - a condition and a key, in the syntax of keep and key of a configuration, for a
 * table.
 */
#ifndef SL_PYTHON_FILTER_SELECTION_H
#define SL_PYTHON_FILTER_SELECTION_H

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "python/src/filter/table.h"

struct sl_py_selection {
	struct sl_config config;
	struct sl_reader *reader; /* has the problems */
	struct sl_choices choices;
};

/*
 * Resolves the keys keep and key of a configuration against the columns of the table. all: keep is
 * not used, and all particles are kept. *made is allocated, also after most failures; free it.
 */
enum sl_status sl_py_selection_make(
	const char *text, bool all, const struct sl_py_table *t, struct sl_py_selection **made);
void sl_py_selection_free(struct sl_py_selection *s);

#endif
