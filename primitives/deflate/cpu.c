/*
 * deflate/cpu.c - the encoder of deflate/device on one host thread: its specification, byte for
 * byte.
 *
 * The steps are those of device.cu, in headers that both share: segments of at most 32 KiB of one
 * plane, each compressed independently (streams.h); search of matches (matches.h) and parse
 * (tokens.h); Huffman codes (huffman.h); a coded block, or a stored one if that is shorter
 * (block.h); checksums and wrappers (checksum.h). There is one level; job->level is ignored.
 * Scratch: struct encoder, about 300 KB.
 */
#include "encoder/segments.h"

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	return sl_encoder_run(x, job, true);
}

const struct sl_backend sl_deflate_cpu = {
	.name = "cpu",
	.primitive = SL_DEFLATE,
	.space = SL_HOST,
	.help = "the encoder of deflate/device on one thread, with the same bytes; one level",
	.scratch = sl_encoder_scratch,
	.deflate = run,
};
