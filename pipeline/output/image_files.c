/* image_files.c - sums up the image and commits its two files; the sum itself is in results/. */
#include "pipeline/output/image_files.h"

#include "pipeline/output/run_directory.h"

static enum sl_status commit_file(
	const struct sl_plan *plan, const struct sl_dir *dir, enum sl_side_file which, size_t bytes)
{
	char name[SL_FILE_NAME_BYTES];

	sl_side_file_name(plan->config.run.name, which, name);
	return sl_file_commit(dir, name, plan->image_sum.file, bytes, true);
}

static enum sl_status commit(struct sl_image_sum *c, const struct sl_plan *plan,
	const struct sl_dir *dir, const struct sl_manifest *m)
{
	size_t bytes;

	SL_TRY(sl_image_sum_read_back(c, dir, m));
	SL_TRY(sl_image_sum_sum_up(c, m));
	SL_TRY(sl_image_sum_numbers(c, &plan->facts, &bytes));
	SL_TRY(commit_file(plan, dir, SL_SIDE_IMAGE, bytes));
	SL_TRY(sl_image_sum_png(c, &bytes));
	return commit_file(plan, dir, SL_SIDE_PNG, bytes);
}

enum sl_status sl_image_files_commit(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m)
{
	struct sl_image_sum c = plan->image_sum;

	if (c.image.width == 0)
		return SL_OK;
	return sl_add_context(commit(&c, plan, dir, m), "the image");
}
