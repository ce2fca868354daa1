/*
 * deflate.c - fuzz targets: compresses arbitrary bytes with the host versions of the device's
 * encoders or with ISA-L, and decompresses them with sl_inflate_next(). zlib and libdeflate are the
 * reference.
 */
#include <libdeflate.h>
#include <sys/mman.h>
#include <unistd.h>

#include "primitives/deflate/encoder/streams.h"
#include "stages/formats/common/common.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/formats/zlib_inflate.h"

enum { HEAD = 4, IN_MOST = 1 << 17, ROOM = 1 << 22, OUT_MOST = IN_MOST + 4096 };

static uint8_t out[ROOM], expected[OUT_MOST], inflated[OUT_MOST], again[OUT_MOST];

/* --- deflate ---------------------------------------------------------------------------------- */

static size_t sizes[IN_MOST + 1];

static void check_stream(const uint8_t *stream, size_t size, enum sl_wrapper wrapper, size_t bytes)
{
	static struct libdeflate_decompressor *d;
	enum libdeflate_result (*const inflate_one)(
		struct libdeflate_decompressor *, const void *, size_t, void *, size_t, size_t *) =
		wrapper == SL_RAW    ? libdeflate_deflate_decompress
		: wrapper == SL_ZLIB ? libdeflate_zlib_decompress
				     : libdeflate_gzip_decompress;
	size_t n = 0;

	d = d ? d : libdeflate_alloc_decompressor();
	fuzz_expect(zlib_inflate(wrapper, false, stream, size, inflated, OUT_MOST) == (long)bytes &&
		    memcmp(expected, inflated, bytes) == 0);
	fuzz_expect(inflate_one(d, stream, size, inflated, bytes, &n) == LIBDEFLATE_SUCCESS &&
		    n == bytes && memcmp(expected, inflated, bytes) == 0);
}

/* Checks every stream that fits. After the first that does not fit, no stream may have bytes. */
static void check_streams(const struct sl_deflate_job *job)
{
	const struct sl_streams s = sl_streams_of(job);
	size_t at = 0;

	for (uint64_t k = 0; k < s.n; k++) {
		size_t bytes = (size_t)sl_chunk_bytes(&s, k);

		fuzz_expect(k == 0 || sizes[k - 1] > 0 || sizes[k] == 0);
		sl_chunk_load(&s, k, 0, bytes, 0, 1, expected);
		if (sizes[k] > 0)
			check_stream(out + at, sizes[k], job->wrapper, bytes);
		at += sizes[k];
	}
	fuzz_expect(at <= job->out_size);
}

/*
 * The first bytes select the backend, its level, the chunk size, the wrapper and the size of the
 * output buffer. A stream that does not fit must be reported with 0 bytes.
 */
FUZZ(deflate)
{
	static _Alignas(SL_ALIGN) uint8_t scratch[1 << 20];
	struct sl_exec x = {.space = SL_HOST, .scratch = {scratch, 0, sizeof(scratch)}};
	const size_t item = size < HEAD ? 1 : (size_t)1 << data[0] % 4;
	struct sl_deflate_job job = {.out = out, .out_bytes = sizes, .item_bytes = (uint32_t)item};

	if (size < HEAD || size > IN_MOST)
		return;
	job.level = 1 + data[0] / 64;
	job.in = data + HEAD;
	job.in_bytes = (size - HEAD) / item * item;
	job.wrapper = (enum sl_wrapper)(data[0] / 4 % 3);
	job.whole_chunks = data[0] / 16 % 2;
	/*
	 * With whole_chunks a short input is padded to a chunk: only one of 16 can be longer than 4
	 * KiB.
	 */
	job.chunk_bytes = (size_t)(data[1] % 16 * (data[1] < 240 ? 1 : 32)) * data[2];
	job.chunk_bytes = sl_round_up(job.chunk_bytes, item);
	job.out_size = sl_deflate_most(job.in_bytes, job.chunk_bytes, job.item_bytes);
	if (job.out_size > ROOM || job.chunk_bytes > OUT_MOST / 2)
		return;
	if (data[3] < 128) /* an output buffer that may be too small */
		job.out_size = job.out_size * data[3] / 128;
	fuzz_expect(sl_deflate(data[0] / 32 % 2   ? &sl_deflate_isal
			       : data[0] / 64 % 2 ? &sl_deflate_cpu_fast
						  : &sl_deflate_cpu,
			    &x, &job) == SL_OK);
	check_streams(&job);
	fuzz_expect(
		data[3] < 128 || sizes[sl_deflate_streams(job.in_bytes, job.chunk_bytes) - 1] > 0);
}

/* --- inflate ---------------------------------------------------------------------------------- */

enum { PIECE_MOST = 1 << 16 };

/*
 * The end of memory that an inaccessible page follows: AddressSanitizer does not check the assembly
 * of ISA-L.
 */
static uint8_t *piece_end(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = (uint8_t *)mmap(NULL, PIECE_MOST + page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fuzz_expect(p != MAP_FAILED && mprotect(p + PIECE_MOST, page, PROT_NONE) == 0);
	return p + PIECE_MOST;
}

/*
 * Decompresses to a buffer of OUT_MOST bytes, part by part, and sets *used to the bytes that came
 * out; returns their number, or -1 if the stream is refused or too large.
 */
static long inflate_in_parts(struct sl_inflate *s, size_t part, uint8_t *to, size_t *used)
{
	static uint8_t *end;
	size_t got = part;
	enum sl_status status = SL_OK;

	end = end ? end : piece_end();
	*used = 0;
	while (status == SL_OK && got == part && *used + part <= OUT_MOST) {
		status = sl_inflate_next(s, end - part, part, &got);
		fuzz_expect(got <= part);
		memcpy(to + *used, end - part, got);
		*used += got;
	}
	fuzz_expect(fuzz_check(status) ||
		    (status != SL_USAGE && sl_inflate_next(s, end - 1, 1, &got) == status));
	return status == SL_OK && got < part ? (long)*used : -1;
}

/*
 * The first two bytes select the wrapper, whether there may be several gzip members, and the size
 * of the parts. Each stream that zlib accepts must be accepted with the same bytes. Any stream must
 * give the same bytes when the state of another one is used again.
 */
FUZZ(inflate)
{
	static uint8_t *end;
	const size_t head = size < 2 ? size : 2, bytes = size - head,
		     part = head < 2 ? 1 : 1 + data[1] * 7u;
	const enum sl_wrapper wrapper = head < 2 ? SL_RAW : (enum sl_wrapper)(data[0] % 3);
	const bool members = wrapper == SL_GZIP && data[0] / 4 % 2;
	struct sl_inflate s;
	size_t used, used_again;
	long want, have;

	if (bytes > PIECE_MOST)
		return;
	end = end ? end : piece_end();
	if (bytes > 0)
		memcpy(end - bytes, data + head, bytes);
	fuzz_expect(sl_inflate_begin(&s, wrapper, end - bytes, bytes) == SL_OK);
	s.members = members;
	have = inflate_in_parts(&s, part, inflated, &used);
	sl_inflate_again(&s, end - bytes, bytes);
	fuzz_expect(inflate_in_parts(&s, part, again, &used_again) == have && used_again == used &&
		    memcmp(inflated, again, used) == 0);
	sl_inflate_end(&s);
	want = zlib_inflate(wrapper, members, end - bytes, bytes, expected, OUT_MOST);
	fuzz_expect(want < 0 || want + (long)part > OUT_MOST ||
		    (have == want && memcmp(inflated, expected, (size_t)want) == 0));
}
