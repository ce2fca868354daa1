/* library_run.c - see library_run.h. */
#include "tests/support/runs/library_run.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/output/shared_directory.h"
#include "pipeline/plan/memory.h"
#include "stages/formats/hdf5/hdf5_writer.h"

enum { SETS_MAX = 14, SET_BYTES = 320 };

static const char config[] =
	"run: {name: counted, seed: 7}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, n: 1.4, thickness: 0.2 cm}}\n"
	"keep: [transmitted, reflected]\n"
	"key: [w:6]\n"
	"output: {format: csv.gz, columns: [id, x, w, weight, fate]}\n";

/* The settings of a run, as texts "key=value". */
struct sets {
	size_t n;
	char text[SETS_MAX][SET_BYTES];
};

static void set(struct sets *s, const char *key, const char *value)
{
	snprintf(s->text[s->n++], SET_BYTES, "%s=%s", key, value);
}

static void set_number(struct sets *s, const char *key, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	set(s, key, text);
}

static struct sets sets_of(const struct library_run *r)
{
	struct sets s = {.n = 0};

	set(&s, "run.device", r->device);
	set_number(&s, "run.particles", r->particles * r->batches);
	set_number(&s, "run.batch", r->particles);
	set_number(&s, "run.threads", r->threads);
	if (r->slots > 0)
		set_number(&s, "run.slots", r->slots);
	if (r->mode)
		set(&s, "run.mode", r->mode);
	if (r->compact)
		set(&s, "primitives.compact", r->compact);
	if (r->sort)
		set(&s, "primitives.sort", r->sort);
	if (r->deflate)
		set(&s, "primitives.deflate", r->deflate);
	if (r->format)
		set(&s, "output.format", r->format);
	if (r->format && strncmp(r->format, "mcpl", 4) == 0) {
		set(&s, "output.columns", "[]");
		set(&s, "output.mcpl.energy", "1 keV");
	}
	if (r->to)
		set(&s, "output.to", r->to);
	return s;
}

enum sl_status library_plan(const struct library_run *r, struct sl_plan **plan)
{
	const char *at[SETS_MAX];
	struct sets s = sets_of(r);

	for (size_t i = 0; i < s.n; i++)
		at[i] = s.text[i];
	return library_plan_of(at, s.n, plan);
}

enum sl_status library_plan_of(const char *const *sets, size_t n, struct sl_plan **plan)
{
	static struct sl_config c;
	static struct sl_choices choices;
	struct sl_reader *reader = NULL;
	enum sl_status status;

	*plan = NULL;
	status = sl_config_open_text(
		"library_run", config, sizeof(config) - 1, sets, n, &c, &reader);
	if (status == SL_OK)
		status = sl_resolve(&c, reader, &choices);
	if (status == SL_USAGE && reader)
		fputs(sl_config_report(reader), stderr);
	sl_config_close(reader);
	return status == SL_OK ? sl_plan_make(&c, &choices, plan) : status;
}

static enum sl_status call_batch(void *ctx, struct sl_host_slot *slot)
{
	const struct library_run *r = (const struct library_run *)ctx;

	(void)slot;
	if (r->batch)
		r->batch();
	return SL_OK;
}

static enum sl_status run(const struct library_run *r, struct sl_workspace *w)
{
	struct sl_control control = {
		.batch = call_batch, .ctx = (void *)(uintptr_t)r, .discard = !r->to};
	struct sl_dir dir = {.fd = -1, .lock = -1};
	struct sl_manifest done = {0};
	struct sl_session session;
	enum sl_status s = SL_OK;

	if (r->to)
		s = sl_output_open(w, NULL, SL_START_NEW, &dir, &done);
	if (r->begun)
		r->begun();
	if (s == SL_OK)
		s = sl_run(w, &dir, &done, &control, &session);
	if (r->ended)
		r->ended();
	sl_manifest_free(&done);
	if (dir.fd >= 0)
		sl_dir_close(&dir);
	return s;
}

enum sl_status library_run(const struct library_run *r)
{
	struct sl_workspace *w = NULL;
	struct sl_plan *plan;
	/* as the program does: the processes that write HDF5 files are forked before the run has threads */
	enum sl_status s = sl_h5_writers_start(1);

	if (s == SL_OK)
		s = library_plan(r, &plan);
	if (s != SL_OK)
		return s;
	s = sl_memory_plan_check(plan);
	if (s == SL_OK)
		s = sl_workspace_open(plan, &w);
	if (s == SL_OK)
		s = sl_workspace_allocate(w);
	if (s == SL_OK)
		s = run(r, w);
	sl_workspace_close(w);
	sl_plan_free(plan);
	return s;
}
