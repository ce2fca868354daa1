/*
 * verify_side_files.c - makes the files of the whole run again in memory and compares them.
 *
 * Histograms and images are sums over all batches. They are summed again from the verified batch
 * files, so an error in the sums of the run is found too.
 */
#include "pipeline/verify/verify_side_files.h"

#include <string.h>

#include "pipeline/plan/file_names.h"
#include "pipeline/output/merged_list.h"
#include "pipeline/output/run_directory.h"
#include "stages/formats/common/crc_trailer.h"
#include "pipeline/report/histogram_file.h"
#include "primitives/files/read.h"
#include "primitives/files/crc32.h"
#include "primitives/files/files.h"
#include "stages/formats/images/image_file_read.h"

static enum sl_status wrong(const struct sl_dir *dir, const char *name, const char *what)
{
	return sl_fail(SL_CHECK_FAILED, "%s/%s: %s, try --resume, which writes it anew", dir->path,
		name, what);
}

static enum sl_status check_there(const struct sl_dir *dir, const char *name)
{
	bool exists;

	SL_TRY(sl_file_exists(dir, name, &exists));
	return exists ? SL_OK
	              : wrong(dir, name, "is not there (the run has not ended, or it was removed)");
}

/* Reads a file and checks its CRC trailer. The caller frees *file with sl_memory_give(SL_HOST). */
static enum sl_status read_sealed(
	const struct sl_dir *dir, const char *name, char **file, size_t *bytes)
{
	SL_TRY(check_there(dir, name));
	SL_TRY(sl_file_read(dir, name, file, bytes));
	if (sl_crc_trailer_is_valid(*file, *bytes))
		return SL_OK;
	sl_memory_give(SL_HOST, *file);
	return wrong(dir, name, "its checksum is wrong (it was torn or changed)");
}

/* Compares the file with the one made from the histograms of all batches. */
static enum sl_status check_tallies(struct sl_workspace *w, const struct sl_dir *dir,
	const char *name, const char *file, size_t bytes)
{
	bool same;
	size_t made_bytes;
	void *made;

	SL_TRY(sl_histogram_sums_file(w, name, &made, &made_bytes));
	same = bytes == made_bytes && memcmp(file, made, bytes) == 0;
	sl_memory_give(SL_HOST, made);
	return same ? SL_OK
	            : wrong(dir, name,
			      "is not what the tallies of the batches add up to (it is another "
			      "run's, was changed, or is of another version of HDF5)");
}

static enum sl_status check_histograms(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];
	enum sl_status s;
	size_t bytes;
	char *file;

	if (!sl_histogram_file_name(w->plan, name))
		return SL_OK;
	SL_TRY(read_sealed(dir, name, &file, &bytes));
	s = sl_histogram_sums_read(&w->plan->recipe, dir, m, &w->histograms);
	if (s == SL_OK)
		s = check_tallies(w, dir, name, file, bytes);
	sl_memory_give(SL_HOST, file);
	return s;
}

static bool is_same(const struct sl_image_sum *c, const struct sl_image_found *f)
{
	const struct sl_image *p = &c->image;
	size_t bytes = sizeof(uint64_t) * p->width * p->height;

	return strcmp(f->what, p->what) == 0 && f->width == p->width && f->height == p->height &&
	       f->particles == c->particles && memcmp(f->sum, c->sum, bytes) == 0 &&
	       memcmp(f->value, c->value, bytes) == 0 && !f->rays == !p->in_turn &&
	       (!f->rays || memcmp(f->rays, c->rays, bytes) == 0);
}

static enum sl_status check_numbers(
	const struct sl_image_sum *c, const struct sl_dir *dir, const char *name)
{
	struct sl_image_found found;
	enum sl_status s;
	size_t bytes;
	char *file;

	SL_TRY(read_sealed(dir, name, &file, &bytes));
	s = sl_add_context(sl_image_read(file, bytes, &found), "%s", name);
	if (s == SL_OK && !is_same(c, &found))
		s = wrong(dir, name,
			"has other numbers than the survivors' files add up to (it is another "
			"run's, or was changed)");
	sl_memory_give(SL_HOST, file);
	return s;
}

static enum sl_status check_png(
	const struct sl_image_sum *c, const struct sl_dir *dir, const char *name)
{
	uint64_t found_bytes;
	size_t bytes;
	uint32_t crc;

	SL_TRY(check_there(dir, name));
	SL_TRY(sl_file_check(dir, name, &found_bytes, &crc));
	SL_TRY(sl_image_sum_png(c, &bytes));
	return found_bytes == bytes && crc == sl_crc32(c->file, bytes)
	               ? SL_OK
	               : wrong(dir, name,
				 "is not the picture that the survivors' files add up to (it was "
				 "changed, is another run's, or is of other versions of libpng and "
				 "zlib)");
}

static enum sl_status check_image(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];

	SL_TRY(sl_image_sum_finish(&w->image_sum, m));
	sl_side_file_name(w->plan->config.run.name, SL_SIDE_IMAGE, name);
	SL_TRY(check_numbers(&w->image_sum, dir, name));
	sl_side_file_name(w->plan->config.run.name, SL_SIDE_PNG, name);
	return check_png(&w->image_sum, dir, name);
}

static enum sl_status check_joined(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];

	sl_merged_list_name(plan->config.run.name, plan->format, name);
	SL_TRY(check_there(dir, name));
	return sl_merged_list_check(plan, dir, m);
}

enum sl_status sl_verify_side_files(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	SL_TRY(check_histograms(w, dir, m));
	if (w->plan->config.output.joined)
		SL_TRY(check_joined(w->plan, dir, m));
	return w->plan->config.output.image ? check_image(w, dir, m) : SL_OK;
}
