/* file_patterns.c - expands patterns with glob() and copies the names into one block of memory. */
#include "stages/inputs/inputs.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "primitives/files/disk.h"

/* The files of an item. */
struct found_files {
	const char *item;
	bool is_pattern;
	struct sl_run_files run; /* of a directory */
	size_t n;
	const char *const
		*path; /* &item; of a pattern: the array of files, which glob() allocated */
	glob_t files;
};

/*
 * Orders names by their bytes, headers of IAEA phase spaces last. glob() would order them by the
 * locale, and the order of the files determines the ids of the particles.
 */
static int by_bytes(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int headers = sl_phase_space_is_header(x) - sl_phase_space_is_header(y);

	return headers ? headers : strcmp(x, y);
}

/* The errno that stopped glob(), which has no argument for it. */
static _Thread_local int glob_error;

/*
 * Directories without read permission are skipped, as by the shell. Any other failure is an error:
 * the files of the directory would be missing from the inputs.
 */
static int stop_at_error(const char *folder, int error)
{
	(void)folder;
	glob_error = sl_errno_is_missing(error) ? 0 : error;
	return glob_error != 0;
}

/* Finds the files of an item; the caller calls drop_files(f) after success. */
static enum sl_status find_files(const char *item, sl_run_lister *list_run, struct found_files *f)
{
	bool is_folder;
	int error;

	*f = (struct found_files){.item = item, .n = 1, .path = &f->item};
	SL_TRY(sl_dir_exists(item, &is_folder));
	if (is_folder) {
		SL_TRY(list_run(item, &f->run));
		f->path = f->run.path;
		f->n = f->run.n;
		return SL_OK;
	}
	if (!strpbrk(item, "*?[") || !sl_path_is_missing(item, F_OK))
		return SL_OK;
	error = glob(item, GLOB_NOSORT, stop_at_error, &f->files);
	if (error != 0)
		globfree(&f->files);
	if (error == GLOB_ABORTED && glob_error != ENOMEM)
		return sl_disk_failed(glob_error, "search", item, NULL);
	if (error == GLOB_NOSPACE || error == GLOB_ABORTED)
		return sl_fail(SL_HOST_MEMORY,
			"%s: not enough host memory for the list of matching files; free some",
			item);
	if (error != 0)
		return sl_fail(SL_USAGE,
			"'%s' is not a file, and as a pattern it matches none; correct the name",
			item);
	f->is_pattern = true;
	f->path = (const char *const *)f->files.gl_pathv;
	qsort(f->files.gl_pathv, f->files.gl_pathc, sizeof(*f->files.gl_pathv), by_bytes);
	/*
	 * A pattern that matches both files of an IAEA phase space must not read it twice, so a
	 * header counts only if nothing else matches.
	 */
	f->n = 0;
	while (f->n < f->files.gl_pathc && !sl_phase_space_is_header(f->path[f->n]))
		f->n++;
	f->n = f->n > 0 ? f->n : f->files.gl_pathc;
	return SL_OK;
}

static void drop_files(struct found_files *f)
{
	if (f->is_pattern)
		globfree(&f->files);
	sl_memory_give(SL_HOST, f->run.block);
}

/* Copies the names of all items into a; only measures while a has no memory. */
static void lay_out(struct sl_arena *a, const struct found_files *found, uint32_t n,
	struct sl_input_files *names)
{
	uint32_t at = 0;

	names->at = (struct sl_input_file *)sl_cut_items(a, names->n, sizeof(*names->at));
	for (uint32_t item = 0; item < n; item++)
		for (size_t i = 0; i < found[item].n; i++, at++) {
			const char *path = found[item].path[i];
			char *copy = (char *)sl_cut(a, strlen(path) + 1);

			if (!copy)
				continue;
			memcpy(copy, path, strlen(path) + 1);
			names->at[at] = (struct sl_input_file){copy, item, found[item].run.n > 0,
				found[item].run.n > 0 ? found[item].run.crc[i] : 0};
		}
}

/*
 * Copies all names to one block, measured and filled by the same code (lay_out). *which is the item
 * at which the number of files gets too large.
 */
static enum sl_status copy_names(
	const struct found_files *found, uint32_t n, struct sl_input_files *names, uint32_t *which)
{
	struct sl_arena a = {0};
	size_t all = 0;
	void *memory;

	for (*which = 0; *which < n; ++*which) {
		all += found[*which].n;
		if (all > SL_INPUTS_MAX)
			return sl_fail(SL_USAGE,
				"'%s' brings the number of files to %zu: at most %d can be read; join "
				"some with sluice convert first",
				found[*which].item, all, SL_INPUTS_MAX);
	}
	*which = 0;
	names->n = (uint32_t)all;
	lay_out(&a, found, n, names);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &memory));
	names->bytes = a.used;
	a = (struct sl_arena){memory, 0, a.used};
	lay_out(&a, found, n, names);
	return SL_OK;
}

enum sl_status sl_find_input_files(const struct sl_lines *items, sl_run_lister *list_run,
	struct sl_input_files *names, uint32_t *which)
{
	struct found_files found[SL_LIST_MAX];
	enum sl_status s = SL_OK;
	uint32_t n = 0;

	*names = (struct sl_input_files){.n = 0};
	*which = 0;
	while (n < items->n && s == SL_OK) {
		*which = n;
		s = find_files(items->at[n], list_run, &found[n]);
		n += s == SL_OK;
	}
	if (s == SL_OK)
		s = copy_names(found, n, names, which);
	for (uint32_t i = 0; i < n; i++)
		drop_files(&found[i]);
	return s;
}

enum sl_status sl_look_up_input_files(const char *item, sl_run_lister *list_run)
{
	struct found_files found;

	SL_TRY(find_files(item, list_run, &found));
	drop_files(&found);
	return sl_path_is_missing(item, R_OK) && !found.is_pattern
	               ? sl_disk_failed(errno, "open", item, NULL)
	               : SL_OK;
}
