/*
 * info.c - selects the kind of a file by its suffix and prints its contents.
 *
 * Images get a line per dataset. info_survivors.c, info_histograms.c, info_mcpl.c and info_run.c print
 * the other kinds. A file is read completely, so it must fit in memory: only then can
 * its checksum be compared, and a damaged file is refused before anything of it is printed.
 */
#include "pipeline/info/info.h"
#include "pipeline/info/info_histograms.h"
#include "pipeline/info/info_mcpl.h"
#include "pipeline/info/info_run.h"
#include "pipeline/info/info_survivors.h"
#include "pipeline/info/value_range.h"

#include <string.h>

#include "stages/formats/images/image_file.h"
#include "primitives/files/read.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/images/image_file_read.h"
#include "stages/formats/phase_space/phase_space.h"

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
enum sl_status sl_info(const char *path, uint64_t head, FILE *out)
{
	struct sl_dir dir;
	bool is_run;

	SL_TRY(sl_dir_exists(path, &is_run));
	if (is_run) {
		enum sl_status s;

		SL_TRY(sl_dir_open(path, false, &dir));
		s = sl_info_run(&dir, head, out);
		sl_dir_close(&dir);
		return s;
	}
	if (head > 0 && (ends_in(path, ".tallies") || ends_in(path, SL_IMAGE_SUFFIX)))
		return sl_fail(SL_USAGE,
			"--head: %s has no particles to print (it is an image or has histograms); "
			"remove the option",
			path);
	if (ends_in(path, ".tallies"))
		return sl_info_histograms(path, out);
	if (ends_in(path, SL_IMAGE_SUFFIX))
		return info_of_image(path, out);
	if (ends_in(path, sl_format_mcpl.suffix) || ends_in(path, sl_format_mcpl_gz.suffix))
		return sl_info_mcpl(path, head, out);
	if (sl_phase_space_names_foreign(path))
		return sl_info_phase_space(path, head, out);
	return sl_info_survivors(path, head, out);
}
