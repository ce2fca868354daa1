/*
 * none.c - the format none: the survivors are counted and digested, but not written.
 *
 * A run has no files of survivors then: its manifest has the tallies and the digests of each batch.
 * The format is not in formats.def, which lists formats that a file can have.
 */
#include "stages/formats/common/format.h"

static struct sl_format_sizes sizes(const struct sl_table *most, const struct sl_file_facts *run)
{
	(void)most, (void)run;
	return (struct sl_format_sizes){0};
}

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	(void)x, (void)run, (void)device_packed;
	p->table = *t;
	return SL_OK;
}

/* An empty list of pieces: the caller writes no file. */
static enum sl_status assemble(const struct sl_file_facts *run, const struct sl_batch_facts *batch,
	const struct sl_packed *p, void *image, size_t size, struct sl_pieces *file)
{
	(void)run, (void)batch, (void)p, (void)image, (void)size, (void)file;
	return SL_OK;
}

static enum sl_status read_table(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	(void)file, (void)bytes, (void)a;
	*t = (struct sl_table){0};
	return sl_fail(SL_USAGE,
		"no file has the format none, so there is nothing to read; name a file of another "
		"format");
}

const struct sl_format sl_format_none = {
	.name = "none",
	.suffix = "",
	.help = "no files of survivors: tallies, and the counts and digests of each batch",
	.sizes = sizes,
	.pack = pack,
	.no_streams = "is not written",
	.assemble = assemble,
	.read = read_table,
};
