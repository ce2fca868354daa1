/*
 * deflate.c - libFuzzer target: compresses arbitrary bytes with the host versions of the device's
 * encoders, or with ISA-L.
 *
 * The first bytes select the backend, its level, the chunk size, the wrapper and the size of the
 * output buffer. A stream that does not fit must be reported with 0 bytes; zlib and libdeflate must
 * restore the input from every other stream.
 *
 *	scripts/fuzz.sh deflate -runs=10000000
 */
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "primitives/base/size.h"
#include "primitives/deflate/encoder/streams.h"

enum { HEAD = 4, IN_MOST = 1 << 17, ROOM = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t out[ROOM], expected[IN_MOST + 4096], inflated[IN_MOST + 4096];
static size_t sizes[IN_MOST + 1];
static _Alignas(SL_ALIGN) uint8_t scratch[1 << 20];

static void expect(int holds)
{
	if (!holds)
		abort();
}

static void inflate_both(const uint8_t *stream, size_t size, enum sl_wrapper wrapper, size_t bytes)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	const int window = wrapper == SL_RAW ? -15 : wrapper == SL_ZLIB ? 15 : 15 + 16;
	z_stream z = {.next_in = (z_const Bytef *)stream,
		.avail_in = (uInt)size,
		.next_out = inflated,
		.avail_out = sizeof(inflated)};
	size_t out_bytes = 0;

	expect(inflateInit2(&z, window) == Z_OK);
	expect(inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0 && z.total_out == bytes);
	inflateEnd(&z);
	expect(memcmp(expected, inflated, bytes) == 0);
	expect(d &&
		(wrapper == SL_RAW ? libdeflate_deflate_decompress(
					     d, stream, size, inflated, bytes, &out_bytes)
			: wrapper == SL_ZLIB ? libdeflate_zlib_decompress(
						       d, stream, size, inflated, bytes, &out_bytes)
					     : libdeflate_gzip_decompress(d, stream, size, inflated,
						       bytes, &out_bytes)) == LIBDEFLATE_SUCCESS);
	libdeflate_free_decompressor(d);
	expect(out_bytes == bytes && memcmp(expected, inflated, bytes) == 0);
}

/* Checks every stream that fits. After the first that does not fit, no stream may have bytes. */
static void check(const struct sl_deflate_job *job)
{
	const struct sl_streams s = sl_streams_of(job);
	size_t at = 0;

	for (uint64_t k = 0; k < s.n; k++) {
		size_t bytes = (size_t)sl_chunk_bytes(&s, k);

		expect(k == 0 || sizes[k - 1] > 0 || sizes[k] == 0);
		sl_chunk_load(&s, k, 0, bytes, 0, 1, expected);
		if (sizes[k] > 0)
			inflate_both(out + at, sizes[k], job->wrapper, bytes);
		at += sizes[k];
	}
	expect(at <= job->out_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_exec x = {.space = SL_HOST, .scratch = {scratch, 0, sizeof(scratch)}};
	size_t item = size < HEAD ? 1 : (size_t)1 << data[0] % 4;
	struct sl_deflate_job job = {.out = out, .out_bytes = sizes};
	const struct sl_backend *b;

	if (size < HEAD || size > IN_MOST)
		return 0;
	if (data[0] / 32 % 2)
		b = &sl_deflate_isal;
	else
		b = data[0] / 64 % 2 ? &sl_deflate_cpu_fast : &sl_deflate_cpu;
	job.level = 1 + data[0] / 64;
	job.in = data + HEAD;
	job.in_bytes = (size - HEAD) / item * item;
	job.item_bytes = (uint32_t)item;
	job.wrapper = (enum sl_wrapper)(data[0] / 4 % 3);
	job.whole_chunks = data[0] / 16 % 2;
	/* With whole_chunks a short input is padded to a chunk: only one of 16 can be longer than 4 KiB. */
	job.chunk_bytes = (size_t)(data[1] % 16 * (data[1] < 240 ? 1 : 32)) * data[2];
	job.chunk_bytes = sl_round_up(job.chunk_bytes, item);
	job.out_size = sl_deflate_most(job.in_bytes, job.chunk_bytes, job.item_bytes);
	if (job.out_size > ROOM || job.chunk_bytes > sizeof(expected) / 2)
		return 0;
	if (data[3] < 128) /* an output buffer that may be too small */
		job.out_size = job.out_size * data[3] / 128;
	expect(sl_deflate(b, &x, &job) == SL_OK);
	check(&job);
	expect(data[3] < 128 || sizes[sl_deflate_streams(job.in_bytes, job.chunk_bytes) - 1] > 0);
	return 0;
}
