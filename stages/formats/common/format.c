/* format.c - checks and file names that all formats share. */
#include "stages/formats/common/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void sl_format_lay_out(const struct sl_format *f, struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p)
{
	const struct sl_format_sizes sizes = f->sizes(most, run);

	*p = (struct sl_packed){.pieces_bytes = sizes.pieces, .size = sizes.packed};
	p->pieces = sl_cut(a, sizes.pieces);
	p->bytes = (uint8_t *)sl_cut(a, sizes.packed);
}

enum sl_status sl_format_pack(const struct sl_format *f, struct sl_exec *x,
	const struct sl_file_facts *run, const struct sl_table *t,
	const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	struct sl_file_facts from = *run;
	struct sl_format_sizes needed;

	from.form = device_packed ? run->form : SL_AS_COLUMNS;
	needed = f->sizes(t, &from);
	if (needed.packed > p->size || needed.pieces > p->pieces_bytes)
		return sl_fail(SL_USAGE,
			"the table may have %zu bytes as %s, the packing was laid out for %zu: lay it "
			"out for more rows or columns",
			needed.packed, f->name, p->size);
	if (x->scratch.size < needed.scratch)
		return sl_fail(SL_USAGE,
			"the scratch for %s has %zu bytes, %zu are needed: provide at least those of "
			"sizes()",
			f->name, x->scratch.size, needed.scratch);
	return f->pack(x, &from, t, device_packed, p);
}

enum sl_status sl_format_assemble(const struct sl_format *f, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p, void *image, size_t size,
	struct sl_pieces *file)
{
	const size_t needed = f->sizes(&p->table, run).image;

	*file = (struct sl_pieces){0};
	if (size < needed)
		return sl_fail(SL_USAGE,
			"the image has %zu bytes, %zu are needed: allocate at least those of sizes()",
			size, needed);
	return f->assemble(run, batch, p, image, size, file);
}

struct sl_table sl_format_table(const struct sl_format *f, const struct sl_table *t)
{
	struct sl_table in_file = *t;

	if (f->record_of)
		return in_file;
	in_file.n_columns = 0;
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].internal)
			in_file.column[in_file.n_columns++] = t->column[k];
	return in_file;
}

enum sl_column sl_table_column_named(struct sl_table *t, const char *name, size_t length)
{
	struct sl_column_label label = {.unit = SL_UNIT_NONE};

	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (length > 0 &&
			sl_is_text(name, length, sl_label_name(t->label, (enum sl_column)i)))
			return (enum sl_column)i;
	if (!sl_label_set_name(&label, name, length))
		return SL_COLUMN_COUNT;
	for (int i = 0; i < SL_NAMED_COLUMNS_MAX; i++)
		if (!t->label[i].name[0]) {
			t->label[i] = label;
			return (enum sl_column)(SL_COLUMN_derived_1 + i);
		}
	return SL_COLUMN_COUNT;
}

const enum sl_column sl_listed_columns[SL_LISTED_COLUMNS] = {SL_COLUMN_x, SL_COLUMN_y, SL_COLUMN_z,
	SL_COLUMN_u, SL_COLUMN_v, SL_COLUMN_w, SL_COLUMN_energy, SL_COLUMN_time, SL_COLUMN_weight,
	SL_COLUMN_pdg, SL_COLUMN_userflags, SL_COLUMN_pol_x, SL_COLUMN_pol_y, SL_COLUMN_pol_z};

enum sl_column sl_list_column(const char *name, size_t length)
{
	for (int k = 0; k < SL_LISTED_COLUMNS; k++)
		if (sl_is_text(name, length, sl_column_facts[sl_listed_columns[k]].name))
			return sl_listed_columns[k];
	return SL_COLUMN_COUNT;
}

bool sl_store_number(const struct sl_table_column *c, uint32_t row, double value)
{
	const bool is_code = c->column == SL_COLUMN_pdg;
	float narrow = (float)value;
	uint32_t word;

	if (sl_column_facts[c->column].type == SL_TYPE_F32) {
		((float *)c->data)[row] = narrow;
		return (!isinf(narrow) || isinf(value)) &&
		       (c->column != SL_COLUMN_weight || narrow != 0 || value == 0);
	}
	if (floor(value) != value || !(value >= (is_code ? (double)INT32_MIN : 0)) ||
		!(value <= (is_code ? (double)INT32_MAX : (double)UINT32_MAX)))
		return false;
	word = (uint32_t)(int64_t)value;
	memcpy((char *)c->data + (size_t)row * sizeof(word), &word, sizeof(word));
	return true;
}

/*
 * An arena without memory only adds up the sizes. If the file does not have the number of rows that
 * is known, it is read once more, to say what is wrong with it.
 */
enum sl_status sl_format_load(sl_format_reader *read, const void *file, size_t bytes,
	struct sl_table *t, void **block, size_t *used)
{
	const bool known = t->known > 0;
	struct sl_arena a = {0};
	enum sl_status s = read(file, bytes, &a, t);

	*block = NULL;
	*used = a.used;
	t->known = t->n;
	if (s == SL_OK)
		s = sl_memory_get(SL_HOST, *used, block);
	a = (struct sl_arena){*block, 0, *used};
	if (s == SL_OK)
		s = read(file, bytes, &a, t);
	t->known = 0;
	if (s == SL_OK)
		return SL_OK;
	sl_memory_give(SL_HOST, *block);
	*block = NULL;
	return known ? sl_format_load(read, file, bytes, t, block, used) : s;
}

void sl_read_begin(struct sl_table *t)
{
	*t = (struct sl_table){.only = t->only, .known = t->known, .list = t->list};
}

bool sl_table_wants(const struct sl_table *t, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = t->only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strcspn(at, ",") == n && memcmp(at, name, n) == 0)
			return true;
	return !t->only;
}

void *sl_read_cut(struct sl_arena *a, const struct sl_table *t, uint32_t k)
{
	const struct sl_table_column *c = &t->column[k];

	return sl_table_wants(t, sl_table_name(t, k))
	               ? sl_cut_items(a, c->constant ? 1 : t->n, sl_facts_of(c)->bytes)
	               : NULL;
}

void sl_packed_begin(struct sl_packed *p, const struct sl_table *t, uint32_t columns)
{
	p->table = *t;
	p->used = 0;
	p->has_crc = false;
	p->written = (struct sl_written){.columns = columns};
}

enum sl_status sl_format_check_written(const struct sl_written *w, uint64_t rows)
{
	if (w->values == w->columns * rows)
		return SL_OK;
	return sl_fail(SL_INTERNAL,
		"internal error: %" PRIu64 " of %" PRIu64 " values were written, so particles are "
		"lost; the file is removed; please report it",
		w->values, w->columns * rows);
}

enum sl_status sl_format_deflate(struct sl_exec *x, const struct sl_file_facts *run,
	enum sl_wrapper wrapper, const void *in, size_t bytes, void *out, size_t *used)
{
	struct sl_deflate_job job = {
		.in = in,
		.in_bytes = bytes,
		.out = out,
		.out_size = sl_deflate_most(bytes, 0, 1),
		.out_bytes = used,
		.level = run->level,
		.wrapper = wrapper,
	};

	SL_TRY(sl_deflate(run->deflate, x, &job));
	if (*used > 0)
		return SL_OK;
	return sl_fail(SL_INTERNAL,
		"internal error: %s compresses %zu bytes to more than %zu, so the file is removed; "
		"please report it",
		run->deflate->name, bytes, job.out_size);
}

/* --- tasks of a joined file ------------------------------------------------------------------- */

void sl_join_lay_out(struct sl_arena *a, struct sl_joined_file *j, size_t scratch)
{
	j->worker = (struct sl_exec *)sl_cut_items(a, j->n_workers, sizeof(*j->worker));
	for (uint32_t i = 0; i < j->n_workers; i++) {
		struct sl_arena own = {.base = sl_cut(a, scratch), .size = scratch};

		if (j->worker)
			j->worker[i] = (struct sl_exec){.space = SL_HOST, .scratch = own};
	}
}

void sl_format_add_packed(struct sl_pieces *file, const struct sl_packed *p)
{
	if (p->has_crc)
		sl_pieces_add_known(file, p->bytes, p->used, p->crc);
	else
		sl_pieces_add(file, p->bytes, p->used);
}

enum sl_status sl_format_check_columns(const struct sl_arena *a)
{
	if (!a->base || sl_fits(a))
		return SL_OK;
	return sl_fail(SL_USAGE,
		"the arena for the columns has %zu bytes, the file needs %zu: measure with an arena "
		"without base first",
		a->size, a->used);
}

/* With six digits, names sort as numbers up to a million batches; longer numbers are not cut. */
size_t sl_file_name(
	char *name, size_t size, const char *run_name, uint64_t number, const char *suffix)
{
	return (size_t)snprintf(name, size, "%s_%06" PRIu64 "%s", run_name, number, suffix);
}
