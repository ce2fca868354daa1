/* info.c - reads one file and prints a line a column. */
#include "pipeline/info.h"

#include <string.h>

#include "pipeline/survivors.h"
#include "stages/formats/format.h"

/* The value of row i as a number, for people. */
static double value_at(const struct sl_table_column *c, uint32_t i)
{
	const void *data = c->data;

	i = c->constant ? 0 : i;
	switch (sl_column_facts[c->column].type) {
	case SL_TYPE_F32:
		return (double)((const float *)data)[i];
	case SL_TYPE_U32:
		return ((const uint32_t *)data)[i];
	case SL_TYPE_U64:
		return (double)((const uint64_t *)data)[i];
	case SL_TYPE_U8:
		return ((const uint8_t *)data)[i];
	}
	return 0;
}

static const char *type_name(enum sl_column_type type)
{
	static const char *const names[] = {"f32", "u32", "u64", "u8"};

	return names[type];
}

static void print_column(const struct sl_table_column *c, uint32_t n, FILE *out)
{
	const struct sl_column_facts *facts = &sl_column_facts[c->column];
	double least = 0, most = 0, sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		double v = value_at(c, i);

		least = i == 0 || v < least ? v : least;
		most = i == 0 || v > most ? v : most;
		sum += v;
	}
	fprintf(out, "%-12s %-4s %-4s %14.8g %14.8g %14.8g  %016llx%s\n", facts->name,
		type_name(facts->type), sl_units[facts->unit].text, least, n ? sum / n : 0, most,
		(unsigned long long)c->digest, c->constant ? "  constant" : "");
}

enum sl_status sl_info(const char *path, FILE *out)
{
	struct sl_survivors s;

	SL_TRY(sl_survivors_read_path(path, &s));
	fprintf(out, "%s: %s, %zu bytes, %u survivors, %.2f bytes each\n", path, s.format->name,
		s.file_bytes, s.table.n, s.table.n ? (double)s.file_bytes / s.table.n : 0);
	fprintf(out, "%-12s %-4s %-4s %14s %14s %14s  %s\n", "column", "type", "unit", "least",
		"mean", "largest", "digest");
	for (uint32_t k = 0; k < s.table.n_columns; k++)
		print_column(&s.table.column[k], s.table.n, out);
	sl_survivors_free(&s);
	return SL_OK;
}
