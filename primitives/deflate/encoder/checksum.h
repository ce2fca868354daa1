/*
 * encoder/checksum.h - Adler-32 and CRC-32 of parts of a stream, their combination, and the bytes
 * of the zlib and gzip wrappers; shared by host and device.
 *
 * In both checksums the later bytes only shift the contribution of the earlier ones, so parts can
 * be computed independently and combined. (RFC 1950, 8.2; RFC 1952, 8; crc32_combine() of zlib, by
 * Adler.)
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_CHECKSUM_H
#define SL_PRIMITIVES_DEFLATE_ENCODER_CHECKSUM_H

#include "streams.h"
#include "tokens.h"

enum { SL_ADLER_MODULUS = 65521, SL_CRC_TABLE = 256 };

#define SL_CRC_POLYNOMIAL 0xedb88320u

/*
 * Checksum of a part, with zero as initial value: the two sums of Adler-32, or the CRC remainder in
 * a.
 */
struct sl_deflate_checksum {
	uint32_t a, b;
};

/* CRC of one byte: an entry of the table. */
SL_HD uint32_t sl_crc_of_byte(uint32_t byte)
{
	for (int bit = 0; bit < 8; bit++)
		byte = byte >> 1 ^ (byte & 1 ? SL_CRC_POLYNOMIAL : 0);
	return byte;
}

/* Product of two polynomials modulo the CRC polynomial; the top bit is x^0. */
SL_HD uint32_t sl_crc_multiply(uint32_t p, uint32_t q)
{
	uint32_t product = 0;

	for (int bit = 31; bit >= 0; bit--) {
		product ^= p >> bit & 1 ? q : 0;
		q = q >> 1 ^ (q & 1 ? SL_CRC_POLYNOMIAL : 0);
	}
	return product;
}

/* x^(8 * bytes) modulo the CRC polynomial; constants for whole slices and segments. */
SL_HD uint32_t sl_crc_shift(uint64_t bytes)
{
	uint32_t shift = 1u << 31, power = 1u << 23;

	if (bytes == SL_SLICE)
		return 0xd7bbfe6au;
	if (bytes == SL_SEGMENT)
		return 0x7b5a9cc3u;
	for (; bytes > 0; bytes >>= 1) {
		if (bytes & 1)
			shift = sl_crc_multiply(shift, power);
		power = sl_crc_multiply(power, power);
	}
	return shift;
}

/*
 * Checksum of at most SL_SLICE bytes. table: sl_crc_of_byte() of each byte; used for SL_GZIP only.
 */
SL_HD struct sl_deflate_checksum sl_checksum_slice(
	enum sl_wrapper wrapper, const uint8_t *data, uint32_t bytes, const uint32_t *table)
{
	struct sl_deflate_checksum c = {0, 0};

	for (uint32_t i = 0; wrapper == SL_ZLIB && i < bytes; i++) {
		c.a += data[i];
		c.b += c.a;
	}
	for (uint32_t i = 0; wrapper == SL_GZIP && i < bytes; i++)
		c.a = c.a >> 8 ^ table[(c.a ^ data[i]) & 0xff];
	return c;
}

/* Checksum of two adjacent parts; right_bytes: size of the right one. */
SL_HD struct sl_deflate_checksum sl_checksum_join(enum sl_wrapper wrapper,
	struct sl_deflate_checksum left, struct sl_deflate_checksum right, uint64_t right_bytes)
{
	struct sl_deflate_checksum c = {0, 0};

	if (wrapper == SL_ZLIB) {
		c.a = (left.a + right.a) % SL_ADLER_MODULUS;
		c.b = (uint32_t)((left.b + right_bytes % SL_ADLER_MODULUS * left.a + right.b) %
				 SL_ADLER_MODULUS);
	} else if (wrapper == SL_GZIP) {
		c.a = sl_crc_multiply(left.a, sl_crc_shift(right_bytes)) ^ right.a;
	}
	return c;
}

/*
 * The number that the wrapper stores, from the checksum of all bytes; applies the initial value of
 * the format.
 */
SL_HD uint32_t sl_checksum_value(
	enum sl_wrapper wrapper, struct sl_deflate_checksum c, uint64_t bytes)
{
	if (wrapper == SL_GZIP)
		return ~(sl_crc_multiply(0xffffffffu, sl_crc_shift(bytes)) ^ c.a);
	return (c.a + 1) % SL_ADLER_MODULUS | (uint32_t)((c.b + bytes) % SL_ADLER_MODULUS) << 16;
}

/* --- wrappers --------------------------------------------------------------------------------- */

/* Bytes of the wrapper before the stream. */
SL_HD uint32_t sl_wrapper_header_bytes(enum sl_wrapper wrapper)
{
	return wrapper == SL_RAW ? 0 : wrapper == SL_ZLIB ? 2 : 10;
}

/* Bytes of the wrapper after the stream. */
SL_HD uint32_t sl_wrapper_trailer_bytes(enum sl_wrapper wrapper)
{
	return wrapper == SL_RAW ? 0 : wrapper == SL_ZLIB ? 4 : 8;
}

/* Byte i of the wrapper's header: DEFLATE, window of 32 KiB; no name, no time, unknown system. */
SL_HD uint8_t sl_wrapper_header_byte(enum sl_wrapper wrapper, uint32_t i)
{
	const uint8_t zlib[2] = {0x78, 0x01}, gzip[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};

	return wrapper == SL_ZLIB ? zlib[i] : gzip[i];
}

/* Byte i of the wrapper's trailer: Adler-32, big endian; or CRC-32 and the size, little endian. */
SL_HD uint8_t sl_wrapper_trailer_byte(
	enum sl_wrapper wrapper, uint32_t value, uint64_t bytes, uint32_t i)
{
	if (wrapper == SL_ZLIB)
		return (uint8_t)(value >> (24 - 8 * i));
	return (uint8_t)(i < 4 ? value >> 8 * i : bytes >> 8 * (i - 4));
}

/* Byte i of the header of a stored block. */
SL_HD uint8_t sl_stored_header_byte(bool last, uint32_t bytes, uint32_t i)
{
	uint32_t lengths = bytes | ~bytes << 16;

	return (uint8_t)(i == 0 ? last : lengths >> 8 * (i - 1));
}

#endif
