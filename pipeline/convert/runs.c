/*
 * runs.c - finds the runs of the inputs, compares their configurations and adds up their counts.
 *
 * The configurations in run.json are written by one program from one table, so equal settings give
 * equal lines, and only whole sections have to be left out of the comparison.
 */
#include "pipeline/convert/convert.h"

#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/device/device.h"

/* --- configurations --------------------------------------------------------------------------- */

/* Sections that two runs of one simulation may have different: see convert.h. */
static const char *const free_sections[] = {
	"run:", "output:", "key:", "stop:", "check:", "primitives:"};

/*
 * The next line of a configuration, or of the rest of a section, that must be equal; NULL at the
 * end.
 */
static const char *next_line(const char *at, bool *free)
{
	for (; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (*at != ' ') {
			*free = false;
			for (size_t i = 0; i < sizeof(free_sections) / sizeof(*free_sections); i++)
				*free |= strncmp(at, free_sections[i], strlen(free_sections[i])) ==
				         0;
		}
		if (!*free)
			return at;
	}
	return NULL;
}

/* Have two configurations the same lines outside of the free sections? */
static bool is_same_simulation(const char *a, const char *b)
{
	bool free_a = false, free_b = false;

	for (;;) {
		size_t n;

		a = next_line(a, &free_a);
		b = next_line(b, &free_b);
		if (!a || !b)
			return !a && !b;
		n = strcspn(a, "\n");
		if (n != strcspn(b, "\n") || memcmp(a, b, n) != 0)
			return false;
		a += n + (a[n] == '\n');
		b += n + (b[n] == '\n');
	}
}

/* --- the runs of the inputs ------------------------------------------------------------------- */

static struct sl_input_run *find_folder(const struct sl_runs *r, const char *folder)
{
	for (size_t i = r->n; i-- > 0;) /* most inputs are of the last run */
		if (strcmp(r->at[i].folder, folder) == 0)
			return &r->at[i];
	return NULL;
}

/* Adds the run in a folder; *run is NULL if there is none. */
static enum sl_status add_run(struct sl_runs *r, const char *folder, struct sl_input_run **run)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	struct sl_input_run *made = &r->at[r->n];
	bool exists;

	*run = NULL;
	if (sl_dir_open(folder, false, &dir) != SL_OK)
		return SL_OK;
	SL_TRY(sl_file_exists(&dir, "run.json", &exists));
	if (!exists)
		return SL_OK;
	*run = made;
	memset(made, 0, sizeof(*made));
	snprintf(made->folder, sizeof(made->folder), "%s", folder);
	made->first_id = UINT64_MAX;
	r->n++;
	return sl_manifest_read(&dir, &made->manifest);
}

enum sl_status sl_input_run_read(const char *folder, struct sl_existing_run *f)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};

	SL_TRY(sl_dir_open(folder, false, &dir));
	return sl_existing_run_read(&dir, f);
}

/* SL_BAD_INPUT for a run.json that is damaged, or of another program. */
static enum sl_status read_runs(struct sl_runs *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct sl_existing_sizes sizes;

		SL_TRY(sl_input_run_read(r->at[i].folder, &r->at[i].existing));
		SL_TRY(sl_existing_run_sizes(&r->at[i].existing, &sizes));
		if (!sizes.has_seed)
			return sl_fail(
				SL_BAD_INPUT, "run.json has no run.seed; run again with --resume");
		r->at[i].seed = sizes.seed;
	}
	return SL_OK;
}

/*
 * Adds the batch of an input to the sums of its run; false if no committed batch has that file. The
 * inputs are most often all batches in order, so the search starts after the last batch found.
 * Batches without files (output.format: none) have equal names, and are found one after another.
 */
static bool add_batch(struct sl_input_run *run, const char *file)
{
	const struct sl_manifest *m = &run->manifest;

	for (size_t i = 0; i < m->n; i++) {
		const struct sl_manifest_line *l = &m->line[(run->next + i) % m->n];

		if (strcmp(l->file.name, file) != 0)
			continue;
		run->next = (size_t)(l - m->line) + 1;
		if (l->first_id < run->first_id)
			run->first_id = l->first_id;
		run->generated += l->generated;
		run->survivors += l->survivors;
		for (int f = 0; f < SL_FATE_COUNT; f++) {
			run->count[f] += l->tally.count[f];
			run->weight[f] += sl_tally_weight(&l->tally, l->generated, f);
		}
		return true;
	}
	return false;
}

/* Finds the runs of all inputs; *all: each input is the file of a committed batch of a run. */
static enum sl_status find_all(const struct sl_conversion *c, struct sl_runs *r, bool *all)
{
	struct sl_convert_cursor at = {0};

	for (*all = true; *all && sl_convert_next(c, &at);) {
		char folder[SL_PATH_BYTES];
		const char *name = sl_path_split(at.path, folder);
		struct sl_input_run *run = find_folder(r, folder);

		if (!run)
			SL_TRY(add_run(r, folder, &run));
		*all = run && add_batch(run, name);
	}
	return SL_OK;
}

/* --- merging ---------------------------------------------------------------------------------- */

/*
 * Compares each run with the first one; notes the first that differs, and seeds that are repeated.
 */
static bool can_merge(struct sl_conversion *c, const struct sl_runs *r)
{
	const struct sl_input_run *first = &r->at[0];

	/* particles of a list do not depend on the seed, so its runs repeat them */
	if (strstr(first->existing.config, "\nmodel:\n  list:"))
		return false;
	for (size_t i = 0; i < r->n; i++) {
		if (r->at[i].existing.part.of == 0)
			continue; /* ids of parts are those of their run, so they must not be shifted */
		sl_convert_note(c,
			"parts: the inputs are parts of a run (--part), whose counts are not "
			"kept; sluice join makes the whole run of them");
		return false;
	}
	for (size_t i = 1; i < r->n; i++) {
		const struct sl_input_run *run = &r->at[i];

		if (run->existing.rules_version != first->existing.rules_version ||
			!is_same_simulation(run->existing.config, first->existing.config)) {
			sl_convert_note(c,
				"different: the runs in %s and %s are not of one simulation (model, "
				"keep or tallies differ), so their seeds and counts are not kept",
				first->folder, run->folder);
			return false;
		}
		for (size_t k = 0; k < i; k++)
			if (run->seed == r->at[k].seed) {
				sl_convert_note(c,
					"repeated: the runs in %s and %s have the same seed, so "
					"particles with the same number are the same and count twice",
					r->at[k].folder, run->folder);
				break;
			}
	}
	return true;
}

/* Shifts the ids of each run so that they follow all ids of the run before it. */
static void set_shifts(struct sl_runs *r)
{
	uint64_t shift = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct sl_manifest *m = &r->at[i].manifest;
		uint64_t end = 0;

		for (size_t k = 0; k < m->n; k++)
			if (m->line[k].first_id + m->line[k].generated > end)
				end = m->line[k].first_id + m->line[k].generated;
		r->at[i].shift = shift;
		shift += end;
	}
}

/* Fates that occurred, as counts, and as weights where these differ: not 1 for each particle. */
static void write_tally(struct sl_json *j, const struct sl_input_run *run)
{
	bool weighted = false;

	sl_json_add(j, "generated %lu survivors %lu fates {", run->generated, run->survivors);
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		weighted |= run->weight[f] != (sl_sum)run->count[f] << 32;
		sl_json_add(j, "%s? %lu", sl_fate_facts[f].name, run->count[f]);
	}
	sl_json_close(j);
	if (!weighted)
		return;
	sl_json_object(j, "weights");
	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (run->weight[f] > 0)
			sl_json_real(j, sl_fate_facts[f].name, (double)run->weight[f] * 0x1p-32);
	sl_json_close(j);
}

/* Writes {"runs":[...], and the sums over all runs}; a buffer of 0 bytes only measures. */
static size_t write_json(const struct sl_runs *r, char *text, size_t size)
{
	struct sl_json j = sl_json_start(text, size, false);
	struct sl_input_run all = {.seed = 0};

	sl_json_add(&j, "{ runs [");
	for (size_t i = 0; i < r->n; i++) {
		const struct sl_input_run *run = &r->at[i];

		sl_json_add(&j, "{ run %s seed %lu first_id %lu",
			run->existing.name ? run->existing.name : "", run->seed, run->shift);
		write_tally(&j, run);
		sl_json_close(&j);
		all.generated += run->generated;
		all.survivors += run->survivors;
		for (int f = 0; f < SL_FATE_COUNT; f++) {
			all.count[f] += run->count[f];
			all.weight[f] += run->weight[f];
		}
	}
	sl_json_close(&j);
	write_tally(&j, &all);
	sl_json_close(&j);
	return j.used;
}

void sl_runs_note_state(struct sl_conversion *c, const struct sl_existing_run *f, const char *path,
	size_t committed)
{
	const char *state = f->state ? f->state : "unknown";
	const bool done = strcmp(state, "done") == 0;
	struct sl_existing_sizes sizes = {0};

	/* the run can have ended between the two readings, so its state alone is not enough */
	if (!done || (f->part.of == 0 && sl_existing_run_sizes(f, &sizes) == SL_OK &&
			     !sizes.stops && committed < sizes.n_batches))
		sl_convert_note(c,
			"incomplete: the run in %s has not ended (state %s); %zu batches are committed",
			path, done ? "running" : state, committed);
}

enum sl_status sl_runs_find(struct sl_conversion *c)
{
	struct sl_runs *r = &c->runs;
	enum sl_status s;
	size_t bytes;
	bool all;

	SL_TRY(sl_host_get(c->job->n, sizeof(*r->at), &r->at));
	SL_TRY(find_all(c, r, &all));
	r->known = all && r->n > 0;
	if (!r->known || (r->n < 2 && !c->tallies))
		return SL_OK;
	s = read_runs(r);
	r->known = s == SL_OK;
	if (s != SL_OK)
		return s == SL_BAD_INPUT ? SL_OK : s;
	if (r->n < 2 || !can_merge(c, r))
		return SL_OK;
	r->merged = true;
	set_shifts(r);
	for (size_t i = 0; i < r->n; i++)
		sl_runs_note_state(c, &r->at[i].existing, r->at[i].folder, r->at[i].manifest.n);
	bytes = write_json(r, NULL, 0);
	SL_TRY(sl_host_get(bytes + 1, 1, &r->json));
	write_json(r, r->json, bytes + 1);
	r->json[bytes] = '\0';
	sl_convert_note(c, "merged: %zu runs of one simulation", r->n);
	return SL_OK;
}

void sl_runs_free(struct sl_runs *r)
{
	for (size_t i = 0; i < r->n; i++) {
		sl_existing_run_free(&r->at[i].existing);
		sl_manifest_free(&r->at[i].manifest);
	}
	sl_memory_give(SL_HOST, r->json);
	sl_memory_give(SL_HOST, r->at);
	memset(r, 0, sizeof(*r));
}

void sl_runs_shift_ids(const struct sl_runs *r, const char *path, struct sl_table *t)
{
	const struct sl_table_column *c = sl_table_find(t, SL_COLUMN_id);
	const struct sl_input_run *run;
	char folder[SL_PATH_BYTES];

	if (!r->merged || !c)
		return;
	sl_path_split(path, folder);
	run = find_folder(r, folder);
	for (uint32_t i = 0; run && i < (c->constant ? 1 : t->n); i++)
		((uint64_t *)c->data)[i] += run->shift;
}
