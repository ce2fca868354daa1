/* checked_file.c - see source.h. */
#include "pipeline/output/source/source.h"

#include <stdio.h>

#include "primitives/files/files.h"

/* Bytes that are checksummed at a time: they are still in the cache when they are read again. */
enum { STEP = 1 << 16 };

static enum sl_status differs(const struct sl_dir *dir, const char *name)
{
	return sl_fail(SL_CHECK_FAILED,
		"%s/%s: size or checksum differs from the manifest (the file was changed, or the "
		"disk is failing); use --resume to compute the batch again",
		dir->path, name);
}

enum sl_status sl_checked_file_open(struct sl_checked_file *f, const struct sl_dir *dir,
	const char *name, uint64_t bytes, uint32_t crc)
{
	char path[SL_PATH_BYTES];

	*f = (struct sl_checked_file){.dir = dir, .name = name, .expected = crc};
	snprintf(path, sizeof(path), "%.3800s/%s", dir->path, name);
	SL_TRY(sl_map_file(path, &f->map));
	if (f->map.bytes == bytes)
		return SL_OK;
	sl_checked_file_close(f);
	return differs(dir, name);
}

static void add_to_checksum(struct sl_checked_file *f, size_t to)
{
	if (to > f->done)
		f->crc = sl_crc32_update(f->crc, (const char *)f->map.at + f->done, to - f->done);
	f->done = to;
}

void sl_checked_file_advance(struct sl_checked_file *f, size_t at)
{
	if (at >= f->done + STEP)
		add_to_checksum(f, at);
}

enum sl_status sl_checked_file_end(struct sl_checked_file *f)
{
	add_to_checksum(f, f->map.bytes);
	return f->crc == f->expected ? SL_OK : differs(f->dir, f->name);
}

void sl_checked_file_close(struct sl_checked_file *f)
{
	sl_unmap(&f->map);
}
