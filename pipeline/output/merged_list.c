/* merged_list.c - see merged_list.h. */
#include "pipeline/output/merged_list.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/plan/file_names.h"
#include "primitives/files/map.h"
#include "primitives/files/read.h"
#include "primitives/files/crc32.h"
#include "primitives/files/files.h"
#include "stages/formats/common/gzip_stored.h"
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* Takes the next bytes of the list. */
typedef enum sl_status (*taker)(void *of, const void *bytes, size_t size);

/* --- pieces ----------------------------------------------------------------------------------- */

/* The file of a batch, to be given back, if it is the one that was committed. */
static enum sl_status read_batch(
	const struct sl_dir *dir, const struct sl_manifest_line *l, char **file, size_t *bytes)
{
	SL_TRY(sl_file_read(dir, l->file, file, bytes));
	if (*bytes == l->file_bytes && sl_crc32(*file, *bytes) == l->file_crc)
		return SL_OK;
	sl_memory_give(SL_HOST, *file);
	return sl_fail(SL_CHECK_FAILED,
		"%s/%s: its size or checksum is not that of the manifest (it was changed, or the "
		"disk is failing), try --resume, which makes it anew",
		dir->path, l->file);
}

/* Reads of the file no more than its header needs. */
static enum sl_status read_head(
	const struct sl_dir *dir, const struct sl_manifest_line *l, struct sl_mcpl_head *head)
{
	char path[SL_PATH_BYTES];
	struct sl_map file;
	enum sl_status s;
	bool recovered;

	snprintf(path, sizeof(path), "%.3800s/%s", dir->path, l->file);
	SL_TRY(sl_map_file(path, &file));
	s = sl_add_context(sl_mcpl_head_read(file.at, file.bytes, head, &recovered), "%s", path);
	sl_unmap(&file);
	return s;
}

/* What all headers come to: the first, with the sums of all. */
static enum sl_status join_heads(
	const struct sl_dir *dir, const struct sl_manifest *m, struct sl_mcpl_head *sum)
{
	SL_TRY(read_head(dir, &m->line[0], sum));
	for (size_t i = 1; i < m->n; i++) {
		struct sl_mcpl_head head;
		enum sl_status s;

		SL_TRY(read_head(dir, &m->line[i], &head));
		s = sl_add_context(
			sl_mcpl_head_join(sum, &head), "%s/%s", dir->path, m->line[i].file);
		sl_mcpl_head_free(&head);
		SL_TRY(s);
	}
	sl_mcpl_head_finish(sum);
	return SL_OK;
}

/* Hands over the header in the form that the files of batches have it in. */
static enum sl_status take_head(
	const struct sl_plan *plan, const struct sl_mcpl_head *head, taker take, void *of)
{
	enum sl_status s;
	void *stored;

	if (plan->format->packing.wrapper != SL_GZIP)
		return take(of, head->bytes, head->size);
	SL_TRY(sl_memory_get(SL_HOST, sl_gzip_stored_bytes(head->size), &stored));
	s = take(of, stored, sl_gzip_store(head->bytes, head->size, (uint8_t *)stored));
	sl_memory_give(SL_HOST, stored);
	return s;
}

/* Hands over what follows the header in each file: headers of a run are all of one length. */
static enum sl_status take_bodies(const struct sl_dir *dir, const struct sl_manifest *m,
	size_t header_bytes, taker take, void *of)
{
	for (size_t i = 0; i < m->n; i++) {
		enum sl_status s;
		size_t bytes;
		char *file;

		SL_TRY(read_batch(dir, &m->line[i], &file, &bytes));
		if (bytes >= header_bytes)
			s = take(of, file + header_bytes, bytes - header_bytes);
		else
			s = sl_fail(SL_CHECK_FAILED,
				"%s/%s: has %zu bytes, fewer than the %zu of its header, so this "
				"program did not write it; remove it and rerun with --resume",
				dir->path, m->line[i].file, bytes, header_bytes);
		sl_memory_give(SL_HOST, file);
		SL_TRY(s);
	}
	return SL_OK;
}

static enum sl_status take_all(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_manifest *m, taker take, void *of)
{
	struct sl_mcpl_head head = {0};
	enum sl_status s = join_heads(dir, m, &head);
	size_t bytes = plan->format->packing.wrapper == SL_GZIP ? sl_gzip_stored_bytes(head.size)
	                                                        : head.size;

	if (s == SL_OK)
		s = take_head(plan, &head, take, of);
	if (s == SL_OK)
		s = take_bodies(dir, m, bytes, take, of);
	sl_mcpl_head_free(&head);
	return s;
}

/* --- the list --------------------------------------------------------------------------------- */

static enum sl_status add(void *of, const void *bytes, size_t size)
{
	return sl_file_add((struct sl_file_writer *)of, bytes, size);
}

enum sl_status sl_joined_commit(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];
	struct sl_file_writer w;
	enum sl_status s;

	if (!plan->config.output.joined || m->n == 0)
		return SL_OK;
	sl_merged_list_name(plan->config.run.name, plan->format, name);
	SL_TRY(sl_file_begin(dir, name, true, &w));
	s = take_all(plan, dir, m, add, &w);
	if (s == SL_OK)
		return sl_file_end(&w, true);
	sl_file_drop(&w);
	return sl_add_context(s, "%s", name);
}

/* What is there, as far as it has not been compared. */
struct identity_check {
	const char *at;
	size_t left;
	bool same;
};

static enum sl_status compare(void *of, const void *bytes, size_t size)
{
	struct identity_check *f = (struct identity_check *)of;

	if (size == 0)
		return SL_OK;
	f->same = f->same && size <= f->left && memcmp(f->at, bytes, size) == 0;
	if (f->same) {
		f->at += size;
		f->left -= size;
	}
	return SL_OK;
}

enum sl_status sl_joined_check(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES], path[SL_PATH_BYTES];
	struct identity_check found = {.same = true};
	struct sl_map file;
	enum sl_status s;

	sl_merged_list_name(plan->config.run.name, plan->format, name);
	snprintf(path, sizeof(path), "%.3800s/%s", dir->path, name);
	SL_TRY(sl_map_file(path, &file));
	found.at = (const char *)file.at;
	found.left = file.bytes;
	s = take_all(plan, dir, m, compare, &found);
	sl_unmap(&file);
	SL_TRY(s);
	return found.same && found.left == 0
	               ? SL_OK
	               : sl_fail(SL_CHECK_FAILED,
				 "%s: is not what the files of the batches make (it was changed, or "
				 "is another run's), try --resume, which writes it anew",
				 path);
}
