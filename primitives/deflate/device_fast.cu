/*
 * deflate/device_fast.cu - the encoder of device.cu without matches: runs and Huffman codes only.
 *
 * Columns of particles consist of noise and runs, so matches make few of them smaller: the columns
 * of the reference batch take 7 % more bytes, and 135 GB/s are compressed on an H200 instead of 75.
 * cpu_fast.c produces the same bytes and is the specification.
 *
 * Scratch: 32 KiB per segment and 128 KiB per resident block.
 */
#include "encoder/launches.cuh"

static size_t scratch(const struct sl_shape *shape)
{
	return scratch_for<false>(shape);
}

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	return queue<false>(x, job);
}

const struct sl_backend SL_NAME(sl_deflate_device_fast) = {
	.name = "device_fast",
	.primitive = SL_DEFLATE,
	.space = SL_DEVICE,
	.help = "one thread block per 32 KiB: runs and Huffman codes, no matches; one level",
	.joins_parts = true,
	.scratch = scratch,
	.deflate = run,
};
