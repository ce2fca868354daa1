/* verify_table.c - see verify.h. */
#include "pipeline/verify/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stages/host/host.h"

/*
 * Survivors per batch that are recomputed; evenly spaced over the rows. An error of the
 * program affects many particles, so a sample shows it; digests show single values that changed.
 */
enum { SAMPLE = 256 };

enum sl_status sl_verify_wrong(const struct sl_manifest_line *l, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return sl_fail(SL_CHECK_FAILED,
		"batch %lu%s%s: %s; the %smanifest was changed, or the disk is failing; %suse "
		"sluice run --resume to compute the batch again",
		l->batch, l->file.name[0] ? ", " : "", l->file.name, what,
		l->file.name[0] ? "file or the " : "",
		/* resume reads the checksum and the structure of a file, not all its values */
		l->file.name[0] ? "remove the file and " : "");
}

enum sl_status sl_verify_digests(const struct sl_manifest_line *l, const struct sl_table *t)
{
	sl_column_set seen = 0;

	if (t->n != l->survivors)
		return sl_verify_wrong(l, "the number of survivors is %u, but %lu in the manifest",
			t->n, l->survivors);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];

		if (c->internal)
			continue;
		seen |= SL_BIT(c->column);
		if (strcmp(sl_table_name(t, k), sl_label_name(l->label, c->column)) != 0)
			return sl_verify_wrong(l, "it has a column %s, which is %s in the manifest",
				sl_table_name(t, k), sl_label_name(l->label, c->column));
		if (!c->rounded && c->digest != l->digest[c->column])
			return sl_verify_wrong(l,
				"the digest of column %s differs from the manifest",
				sl_table_name(t, k));
	}
	return seen == l->columns
	               ? SL_OK
	               : sl_verify_wrong(l, "the columns differ from those of the manifest");
}

struct sl_table sl_verify_exact_columns(const struct sl_table *t)
{
	struct sl_table exact = {.n = t->n};

	memcpy(exact.label, t->label, sizeof(exact.label));
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].rounded)
			exact.column[exact.n_columns++] = t->column[k];
	return exact;
}

/*
 * The columns of a table as the sort key reads them. sl_verify_has_key() refuses constant key
 * columns.
 */
static struct sl_columns as_columns(const struct sl_table *t)
{
	struct sl_columns columns = {0};

	for (uint32_t k = 0; k < t->n_columns; k++)
		memcpy((char *)&columns + sl_column_facts[t->column[k].column].offset,
			&t->column[k].data, sizeof(void *));
	return columns;
}

bool sl_verify_has_key(const struct sl_recipe *r, const struct sl_table *t)
{
	for (uint32_t k = 0; k < r->n_fields; k++) {
		const struct sl_table_column *c = sl_table_find(t, r->field[k].column);

		if (!c || c->constant)
			return false;
	}
	return true;
}

/* Key and id of the row before, to check the order of rows. */
struct last_row {
	bool exists;
	uint64_t key, id;
};

/* Checks that row i comes after the last row: a larger key, or the same key and a larger id. */
static enum sl_status check_next(struct last_row *last, const struct sl_manifest_line *l,
	uint32_t i, uint64_t key, uint64_t id)
{
	if (last->exists && (key < last->key || (key == last->key && id <= last->id)))
		return sl_verify_wrong(
			l, "row %u: survivors are not in the order of their keys", i);
	*last = (struct last_row){true, key, id};
	return SL_OK;
}

enum sl_status sl_verify_order(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, uint64_t *rows)
{
	struct sl_columns columns = as_columns(t);
	const struct sl_table_column *ids = sl_table_find(t, SL_COLUMN_id);
	struct last_row last = {0};

	if (!sl_verify_has_key(r, t))
		return SL_OK;
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t id = ids ? ((const uint64_t *)ids->data)[i] : i;

		SL_TRY(check_next(
			&last, l, i, sl_key_pack(r->field, r->n_fields, &columns, i, id), id));
	}
	*rows += t->n;
	return SL_OK;
}

/* Compares row i bit for bit with p, the particle recomputed from the id of that row. */
static enum sl_status check_row(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, uint32_t i, const struct sl_particle *p)
{
	uint64_t id = p->id;

	if (p->id < l->first_id || p->id - l->first_id >= l->generated || !SL_HAS(r->keep, p->fate))
		return sl_verify_wrong(
			l, "row %u: %lu is not the id of a survivor of this batch", i, id);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const struct sl_column_facts *facts = &sl_column_facts[c->column];
		const char *row =
			(const char *)c->data + (c->constant ? 0 : (size_t)i * facts->bytes);

		if (memcmp(row, (const char *)p + facts->in_particle, facts->bytes) != 0)
			return sl_verify_wrong(l,
				"row %u: %s differs from the particle recomputed from id %lu", i,
				sl_table_name(t, k), id);
	}
	return SL_OK;
}

enum sl_status sl_verify_sample(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, uint64_t *rows)
{
	const struct sl_table_column *ids = sl_table_find(t, SL_COLUMN_id);
	uint32_t n = t->n < SAMPLE ? t->n : SAMPLE;
	struct last_row last = {0};

	for (uint32_t k = 0; ids && k < n; k++) {
		uint32_t i = (uint32_t)((uint64_t)k * t->n / n);
		struct sl_particle p = sl_compute_particle(r, ((const uint64_t *)ids->data)[i]);
		struct sl_columns columns = sl_columns_of(&p);

		SL_TRY(check_row(r, l, t, i, &p));
		SL_TRY(check_next(
			&last, l, i, sl_key_pack(r->field, r->n_fields, &columns, 0, p.id), p.id));
		++*rows;
	}
	return SL_OK;
}

enum sl_status sl_verify_same(const struct sl_manifest_line *l, const struct sl_table *found,
	const struct sl_table *expected)
{
	if (found->n != expected->n || found->n_columns != expected->n_columns)
		return sl_verify_wrong(
			l, "the number of rows or columns differs from the recomputed batch");
	for (uint32_t k = 0; k < expected->n_columns; k++)
		if (found->column[k].column != expected->column[k].column ||
			found->column[k].digest != expected->column[k].digest)
			return sl_verify_wrong(l, "column %s differs from the recomputed batch",
				sl_table_name(expected, k));
	return SL_OK;
}
