/*
 * crc_trailer.h - a checksum line at the end of a binary file, checked before the file is parsed.
 *
 *	sluice-crc32 89abcdef
 *
 * HDF5's reader is not safe on damaged files: it follows sizes and addresses out of bounds.
 * Therefore no file is passed to HDF5 before its checksum is verified. The line follows the end of
 * file that HDF5 knows, so HDF5 ignores it; a program that changes the file with HDF5 removes it.
 * The checksum detects accidental damage, not forgery.
 */
#ifndef SL_STAGES_FORMATS_COMMON_CRC_TRAILER_H
#define SL_STAGES_FORMATS_COMMON_CRC_TRAILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "sluice-crc32 ", eight digits, a newline. */
enum { SL_CRC_TRAILER_BYTES = 22 };

/* Writes the line for a given CRC-32: SL_CRC_TRAILER_BYTES bytes, no terminator. */
void sl_crc_trailer_print(uint32_t crc, char *line);

/* Computes the CRC-32 of the first bytes of file and writes the line after them. */
void sl_crc_trailer_add(void *file, size_t bytes);

/* Whether a file of so many bytes, the line included, ends with the correct line. */
bool sl_crc_trailer_is_valid(const void *file, size_t bytes);

#endif
