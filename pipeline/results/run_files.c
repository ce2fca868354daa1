/* run_files.c - see results.h. */
#include "pipeline/results/results.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "stages/inputs/inputs.h"

/* Cuts the arrays of paths and checksums, and the paths; only measures while a has no memory. */
static void lay_out(struct sl_arena *a, const char *folder, const struct sl_manifest *m,
	struct sl_run_files *files)
{
	const char **path = (const char **)sl_cut_items(a, m->n, sizeof(*path));
	uint32_t *crc = (uint32_t *)sl_cut_items(a, m->n, sizeof(*crc));

	for (size_t i = 0; i < m->n; i++) {
		size_t bytes = strlen(folder) + strlen(m->line[i].file.name) + 2;
		char *text = (char *)sl_cut(a, bytes);

		if (!text)
			continue;
		snprintf(text, bytes, "%s/%s", folder, m->line[i].file.name);
		path[i] = text;
		crc[i] = m->line[i].file.crc;
	}
	files->path = path;
	files->crc = crc;
	files->n = m->n;
}

static enum sl_status list(
	const char *folder, const struct sl_manifest *m, struct sl_run_files *files)
{
	struct sl_arena a = {0};

	if (m->n == 0)
		return sl_fail(SL_USAGE,
			"'%s' is a directory without committed batches (no run started there, or it "
			"has not finished a batch); name files, or the directory of a run",
			folder);
	if (!m->line[0].file.name[0])
		return sl_fail(SL_USAGE,
			"'%s' is the directory of a run without files of survivors (output.format: "
			"none), so there are no particles to read; run it with another format",
			folder);
	lay_out(&a, folder, m, files);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &files->block));
	a = (struct sl_arena){files->block, 0, a.used};
	lay_out(&a, folder, m, files);
	return SL_OK;
}

enum sl_status sl_run_files_list(const char *folder, struct sl_run_files *files)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest m = {.line = NULL};

	*files = (struct sl_run_files){.n = 0};
	SL_TRY(sl_dir_open(folder, false, &dir));
	SL_TRY(sl_manifest_read(&dir, &m));
	return list(folder, &m, files);
}

enum sl_status sl_run_files_state(const char *folder, char state[SL_RUN_STATE_BYTES])
{
	/* Newlines in strings are escaped, so this is a member of the root. */
	static const char member[] = "\n\t\"state\": \"";
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	SL_CLOSED_BY(sl_host_give) char *text = NULL;
	const char *found;
	bool exists;
	size_t bytes;

	state[0] = '\0';
	SL_TRY(sl_dir_open(folder, false, &dir));
	SL_TRY(sl_file_exists(&dir, "run.json", &exists));
	if (!exists)
		return SL_OK;
	SL_TRY(sl_file_read(&dir, "run.json", &text, &bytes));
	found = strstr(text, member);
	if (found)
		snprintf(state, SL_RUN_STATE_BYTES, "%.*s",
			(int)strcspn(found + sizeof(member) - 1, "\"\n"),
			found + sizeof(member) - 1);
	return SL_OK;
}
