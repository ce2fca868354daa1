/* lists.h - particle lists from arrays, and as arrays. */
#ifndef SL_PYTHON_LISTS_LISTS_H
#define SL_PYTHON_LISTS_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include "primitives/base/jobs.h"
#include "python/src/arrays/arrays.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_layout.h"

/*
 * Decompresses all members of a gzip file, several at a time, to memory of exactly size bytes.
 * SL_BAD_INPUT if the file is damaged, or has another size.
 */
enum sl_status sl_py_gunzip(
	struct sl_job_pool *pool, const void *file, size_t bytes, void *to, size_t size);

/*
 * Reads an MCPL file of any program as columns, by sl_mcpl_table() (stages/formats/mcpl/mcpl.h)
 * with all cores, which also decompress the members of a gzip file. The columns of t are in *block,
 * of sl_memory_get(); NULL after a failure.
 */
enum sl_status sl_py_mcpl_load(const void *file, size_t bytes, struct sl_mcpl_reading *r,
	struct sl_table *t, void **block);

/*
 * Writes arrays as an MCPL 3 file.
 *
 * Numbers are computed in double precision by the rules of stages/formats/mcpl/mcpl_record.h, so
 * float32 arrays give the records of a run. Arrays of doubles keep all digits in a file of double
 * precision.
 */

struct sl_py_mcpl {
	const char *path;           /* with the suffix .mcpl or .mcpl.gz */
	struct sl_py_table table;   /* of the columns of SL_MCPL_LIST; n is not set */
	bool single;                /* numbers of 4 bytes, not 8 */
	bool force;                 /* replaces a file */
	const char *const *comment; /* n_comments texts */
	size_t n_comments;
	const struct sl_mcpl_metadata *metadata; /* headers that the list takes over; NULL: none */
};

/*
 * Writes the file under the name of path with .part, flushes it, and renames it. SL_USAGE
 * for arrays that a list cannot hold: the message names the field, and the particle. After a
 * failure there is no new file.
 */
enum sl_status sl_py_mcpl_write(const struct sl_py_mcpl *l);

/* The records of a range of particles, from arrays. */

/* Checks types, sizes and numbers for all particles of the list, and sets *h for n particles. */
enum sl_status sl_py_mcpl_header(const struct sl_py_mcpl *l, struct sl_mcpl_header *h);

/*
 * Stores the records of the particles from .. from + n - 1. SL_USAGE if a number is out of range.
 */
enum sl_status sl_py_mcpl_records(const struct sl_py_mcpl *l, const struct sl_mcpl_header *h,
	size_t from, size_t n, unsigned char *to);

#endif
