/* image_files.c - sums up the image and commits its two files; the sum itself is in results/. */
#include "pipeline/output/output.h"

#include "pipeline/plan/plan.h"
#include "primitives/files/files.h"

static enum sl_status commit_file(const struct sl_workspace *w, const struct sl_dir *dir,
	enum sl_side_file which, size_t bytes)
{
	char name[SL_FILE_NAME_BYTES];

	sl_side_file_name(w->plan->config.run.name, which, name);
	return sl_file_commit(dir, name, w->image_sum.file, bytes, true);
}

enum sl_status sl_image_files_commit(
	struct sl_workspace *w, const struct sl_dir *dir, const struct sl_manifest *m)
{
	struct sl_image_sum *c = &w->image_sum;
	size_t bytes;

	SL_TRY(sl_image_sum_read_back(c, dir, m));
	SL_TRY(sl_image_sum_finish(c, m));
	SL_TRY(sl_image_sum_numbers(c, &w->plan->facts, &bytes));
	SL_TRY(commit_file(w, dir, SL_SIDE_IMAGE, bytes));
	SL_TRY(sl_image_sum_png(c, &bytes));
	return commit_file(w, dir, SL_SIDE_PNG, bytes);
}
