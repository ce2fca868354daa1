/*
 * merge_pass.c - the passes over groups of files.
 *
 * Pass 0 has the batches as files; pass p > 0 has the intermediate files that pass p - 1 has made, which
 * are named by pass and number.
 */
#include "pipeline/output/merge/merge_pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/output/merge/merge_streams.h"
#include "pipeline/results/manifest.h"
#include "primitives/device/device.h"

/* The memory of a merge: sources, trees and buffers. */
struct merge_work {
	const struct sl_merge *m;
	struct sl_source_group group;
	struct sl_merge_streams streams;
	struct sl_merge_target target;
	void *block;
};

_Static_assert(
	sizeof(struct sl_record_source) + sizeof(struct sl_loser_head) <= SL_MERGE_SOURCE_BYTES,
	"plans count these bytes per source");

/* What is cut here is counted by sl_joined_memory(). */
static void lay_out(struct sl_arena *a, uint32_t files, struct merge_work *w)
{
	struct sl_source_group *g = &w->group;

	g->source = (struct sl_record_source *)sl_cut_items(a, files, sizeof(*g->source));
	g->tree.at = (struct sl_loser_head *)sl_cut_items(a, files, sizeof(*g->tree.at));
	w->target.buffer = (uint8_t *)sl_cut(a, SL_MERGE_TARGET_BYTES);
	sl_merge_streams_lay_out(a, &w->streams);
}

static void name_of(const struct sl_merge *m, uint32_t pass, uint64_t number, char *name)
{
	snprintf(name, SL_FILE_NAME_BYTES, "%.220s.%" PRIu32 "_%" PRIu64, m->list, pass, number);
}

bool sl_merge_pass_is_file(const char *name, const char *list)
{
	static const char digits[] = "0123456789";
	size_t n = strlen(list), pass, number;

	if (strncmp(name, list, n) != 0 || name[n] != '.')
		return false;
	name += n + 1;
	pass = strspn(name, digits);
	if (pass == 0 || name[pass] != '_')
		return false;
	number = strspn(name + pass + 1, digits);
	return number > 0 && strcmp(name + pass + 1 + number, ".part") == 0;
}

/* Opens file `number` of a pass as a source. */
static enum sl_status open_source(
	const struct sl_merge *m, uint32_t pass, uint64_t number, struct sl_record_source *s)
{
	char name[SL_FILE_NAME_BYTES], path[SL_PATH_BYTES];

	if (pass == 0)
		return sl_record_source_open(s, m->dir, &m->batches->line[number], m->selection);
	name_of(m, pass, number, name);
	snprintf(path, sizeof(path), "%.3800s/%s.part", m->work->path, name);
	return sl_record_source_open_pass(s, path, m->selection);
}

/* Merges n open sources into the target, in the calling thread. */
static enum sl_status merge_open(struct merge_work *w, uint32_t n)
{
	const size_t bytes = w->m->selection->record_bytes;
	struct sl_source_group *g = &w->group;

	SL_TRY(sl_source_group_begin(g, n));
	while (g->tree.left > 0) {
		uint32_t i = sl_loser_tree_least(&g->tree);

		SL_TRY(sl_merge_target_add(
			&w->target, g->source[i].key, g->source[i].record, bytes));
		SL_TRY(sl_source_group_advance(g, i));
	}
	return SL_OK;
}

/* --- passes ----------------------------------------------------------------------------------- */

/*
 * Files that a pass merges at a time. The survivors of a table are in memory while it is read, so batches in
 * a format of columns become intermediate files of rows one by one.
 */
static uint32_t most_of(const struct sl_merge *m, uint32_t pass)
{
	return pass == 0 && m->selection->rows ? 1 : m->most;
}

/* Merges n files of a pass, from number first on, into the target. */
static enum sl_status merge_files(struct merge_work *w, uint32_t pass, uint64_t first, uint32_t n)
{
	enum sl_status s = SL_OK;

	memset(w->group.source, 0, n * sizeof(*w->group.source));
	for (uint32_t i = 0; s == SL_OK && i < n; i++)
		s = open_source(w->m, pass, first + i, &w->group.source[i]);
	if (s == SL_OK && n > 1 && w->m->pool->n > 1)
		s = sl_merge_streams_run(
			&w->streams, w->group.source, w->group.tree.at, n, &w->target);
	else if (s == SL_OK)
		s = merge_open(w, n);
	for (uint32_t i = 0; i < n; i++)
		sl_record_source_close(&w->group.source[i]);
	return s;
}

/* Removes the files that a pass reads, except the batches. */
static enum sl_status remove_files(
	const struct sl_merge *m, uint32_t pass, uint64_t first, uint64_t n)
{
	enum sl_status s = SL_OK;

	for (uint64_t i = first; pass > 0 && i < first + n; i++) {
		char name[SL_FILE_NAME_BYTES + 8];

		name_of(m, pass, i, name);
		strcat(name, ".part");
		if (s == SL_OK)
			s = sl_file_remove(m->work, name);
		else
			(void)sl_file_remove(m->work, name);
	}
	return s;
}

/* Merges a group of files into intermediate file `number` of the next pass. */
static enum sl_status merge_group(
	struct merge_work *w, uint32_t pass, uint64_t first, uint32_t n, uint64_t number)
{
	char name[SL_FILE_NAME_BYTES];
	enum sl_status s;

	name_of(w->m, pass + 1, number, name);
	SL_TRY(sl_file_begin(w->m->work, name, &w->target.file));
	w->target.used = 0;
	s = merge_files(w, pass, first, n);
	if (s == SL_OK)
		s = sl_merge_target_flush(&w->target);
	if (s != SL_OK) {
		sl_file_drop(&w->target.file);
		return s;
	}
	SL_TRY(sl_file_sync(&w->target.file));
	return remove_files(w->m, pass, first, n);
}

/* The number of files of the next pass. */
static uint64_t groups_of(const struct sl_merge *m, uint32_t pass, uint64_t files)
{
	return (files + most_of(m, pass) - 1) / most_of(m, pass);
}

static uint32_t group_size(const struct sl_merge *m, uint32_t pass, uint64_t files, uint64_t group)
{
	uint64_t left = files - group * most_of(m, pass);

	return left < most_of(m, pass) ? (uint32_t)left : most_of(m, pass);
}

/* After a failure in a pass over so many files: removes those of this pass and of the next one. */
static enum sl_status remove_all(
	const struct sl_merge *m, uint32_t pass, uint64_t files, enum sl_status s)
{
	char why[SL_MESSAGE_BYTES];

	memcpy(why, sl_last_error(), sizeof(why));
	(void)remove_files(m, pass, 0, files);
	(void)remove_files(m, pass + 1, 0, groups_of(m, pass, files));
	sl_set_last_error(why);
	return s;
}

/* All passes: intermediate ones while there are too many files, then the one into the list. */
static enum sl_status merge_all(struct merge_work *w, struct sl_record_output *o)
{
	const struct sl_merge *m = w->m;
	uint64_t files = m->batches->n;
	enum sl_status s = SL_OK;
	uint32_t pass = 0;

	for (; files > most_of(m, pass); files = groups_of(m, pass, files), pass++) {
		for (uint64_t g = 0; s == SL_OK && g < groups_of(m, pass, files); g++)
			s = merge_group(
				w, pass, g * most_of(m, pass), group_size(m, pass, files, g), g);
		if (s != SL_OK)
			return remove_all(m, pass, files, s);
	}
	w->target.list = o;
	s = merge_files(w, pass, 0, (uint32_t)files);
	if (s == SL_OK)
		s = remove_files(m, pass, 0, files);
	return s == SL_OK ? SL_OK : remove_all(m, pass, files, s);
}

enum sl_status sl_merge_run(const struct sl_merge *m, struct sl_record_output *o)
{
	struct merge_work w = {.m = m, .streams = {.pool = m->pool}};
	struct sl_arena a = {0};
	enum sl_status s;

	lay_out(&a, m->most, &w);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &w.block));
	a = (struct sl_arena){.base = w.block, .size = a.used};
	lay_out(&a, m->most, &w);
	s = merge_all(&w, o);
	sl_memory_give(SL_HOST, w.block);
	return s;
}
