/*
 * merged_list.c - merges the batch files of a run into one file, or compares an existing one.
 *
 * sl_merged_list_send() produces the bytes of the list: a header with the sums of all headers, then
 * the records of each batch file, or the records of all in another order or selection
 * (merge/ordered_list.h). Writing and comparing differ only in the sink of these bytes, so sluice
 * verify checks exactly what a run writes.
 */
#include "pipeline/output/output.h"

#include <string.h>

#include "pipeline/plan/joined_memory.h"
#include "pipeline/plan/plan.h"
#include "primitives/base/clock.h"
#include "primitives/files/files.h"
#include "stages/formats/mcpl/mcpl.h"

/* --- parts ------------------------------------------------------------------------------------ */

/*
 * Adds the header of a batch file to *sum. The file is mapped, so the disk delivers only the pages
 * of the header.
 */
static enum sl_status add_header(
	const struct sl_dir *dir, const struct sl_manifest_line *l, struct sl_mcpl_head *sum)
{
	SL_CLOSED_BY(sl_unmap) struct sl_map file = {.at = NULL};
	struct sl_mcpl_head head;
	enum sl_status s;
	bool recovered;

	SL_TRY(sl_map_entry(dir, l->file.name, &file));
	s = sl_mcpl_head_read(file.at, file.bytes, &head, &recovered);
	if (s == SL_OK)
		s = sl_mcpl_head_join(sum, &head, false);
	return sl_add_context(s, "%s/%s", dir->path, l->file.name);
}

/*
 * Sends the records of a batch: the bytes after the header, whose checksum was compared, so that a
 * damaged batch never enters the list. All headers of a run have the same length, because counts
 * have a fixed width. Gzip members may be concatenated, so compressed records are copied without
 * decompressing them.
 */
static enum sl_status send_batch(const struct sl_dir *dir, const struct sl_manifest_line *l,
	size_t header_bytes, const struct sl_list_target *to)
{
	SL_CLOSED_BY(sl_checked_file_close) struct sl_checked_file f = {.name = NULL};

	SL_TRY(sl_checked_file_open(&f, dir, &l->file));
	SL_TRY(sl_checked_file_end(&f));
	if (f.map.bytes < header_bytes)
		return sl_fail(SL_CHECK_FAILED,
			"%s/%s: has %zu bytes, fewer than the %zu of its header, so this "
			"program did not write it; remove it and rerun with --resume",
			dir->path, l->file.name, f.map.bytes, header_bytes);
	return to->sink(to->context, SL_NEXT, (const char *)f.map.at + header_bytes,
		f.map.bytes - header_bytes);
}

/* Sends the batches one after another: the merged header, then the bytes of their records. */
static enum sl_status send_whole_batches(const struct sl_ordered_list *l, struct sl_mcpl_head *sum,
	const struct sl_list_target *to, struct sl_joined_list *list)
{
	struct sl_written written = {.columns = 1};

	*list = (struct sl_joined_list){.particles = 0};
	for (size_t i = 0; i < l->m->n; i++)
		list->particles += l->m->line[i].survivors;
	sl_mcpl_head_finish(sum);
	SL_TRY(sl_list_header_send(to, sum->bytes, sum->size));
	for (size_t i = 0; i < l->m->n; i++) {
		SL_TRY(send_batch(l->dir, &l->m->line[i], sl_list_header_bytes(to, sum->size), to));
		written.values += l->m->line[i].survivors;
	}
	return sl_format_check_written(&written, list->particles);
}

enum sl_status sl_merged_list_send(const struct sl_ordered_list *l, sl_byte_sink *sink,
	void *context, struct sl_joined_list *list)
{
	const struct sl_format *format = l->plan->choices.format;
	const struct sl_list_target to = {
		sink, context, &l->plan->facts, format == &sl_format_mcpl_gz};
	SL_CLOSED_BY(sl_mcpl_head_free) struct sl_mcpl_head sum = {.bytes = NULL};

	for (size_t i = 0; !format->join && i < l->m->n; i++)
		SL_TRY(add_header(l->dir, &l->m->line[i], &sum));
	return sl_ordered_list_is_needed(l->plan, l->m) ? sl_ordered_list_send(l, &sum, &to, list)
	                                                : send_whole_batches(l, &sum, &to, list);
}

/* --- the list --------------------------------------------------------------------------------- */

static enum sl_status write_bytes(void *context, uint64_t at, const void *bytes, size_t size)
{
	return sl_file_put((struct sl_file_writer *)context, at, bytes, size);
}

enum sl_status sl_merged_list_commit(
	struct sl_workspace *work, const struct sl_dir *dir, const struct sl_manifest *m)
{
	const struct sl_plan *plan = work->plan;
	const struct sl_ordered_list from = {plan, dir, dir, m, SL_MERGED_FILES_MOST};
	char name[SL_FILE_NAME_BYTES];
	const uint64_t begun = sl_now_ns();
	SL_CLOSED_BY(sl_file_drop) struct sl_file_writer w = {.fd = -1};

	if (!sl_plan_is_joined(plan) || m->n == 0)
		return SL_OK;
	sl_merged_list_name(plan->config.run.name, plan->choices.format, name);
	SL_TRY(sl_file_begin(dir, name, &w));
	SL_TRY(sl_add_context(
		sl_merged_list_send(&from, write_bytes, &w, &work->joined), "%s", name));
	SL_TRY(sl_file_end(&w, true));
	work->joined.seconds = 1e-9 * (double)(sl_now_ns() - begun);
	return SL_OK;
}

/* The existing list, of which each byte is compared once. */
struct comparison {
	const char *file;
	size_t bytes;
	uint64_t compared; /* bytes */
	bool differs;
};

/* Never fails: a difference is recorded, and all batch files are still checked. */
static enum sl_status compare_bytes(void *context, uint64_t at, const void *bytes, size_t size)
{
	struct comparison *f = (struct comparison *)context;

	at = at == SL_NEXT ? f->compared : at;
	__atomic_fetch_add(&f->compared, size, __ATOMIC_RELAXED);
	if (size > 0 &&
		(at > f->bytes || size > f->bytes - at || memcmp(f->file + at, bytes, size) != 0))
		__atomic_store_n(&f->differs, true, __ATOMIC_RELAXED);
	return SL_OK;
}

/*
 * Sends the list with intermediate files in a new directory, in that of the run or, if that is
 * read-only, in $TMPDIR: the directory of the run is not locked, and a run or another check can be
 * making files of the same names there.
 */
static enum sl_status send_again(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_manifest *m, struct comparison *found)
{
	struct sl_dir temporary;
	const struct sl_ordered_list from = {plan, dir, &temporary, m, SL_MERGED_FILES_MOST};
	struct sl_joined_list list;
	struct sl_failure before;

	if (m->n == 0)
		return SL_OK;
	SL_TRY(sl_dir_make_temporary(
		sl_dir_is_writable(dir) ? dir->path : NULL, "sluice-verify", &temporary));
	before = sl_failure_keep(sl_merged_list_send(&from, compare_bytes, found, &list));
	sl_dir_close(&temporary);
	return sl_failure_first(&before, sl_dir_remove(temporary.path));
}

enum sl_status sl_merged_list_check(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];
	SL_CLOSED_BY(sl_unmap) struct sl_map file = {.at = NULL};
	struct comparison found = {.compared = 0};

	sl_merged_list_name(plan->config.run.name, plan->choices.format, name);
	SL_TRY(sl_map_entry(dir, name, &file));
	found.file = (const char *)file.at;
	found.bytes = file.bytes;
	SL_TRY(send_again(plan, dir, m, &found));
	return !found.differs && found.compared == found.bytes
	               ? SL_OK
	               : sl_fail(SL_CHECK_FAILED,
				 "%s/%s: differs from the list that the batch files give (it was changed, "
				 "belongs to another run, or was compressed by another version of a "
				 "library); use --resume to write it again",
				 dir->path, name);
}
