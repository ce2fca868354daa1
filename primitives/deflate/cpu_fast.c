/*
 * deflate/cpu_fast.c - the encoder of deflate/device_fast on one host thread: its specification,
 * byte for byte.
 *
 * As cpu.c, but without matches. Scratch: as cpu.c.
 */
#include "encoder/segments.h"

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	return sl_encoder_run(x, job, false);
}

const struct sl_backend sl_deflate_cpu_fast = {
	.name = "cpu_fast",
	.primitive = SL_DEFLATE,
	.space = SL_HOST,
	.help = "the encoder of deflate/device_fast on one thread, with the same bytes; one level",
	.scratch = sl_encoder_scratch,
	.deflate = run,
};
