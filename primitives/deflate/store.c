/*
 * deflate/store.c - stored blocks without compression, at the speed of a copy.
 *
 * Shows what a run costs without compression, in files that any inflate reads in the same way. (RFC
 * 1951, 3.2.4.) Checksums are those of zlib. Scratch: a buffer for a chunk if items have planes or
 * the last chunk is padded.
 */
#include "deflate.h"

#include <string.h>
#include <zlib.h>

#include "encoder/checksum.h"

enum { BLOCK_BYTES = 65535 }; /* limit of a stored block */

static size_t scratch(const struct sl_shape *shape)
{
	return sl_chunks_scratch(shape, 0);
}

/* Checksum of all bytes. zlib counts in 32 bits, so it is called block by block. */
static uint32_t checksum(enum sl_wrapper wrapper, const uint8_t *in, size_t bytes)
{
	uLong value = wrapper == SL_ZLIB ? adler32(0, NULL, 0) : crc32(0, NULL, 0);

	for (size_t at = 0; at < bytes; at += BLOCK_BYTES) {
		uInt n = (uInt)(bytes - at < BLOCK_BYTES ? bytes - at : BLOCK_BYTES);

		value = wrapper == SL_ZLIB ? adler32(value, in + at, n) : crc32(value, in + at, n);
	}
	return (uint32_t)value;
}

/* Writes the stored blocks, at least one; returns the end. */
static uint8_t *put_blocks(const uint8_t *in, size_t bytes, uint8_t *out)
{
	size_t at = 0;

	do {
		uint32_t n = (uint32_t)(bytes - at < BLOCK_BYTES ? bytes - at : BLOCK_BYTES);

		for (uint32_t i = 0; i < SL_STORED_HEADER_BYTES; i++)
			*out++ = sl_stored_header_byte(at + n == bytes, n, i);
		if (n > 0)
			memcpy(out, in + at, n);
		out += n;
		at += n;
	} while (at < bytes);
	return out;
}

enum sl_status sl_deflate_store_one(struct sl_exec *x, const struct sl_deflate_job *job)
{
	size_t blocks = job->in_bytes / BLOCK_BYTES + (job->in_bytes % BLOCK_BYTES > 0);
	uint32_t header = sl_wrapper_header_bytes(job->wrapper),
		 trailer = sl_wrapper_trailer_bytes(job->wrapper);
	size_t bytes =
		header + job->in_bytes + SL_STORED_HEADER_BYTES * (blocks ? blocks : 1) + trailer;
	const uint8_t *in = (const uint8_t *)job->in;
	uint8_t *out = (uint8_t *)job->out;
	uint32_t value;

	(void)x;
	*job->out_bytes = bytes <= job->out_size ? bytes : 0;
	if (bytes > job->out_size)
		return SL_OK;
	for (uint32_t i = 0; i < header; i++)
		*out++ = sl_wrapper_header_byte(job->wrapper, i);
	out = put_blocks(in, job->in_bytes, out);
	value = trailer > 0 ? checksum(job->wrapper, in, job->in_bytes) : 0;
	for (uint32_t i = 0; i < trailer; i++)
		*out++ = sl_wrapper_trailer_byte(job->wrapper, value, job->in_bytes, i);
	return SL_OK;
}

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	return sl_chunks_run(x, job, sl_deflate_store_one);
}

const struct sl_backend sl_deflate_store = {
	.name = "store",
	.primitive = SL_DEFLATE,
	.space = SL_HOST,
	.help = "stored blocks without compression, at the speed of a copy",
	.scratch = scratch,
	.deflate = run,
};
