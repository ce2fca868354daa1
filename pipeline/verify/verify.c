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
	uint64_t batches, survivors; /* whose digests were compared */
	uint64_t bytes;              /* of their files */
	uint64_t ordered;            /* survivors whose order by key was checked */
	uint64_t sampled;            /* survivors that were recomputed from their ids */
	uint64_t recomputed;         /* batches that were recomputed as a whole */
	struct sl_truncated truncated;
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
	struct sl_survivors expected;
	struct sl_pieces pieces;
	enum sl_status s;
	void *file;

	SL_TRY(sl_format_pack(format, &slot->exec, &run, &t, NULL, &slot->packed));
	SL_TRY(sl_format_assemble(format, &run, &facts, &slot->packed, w->file_image,
		w->plan->memory.image, &pieces));
	SL_TRY(sl_memory_get(SL_HOST, pieces.bytes, &file));
	sl_pieces_join(&pieces, file);
	s = sl_survivors_of(format, file, pieces.bytes, t.n, &expected);
	sl_memory_give(SL_HOST, file);
	SL_TRY(s);
	sl_digest_table(&expected.table);
	s = sl_verify_same(l, found, &expected.table);
	sl_survivors_free(&expected);
	return s;
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
	if (expected.bins_crc != l->bins_crc)
		return sl_verify_wrong(
			l, "the histograms differ from those of the recomputed batch");
	SL_TRY(sl_order_file_put(
		w->plan, &slot->batch, NULL, &expected.order_bytes, &expected.order_crc));
	if (l->order_file[0] && expected.order_crc != l->order_crc)
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
			"the manifest has %llu particles from id %llu and the histogram file '%s', "
			"which is no batch of this run",
			(unsigned long long)l->generated, (unsigned long long)l->first_id,
			l->bins_file);
	if (sum != l->generated || kept != l->survivors)
		return sl_verify_wrong(l,
			"the fate counts of the manifest sum to %llu particles and %llu survivors, "
			"not to %llu and %llu",
			(unsigned long long)sum, (unsigned long long)kept,
			(unsigned long long)l->generated, (unsigned long long)l->survivors);
	return SL_OK;
}

/* Compares size and CRC-32 of a file of a batch with those of the manifest. */
static enum sl_status check_contents(const struct sl_dir *dir, const struct sl_manifest_line *l,
	const char *name, uint64_t expected_bytes, uint32_t expected_crc)
{
	uint64_t bytes;
	uint32_t crc;

	SL_TRY(sl_file_check(dir, name, &bytes, &crc));
	if (bytes == expected_bytes && crc == expected_crc)
		return SL_OK;
	return sl_verify_wrong(l,
		"the %s has %llu bytes and CRC-32 %08x, but %llu and %08x in the manifest",
		name == l->file ? "file" : "file of sort keys", (unsigned long long)bytes, crc,
		(unsigned long long)expected_bytes, expected_crc);
}

/*
 * Makes all checks of the survivors' file of a batch, cheap ones first, and adds its pixels to the
 * image of w.
 */
static enum sl_status check_survivors(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest_line *l, struct counts *counts)
{
	const struct sl_recipe *r = &w->plan->recipe;
	struct sl_survivors s;
	struct sl_table exact;
	enum sl_status status;
	bool checked; /* sample and order have checked all that the manifest line states */

	SL_TRY(check_contents(dir, l, l->file, l->file_bytes, l->file_crc));
	if (l->order_file[0])
		SL_TRY(check_contents(dir, l, l->order_file, l->order_bytes, l->order_crc));
	SL_TRY(sl_survivors_read(dir, l->file, &s));
	sl_digest_table(&s.table);
	exact = sl_verify_exact_columns(&s.table);
	status = sl_verify_digests(l, &s.table);
	if (status == SL_OK)
		status = sl_verify_order(r, l, &exact, &counts->ordered);
	if (status == SL_OK && !r->inputs && r->resampling.steps == 0)
		status = sl_verify_sample(r, l, &exact, &counts->sampled);
	checked = sl_table_find(&exact, SL_COLUMN_id) && sl_verify_has_key(r, &exact) &&
	          sl_counter_words(r) == 0 && exact.n_columns == s.table.n_columns;
	/*
	 * Particles from input files have no seed, so every batch is recomputed. For others, if not
	 * all values could be checked, as those of filters, which depend on each other, the first batch shows whether this program computes the
	 * same.
	 */
	if (status == SL_OK && (r->inputs || (!checked && !counts->recomputed))) {
		counts->recomputed++;
		status = recompute(w, l, &s.table);
	}
	if (status == SL_OK)
		status = sl_add_context(
			sl_image_sum_add(&w->image_sum, l->batch, &s.table), "%s", l->file);
	sl_survivors_free(&s);
	return status;
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
	enum sl_status status;
	uint64_t *sum;

	SL_TRY(check_line(w->plan, l));
	if (sl_counter_words(r) >
		0) { /* the reading checks that the histograms sum to the fate counts */
		SL_TRY(sl_tallies_read(r, dir, l, &sum));
		sl_memory_give(SL_HOST, sum);
	}
	status = l->file[0] ? check_survivors(w, dir, l, counts) : check_unwritten(w, l, counts);
	counts->batches++;
	counts->survivors += l->survivors;
	counts->bytes += l->file_bytes;
	return status;
}

/*
 * Makes the plan of the run in dir, after run.json was checked byte for byte. The stored
 * configuration leaves out output.joined, which does not change the batches, so it is set again.
 */
static enum sl_status plan_of(const struct sl_dir *dir, struct sl_plan **plan)
{
	static const char *const joined[] = {"output.joined=true"};
	struct sl_existing_run existing;
	enum sl_status s;

	*plan = NULL;
	SL_TRY(sl_report_check(dir));
	SL_TRY(sl_existing_run_read(dir, &existing));
	s = sl_existing_run_plan(&existing, joined, existing.joined ? 1 : 0, plan);
	sl_existing_run_free(&existing);
	return s;
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
	sl_json_object(j, NULL);
	sl_json_u64(j, "batches", c->batches);
	sl_json_u64(j, "of_batches", of);
	sl_json_u64(j, "survivors", c->survivors);
	sl_json_u64(j, "bytes", c->bytes);
	sl_json_bool(j, "written", plan->choices.format != &sl_format_none);
	sl_json_bool(j, "histograms", sl_counter_words(&plan->recipe) > 0);
	sl_truncated_json(&c->truncated, j);
	sl_json_u64(j, "order_checked", c->ordered);
	sl_json_u64(j, "remade", c->sampled);
	sl_json_bool(j, "batch_computed_anew", c->recomputed > 0);
	sl_json_u64(j, "recomputed", c->recomputed);
	sl_json_bool(j, "image_added_up", plan->config.output.image);
	sl_json_bool(j, "joined_compared", sl_plan_is_joined(plan));
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
			"%s: %zu of %s%llu batches are committed, because the run has not ended; if "
			"sluice status says that it runs, wait, else use sluice run --resume to "
			"continue it",
			dir->path, m->n, w->plan->choices.stop_rule.below > 0 ? "at most " : "",
			(unsigned long long)of);
	return sl_verify_side_files(w, dir, m);
}

/*
 * The directory is not locked, so a run can be verified on a read-only disk; a run in progress
 * fails, because batches are missing. of is the number of batches at which stop.when ended the run.
 */
enum sl_status sl_verify(const char *directory, bool json, bool quiet, FILE *out)
{
	struct sl_dir dir;
	struct sl_manifest m = {0};
	struct counts counts = {0};
	struct sl_results results;
	struct sl_workspace *w = NULL;
	struct sl_plan *plan = NULL;
	enum sl_status s;
	uint64_t of = 0;

	SL_TRY(sl_dir_open(directory, false, &dir));
	s = plan_of(&dir, &plan);
	if (s == SL_OK)
		s = sl_manifest_read(&dir, &m);
	if (s == SL_OK)
		s = sl_workspace_open(plan, &w);
	if (s == SL_OK) {
		of = sl_stop_rule_state(&plan->choices.stop_rule, plan->recipe.n_batches, &m)
		             .batches;
		if (sl_plan_is_part(plan))
			of = sl_plan_batches(plan).end - sl_plan_batches(plan).first;
		sl_results_of(plan, &m, &results);
		counts.truncated = sl_results_truncated(plan, &results);
		s = verify(w, &dir, &m, of, &counts);
	}
	if (s == SL_OK && (json || !quiet))
		s = print_counts(&counts, of, plan, json, out);
	sl_manifest_free(&m);
	sl_workspace_close(w);
	sl_plan_free(plan);
	sl_dir_close(&dir);
	return s;
}
