/* library_run.c - see library_run.h. */
#include "tests/support/runs/library_run.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/output/output.h"
#include "pipeline/plan/plan.h"
#include "primitives/primitives.h"
#include "stages/formats/hdf5/hdf5.h"
#include "tests/support/basic/check.h"

enum { SETS_MAX = 14 };

static const char config[] =
	"run: {name: counted, seed: 7}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, n: 1.4, thickness: 0.2 cm}}\n"
	"keep: [transmitted, reflected]\n"
	"key: [w:6]\n"
	"output: {format: csv.gz, columns: [id, x, w, weight, fate]}\n";

enum sl_status library_plan(const struct library_run *r, struct sl_plan **plan)
{
	const char *const format = r->format ? r->format : "csv.gz";
	char text[1024], slots[32];
	const char *set[SETS_MAX];
	size_t n = 0;

	snprintf(slots, sizeof(slots), "run.slots=%u\n", r->slots);
	snprintf(text, sizeof(text),
		"run.device=%s\nrun.particles=%u\nrun.batch=%u\nrun.threads=%u\nrun.mode=%s\n"
		"primitives.compact=%s\nprimitives.sort=%s\nprimitives.deflate=%s\n"
		"output.format=%s\n%s%s%s%s",
		r->device, r->particles * r->batches, r->particles, r->threads,
		r->mode ? r->mode : "auto", r->compact ? r->compact : "auto",
		r->sort ? r->sort : "auto", r->deflate ? r->deflate : "auto", format,
		r->slots > 0 ? slots : "", r->to ? "output.to=" : "", r->to ? r->to : "",
		strncmp(format, "mcpl", 4) == 0 ? "\noutput.columns=[]\noutput.mcpl.energy=1 keV"
						: "");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		set[n++] = line;
	return library_plan_of(set, n, plan);
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
	/*
	 * as the program does: the processes that write HDF5 files are forked before the run has
	 * threads
	 */
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

static bool is_on_device(const struct sl_backend *b, enum sl_primitive primitive)
{
	return b->primitive == primitive && b->space == SL_DEVICE;
}

void for_each_backend(void (*run_one)(const char *compact, const char *sort, unsigned slots))
{
	const struct sl_backend *c, *s;
	unsigned runs = 0;

	for (size_t i = 0; (s = sl_backend_at(i)) != NULL; i++) {
		if (!is_on_device(s, SL_SORT))
			continue;
		run_one(NULL, s->name, runs++ % 3 + 1);
		for (size_t k = 0; (c = sl_backend_at(k)) != NULL; k++)
			if (is_on_device(c, SL_COMPACT))
				run_one(c->name, s->name, runs++ % 3 + 1);
	}
	assert_true(runs > 3);
}
