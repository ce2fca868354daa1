/* joined_files.c - see join.h. */
#include "pipeline/join/join.h"

#include <string.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/text/text.h"
#include "primitives/files/files.h"

/* --- before a file is written ----------------------------------------------------------------- */

/* The device and inode of a directory. */
static enum sl_status identify(const struct sl_dir *dir, uint64_t *device, uint64_t *number)
{
	bool exists;

	return sl_file_identity(dir, ".", &exists, device, number);
}

/*
 * Refuses the directory of a part; *copied: its files cannot be linked to a directory of `to`'s
 * device.
 */
static enum sl_status check_part(
	const struct sl_joined_part *part, const struct sl_dir *to, bool is_to, bool *copied)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	uint64_t device, number, part_device, part_number;

	SL_TRY(identify(to, &device, &number));
	SL_TRY(sl_dir_open(part->path, false, &dir));
	SL_TRY(identify(&dir, &part_device, &part_number));
	*copied = device != part_device;
	if (!is_to || *copied || number != part_number)
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s: is the directory of part %lu (its files would be replaced); choose another --out",
		to->path, part->part.number);
}

/* Checks the parts, and adds up the bytes of the files that must be copied. */
static enum sl_status check_parts(const struct sl_joined_parts *parts,
	const struct sl_manifest *all, const struct sl_dir *to, bool is_to, uint64_t *bytes)
{
	size_t line = 0;

	for (size_t i = 0; i < parts->n; i++) {
		const size_t end = line + parts->at[i].manifest.n;
		bool copied;

		SL_TRY(check_part(&parts->at[i], to, is_to, &copied));
		for (; line < end && line < all->n; line++)
			*bytes += copied ? sl_manifest_line_bytes(&all->line[line]) : 0;
	}
	return SL_OK;
}

enum sl_status sl_joined_files_check(const struct sl_joined_parts *parts,
	const struct sl_plan *plan, const struct sl_manifest *all)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	uint64_t bytes = 0, available;
	bool is_to;

	SL_TRY(sl_dir_open_nearest(plan->to, &dir, &is_to));
	SL_TRY(sl_dir_free_bytes(&dir, &available));
	SL_TRY(check_parts(parts, all, &dir, is_to, &bytes));
	for (size_t i = 0; sl_plan_is_joined(plan) && i < all->n; i++)
		bytes += all->line[i].file.bytes;
	if (bytes <= available)
		return SL_OK;
	return sl_fail(SL_DISK,
		"%s: the joined run needs up to %s (files on other file systems are copied, and a "
		"joined file is written) and %s are free; choose another --out",
		plan->to, sl_sized((double)bytes), sl_sized((double)available));
}

/* --- the files -------------------------------------------------------------------------------- */

/* Takes over one file, if it exists; a run without such files has an empty name. */
static enum sl_status take(const struct sl_dir *from, const char *name, const struct sl_dir *to)
{
	SL_CLOSED_BY(sl_unmap) struct sl_map file = {.at = NULL};
	bool exists = name[0] != '\0', linked;

	if (exists)
		SL_TRY(sl_file_exists(from, name, &exists));
	if (!exists)
		return SL_OK;
	SL_TRY(sl_file_link(from, name, to, &linked));
	if (linked)
		return SL_OK;
	SL_TRY(sl_map_entry(from, name, &file));
	return sl_file_commit(to, name, file.at, file.bytes, false);
}

/*
 * A file of a part can be replaced at any moment, so the files that the joined run has are checked.
 * Files with other names than those of the run are not taken, and then the check fails.
 */
static enum sl_status take_batch(const struct sl_plan *plan, const struct sl_dir *from,
	const struct sl_manifest_line *l, const struct sl_dir *to)
{
	if (!sl_batch_file_is_planned(plan, l))
		return SL_OK;
	for (int k = 0; k < SL_BATCH_FILES; k++)
		SL_TRY(take(from, l->files[k].name, to));
	return SL_OK;
}

/* Reads the files of a batch of a part in dir, which must be those of its manifest. */
static enum sl_status check_files(const struct sl_joined_part *part, const struct sl_plan *plan,
	const struct sl_dir *dir, const struct sl_manifest_line *l)
{
	bool complete;

	SL_TRY(sl_output_batch_is_complete(plan, dir, l, &complete));
	if (complete)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"%s: batch %lu is damaged (a file such as %s is missing or differs from the manifest); "
		"compute it again with sluice run --part %lu/%lu --resume",
		part->path, l->batch, l->file.name[0] ? l->file.name : l->bins.name,
		part->part.number, part->part.of);
}

/* The batches of one part, whose lines are those from *i on. */
static enum sl_status take_part(const struct sl_joined_part *part, const struct sl_plan *plan,
	const struct sl_manifest *all, size_t *i, const struct sl_dir *to, const atomic_int *stop)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir from = {.fd = -1, .lock = -1};
	const size_t end = *i + part->manifest.n;

	SL_TRY(sl_dir_open(part->path, false, &from));
	if (to)
		SL_TRY(sl_dir_lock_shared(&from));
	for (; *i < end && *i < all->n; ++*i) {
		const struct sl_manifest_line *l = &all->line[*i];

		SL_TRY(sl_join_check_stop(stop));
		if (to)
			SL_TRY(take_batch(plan, &from, l, to));
		SL_TRY(check_files(part, plan, to ? to : &from, l));
	}
	return SL_OK;
}

enum sl_status sl_joined_files_take(const struct sl_joined_parts *parts, const struct sl_plan *plan,
	const struct sl_manifest *all, const struct sl_dir *dir, const atomic_int *stop)
{
	size_t line = 0;

	for (size_t i = 0; i < parts->n && line < all->n; i++)
		if (parts->at[i].manifest.n > 0)
			SL_TRY(take_part(&parts->at[i], plan, all, &line, dir, stop));
	return SL_OK;
}
