/* run_files.c - the files of survivors of a run: their names, their contents; see results.h. */
#include "pipeline/results/results.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "stages/formats/formats.h"
#include "stages/inputs/inputs.h"

/* Cuts the arrays of paths and checksums, and the paths; only measures while a has no memory. */
static void lay_out(struct sl_arena *a, const char *folder, const struct sl_manifest *m,
	struct sl_run_files *files)
{
	const char **path = (const char **)sl_cut_items(a, m->n, sizeof(*path));
	uint32_t *crc = (uint32_t *)sl_cut_items(a, m->n, sizeof(*crc));

	for (size_t i = 0; i < m->n; i++) {
		size_t bytes = strlen(folder) + strlen(m->line[i].file.name) + 2;
		char *text = (char *)sl_cut(a, bytes);

		if (!text)
			continue;
		snprintf(text, bytes, "%s/%s", folder, m->line[i].file.name);
		path[i] = text;
		crc[i] = m->line[i].file.crc;
	}
	files->path = path;
	files->crc = crc;
	files->n = m->n;
}

static enum sl_status list(
	const char *folder, const struct sl_manifest *m, struct sl_run_files *files)
{
	struct sl_arena a = {0};

	if (m->n == 0)
		return sl_fail(SL_USAGE,
			"'%s' is a directory without committed batches (no run started there, or it "
			"has not finished a batch); name files, or the directory of a run",
			folder);
	if (!m->line[0].file.name[0])
		return sl_fail(SL_USAGE,
			"'%s' is the directory of a run without files of survivors (output.format: "
			"none), so there are no particles to read; run it with another format",
			folder);
	lay_out(&a, folder, m, files);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &files->block));
	a = (struct sl_arena){files->block, 0, a.used};
	lay_out(&a, folder, m, files);
	return SL_OK;
}

enum sl_status sl_run_files_list(const char *folder, struct sl_run_files *files)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest m = {.line = NULL};

	*files = (struct sl_run_files){.n = 0};
	SL_TRY(sl_dir_open(folder, false, &dir));
	SL_TRY(sl_manifest_read(&dir, &m));
	return list(folder, &m, files);
}

enum sl_status sl_run_files_state(const char *folder, char state[SL_RUN_STATE_BYTES])
{
	/* Newlines in strings are escaped, so this is a member of the root. */
	static const char member[] = "\n\t\"state\": \"";
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	SL_CLOSED_BY(sl_host_give) char *text = NULL;
	const char *found;
	bool exists;
	size_t bytes;

	state[0] = '\0';
	SL_TRY(sl_dir_open(folder, false, &dir));
	SL_TRY(sl_file_exists(&dir, "run.json", &exists));
	if (!exists)
		return SL_OK;
	SL_TRY(sl_file_read(&dir, "run.json", &text, &bytes));
	found = strstr(text, member);
	if (found)
		snprintf(state, SL_RUN_STATE_BYTES, "%.*s",
			(int)strcspn(found + sizeof(member) - 1, "\"\n"),
			found + sizeof(member) - 1);
	return SL_OK;
}

/* --- contents --------------------------------------------------------------------------------- */

/* Removes the columns that are not wanted, which can have no values. */
static void drop_unwanted(struct sl_table *t)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		if (sl_table_wants(t, sl_table_name(t, k)))
			t->column[n++] = t->column[k];
	t->n_columns = n;
}

/* Reads the table of a file in memory. */
static enum sl_status read_table(const void *file, size_t bytes, struct sl_survivors *s)
{
	size_t used;

	SL_TRY(sl_format_load(s->format->read, file, bytes, &s->table, &s->block, &used));
	drop_unwanted(&s->table);
	return SL_OK;
}

enum sl_status sl_survivors_of(const struct sl_format *format, const void *file, size_t bytes,
	uint32_t known, struct sl_survivors *s)
{
	*s = (struct sl_survivors){
		.format = format, .file_bytes = bytes, .table = {.known = known}};
	return read_table(file, bytes, s);
}

/* label: the name of the file in messages */
static enum sl_status read_file(const struct sl_dir *dir, const char *name, const char *label,
	const char *only, struct sl_survivors *s)
{
	SL_CLOSED_BY(sl_host_give) char *file = NULL;
	bool exists = true;

	*s = (struct sl_survivors){.table = {.only = only}};
	s->format = sl_format_of(name);
	if (!s->format)
		SL_TRY(sl_file_exists(dir, name, &exists));
	if (!s->format && exists)
		return sl_fail(SL_BAD_INPUT,
			"%s: the suffix belongs to no format (see sluice list); give a file of a run",
			label);
	SL_TRY(sl_file_read(dir, name, &file, &s->file_bytes));
	return sl_add_context(read_table(file, s->file_bytes, s), "%s", label);
}

enum sl_status sl_survivors_read(
	const struct sl_dir *dir, const char *name, const char *only, struct sl_survivors *s)
{
	return read_file(dir, name, name, only, s);
}

enum sl_status sl_survivors_read_columns(const char *path, const char *only, struct sl_survivors *s)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	char folder[SL_PATH_BYTES];
	const char *name = sl_path_split(path, folder);

	SL_TRY(sl_dir_open(folder, false, &dir));
	return read_file(&dir, name, path, only, s);
}

enum sl_status sl_survivors_count(const struct sl_dir *dir, const char *name, uint64_t *n)
{
	const struct sl_format *format = sl_format_of(name);
	struct sl_arena measure = {0};
	struct sl_table t = {0};
	SL_CLOSED_BY(sl_unmap) struct sl_map file = {.at = NULL};
	enum sl_status s;

	SL_TRY(sl_map_entry(dir, name, &file));
	s = format->read(file.at, file.bytes, &measure, &t);
	*n = t.n;
	return sl_add_context(s, "%s/%s", dir->path, name);
}

void sl_survivors_free(struct sl_survivors *s)
{
	sl_memory_give(SL_HOST, s->block);
	s->block = NULL;
}
