/*
 * checked_file.h - a file of a batch, mapped and read once, whose size and CRC-32 must be those of the
 * manifest.
 *
 * The checksum is computed while the file is read, from the pages that are in memory then. A file that
 * is larger than the memory is thus read from the disk once.
 */
#ifndef SL_PIPELINE_OUTPUT_SOURCE_CHECKED_FILE_H
#define SL_PIPELINE_OUTPUT_SOURCE_CHECKED_FILE_H

#include "primitives/files/dirs.h"
#include "primitives/files/map.h"

struct sl_checked_file {
	struct sl_map map;
	const struct sl_dir *dir;
	const char *name;
	size_t done;  /* bytes whose checksum is in crc */
	uint32_t crc; /* of these bytes */
	uint32_t expected;
};

/* Maps the file name of dir; both must stay valid. SL_CHECK_FAILED if it has another size. */
enum sl_status sl_checked_file_open(struct sl_checked_file *f, const struct sl_dir *dir,
	const char *name, uint64_t bytes, uint32_t crc);

/* The bytes before offset at have been read. */
void sl_checked_file_advance(struct sl_checked_file *f, size_t at);

/* Reads the rest of the file. SL_CHECK_FAILED if the checksum of the whole file is not the expected one. */
enum sl_status sl_checked_file_end(struct sl_checked_file *f);

/*
 * Several processes may read one file, each a piece of it: the bytes from one offset to another. Each computes
 * the checksum of its piece; those of all pieces, in their order, give that of the file.
 */
struct sl_checked_piece {
	uint64_t bytes;
	uint32_t crc, unused; /* unused: 0, because pieces are sent with all their bytes */
};

/* Instead of the whole file, a piece from this offset on is read; called before anything was read. */
void sl_checked_file_begin_at(struct sl_checked_file *f, size_t at);

/* Reads the rest of the piece from offset `from` to `to`, which it does not include; returns its size and checksum. */
struct sl_checked_piece sl_checked_file_end_at(struct sl_checked_file *f, size_t from, size_t to);

/* Adds the next piece to the sum of those before it, which begins as zeros. */
void sl_checked_piece_add(struct sl_checked_piece *sum, const struct sl_checked_piece *next);

/* SL_CHECK_FAILED, because size or checksum of a file are not those of the manifest. */
enum sl_status sl_checked_file_differs(const struct sl_dir *dir, const char *name);

/* Unmaps the file; does nothing if it is not open. */
void sl_checked_file_close(struct sl_checked_file *f);

#endif
