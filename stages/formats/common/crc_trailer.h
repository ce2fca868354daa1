/*
 * crc_trailer.h - a last line in a binary file by which damage is found before the file is parsed.
 *
 *	sluice-crc32 89abcdef
 *
 * HDF5's own reader is not safe on damaged files: it follows sizes and addresses out of bounds. So
 * it is never shown one. The line stands behind the end that HDF5 knows of, where HDF5 does not
 * look; a program that changes the file cuts it off. The checksum finds accidents; it is not meant
 * against an adversary.
 */
#ifndef SL_STAGES_FORMATS_COMMON_CRC_TRAILER_H
#define SL_STAGES_FORMATS_COMMON_CRC_TRAILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "sluice-crc32 ", eight digits, a newline. */
enum { SL_CRC_TRAILER_BYTES = 22 };

/* Writes the seal of bytes with that sl_crc32(): SL_CRC_TRAILER_BYTES of them, and no more. */
void sl_crc_trailer_print(uint32_t crc, char *line);

/* Writes the seal of the first bytes of file behind them. */
void sl_crc_trailer_add(void *file, size_t bytes);

/* Does a file of so many bytes, seal included, end in the right seal? */
bool sl_crc_trailer_is_valid(const void *file, size_t bytes);

#endif
