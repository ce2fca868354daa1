/*
 * checked_file.h - a file of a batch, mapped and read once, whose size and CRC-32 must be those of
 * the manifest.
 *
 * The checksum is computed while the file is read, from the pages that are in memory then. A file
 * that is larger than the memory is thus read from the disk once.
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

/*
 * Reads the rest of the file. SL_CHECK_FAILED if the checksum of the whole file is not the expected
 * one.
 */
enum sl_status sl_checked_file_end(struct sl_checked_file *f);

/* Unmaps the file; does nothing if it is not open. */
void sl_checked_file_close(struct sl_checked_file *f);

#endif
