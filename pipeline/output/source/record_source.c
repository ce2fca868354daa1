/* record_source.c - see source.h. */
#include "pipeline/output/source/source.h"

#include <math.h>
#include <string.h>

#include "primitives/files/files.h"
#include "stages/formats/formats.h"

/* --- checked_file ----------------------------------------------------------------------------- */

/* Bytes that are checksummed at a time: they are still in the cache when they are read again. */
enum { STEP = 1 << 16 };

static enum sl_status differs(const struct sl_dir *dir, const char *name)
{
	return sl_fail(SL_CHECK_FAILED,
		"%s/%s: size or checksum differs from the manifest (the file was changed, or the "
		"disk is failing); use --resume to compute the batch again",
		dir->path, name);
}

enum sl_status sl_checked_file_open(
	struct sl_checked_file *f, const struct sl_dir *dir, const struct sl_committed_file *file)
{
	*f = (struct sl_checked_file){.dir = dir, .name = file->name, .expected = file->crc};
	SL_TRY(sl_map_entry(dir, file->name, &f->map));
	if (f->map.bytes == file->bytes)
		return SL_OK;
	sl_checked_file_close(f);
	return differs(dir, file->name);
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

/* --- row_layout ------------------------------------------------------------------------------- */

void sl_row_layout_make(const struct sl_plan *plan, struct sl_row_layout *l)
{
	struct sl_table t = sl_plan_table(plan, 0);

	*l = (struct sl_row_layout){.weight_at = SL_NO_WEIGHT};
	for (uint32_t k = 0; k < t.n_columns; k++) {
		uint32_t bytes = sl_facts_of(&t.column[k])->bytes;

		if (t.column[k].constant)
			continue;
		if (t.column[k].column == SL_COLUMN_weight)
			l->weight_at = l->bytes;
		l->item[l->n++] = (struct sl_row_item){t.column[k].column, bytes, l->bytes};
		l->bytes += bytes;
	}
	l->bytes = l->bytes ? l->bytes : 1;
}

bool sl_row_columns_find(
	const struct sl_row_layout *l, const struct sl_table *t, struct sl_row_columns *c)
{
	for (uint32_t k = 0; k < l->n; k++) {
		const struct sl_table_column *found = sl_table_find(t, l->item[k].column);

		if (!found)
			return false;
		c->data[k] = (const uint8_t *)found->data;
		c->step[k] = found->constant ? 0 : l->item[k].bytes;
	}
	return true;
}

/* Copies a value. A constant number of bytes makes each case one load and one store. */
static void copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	if (bytes == sizeof(uint32_t))
		memcpy(to, from, sizeof(uint32_t));
	else if (bytes == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else
		*to = *from;
}

void sl_row_put(
	const struct sl_row_layout *l, const struct sl_row_columns *c, uint64_t i, uint8_t *to)
{
	for (uint32_t k = 0; k < l->n; k++)
		copy(to + l->item[k].at, c->data[k] + i * c->step[k], l->item[k].bytes);
}

void sl_row_get(const struct sl_row_layout *l, const uint8_t *rows, uint32_t first, uint32_t n,
	const struct sl_table *t)
{
	for (uint32_t k = 0; k < l->n; k++) {
		const struct sl_row_item *item = &l->item[k];
		uint8_t *to = (uint8_t *)sl_table_find(t, item->column)->data +
		              (size_t)first * item->bytes;
		const uint8_t *from = rows + item->at;

		for (uint32_t i = 0; i < n; i++, to += item->bytes, from += l->bytes)
			copy(to, from, item->bytes);
	}
}

/* --- record_source ---------------------------------------------------------------------------- */

/* Rows of a table after which the checksum of the order file is continued. */
enum { ROWS_AT_ONCE = 1 << 12 };

/*
 * Records and items are fetched to the cache so many bytes ahead. A merge reads them from more
 * places at a time than a processor fetches without these instructions: 64 files of records of 32
 * bytes are merged 1.7 times as fast with them.
 */
enum { RECORDS_AHEAD = 256, ITEMS_AHEAD = 64 };

/* Not a pointer, because it may be after the end of the file. */
static void fetch(uintptr_t address)
{
	__builtin_prefetch((const void *)address);
}

double sl_selection_weight(const struct sl_selection *s, double weight)
{
	return s->sampled && fabs(weight) < s->threshold ? copysign(s->threshold, weight) : weight;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Maps the order file, which must have an item for each survivor. */
static enum sl_status open_order(
	struct sl_record_source *s, const struct sl_dir *dir, const struct sl_manifest_line *line)
{
	size_t items = s->selection->items.bytes;

	if (items == 0)
		return SL_OK;
	SL_TRY(sl_checked_file_open(&s->order, dir, &line->order));
	s->item = (const uint8_t *)s->order.map.at;
	if (line->order.bytes == line->survivors * items)
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED,
		"%s/%s: has %lu bytes, not %zu for each of %lu survivors, so it belongs to "
		"another run; use --resume to compute the batch again",
		dir->path, line->order.name, line->order.bytes, items, line->survivors);
}

/*
 * Moves the stream to the first record. A header that the merged one does not describe is refused.
 */
static enum sl_status open_list(struct sl_record_source *s, const struct sl_manifest_line *line)
{
	const struct sl_mcpl_header *h = &s->stream.header;

	SL_TRY(sl_mcpl_open(&s->stream, s->list.map.at, s->list.map.bytes));
	SL_TRY(sl_mcpl_skip_head(&s->stream));
	if (h->particles == line->survivors && h->record_bytes == s->selection->record_bytes)
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED,
		"has %lu records of %u bytes, but the manifest has %lu survivors, so the file "
		"belongs to another run; use --resume to compute the batch again",
		h->particles, h->record_bytes, line->survivors);
}

/* Reads the survivors of a table into memory, after the checksum of the file was compared. */
static enum sl_status open_table(struct sl_record_source *s, const struct sl_manifest_line *line)
{
	SL_TRY(sl_checked_file_end(&s->list));
	SL_TRY(sl_survivors_of(sl_format_of(line->file.name), s->list.map.at, s->list.map.bytes,
		(uint32_t)line->survivors, &s->table));
	if (s->table.table.n == line->survivors &&
		sl_row_columns_find(s->selection->rows, &s->table.table, &s->columns))
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED,
		"has %u survivors or other columns than the run, and the manifest has %lu, so the "
		"file belongs to another run; use --resume to compute the batch again",
		s->table.table.n, line->survivors);
}

enum sl_status sl_record_source_open(struct sl_record_source *s, const struct sl_dir *dir,
	const struct sl_manifest_line *line, const struct sl_selection *selection)
{
	enum sl_status status;

	*s = (struct sl_record_source){.selection = selection, .left = line->survivors};
	SL_TRY(sl_checked_file_open(&s->list, dir, &line->file));
	SL_TRY(open_order(s, dir, line));
	status = selection->rows ? open_table(s, line) : open_list(s, line);
	return sl_add_context(status, "%s/%s", dir->path, line->file.name);
}

void sl_record_source_close(struct sl_record_source *s)
{
	sl_mcpl_close(&s->stream);
	sl_survivors_free(&s->table);
	sl_checked_file_close(&s->list);
	sl_checked_file_close(&s->order);
	*s = (struct sl_record_source){.selection = NULL};
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Tells how much of the files of a batch was read. */
static void advance(struct sl_record_source *s)
{
	const uint8_t *at = s->stream.gzipped ? s->stream.z.in : s->stream.at;

	if (!s->selection->rows)
		sl_checked_file_advance(&s->list, (size_t)(at - (const uint8_t *)s->list.map.at));
	if (s->item)
		sl_checked_file_advance(
			&s->order, (size_t)(s->item - (const uint8_t *)s->order.map.at));
}

/* After the last record of a batch: checks what follows it, and both files. */
static enum sl_status end_batch(struct sl_record_source *s)
{
	bool trailing;

	if (!s->selection->rows)
		SL_TRY(sl_add_context(sl_mcpl_end(&s->stream, &trailing), "%s/%s",
			s->list.dir->path, s->list.name));
	if (s->selection->items.bytes > 0)
		SL_TRY(sl_checked_file_end(&s->order));
	return sl_checked_file_end(&s->list);
}

/* Gives the record at hand the weight that it counts with, in s->changed. */
static void change_weight(struct sl_record_source *s)
{
	const struct sl_selection *selection = s->selection;
	const bool single = selection->rows || selection->layout.single;
	uint8_t *at = s->changed + selection->weight_at;
	double weight;
	float narrow;

	if (!selection->sampled || selection->weight_at == SL_NO_WEIGHT)
		return;
	if (!selection->rows) /* a row is there already */
		memcpy(s->changed, s->record, selection->record_bytes);
	s->record = s->changed;
	weight = sl_selection_weight(selection, sl_mcpl_number(single, at));
	narrow = (float)weight;
	if (single)
		memcpy(at, &narrow, sizeof(narrow));
	else
		memcpy(at, &weight, sizeof(weight));
}

/*
 * Reads the item of the next record, and its key, 0 without keys. Returns whether the record is
 * selected.
 */
static bool read_item(struct sl_record_source *s)
{
	const struct sl_selection *selection = s->selection;
	const uint8_t *item = s->item;
	double priority;

	fetch((uintptr_t)item + ITEMS_AHEAD);
	s->item += selection->items.bytes;
	s->key = 0;
	if (selection->items.key)
		memcpy(&s->key, item, sizeof(s->key));
	if (!selection->sampled)
		return true;
	memcpy(&priority, item + (selection->items.key ? sizeof(s->key) : 0), sizeof(priority));
	return priority > selection->threshold;
}

/*
 * Reads the next records of the list, as many as come at once. All rows of a table are in memory.
 */
static enum sl_status read_records(struct sl_record_source *s)
{
	advance(s);
	if (s->selection->rows) {
		s->at_hand = s->left < ROWS_AT_ONCE ? (size_t)s->left : ROWS_AT_ONCE;
		return SL_OK;
	}
	return sl_add_context(sl_mcpl_raw(&s->stream, SL_MCPL_RAW_BYTES, &s->next, &s->at_hand),
		"%s/%s", s->list.dir->path, s->list.name);
}

enum sl_status sl_record_source_next(struct sl_record_source *s, bool *more)
{
	const struct sl_selection *selection = s->selection;
	bool selected = false;

	while (!selected && s->left > 0) {
		if (s->at_hand == 0)
			SL_TRY(read_records(s));
		s->record = s->next;
		s->next = selection->rows ? NULL : s->next + selection->record_bytes;
		s->row++;
		s->at_hand--;
		s->left--;
		selected = selection->items.bytes == 0 || read_item(s);
	}
	*more = selected;
	if (!selected) {
		s->record = NULL;
		return end_batch(s);
	}
	if (selection->rows) {
		sl_row_put(selection->rows, &s->columns, s->row - 1, s->changed);
		s->record = s->changed;
	} else {
		fetch((uintptr_t)s->next + RECORDS_AHEAD);
	}
	change_weight(s);
	return SL_OK;
}
