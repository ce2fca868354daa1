/*
 * info.c - selects the kind of a file by its suffix and prints its contents.
 *
 * Survivor files get a line per column, images a line per dataset. info_histograms.c, info_mcpl.c and
 * info_run.c print the other kinds. A file is read completely, so it must fit in memory: only then can
 * its checksum be compared, and a damaged file is refused before anything of it is printed.
 */
#include "pipeline/info/info.h"
#include "pipeline/info/info_histograms.h"
#include "pipeline/info/info_mcpl.h"
#include "pipeline/info/info_run.h"
#include "pipeline/info/value_range.h"

#include <string.h>

#include "pipeline/results/survivor_file.h"
#include "stages/formats/common/format.h"
#include "stages/formats/images/image_file.h"
#include "primitives/files/read.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/images/image_file_read.h"

/*
 * Prints a line of a table of columns: the facts of the column, and statistics of its n values, in the
 * unit in which files store the column. A constant column has one stored value for all rows.
 */
static void print_column(const struct sl_table_column *c, uint32_t n, FILE *out)
{
	static const char *const type_names[] = {"f32", "u32", "u64", "u8", "i32"};
	const struct sl_column_facts *facts = &sl_column_facts[c->column];
	struct sl_value_range range = {0};

	for (uint32_t i = 0; i < n; i++)
		sl_value_range_add(&range,
			sl_column_value(c->column,
				(const char *)c->data + (c->constant ? 0 : i * facts->bytes)));
	fprintf(out, "%-12s %-4s %-4s ", facts->name, type_names[facts->type],
		sl_units[facts->unit].text);
	sl_value_range_print(&range, out);
	fprintf(out, "  %016llx%s\n", (unsigned long long)c->digest,
		c->constant ? "  constant" : "");
}

/*
 * The digests are those of the values as a reader gets them, so they can be compared with run.json and
 * with another format of the same batch, if that format does not round.
 */
static enum sl_status info_of_survivors(const char *path, FILE *out)
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

/* --- images ----------------------------------------------------------------------------------- */

/*
 * Prints a line of a table of datasets, with statistics of n pixels of type f64 (real) or u64. The
 * pixels point into the file and may be unaligned, so each is copied.
 */
static void print_pixels(
	const char *name, bool real, const char *unit, const void *pixels, uint64_t n, FILE *out)
{
	struct sl_value_range range = {0};

	for (uint64_t i = 0; i < n; i++) {
		uint64_t whole;
		double v;

		memcpy(&whole, (const char *)pixels + i * sizeof(whole), sizeof(whole));
		memcpy(&v, &whole, sizeof(v));
		sl_value_range_add(&range, real ? v : (double)whole);
	}
	fprintf(out, "%-12s %-4s %-5s ", name, real ? "f64" : "u64", unit);
	sl_value_range_print(&range, out);
	fputc('\n', out);
}

/* The datasets point into the file, so they are printed before its memory is freed. */
static enum sl_status info_of_image(const char *path, FILE *out)
{
	struct sl_image_found f;
	enum sl_status s;
	size_t bytes;
	uint64_t n;
	char *file;

	SL_TRY(sl_path_read(path, SIZE_MAX, &file, &bytes));
	s = sl_add_context(sl_image_read(file, bytes, &f), "%s", path);
	if (s == SL_OK) {
		n = f.width * f.height;
		fprintf(out, "%s: image, %zu bytes, %llu x %llu pixels, of %llu particles\n", path,
			bytes, (unsigned long long)f.width, (unsigned long long)f.height,
			(unsigned long long)f.particles);
		fprintf(out, "%-12s %-4s %-5s %14s %14s %14s\n", "dataset", "type", "unit", "least",
			"mean", "largest");
		print_pixels(f.what, true, "", f.value, n, out);
		print_pixels("sum", false, "2^-32", f.sum, n, out);
		if (f.rays)
			print_pixels("rays", false, "", f.rays, n, out);
	}
	sl_memory_give(SL_HOST, file);
	return s;
}

/* A path that consists of the suffix alone names no file of that kind. */
static bool ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(path), bytes = strlen(suffix);

	return n > bytes && strcmp(path + n - bytes, suffix) == 0;
}

/* A directory is a run, whatever its name; files are selected by their suffix. */
enum sl_status sl_info(const char *path, FILE *out)
{
	struct sl_dir dir;

	if (sl_dir_open(path, false, &dir) == SL_OK) {
		enum sl_status s = sl_info_run(&dir, out);

		sl_dir_close(&dir);
		return s;
	}
	if (ends_in(path, ".tallies"))
		return sl_info_histograms(path, out);
	if (ends_in(path, SL_IMAGE_SUFFIX))
		return info_of_image(path, out);
	if (ends_in(path, sl_format_mcpl.suffix) || ends_in(path, sl_format_mcpl_gz.suffix))
		return sl_info_mcpl(path, out);
	return info_of_survivors(path, out);
}
