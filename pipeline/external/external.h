/*
 * external.h - models that are not part of the program: a header of the user, compiled into a shared
 * object by sluice model build (docs/external-models.md).
 *
 * Loading a shared object runs code of it. So only files that the user names are loaded, never one
 * that a run directory or another input names.
 */
#ifndef SL_PIPELINE_EXTERNAL_EXTERNAL_H
#define SL_PIPELINE_EXTERNAL_EXTERNAL_H

#include "primitives/base/status.h"
#include "primitives/files/files.h"
#include "stages/models/models.h"

/* --- load ------------------------------------------------------------------------------------- */

/*
 * Loads a model and adds it to the models of the program, in place of one of the same name that was
 * loaded before. A path that ends in .h is the header of a model: it is built, once for the same
 * contents. *model may be NULL. SL_BAD_INPUT if the file is no model or one of another program.
 */
enum sl_status sl_external_load(const char *path, const struct sl_model **model);

/* Loads all files of a list, which are separated by that character. list may be NULL. */
enum sl_status sl_external_load_list(const char *list, char separator);

/* --- build ------------------------------------------------------------------------------------ */

/*
 * Compiles the model of a header into the shared object `to`. If `to` is "", that is NAME.so; if it
 * is NULL, a file in the folder of the user's caches, and nothing is compiled if it exists for the
 * same contents. path is set to the file. Compilers print their messages to stderr.
 */
enum sl_status sl_external_build(const char *header, const char *to, char path[SL_PATH_BYTES]);

#endif
