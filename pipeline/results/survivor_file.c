/* survivor_file.c - see results.h. */
#include "pipeline/results/results.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/files/files.h"
#include "stages/formats/formats.h"

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

/* s is empty, but for the columns that are wanted. */
static enum sl_status read_wanted(
	const struct sl_dir *dir, const char *name, struct sl_survivors *s)
{
	SL_CLOSED_BY(sl_host_give) char *file = NULL;
	bool exists = true;

	s->format = sl_format_of(name);
	if (!s->format)
		SL_TRY(sl_file_exists(dir, name, &exists));
	if (!s->format && exists)
		return sl_fail(SL_BAD_INPUT,
			"%s: the suffix belongs to no format (see sluice list); give a file of a run",
			name);
	SL_TRY(sl_file_read(dir, name, &file, &s->file_bytes));
	return sl_add_context(read_table(file, s->file_bytes, s), "%s", name);
}

enum sl_status sl_survivors_read(const struct sl_dir *dir, const char *name, struct sl_survivors *s)
{
	*s = (struct sl_survivors){0};
	return read_wanted(dir, name, s);
}

enum sl_status sl_survivors_read_columns(const char *path, const char *only, struct sl_survivors *s)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	char folder[SL_PATH_BYTES];
	const char *name = sl_path_split(path, folder);

	SL_TRY(sl_dir_open(folder, false, &dir));
	*s = (struct sl_survivors){.table = {.only = only}};
	return read_wanted(&dir, name, s);
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
