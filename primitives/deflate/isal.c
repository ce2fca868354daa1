/*
 * deflate/isal.c - Intel's ISA-L (igzip): three to four times as fast as libdeflate.
 *
 * ISA-L has the levels 0 to 3. Its level 2 is used for all levels here, because on columns of
 * particles it is both faster and smaller than 1 and 3. What the level selects is the number of
 * symbols of a DEFLATE block: a plane of bytes changes its distribution often, so smaller blocks
 * compress more, but each block costs the time of a Huffman code (bench/notes/output.md).
 *
 * A stream begins with a stored block of one byte, and ISA-L gets that byte as history. Without
 * history, the assembly of ISA-L (2.30 to 2.32, igzip_icf_body_h1_gr_bt.asm) enters position 2 into
 * its hash table by the address of its state, so the output differs from process to process. Header
 * and trailer of the wrapper are written here, because ISA-L does not see the first byte.
 *
 * The bytes may depend on the version of ISA-L and on the architecture of the processor.
 */
#include "primitives/primitives.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "deflate.h"
#include "encoder/checksum.h"

enum {
	ISAL_LEVEL = 2,
	LEVELS = 4,                  /* the levels above are as this one */
	PORTION_BYTES_MOST = 1 << 30 /* ISA-L counts bytes in 32 bits */
};

/* ISA-L begins a new block when its buffer has no room for more symbols. */
static uint32_t level_bytes(int level)
{
	uint32_t symbols = 32768u >> (level < LEVELS ? level : LEVELS);

	return ISAL_DEF_LVL2_REQ + ISAL_DEF_LVL2_TOKEN_SIZE * symbols;
}

/* What a stream needs; cut from scratch. */
struct state {
	struct isal_zstream *z;
	uint8_t *level;
};

/* The same size for all levels, so that scratch for one level is enough for any. */
static struct state cut(struct sl_arena *a)
{
	struct state s;

	s.z = (struct isal_zstream *)sl_cut(a, sizeof(*s.z));
	s.level = (uint8_t *)sl_cut(a, level_bytes(1));
	return s;
}

static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};

	cut(&a);
	return sl_chunks_scratch(shape, a.used);
}

/* Begins a stream that continues after one byte. */
static void begin(const struct state *s, int level, const uint8_t *first)
{
	isal_deflate_init(s->z);
	s->z->level = ISAL_LEVEL;
	s->z->level_buf = s->level;
	s->z->level_buf_size = level_bytes(level);
	s->z->gzip_flag = IGZIP_DEFLATE;
	isal_deflate_set_dict(s->z, (uint8_t *)(uintptr_t)first, 1); /* copies the byte */
}

static uint32_t portion(size_t bytes)
{
	return bytes < PORTION_BYTES_MOST ? (uint32_t)bytes : PORTION_BYTES_MOST;
}

/* Compresses all bytes but the first into out; returns the size, 0 if it does not fit. */
static size_t compress_rest(
	const struct state *s, const struct sl_deflate_job *job, uint8_t *out, size_t out_size)
{
	const uint8_t *in = (const uint8_t *)job->in;
	size_t in_left = job->in_bytes - 1, used = 0;

	begin(s, job->level, in++);
	do {
		const uint32_t given = portion(in_left), room = portion(out_size - used);

		s->z->next_in = (uint8_t *)(uintptr_t)in; /* ISA-L does not write to it */
		s->z->avail_in = given;
		s->z->end_of_stream = given == in_left;
		s->z->next_out = out + used;
		s->z->avail_out = room;
		if (isal_deflate(s->z) != COMP_OK) /* no argument is wrong, so it always succeeds */
			return 0;
		in += given - s->z->avail_in;
		in_left -= given - s->z->avail_in;
		used += room - s->z->avail_out;
	} while (s->z->internal_state.state != ZSTATE_END && used < out_size);
	return s->z->internal_state.state == ZSTATE_END ? used : 0;
}

static uint32_t checksum(const struct sl_deflate_job *job)
{
	const uint8_t *in = (const uint8_t *)job->in;

	return job->wrapper == SL_ZLIB ? isal_adler32(1, in, job->in_bytes)
	                               : crc32_gzip_refl(0, in, job->in_bytes);
}

/* Compresses one stream; *job->out_bytes is 0 if it does not fit. */
static enum sl_status run_one(struct sl_exec *x, const struct sl_deflate_job *job)
{
	const uint32_t header = sl_wrapper_header_bytes(job->wrapper),
		       trailer = sl_wrapper_trailer_bytes(job->wrapper), first = job->in_bytes > 0;
	struct sl_arena a = x->scratch;
	const struct state s = cut(&a);
	uint8_t *out = (uint8_t *)job->out;
	size_t used = header + SL_STORED_HEADER_BYTES + first, rest = 0;
	uint32_t value;

	*job->out_bytes = 0;
	if (job->out_size < used + trailer)
		return SL_OK;
	for (uint32_t i = 0; i < header; i++)
		*out++ = sl_wrapper_header_byte(job->wrapper, i);
	for (uint32_t i = 0; i < SL_STORED_HEADER_BYTES; i++)
		*out++ = sl_stored_header_byte(job->in_bytes <= 1, first, i);
	if (first)
		*out++ = *(const uint8_t *)job->in;
	if (job->in_bytes > 1) {
		rest = compress_rest(&s, job, out, job->out_size - used - trailer);
		if (rest == 0)
			return SL_OK;
	}
	value = trailer > 0 ? checksum(job) : 0;
	for (uint32_t i = 0; i < trailer; i++)
		out[rest + i] = sl_wrapper_trailer_byte(job->wrapper, value, job->in_bytes, i);
	*job->out_bytes = used + rest + trailer;
	return SL_OK;
}

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	return sl_chunks_run(x, job, run_one);
}

const struct sl_backend sl_deflate_isal = {
	.name = "isal",
	.primitive = SL_DEFLATE,
	.space = SL_HOST,
	.help = "Intel's ISA-L (igzip), three to four times as fast as libdeflate",
	.scratch = scratch,
	.deflate = run,
};
