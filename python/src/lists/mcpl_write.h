/*
 * mcpl_write.h - writes arrays as an MCPL 3 file.
 *
 * Numbers are computed in double precision by the rules of stages/formats/mcpl/mcpl_record.h, so
 * float32 arrays give the records of a run. Arrays of doubles keep all digits in a file of double
 * precision.
 */
#ifndef SL_PYTHON_LISTS_MCPL_WRITE_H
#define SL_PYTHON_LISTS_MCPL_WRITE_H

#include "primitives/base/status.h"
#include "python/src/arrays/array.h"
#include "stages/formats/mcpl/mcpl_metadata.h"

/* The fields of a record: x y z u v w energy time weight pdg userflags pol_x pol_y pol_z. */
enum sl_py_field {
	SL_PY_POL_X,
	SL_PY_POL_Y,
	SL_PY_POL_Z,
	SL_PY_X,
	SL_PY_Y,
	SL_PY_Z,
	SL_PY_U,
	SL_PY_V,
	SL_PY_W,
	SL_PY_ENERGY,
	SL_PY_TIME,
	SL_PY_WEIGHT,
	SL_PY_PDG,
	SL_PY_FLAGS,
	SL_PY_FIELDS
};
extern const char *const sl_py_field_name[SL_PY_FIELDS];

struct sl_py_mcpl {
	const char *path;                       /* with the suffix .mcpl or .mcpl.gz */
	struct sl_py_array field[SL_PY_FIELDS]; /* kind 0: the list does not have it */
	bool single;                            /* numbers of 4 bytes, not 8 */
	bool force;                             /* replaces a file */
	const char *const *comment;             /* n_comments texts */
	size_t n_comments;
	const struct sl_mcpl_metadata *metadata; /* headers that the list takes over; NULL: none */
	bool (*stop)(void *ctx);                 /* struct sl_py_blocks */
	void *ctx;
};

/*
 * A PDG code or weight that all headers of metadata state stays in the header while all particles
 * have it. Writes the file under the name of path with .part, flushes it, and renames it. SL_USAGE
 * for arrays that a list cannot hold: the message names the field, and the particle. After a
 * failure there is no new file.
 */
enum sl_status sl_py_mcpl_write(const struct sl_py_mcpl *l);

#endif
