/*
 * info_run.c - prints the state and the sums of a run from run.json and manifest.jsonl.
 *
 * This part takes milliseconds for a run of any size, and is printed before the survivor files are read.
 * The directory is not locked: the numbers of a run in progress are those of the batches committed so
 * far.
 */
#include "pipeline/info/info_run.h"

#include <string.h>

#include "pipeline/info/info_survivors.h"
#include "pipeline/output/existing_run.h"
#include "pipeline/report/tallies/run_results.h"
#include "pipeline/results/manifest.h"
#include "pipeline/text/messages.h"
#include "stages/formats/formats.h"

/* Prints the particles of each fate that occurred, and their fraction of the generated ones. */
static void print_fates(const struct sl_results *r, FILE *out)
{
	fprintf(out, "%-14s %14s %12s\n", "fate", "particles", "fraction");
	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (r->fate[f].count > 0)
			fprintf(out, "%-14s %14llu %12.8f\n", sl_fate_facts[f].name,
				(unsigned long long)r->fate[f].count, r->fate[f].fraction);
}

/* Weights are not printed: their unit is in the plan, which is not made here. */
static void print_run(const struct sl_dir *dir, const struct sl_existing_run *run,
	const struct sl_existing_sizes *sizes, const struct sl_manifest *m, FILE *out)
{
	struct sl_truncated truncated = {.max_steps = sizes->max_steps};
	struct sl_results r;
	char size[32];

	sl_results_make(m, true, &r);
	fprintf(out, "%s: run %s, format %s, %s\n", dir->path, run->name ? run->name : "(no name)",
		run->format ? run->format->name : "(unknown)",
		!run->state                          ? "(no state)"
		: strcmp(run->state, "running") == 0 ? "not ended (see sluice status)"
						     : run->state);
	if (run->part.of > 0)
		fprintf(out, "part %llu of %llu of a run\n", (unsigned long long)run->part.number,
			(unsigned long long)run->part.of);
	fprintf(out, "%llu batches, %llu particles, %llu survivors, %s in files\n",
		(unsigned long long)r.all.n, (unsigned long long)r.all.particles,
		(unsigned long long)r.survivors, sl_sized((double)r.bytes, size));
	if (m->damaged > 0)
		fprintf(out,
			"damaged lines of manifest.jsonl: %zu, not counted; sluice verify checks the run\n",
			m->damaged);
	if (r.all.particles > 0)
		print_fates(&r, out);
	truncated.count = r.fate[SL_FATE_max_steps].count;
	truncated.particles = r.all.particles;
	sl_truncated_print(&truncated, out);
}

enum sl_status sl_info_run(const struct sl_dir *dir, uint64_t head, FILE *out)
{
	struct sl_existing_run run;
	struct sl_existing_sizes sizes;
	struct sl_manifest m = {0};
	enum sl_status s;

	SL_TRY(sl_existing_run_read(dir, &run));
	s = sl_existing_run_sizes(&run, &sizes);
	if (s == SL_OK)
		s = sl_manifest_read(dir, &m);
	if (s == SL_OK) {
		print_run(dir, &run, &sizes, &m, out);
		fflush(out);
		if (run.format != &sl_format_none)
			s = sl_info_all_survivors(dir, &m, head, out);
	}
	sl_manifest_free(&m);
	sl_existing_run_free(&run);
	return s;
}
