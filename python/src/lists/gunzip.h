/*
 * gunzip.h - decompresses a gzip file whose size is known, with all cores if it has several
 * members.
 */
#ifndef SL_PYTHON_LISTS_GUNZIP_H
#define SL_PYTHON_LISTS_GUNZIP_H

#include <stddef.h>

#include "primitives/base/status.h"

/*
 * Decompresses all members of the file to memory of exactly size bytes. SL_BAD_INPUT if the file is
 * damaged, or has another size.
 */
enum sl_status sl_py_gunzip(const void *file, size_t bytes, void *to, size_t size);

#endif
