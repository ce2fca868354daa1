/*
 * verify.c - reads the files of a run again and checks them, batch by batch.
 *
 * One batch is in memory at a time. Checks against the manifest find files that changed after the
 * run. Recomputing particles from (seed, id) also finds errors that are in the file and in the
 * manifest alike, which a checksum cannot find: the sample costs little, and a whole batch is
 * recomputed only where the file lacks ids or key columns, or rounds its values.
 *
 * Input: run.json (from which the plan is made again), manifest.jsonl and the batch files. Output:
 * the counts of checks, or the first difference as an error message.
 */
#include "pipeline/verify/verify.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/output/output.h"
#include "pipeline/plan/plan.h"
#include "pipeline/print/result.h"
#include "pipeline/report/report.h"
#include "pipeline/report/tallies/tallies.h"
#include "pipeline/results/results.h"
#include "primitives/files/files.h"
#include "stages/formats/formats.h"
#include "stages/particle/digest.h"

/* What was checked so far; printed at the end. */
struct counts {
	uint64_t batches, survivors;   /* whose digests were compared */
	uint64_t bytes;                /* of their files */
	uint64_t ordered;              /* survivors whose order by key was checked */
	uint64_t sampled;              /* survivors that were recomputed from their ids */
	uint64_t recomputed;           /* batches that were recomputed as a whole */
	uint64_t particles, truncated; /* those that ended by transport.max_steps */
};

/*
 * Writes the recomputed batch to a file in memory and reads that file, so that its values are
 * rounded like those of found. Then the rounded columns can be compared too.
 */
static enum sl_status check_file(
	struct sl_workspace *w, const struct sl_manifest_line *l, const struct sl_table *found)
{
	const struct sl_batch_facts facts = {l->batch, l->first_id, l->generated};
	const struct sl_format *format = w->plan->choices.format;
	const struct sl_file_facts run = sl_plan_batch_facts(w->plan);
	struct sl_host_slot *slot = &w->slot[0];
	struct sl_table t = sl_format_table(format, &slot->batch.table);
	SL_CLOSED_BY(sl_survivors_free) struct sl_survivors expected = {.block = NULL};
	SL_CLOSED_BY(sl_host_give) void *file = NULL;
	struct sl_pieces pieces;

	SL_TRY(sl_format_pack(format, &slot->exec, &run, &t, NULL, &slot->packed));
	SL_TRY(sl_format_assemble(format, &run, &facts, &slot->packed, w->file_image,
		w->plan->memory.image, &pieces));
	SL_TRY(sl_memory_get(SL_HOST, pieces.bytes, &file));
	sl_pieces_join(&pieces, file);
	SL_TRY(sl_survivors_of(format, file, pieces.bytes, t.n, &expected));
	sl_digest_table(&expected.table);
	return sl_verify_same(l, found, &expected.table);
}

/*
 * Recomputes the batch; compares fate counts, histograms and digests with the manifest, and rounded
 * columns with found, the survivors of the file, which is NULL if the run writes none. The memory
 * of the workspace is only allocated for the first such batch, because most runs need none.
 */
static enum sl_status recompute(
	struct sl_workspace *w, const struct sl_manifest_line *l, const struct sl_table *found)
{
	struct sl_manifest_line expected;
	struct sl_host_slot *slot;

	if (!w->slot)
		SL_TRY(sl_workspace_allocate(w));
	slot = &w->slot[0];
	sl_batch_begin(&w->plan->recipe, &slot->batch, l->batch);
	SL_TRY(sl_stages_run(&w->plan->recipe, &slot->exec, &slot->batch, NULL));
	if (memcmp(&slot->batch.tally, &l->tally, sizeof(l->tally)) != 0)
		return sl_verify_wrong(l,
			"the tally of the manifest differs from the recomputed batch, or an "
			"earlier version wrote it");
	sl_batch_file_line(&slot->batch, &expected);
	if (expected.bins.crc != l->bins.crc)
		return sl_verify_wrong(
			l, "the histograms differ from those of the recomputed batch");
	SL_TRY(sl_order_file_put(w->plan, &slot->batch, NULL, &expected.order));
	if (l->order.name[0] && expected.order.crc != l->order.crc)
		return sl_verify_wrong(
			l, "the sort keys differ from those of the recomputed batch");
	SL_TRY(sl_verify_digests(l, &slot->batch.table));
	return found && sl_verify_exact_columns(found).n_columns < found->n_columns
	               ? check_file(w, l, found)
	               : SL_OK;
}

/* Is the line of the manifest one of this run, with fate counts that sum to its particles? */
static enum sl_status check_line(const struct sl_plan *plan, const struct sl_manifest_line *l)
{
	uint64_t sum = 0, kept = 0;

	for (int f = 0; f < SL_FATE_COUNT; f++) {
		sum += l->tally.count[f];
		kept += SL_HAS(plan->recipe.keep, f) ? l->tally.count[f] : 0;
	}
	if (!sl_batch_file_is_planned(plan, l))
		return sl_verify_wrong(l,
			"the manifest has %lu particles from id %lu and the histogram file '%s', "
			"which is no batch of this run",
			l->generated, l->first_id, l->bins.name);
	if (sum != l->generated || kept != l->survivors)
		return sl_verify_wrong(l,
			"the fate counts of the manifest sum to %lu particles and %lu survivors, "
			"not to %lu and %lu",
			sum, kept, l->generated, l->survivors);
	return SL_OK;
}

/* Compares size and CRC-32 of a file of a batch with those of the manifest. */
static enum sl_status check_contents(const struct sl_dir *dir, const struct sl_manifest_line *l,
	const struct sl_committed_file *file)
{
	uint64_t bytes;
	uint32_t crc;

	SL_TRY(sl_file_check(dir, file->name, &bytes, &crc));
	if (bytes == file->bytes && crc == file->crc)
		return SL_OK;
	return sl_verify_wrong(l,
		"the %s has %lu bytes and CRC-32 %08x, but %lu and %08x in the manifest",
		file == &l->file ? "file" : "file of sort keys", bytes, crc, file->bytes,
		file->crc);
}

/*
 * Makes all checks of the survivors' file of a batch, cheap ones first, and adds its pixels to the
 * image of w.
 */
static enum sl_status check_survivors(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest_line *l, struct counts *counts)
{
	const struct sl_recipe *r = &w->plan->recipe;
	SL_CLOSED_BY(sl_survivors_free) struct sl_survivors s = {.block = NULL};
	struct sl_table exact;
	bool checked; /* sample and order have checked all that the manifest line states */

	SL_TRY(check_contents(dir, l, &l->file));
	if (l->order.name[0])
		SL_TRY(check_contents(dir, l, &l->order));
	SL_TRY(sl_survivors_read(dir, l->file.name, NULL, &s));
	sl_digest_table(&s.table);
	exact = sl_verify_exact_columns(&s.table);
	SL_TRY(sl_verify_digests(l, &s.table));
	SL_TRY(sl_verify_order(r, l, &exact, &counts->ordered));
	if (!r->inputs && r->resampling.steps == 0)
		SL_TRY(sl_verify_sample(r, l, &exact, &counts->sampled));
	checked = sl_table_find(&exact, SL_COLUMN_id) && sl_verify_has_key(r, &exact) &&
	          sl_counter_words(r) == 0 && exact.n_columns == s.table.n_columns;
	/*
	 * Particles from input files have no seed, so every batch is recomputed. For others, if not
	 * all values could be checked, as those of filters, which depend on each other, the first
	 * batch shows whether this program computes the same.
	 */
	if (r->inputs || (!checked && !counts->recomputed)) {
		counts->recomputed++;
		SL_TRY(recompute(w, l, &s.table));
	}
	return sl_add_context(
		sl_image_sum_add(&w->image_sum, l->batch, &s.table), "%s", l->file.name);
}

/*
 * Without a file of survivors only a recomputation can check the digests. As for files that do not
 * allow a sample, that of the first batch shows whether this program computes the same.
 */
static enum sl_status check_unwritten(
	struct sl_workspace *w, const struct sl_manifest_line *l, struct counts *counts)
{
	if (counts->recomputed > 0 && !w->plan->recipe.inputs)
		return SL_OK;
	counts->recomputed++;
	return recompute(w, l, NULL);
}

static enum sl_status check_batch(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest_line *l, struct counts *counts)
{
	const struct sl_recipe *r = &w->plan->recipe;
	SL_CLOSED_BY(sl_host_give) uint64_t *sum = NULL;
	enum sl_status status;

	SL_TRY(check_line(w->plan, l));
	if (sl_counter_words(r) > 0) /* it checks that the histograms sum to the fate counts */
		SL_TRY(sl_tallies_read(r, dir, l, &sum));
	status = l->file.name[0] ? check_survivors(w, dir, l, counts)
	                         : check_unwritten(w, l, counts);
	counts->batches++;
	counts->particles += l->generated;
	counts->truncated += l->tally.count[SL_FATE_max_steps];
	counts->survivors += l->survivors;
	counts->bytes += l->file.bytes;
	return status;
}

/*
 * Makes the plan of the run in dir, after run.json was checked byte for byte. The stored
 * configuration leaves out output.joined, which does not change the batches, so it is set again.
 */
static enum sl_status plan_of(const struct sl_dir *dir, struct sl_plan **plan)
{
	static const char *const joined[] = {"output.joined=true"};
	SL_CLOSED_BY(sl_existing_run_free) struct sl_existing_run existing = {.tree = NULL};

	SL_TRY(sl_report_check(dir));
	SL_TRY(sl_existing_run_read(dir, &existing));
	return sl_existing_run_plan(&existing, joined, existing.joined ? 1 : 0, plan);
}

static const struct sl_line lines[] = {
	{"", NULL,
		"{batches} of {of_batches} batches are correct: {survivors~survivor}"
		"[{?written} in {bytes:B}; checked: digests of all survivors]"
		"[{!written}, not written; checked: fate counts[{?histograms} and histograms] of all "
		"batches; digests]"
		"[{?order_checked}, order of {order_checked}]"
		"[{?remade}, {remade} recomputed from their ids]"
		"[{?recomputed}, [{?recomputed=1}one batch][{!recomputed=1}all batches] recomputed]"
		"[{?image_added_up}, the image][{?joined_compared}, the joined file]"},
	{"warnings.*", NULL, "warning: {}"},
	{NULL, NULL, NULL},
};

/*
 * Prints the counts of a run without errors. of: the number of batches of the complete run. Some
 * keys of the JSON object have older names; scripts read them, so they stay.
 */
static enum sl_status print_counts(
	const struct counts *c, uint64_t of, const struct sl_plan *plan, bool json, FILE *out)
{
	struct sl_result r;
	struct sl_json *j = &r.json;

	SL_TRY(sl_result_begin(&r, json ? NULL : lines, out));
	sl_json_add(j,
		"{ batches %lu of_batches %lu survivors %lu bytes %lu written %d "
		"histograms %d",
		c->batches, of, c->survivors, c->bytes, plan->choices.format != &sl_format_none,
		sl_counter_words(&plan->recipe) > 0);
	sl_truncated_json(j, c->truncated, c->particles, plan->config.transport.max_steps);
	sl_json_add(j,
		"order_checked %lu remade %lu batch_computed_anew %d recomputed %lu "
		"image_added_up %d joined_compared %d",
		c->ordered, c->sampled, c->recomputed > 0, c->recomputed, plan->config.output.image,
		sl_plan_is_joined(plan));
	return sl_result_end(&r, SL_OK);
}

/*
 * Checks all batches of the manifest, then that no batch is missing, then the files made from all.
 * A damaged line of the manifest is reported after the batches: a difference in a batch says more.
 */
static enum sl_status verify(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *m, uint64_t of, struct counts *counts)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->line[i].batch >= of && of < w->plan->recipe.n_batches &&
			!sl_plan_is_part(w->plan))
			return sl_verify_wrong(
				&m->line[i], "stop.when ended the run before this batch");
		SL_TRY(check_batch(w, dir, &m->line[i], counts));
	}
	if (m->damaged > 0)
		return sl_fail(SL_CHECK_FAILED,
			"%s/manifest.jsonl: %zu damaged line%s, changed or not completely written; use "
			"sluice run --resume to compute these batches again",
			dir->path, m->damaged, m->damaged == 1 ? "" : "s");
	if (m->n < of)
		return sl_fail(SL_CHECK_FAILED,
			"%s: %zu of %s%lu batches are committed, because the run has not ended; if "
			"sluice status says that it runs, wait, else use sluice run --resume to "
			"continue it",
			dir->path, m->n, w->plan->choices.stop_rule.below > 0 ? "at most " : "",
			of);
	return sl_verify_side_files(w, dir, m);
}

/*
 * The directory is not locked, so a run can be verified on a read-only disk; a run in progress
 * fails, because batches are missing. of is the number of batches at which stop.when ended the run.
 */
enum sl_status sl_verify(const char *directory, bool json, bool quiet, FILE *out)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;
	SL_CLOSED_BY(sl_workspace_give) struct sl_workspace *w = NULL;
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest m = {.line = NULL};
	struct counts counts = {0};
	uint64_t of;

	SL_TRY(sl_dir_open(directory, false, &dir));
	SL_TRY(plan_of(&dir, &plan));
	SL_TRY(sl_manifest_read(&dir, &m));
	SL_TRY(sl_workspace_open(plan, &w));
	of = sl_stop_rule_state(&plan->choices.stop_rule, plan->recipe.n_batches, &m).batches;
	if (sl_plan_is_part(plan))
		of = sl_plan_batches(plan).end - sl_plan_batches(plan).first;
	SL_TRY(verify(w, &dir, &m, of, &counts));
	return json || !quiet ? print_counts(&counts, of, plan, json, out) : SL_OK;
}
