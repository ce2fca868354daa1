/*
 * little_endian.h - numbers in files, least significant byte first, at any address.
 *
 * The functions give the same bytes on every machine and need no alignment. Compilers for x86-64
 * make one load or store of them where the number of bytes is a constant.
 */
#ifndef SL_STAGES_FORMATS_COMMON_LITTLE_ENDIAN_H
#define SL_STAGES_FORMATS_COMMON_LITTLE_ENDIAN_H

#include <stdint.h>

/* Writes the low bytes of a number, 1 to 8 of them, and returns the address after them. */
static inline uint8_t *sl_put_number(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
	return to + bytes;
}

/* Reads a number of 1 to 8 bytes. */
static inline uint64_t sl_get_number(const uint8_t *from, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

#endif
