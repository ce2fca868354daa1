/* output.c - what may stand in a run's directory, and who may remove it. */
#include "pipeline/output.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/former.h"
#include "pipeline/joined.h"
#include "pipeline/sink.h"
#include "stages/formats/xdmf.h"

/* Has the file that size and checksum? */
static enum sl_status has_crc(
	const struct sl_dir *dir, const char *name, uint64_t bytes, uint32_t crc, bool *whole)
{
	uint64_t found_bytes;
	uint32_t found;
	enum sl_status s;

	*whole = false;
	if (!sl_file_exists(dir, name))
		return SL_OK;
	s = sl_file_check(dir, name, &found_bytes, &found);
	*whole = s == SL_OK && found_bytes == bytes && found == crc;
	return s == SL_BAD_INPUT ? SL_OK : s;
}

/*
 * Is the batch of this line one of the plan's, and are its files whole? One that cannot be read is
 * not judged, else a passing error of the disk would cost a good file.
 */
static enum sl_status is_whole(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_manifest_line *l, bool *whole)
{
	struct sl_batch expected;
	char name[SL_FILE_NAME_BYTES], bins[SL_FILE_NAME_BYTES];

	*whole = false;
	if (l->batch >= plan->recipe.n_batches)
		return SL_OK;
	sl_batch_begin(&plan->recipe, &expected, l->batch);
	sl_sink_name(plan, l->batch, name);
	sl_sink_bins_name(plan, l->batch, bins);
	if (l->first_id != expected.first_id || l->generated != expected.n ||
		strcmp(l->file, name) != 0 || strcmp(l->bins_file, bins) != 0)
		return SL_OK;
	SL_TRY(has_crc(dir, name, l->file_bytes, l->file_crc, whole));
	if (*whole && bins[0])
		SL_TRY(has_crc(dir, bins, l->bins_bytes, l->bins_crc, whole));
	return SL_OK;
}

/* What an entry of the directory is held against while a run's files are looked for. */
struct sweep {
	const char *run;
	const struct sl_format *format;
	const struct sl_dir *dir;
	const struct sl_manifest *keep;
	bool image, joined; /* the run makes one */
};

/* Is name one that a batch of the run has with that suffix, finished or half-written? */
static bool has_suffix(const struct sweep *s, const char *name, const char *suffix, uint64_t *batch)
{
	size_t digits;

	if (strncmp(name, s->run, strlen(s->run)) != 0 || name[strlen(s->run)] != '_')
		return false;
	name += strlen(s->run) + 1;
	digits = strspn(name, "0123456789");
	*batch = strtoull(name, NULL, 10);
	name += digits;
	if (digits < 6 || digits > 18 || strncmp(name, suffix, strlen(suffix)) != 0)
		return false;
	name += strlen(suffix);
	return *name == '\0' || strcmp(name, ".part") == 0;
}

/* Is name one that a batch of the run has? Of which batch? */
static bool is_of_run(const struct sweep *s, const char *name, uint64_t *batch)
{
	return has_suffix(s, name, s->format->suffix, batch) ||
	       has_suffix(s, name, SL_BINS_SUFFIX, batch);
}

static int by_batch(const void *number, const void *line)
{
	uint64_t a = *(const uint64_t *)number, b = ((const struct sl_manifest_line *)line)->batch;

	return (a > b) - (a < b);
}

static enum sl_status remove_orphan(void *of, const char *name)
{
	const struct sweep *s = (const struct sweep *)of;
	const struct sl_manifest_line *line = NULL;
	uint64_t batch;

	if (!is_of_run(s, name, &batch))
		return SL_OK;
	if (s->keep->n > 0) /* without lines there is no array to search */
		line = (const struct sl_manifest_line *)bsearch(
			&batch, s->keep->line, s->keep->n, sizeof(*s->keep->line), by_batch);
	if (line && (strcmp(line->file, name) == 0 || strcmp(line->bins_file, name) == 0))
		return SL_OK;
	return sl_file_remove(s->dir, name);
}

/* Removes files of the run's names that no line of keep vouches for: a run was cut off there. */
static enum sl_status remove_orphans(const char *run, const struct sl_format *format,
	const struct sl_dir *dir, const struct sl_manifest *keep)
{
	struct sweep s = {.run = run, .format = format, .dir = dir, .keep = keep};
	char part[SL_FILE_NAME_BYTES];

	SL_TRY(sl_file_remove(dir, "run.json.part"));
	SL_TRY(sl_file_remove(dir, "manifest.jsonl.part"));
	snprintf(part, sizeof(part), "%.200s%s.part", run, format->suffix);
	SL_TRY(sl_file_remove(dir, part)); /* of a list joined */
	return sl_dir_each(dir, remove_orphan, &s);
}

/* Drops the lines of batches behind the plan's goal; were there any? */
static bool cut_behind_goal(const struct sl_plan *plan, struct sl_manifest *m)
{
	struct sl_standing o = sl_goal_standing(&plan->goal, plan->recipe.n_batches, m);
	size_t n = m->n;

	while (m->n > 0 && m->line[m->n - 1].batch >= o.batches)
		m->n--;
	return m->n < n;
}

static enum sl_status may_resume(const struct sl_plan *plan, const struct sl_dir *dir)
{
	struct sl_former former;
	enum sl_status s;

	SL_TRY(sl_former_read(dir, &former));
	s = sl_former_is_of(&former, plan, dir);
	sl_former_free(&former);
	return s;
}

static enum sl_status resume(
	const struct sl_plan *plan, const struct sl_dir *dir, struct sl_manifest *done)
{
	size_t whole = 0;

	SL_TRY(may_resume(plan, dir));
	SL_TRY(sl_manifest_read(dir, done));
	for (size_t i = 0; i < done->n; i++) {
		bool keep;

		SL_TRY(is_whole(plan, dir, &done->line[i], &keep));
		if (keep)
			done->line[whole++] = done->line[i];
	}
	if (whole < done->n)
		done->in_order = false;
	done->n = whole;
	if (cut_behind_goal(plan, done))
		done->in_order = false;
	/* A line goes before its file, so none ever stands for a file that is gone. */
	if (!done->in_order)
		SL_TRY(sl_manifest_write(dir, done));
	return remove_orphans(plan->config.run.name, plan->format, dir, done);
}

void sl_side_file_name(const char *run, enum sl_side_file which, char name[SL_FILE_NAME_BYTES])
{
	static const char *const suffix[SL_SIDE_COUNT] = {[SL_SIDE_XDMF] = ".xdmf",
		[SL_SIDE_TALLIES] = ".tallies",
		[SL_SIDE_IMAGE] = SL_PICTURE_SUFFIX,
		[SL_SIDE_PNG] = ".png"};

	snprintf(name, SL_FILE_NAME_BYTES, "%.200s%s", run, suffix[which]);
}

/* How many of the side files a run may have: those of the image are the last. */
static int side_files(bool image)
{
	return image ? SL_SIDE_COUNT : SL_SIDE_IMAGE;
}

/* Removes all files that have a name of the run. */
static enum sl_status remove_named(const char *run, const struct sl_format *format, bool image,
	bool joined, const struct sl_dir *dir)
{
	const struct sl_manifest none = {0};
	char name[SL_FILE_NAME_BYTES];

	SL_TRY(remove_orphans(run, format, dir, &none));
	for (int i = 0; i < side_files(image); i++) {
		sl_side_file_name(run, (enum sl_side_file)i, name);
		SL_TRY(sl_file_remove(dir, name));
	}
	sl_joined_name(run, format, name);
	return joined ? sl_file_remove(dir, name) : SL_OK;
}

/* The run that is there may have another name or format than the plan's. */
static enum sl_status remove_old(const struct sl_dir *dir)
{
	struct sl_former former;
	enum sl_status s = SL_OK;

	if (!sl_file_exists(dir, "run.json") || sl_former_read(dir, &former) != SL_OK)
		return SL_OK;
	if (former.name && former.format)
		s = remove_named(former.name, former.format, former.image, former.joined, dir);
	sl_former_free(&former);
	return s;
}

/* run.json goes last: a removal cut off half-way is still seen to be a run. */
static enum sl_status replace(
	const struct sl_plan *plan, const struct sl_dir *dir, struct sl_manifest *done)
{
	SL_TRY(sl_manifest_read(dir, done));
	for (size_t i = 0; i < done->n; i++) {
		SL_TRY(sl_file_remove(dir, done->line[i].file));
		if (done->line[i].bins_file[0])
			SL_TRY(sl_file_remove(dir, done->line[i].bins_file));
	}
	done->n = 0;
	SL_TRY(remove_old(dir));
	SL_TRY(remove_named(plan->config.run.name, plan->format, plan->config.output.image,
		plan->config.output.joined, dir));
	SL_TRY(sl_file_remove(dir, "manifest.jsonl"));
	return sl_file_remove(dir, "run.json");
}

static enum sl_status refuse_named(void *of, const char *name)
{
	const struct sweep *s = (const struct sweep *)of;
	char side[SL_FILE_NAME_BYTES];
	uint64_t batch;
	bool taken = is_of_run(s, name, &batch);

	for (int i = 0; i < side_files(s->image); i++) {
		sl_side_file_name(s->run, (enum sl_side_file)i, side);
		taken = taken || strcmp(name, side) == 0;
	}
	sl_joined_name(s->run, s->format, side);
	taken = taken || (s->joined && strcmp(name, side) == 0);
	if (!taken)
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/%s: is there already (the run would need that name, and no run.json says whose "
		"it is), try another --out, another run.name or --force",
		s->dir->path, name);
}

/* A new run must not find its names taken when it is half done. */
static enum sl_status begin(const struct sl_plan *plan, const struct sl_dir *dir)
{
	struct sweep s = {.run = plan->config.run.name,
		.format = plan->format,
		.dir = dir,
		.image = plan->config.output.image,
		.joined = plan->config.output.joined};

	return sl_dir_each(dir, refuse_named, &s);
}

static enum sl_status enter(const struct sl_plan *plan, enum sl_start start,
	const struct sl_dir *dir, struct sl_manifest *done)
{
	bool begun = sl_file_exists(dir, "run.json");

	if (!begun && sl_file_exists(dir, "manifest.jsonl") && start != SL_START_FORCE)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: has a manifest.jsonl but no run.json (whose batches these are cannot "
			"be told), try another --out or --force",
			dir->path);
	if (begun && start == SL_START_NEW)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s: holds a run already (it would be overwritten), try --resume to go on "
			"with it, another --out, or --force to replace it",
			dir->path);
	if (start == SL_START_FORCE)
		return replace(plan, dir, done);
	return begun ? resume(plan, dir, done) : begin(plan, dir);
}

enum sl_status sl_output_open(const struct sl_plan *plan, enum sl_start start, struct sl_dir *dir,
	struct sl_manifest *done)
{
	memset(done, 0, sizeof(*done));
	SL_TRY(sl_dir_open(plan->to, true, dir));
	SL_TRY(sl_dir_lock(dir));
	SL_TRY(enter(plan, start, dir, done));
	return sl_report_commit(plan, dir, done, NULL, "running");
}

uint64_t sl_output_batch(const struct sl_config *config)
{
	char to[SL_TEXT_BYTES];
	struct sl_former former;
	struct sl_dir dir;
	uint64_t batch = 0;

	sl_plan_where(config, to);
	if (sl_dir_open(to, false, &dir) != SL_OK)
		return 0;
	if (sl_file_exists(&dir, "run.json") && sl_former_read(&dir, &former) == SL_OK) {
		batch = sl_former_batch(&former);
		sl_former_free(&former);
	}
	sl_dir_close(&dir);
	return batch;
}

uint64_t sl_output_done(const struct sl_plan *plan)
{
	struct sl_manifest m = {0};
	struct sl_dir dir;
	uint64_t n = 0;

	if (sl_dir_open(plan->to, false, &dir) != SL_OK)
		return 0;
	if (sl_manifest_read(&dir, &m) == SL_OK && m.n <= plan->recipe.n_batches)
		n = sl_goal_standing(&plan->goal, plan->recipe.n_batches, &m).met
		            ? plan->recipe.n_batches
		            : m.n;
	sl_manifest_free(&m);
	sl_dir_close(&dir);
	return n;
}

/* The side-car's text, measured when text is NULL; returns its length. */
static size_t write_side_car(
	const struct sl_plan *plan, const struct sl_manifest *m, char *text, size_t size)
{
	struct sl_table table = sl_plan_table(plan, 0);
	size_t used = sl_xdmf_begin(text, size, plan->config.run.name);

	for (size_t i = 0; i < m->n; i++) {
		const struct sl_manifest_line *l = &m->line[i];

		table.n = (uint32_t)l->survivors;
		used += sl_xdmf_grid(text ? text + used : NULL, text ? size - used : 0, l->file,
			plan->facts.species, l->batch, &table);
	}
	return used + sl_xdmf_end(text ? text + used : NULL, text ? size - used : 0);
}

/* The side-car of openPMD files whose columns can be shown as points; nothing for others. */
static enum sl_status commit_side_car(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m)
{
	struct sl_table table = sl_plan_table(plan, 0);
	char name[SL_FILE_NAME_BYTES];
	enum sl_status s;
	size_t bytes;
	void *text;

	if (plan->format != &sl_format_openpmd || !sl_xdmf_possible(&table))
		return SL_OK;
	bytes = write_side_car(plan, m, NULL, 0);
	SL_TRY(sl_memory_get(SL_HOST, bytes + 1, &text));
	write_side_car(plan, m, (char *)text, bytes + 1);
	sl_side_file_name(plan->config.run.name, SL_SIDE_XDMF, name);
	s = sl_file_commit(dir, name, text, bytes, true);
	sl_memory_give(SL_HOST, text);
	return s;
}

/* Adds up the tallies by bins, for run.json, and writes them where the other files are HDF5, too.
 */
static enum sl_status commit_histograms(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest *m)
{
	char name[SL_FILE_NAME_BYTES];

	if (plan->recipe.bins.n == 0 || m->n == 0)
		return SL_OK;
	SL_TRY(sl_histograms_read(&plan->recipe, dir, m, &plan->histograms));
	return sl_histograms_name(plan, name) ? sl_histograms_commit(plan, dir, name) : SL_OK;
}

enum sl_status sl_output_finish(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_session *session, const char *state, struct sl_manifest *m)
{
	bool cut;

	SL_TRY(sl_manifest_read(dir, m));
	/* those behind a gap that was filled only now */
	cut = cut_behind_goal(plan, m);
	if (cut || !m->in_order)
		SL_TRY(sl_manifest_write(dir, m));
	if (cut)
		SL_TRY(remove_orphans(plan->config.run.name, plan->format, dir, m));
	if (strcmp(state, "done") == 0)
		SL_TRY(sl_canvas_commit(plan, dir, m));
	if (strcmp(state, "done") == 0)
		SL_TRY(sl_joined_commit(plan, dir, m));
	SL_TRY(commit_side_car(plan, dir, m));
	SL_TRY(commit_histograms(plan, dir, m));
	return sl_report_commit(plan, dir, m, session, state);
}
