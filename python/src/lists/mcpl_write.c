/*
 * mcpl_write.c - see lists.h.
 *
 * Blocks of records are made, and for .mcpl.gz compressed, by all cores, and written in order. A
 * block of a .mcpl.gz file is a gzip member, as in the files of a run.
 */
#include "python/src/lists/lists.h"

#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/base/clock.h"
#include "primitives/files/files.h"
#include "primitives/primitives.h"
#include "stages/formats/common/common.h"
#include "stages/formats/mcpl/mcpl.h"

/* What a thread works in. */
struct desk {
	uint8_t *records, *packed;
	size_t used; /* bytes of packed, or of records without compression */
	struct sl_exec x;
};

struct writing {
	const struct sl_py_mcpl *l;
	struct sl_mcpl_header h;
	struct sl_file_facts facts; /* the compressor */
	bool gzipped;
	size_t rows; /* of a block */
	struct sl_file_writer file;
	struct sl_written written;
	struct sl_job_pool pool;
	uint64_t asked_ns; /* for sl_py_check_signals() */
	struct desk desk[SL_JOB_THREADS_MOST];
};

/* --- the header ------------------------------------------------------------------------------- */

/*
 * Its source must not be that of the files of a run, whose comments describe a run. at = NULL:
 * counts.
 */
static size_t put_header(const struct writing *w, uint8_t *at)
{
	const struct sl_mcpl_metadata *metadata = w->l->metadata;
	const struct sl_batch_facts all = {.generated = metadata ? metadata->n_parts : 0};
	struct sl_mcpl_buffer b = {at, sl_mcpl_put_fixed(at, &w->h)};
	char source[128] = "sluice.write_mcpl ";

	strncat(source, sl_version(), sizeof(source) - strlen(source) - 1);
	sl_mcpl_write_text(&b, source);
	sl_mcpl_put_metadata(&b, metadata, &all);
	for (size_t i = 0; i < w->l->n_comments; i++)
		sl_mcpl_write_text(&b, w->l->comment[i]);
	sl_mcpl_put_blobs(&b, NULL, metadata);
	return b.used;
}

static enum sl_status check_header(const struct writing *w)
{
	size_t bytes = put_header(w, NULL);

	if (bytes < SL_MCPL_STRING_BYTES_MOST &&
		sl_mcpl_count_strings(&w->h) < SL_MCPL_STRINGS_MOST)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"comment: %zu comments and what is taken over from headers have %zu bytes, more than "
		"a header can have; shorten them",
		w->l->n_comments, bytes);
}

/*
 * The header. In .mcpl.gz it is a separate gzip member. It is read once: statistics must not be
 * repeated.
 */
static enum sl_status write_header(struct writing *w)
{
	const uint64_t particles = w->h.particles;
	size_t bytes = put_header(w, NULL);
	SL_CLOSED_BY(sl_host_give) uint8_t *at = NULL;

	SL_TRY(sl_host_get(1, bytes + sl_gzip_stored_bytes(bytes), &at));
	w->h.particles = 0; /* none follow yet */
	put_header(w, at);
	SL_TRY(sl_mcpl_head_check(at, bytes));
	w->h.particles = particles;
	sl_mcpl_put_fixed(at, &w->h);
	return w->gzipped ? sl_file_add(&w->file, at + bytes, sl_gzip_store(at, bytes, at + bytes))
	                  : sl_file_add(&w->file, at, bytes);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static size_t rows_of(const struct writing *w, size_t k)
{
	size_t left = w->h.particles - k * w->rows;

	return left < w->rows ? left : w->rows;
}

static enum sl_status make(void *ctx, uint32_t worker, uint32_t k)
{
	struct writing *w = (struct writing *)ctx;
	struct desk *d = &w->desk[worker];
	size_t bytes = rows_of(w, k) * w->h.record_bytes;

	SL_TRY(sl_py_check_signals(worker, &w->asked_ns));
	SL_TRY(sl_py_mcpl_records(w->l, &w->h, k * w->rows, rows_of(w, k), d->records));
	d->used = bytes;
	if (!w->gzipped)
		return SL_OK;
	return sl_format_deflate(&d->x, &w->facts, SL_GZIP, d->records, bytes, d->packed, &d->used);
}

static enum sl_status put(void *ctx, uint32_t worker, uint32_t k)
{
	struct writing *w = (struct writing *)ctx;
	const struct desk *d = &w->desk[worker];

	w->written.values += rows_of(w, k);
	return sl_file_add(&w->file, w->gzipped ? d->packed : d->records, d->used);
}

/* The memory of all threads; called twice, first to measure. */
static void lay_out(struct writing *w, struct sl_arena *a)
{
	for (uint32_t t = 0; t <= w->pool.n; t++) {
		struct desk *d = &w->desk[t];

		d->records = (uint8_t *)sl_cut(a, SL_MCPL_MEMBER_BYTES);
		if (!w->gzipped)
			continue;
		d->packed = (uint8_t *)sl_cut(a, sl_deflate_most(SL_MCPL_MEMBER_BYTES, 0, 1));
		d->x = (struct sl_exec){.space = SL_HOST};
		d->x.scratch.size = sl_mcpl_member_scratch(&w->facts);
		d->x.scratch.base = sl_cut(a, d->x.scratch.size);
	}
}

static enum sl_status write_blocks(struct writing *w)
{
	const uint32_t n = (uint32_t)sl_ceil_div(w->h.particles, w->rows);
	SL_CLOSED_BY(sl_host_give) void *block = NULL;
	struct sl_arena a = {0};
	enum sl_status s;

	sl_py_pool_open(&w->pool, n);
	lay_out(w, &a);
	s = sl_memory_get(SL_HOST, a.used, &block);
	a = (struct sl_arena){block, 0, a.used};
	lay_out(w, &a);
	if (s == SL_OK)
		s = sl_tasks_in_order(&w->pool, w->pool.n + 1, n, make, put, w);
	sl_job_pool_close(&w->pool);
	return s;
}

/* --- the file --------------------------------------------------------------------------------- */

/* The suffix selects the format. */
static enum sl_status choose_format(struct writing *w, const char *name)
{
	w->gzipped = sl_path_ends_in(name, ".mcpl.gz");
	if (!w->gzipped && !sl_path_ends_in(name, ".mcpl"))
		return sl_fail(SL_USAGE, "%s: the name must end with .mcpl or .mcpl.gz; change it",
			w->l->path);
	w->facts.level = 1;
	return w->gzipped ? sl_find(SL_DEFLATE, "libdeflate", &w->facts.deflate) : SL_OK;
}

/*
 * Refused at once, not after all bytes are written; the rename refuses a file that appears later.
 */
static enum sl_status check_name(
	const struct writing *w, const struct sl_dir *dir, const char *name)
{
	bool exists = false;

	if (!w->l->force)
		SL_TRY(sl_file_exists(dir, name, &exists));
	return exists ? sl_fail(SL_OUTPUT_IN_USE,
				"%s: the file exists; choose another name, or replace it with "
				"force=True",
				w->l->path)
	              : SL_OK;
}

static enum sl_status write_file(struct writing *w, const struct sl_dir *dir, const char *name)
{
	SL_TRY(check_name(w, dir, name));
	SL_TRY(sl_file_begin(dir, name, &w->file));
	SL_TRY(write_header(w));
	SL_TRY(write_blocks(w));
	SL_TRY(sl_format_check_written(&w->written, w->h.particles));
	return sl_file_end(&w->file, w->l->force);
}

enum sl_status sl_py_mcpl_write(const struct sl_py_mcpl *l)
{
	struct writing w = {
		.l = l, .file = {.fd = -1}, .written = {.columns = 1}, .asked_ns = sl_now_ns()};
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	char folder[SL_PATH_BYTES];
	const char *name = sl_path_split(l->path, folder);
	enum sl_status s;

	SL_TRY(choose_format(&w, name));
	SL_TRY(sl_py_mcpl_header(l, &w.h));
	SL_TRY(check_header(&w));
	w.rows = SL_MCPL_MEMBER_BYTES / w.h.record_bytes;
	SL_TRY(sl_dir_open(folder, false, &dir));
	s = write_file(&w, &dir, name);
	sl_file_drop(&w.file);
	return s;
}
