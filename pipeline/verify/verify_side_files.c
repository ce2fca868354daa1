/*
 * verify_side_files.c - makes the files of the whole run again in memory and compares them.
 *
 * Histograms and images are sums over all batches. They are summed again from the verified batch
 * files, so an error in the sums of the run is found too. Each message says what can be the reason:
 * libraries of other versions may write the same content as other bytes.
 */
#include "pipeline/verify/verify.h"

#include <string.h>

#include "pipeline/output/output.h"
#include "pipeline/plan/plan.h"
#include "pipeline/report/tallies/tallies.h"
#include "pipeline/text/text.h"
#include "primitives/files/files.h"
#include "stages/formats/common/common.h"
#include "stages/formats/images/images.h"

/*
 * problem says what differs and what can be the cause. All these files can be made from the
 * batches.
 */
static enum sl_status wrong(const struct sl_dir *dir, const char *name, const char *problem)
{
	return sl_fail(SL_CHECK_FAILED, "%s/%s: %s; use sluice run --resume to write it again",
		dir->path, name, problem);
}

/* A missing file has its own message: opening it would only say that the file does not exist. */
static enum sl_status check_exists(const struct sl_dir *dir, const char *name)
{
	bool exists;

	SL_TRY(sl_file_exists(dir, name, &exists));
	if (exists)
		return SL_OK;
	return wrong(dir, name,
		"the file is missing, because the run has not ended or the file was removed");
}

/* Compares the file with the bytes that it should have; problem says what a difference means. */
static enum sl_status check_bytes(const struct sl_dir *dir, const char *name, const void *expected,
	size_t expected_bytes, const char *problem)
{
	SL_CLOSED_BY(sl_host_give) char *file = NULL;
	size_t bytes;

	SL_TRY(check_exists(dir, name));
	SL_TRY(sl_file_read(dir, name, &file, &bytes));
	return bytes == expected_bytes && memcmp(file, expected, bytes) == 0
	               ? SL_OK
	               : wrong(dir, name, problem);
}

/* The text is made again from the verified manifest, and that of steps from the sums of w. */
static enum sl_status check_text(const struct sl_workspace *w, enum sl_side_file which,
	const struct sl_dir *dir, const struct sl_manifest *m)
{
	SL_CLOSED_BY(sl_host_give) char *expected = NULL;
	char name[SL_FILE_NAME_BYTES];
	struct sl_text_memory t;
	size_t bytes;

	if (!sl_side_text_name(w->plan, which, name))
		return SL_OK;
	SL_TRY(sl_text_memory_begin(&t));
	sl_side_text_write(w, which, m, t.out);
	SL_TRY(sl_text_memory_end(&t, name, &expected, &bytes));
	return check_bytes(dir, name, expected, bytes,
		"the file differs from the one made from the manifest, because it was changed or "
		"belongs to another run");
}

/*
 * The sums of w are read from the histogram files of the batches, which check_batch() has verified.
 */
static enum sl_status check_histograms(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	SL_CLOSED_BY(sl_host_give) void *expected = NULL;
	char name[SL_FILE_NAME_BYTES];
	size_t bytes;

	if (sl_counter_words(&w->plan->recipe) == 0)
		return SL_OK;
	SL_TRY(sl_tally_sums_read(&w->plan->recipe, dir, m, &w->tallies));
	SL_TRY(check_text(w, SL_SIDE_STEPS, dir, m));
	if (!sl_tallies_file_name(w->plan, name))
		return SL_OK;
	SL_TRY(sl_tallies_file(w, name, &expected, &bytes));
	return check_bytes(dir, name, expected, bytes,
		"the file differs from the sum of the batches' histograms, because it was changed, "
		"belongs to another run, or was written with another version of sluice or HDF5");
}

/* Sums are integers and added in any order, so the pixels must be equal bit for bit. */
static bool is_same(const struct sl_image_sum *c, const struct sl_image_found *f)
{
	const struct sl_image *p = &c->image;
	size_t bytes = sizeof(uint64_t) * p->width * p->height;

	return strcmp(f->what, p->what) == 0 && f->width == p->width && f->height == p->height &&
	       f->particles == c->particles && memcmp(f->sum, c->sum, bytes) == 0 &&
	       memcmp(f->value, c->value, bytes) == 0 && !f->rays == !p->in_turn &&
	       (!f->rays || memcmp(f->rays, c->rays, bytes) == 0);
}

/*
 * Compares the numbers of the image. The file is not compared byte for byte, because it contains
 * the version of the program. A wrong checksum has its own message: the file is damaged, not
 * different.
 */
static enum sl_status check_numbers(
	const struct sl_image_sum *c, const struct sl_dir *dir, const char *name)
{
	SL_CLOSED_BY(sl_host_give) char *file = NULL;
	struct sl_image_found found;
	size_t bytes;

	SL_TRY(check_exists(dir, name));
	SL_TRY(sl_file_read(dir, name, &file, &bytes));
	if (!sl_crc_trailer_is_valid(file, bytes))
		return wrong(dir, name,
			"the checksum is wrong, because the file was changed or not completely "
			"written");
	SL_TRY(sl_add_context(sl_image_read(file, bytes, &found), "%s", name));
	return is_same(c, &found)
	               ? SL_OK
	               : wrong(dir, name,
				 "the pixels differ from the sums over the survivor files, because the "
				 "image was changed or belongs to another run");
}

/*
 * Checks the image that check_batch() has summed: first its numbers, then the picture made of them.
 */
static enum sl_status check_image(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];
	size_t bytes;

	SL_TRY(sl_image_sum_finish(&w->image_sum, m));
	sl_side_file_name(w->plan->config.run.name, SL_SIDE_IMAGE, name);
	SL_TRY(check_numbers(&w->image_sum, dir, name));
	sl_side_file_name(w->plan->config.run.name, SL_SIDE_PNG, name);
	SL_TRY(sl_image_sum_png(&w->image_sum, &bytes));
	return check_bytes(dir, name, w->image_sum.file, bytes,
		"the picture differs from the one made from the survivor files, because it was "
		"changed, belongs to another run, or was written with other versions of libpng and "
		"zlib");
}

enum sl_status sl_verify_side_files(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	const struct sl_plan *plan = w->plan;
	char name[SL_FILE_NAME_BYTES];

	SL_TRY(check_text(w, SL_SIDE_XDMF, dir, m));
	SL_TRY(check_histograms(w, dir, m));
	if (sl_plan_is_joined(plan)) {
		sl_merged_list_name(plan->config.run.name, plan->choices.format, name);
		SL_TRY(check_exists(dir, name));
		SL_TRY(sl_merged_list_check(plan, dir, m));
	}
	return plan->config.output.image ? check_image(w, dir, m) : SL_OK;
}
