/* options.h - full paths of options: those of a model stand below model.NAME. */
#ifndef SL_OPTIONS_H
#define SL_OPTIONS_H

#include "stages/model.h"

enum { SL_KEY_BYTES = 256 };

/* Writes the full path of an option of that model, NULL for a common one. Returns its length. */
size_t sl_option_path(
	const struct sl_model *model, const struct sl_option *o, char path[SL_KEY_BYTES]);

#endif
