/*
 * format.h - what a file of survivors is made of, in two steps.
 *
 * pack runs on the worker that computed the batch: it compresses, which is the long part, unless a
 * device has done so (take; transfer_form.h). assemble runs on a writer: it makes what a file has beside the
 * packed bytes, which are not copied any more. None touches a disk (files.h commits the bytes) and
 * none allocates, HDF5's own small allocations apart.
 */
#ifndef SL_STAGES_FORMATS_COMMON_FORMAT_H
#define SL_STAGES_FORMATS_COMMON_FORMAT_H

#include <stdint.h>

#include "primitives/primitives.h"
#include "stages/particle/table.h"
#include "stages/formats/common/transfer_form.h"

SL_C_BEGIN

struct sl_mcpl_metadata;

/* What files of mcpl state of particles, beside their columns. */
struct sl_mcpl_facts {
	bool wide;            /* numbers of 8 bytes, not 4 */
	int32_t pdg;          /* the code of all particles; 0: they have a column */
	double energy;        /* of all, in keV; NaN: they have a column */
	enum sl_column flags; /* the column that is user flags; SL_COLUMN_COUNT: there are none */
	const struct sl_mcpl_metadata
		*metadata; /* of lists that were read (mcpl_metadata.h), or NULL */
};

/* What holds for all files of a run. */
struct sl_file_facts {
	const char *run_name; /* "vandehulst" */
	const char *species;  /* "photons" */
	const char *software_version;
	const char *config; /* the effective configuration, as text; stored in the file */
	uint64_t seed;
	uint32_t rules_version;           /* runs of one seed and of different versions differ */
	const struct sl_backend *deflate; /* of the host */
	int level;
	enum sl_transfer_form form; /* in which survivors come from a device; else columns */
	struct sl_mcpl_facts mcpl;  /* for that format alone */
};

/* What holds for one file. */
struct sl_batch_facts {
	uint64_t number; /* of the batch */
	uint64_t first_id;
	uint64_t generated;
};

/* A packed batch: pieces of bytes, and what the format needs to put them together. */
struct sl_packed {
	struct sl_table table; /* a copy: rows, columns, constants, digests */
	void *pieces;          /* the format's own list of pieces */
	uint8_t *bytes;
	size_t size; /* room */
	size_t used;
};

/* A file in memory: pieces, one behind another. All of a format's at most. */
enum { SL_PIECES_MAX = 2 * SL_COLUMN_COUNT + 3 };
struct sl_piece {
	const void *at;
	size_t bytes;
};
struct sl_pieces {
	uint32_t n, crc; /* of all bytes, as sl_crc32() */
	size_t bytes;
	struct sl_piece piece[SL_PIECES_MAX];
};

/* Adds a piece, which stays where it is, at the end; two that meet in memory become one. */
void sl_pieces_add(struct sl_pieces *f, const void *at, size_t bytes);

/* Copies all to one place. */
void sl_pieces_join(const struct sl_pieces *f, void *to);

struct sl_format {
	const char *name;   /* "openpmd" */
	const char *suffix; /* ".h5" */
	const char *help;
	struct sl_device_packing packing; /* what a device can make for it; all 0: nothing */
	const char *unpressed;            /* without streams: why, "is text" */

	/*
	 * Lays out what pack needs for at most the rows of most (whose data pointers are not used):
	 * fills *p from the arena. Given an arena without base, measures.
	 */
	void (*lay_out)(struct sl_arena *a, const struct sl_table *most,
		const struct sl_file_facts *run, struct sl_packed *p);

	/* Scratch of pack, beside p, in bytes, for one call. */
	size_t (*scratch)(const struct sl_table *most, const struct sl_file_facts *run);

	/* Compresses t into p. x->scratch is at least scratch() bytes. */
	enum sl_status (*pack)(struct sl_exec *x, const struct sl_file_facts *run,
		const struct sl_table *t, struct sl_packed *p);

	/*
	 * NULL, or what pack does, of survivors that came in another form than columns. What was
	 * pressed belongs to p from then on, and streams that are no gain are stored in its place.
	 */
	enum sl_status (*take)(struct sl_exec *x, const struct sl_file_facts *run,
		const struct sl_table *t, const struct sl_device_packed *device_packed,
		struct sl_packed *p);

	/*
	 * What assemble makes beside the packed bytes, at most: a file is no larger than both
	 * together.
	 */
	size_t (*image_bytes)(const struct sl_table *most, const struct sl_file_facts *run);

	/*
	 * Puts the file of p together: from the packed bytes and what it makes in image (size bytes
	 * of room), which both must stay as long as the file is used. Any number of threads.
	 */
	enum sl_status (*assemble)(const struct sl_file_facts *run,
		const struct sl_batch_facts *batch, const struct sl_packed *p, void *image,
		size_t size, struct sl_pieces *file);

	/*
	 * Reads back a file that this program wrote: fills t with the columns found, their data cut
	 * from a (given an arena without base, measures, and sets t->n and the columns all the
	 * same). Any other file, and any damage, is SL_BAD_INPUT; a file of mcpl without gzip has
	 * no checksum, so that of it only what cannot be is. Digests are left for the caller.
	 * One thread at a time.
	 */
	enum sl_status (*read)(
		const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t);
};

extern const struct sl_format sl_format_openpmd;
extern const struct sl_format sl_format_csv_gz;
extern const struct sl_format sl_format_npz;
extern const struct sl_format sl_format_mcpl;
extern const struct sl_format sl_format_mcpl_gz;

/* Is it mcpl, in gzip or not? */
static inline bool sl_format_is_mcpl(const struct sl_format *f)
{
	return f == &sl_format_mcpl || f == &sl_format_mcpl_gz;
}

/* The formats there are, NULL-terminated; the one of that name, or NULL. */
extern const struct sl_format *const sl_formats[];
const struct sl_format *sl_format_find(const char *name);

/* The one whose files end as that name of a file does, or NULL. */
const struct sl_format *sl_format_of(const char *file);

/* For assemble: SL_USAGE when an image has less room than is needed. */
enum sl_status sl_format_check_image(size_t size, size_t needed);

/*
 * Readies HDF5. The program's first call, before any thread and any other use of HDF5: only then
 * can its clean-up at exit be switched off, which crashes after some failures.
 */
enum sl_status sl_formats_start(void);

/*
 * The name of a batch's file, "vandehulst_000017.h5". Returns its length; when that is not below
 * size, name is cut.
 */
size_t sl_file_name(
	char *name, size_t size, const char *run_name, uint64_t number, const char *suffix);

/* The same with %06T in place of the number: openPMD's pattern of all files of a run. */
size_t sl_file_pattern(char *name, size_t size, const char *run_name, const char *suffix);

SL_C_END

#endif
