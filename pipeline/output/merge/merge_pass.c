/*
 * merge_pass.c - a tree of sources, and the passes over groups of them.
 *
 * Pass 0 has the batches as files; pass p > 0 has the intermediate files that pass p - 1 has made, which
 * are named by pass and number.
 */
#include "pipeline/output/merge/merge_pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/results/manifest.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"

/* --- the tree --------------------------------------------------------------------------------- */

/* The record at hand of a source: its key, and the number of the source from 1 on. */
struct head {
	uint64_t key, source;
};

/* Added to the number of a source without a record: it comes after all others. */
#define ENDED (UINT64_C(1) << 32)

/*
 * A tree of losers (Knuth, vol. 3, 5.4.1): n sources are its leaves, and each node has the later one of
 * the two records that met there. at[0] is the least record. A new record of its source meets the records
 * on the path to the root.
 */
struct tree {
	struct sl_record_source *source;
	struct head *at; /* n */
	uint32_t n;
	uint32_t left; /* sources with a record */
};

/* Written without branches, which no processor could predict. */
static bool is_before(const struct head *a, const struct head *b)
{
	return (a->key < b->key) | ((a->key == b->key) & (a->source < b->source));
}

/* Enters the record at hand of a source. */
static void enter(struct tree *t, uint32_t source, struct head item)
{
	for (uint32_t i = (source + t->n) / 2; i > 0; i /= 2) {
		struct head other = t->at[i];
		bool loses = is_before(&other, &item);

		t->at[i].key = loses ? item.key : other.key;
		t->at[i].source = loses ? item.source : other.source;
		item.key = loses ? other.key : item.key;
		item.source = loses ? other.source : item.source;
	}
	t->at[0] = item;
}

/* Moves a source to its next record, and enters it. */
static enum sl_status advance(struct tree *t, uint32_t source)
{
	struct head item = {UINT64_MAX, ENDED + source};
	bool more;

	SL_TRY(sl_record_source_next(&t->source[source], &more));
	if (more)
		item = (struct head){t->source[source].key, source + 1};
	else
		t->left--;
	enter(t, source, item);
	return SL_OK;
}

/* Builds the tree of n open sources. At first it has records that come before all others. */
static enum sl_status begin_tree(struct tree *t, uint32_t n)
{
	t->n = t->left = n;
	memset(t->at, 0, n * sizeof(*t->at));
	for (uint32_t i = 0; i < n; i++)
		SL_TRY(advance(t, i));
	return SL_OK;
}

/* --- where records go --------------------------------------------------------------------------- */

enum { BUFFER_BYTES = 1 << 20 };

/* The list, or an intermediate file. */
struct merge_target {
	struct sl_record_output *list; /* NULL: it is a file */
	struct sl_file_writer file;
	uint8_t *buffer; /* BUFFER_BYTES */
	size_t used;
};

static enum sl_status flush(struct merge_target *t)
{
	size_t used = t->used;

	t->used = 0;
	return sl_file_add(&t->file, t->buffer, used);
}

/* Appends the record at hand of a source. */
static enum sl_status put(struct merge_target *t, const struct sl_record_source *s)
{
	uint32_t bytes = s->selection->record_bytes;

	if (t->list)
		return sl_record_output_add(t->list, s->record);
	if (t->used + sizeof(s->key) + bytes > BUFFER_BYTES)
		SL_TRY(flush(t));
	memcpy(t->buffer + t->used, &s->key, sizeof(s->key));
	memcpy(t->buffer + t->used + sizeof(s->key), s->record, bytes);
	t->used += sizeof(s->key) + bytes;
	return SL_OK;
}

/* --- passes ------------------------------------------------------------------------------------- */

/* The memory of a merge: sources, tree and buffer. */
struct merge_work {
	const struct sl_merge *m;
	struct tree tree;
	struct merge_target target;
	void *block;
};

static void lay_out(struct sl_arena *a, uint32_t files, struct merge_work *w)
{
	w->tree.source = (struct sl_record_source *)sl_cut_items(a, files, sizeof(*w->tree.source));
	w->tree.at = (struct head *)sl_cut_items(a, files, sizeof(*w->tree.at));
	w->target.buffer = (uint8_t *)sl_cut(a, BUFFER_BYTES);
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

/* Merges the sources that are open into the target. */
static enum sl_status merge_open(struct merge_work *w, uint32_t n)
{
	struct tree *t = &w->tree;

	SL_TRY(begin_tree(t, n));
	while (t->left > 0) {
		uint32_t source = (uint32_t)t->at[0].source - 1;

		SL_TRY(put(&w->target, &t->source[source]));
		SL_TRY(advance(t, source));
	}
	return SL_OK;
}

/* Merges n files of a pass, from number first on, into the target. */
static enum sl_status merge_files(struct merge_work *w, uint32_t pass, uint64_t first, uint32_t n)
{
	enum sl_status s = SL_OK;

	memset(w->tree.source, 0, n * sizeof(*w->tree.source));
	for (uint32_t i = 0; s == SL_OK && i < n; i++)
		s = open_source(w->m, pass, first + i, &w->tree.source[i]);
	if (s == SL_OK)
		s = merge_open(w, n);
	for (uint32_t i = 0; i < n; i++)
		sl_record_source_close(&w->tree.source[i]);
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
		s = flush(&w->target);
	if (s != SL_OK) {
		sl_file_drop(&w->target.file);
		return s;
	}
	SL_TRY(sl_file_sync(&w->target.file));
	return remove_files(w->m, pass, first, n);
}

/*
 * Files that a pass merges at a time. The survivors of a table are in memory while it is read, so batches in
 * a format of columns become intermediate files of rows one by one.
 */
static uint32_t most_of(const struct sl_merge *m, uint32_t pass)
{
	return pass == 0 && m->selection->rows ? 1 : m->most;
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
	struct merge_work w = {.m = m};
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
