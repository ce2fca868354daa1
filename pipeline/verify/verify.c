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

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/plan/file_names.h"
#include "pipeline/output/existing_run.h"
#include "pipeline/text/json.h"
#include "pipeline/plan/memory.h"
#include "pipeline/report/report.h"
#include "pipeline/run/batch_file.h"
#include "pipeline/run/order_file.h"
#include "pipeline/results/survivor_file.h"
#include "pipeline/verify/verify_side_files.h"
#include "pipeline/text/messages.h"
#include "primitives/files/read.h"
#include "stages/formats/formats.h"

/*
 * Survivors per batch that are recomputed; evenly spaced over the rows. An error of the
 * program affects many particles, so a sample shows it; digests show single values that changed.
 */
enum { SAMPLE = 256 };

/* What was checked so far; printed at the end. */
struct counts {
	uint64_t batches, survivors; /* whose digests were compared */
	uint64_t bytes;              /* of their files */
	uint64_t ordered;            /* survivors whose order by key was checked */
	uint64_t sampled;            /* survivors that were recomputed from their ids */
	uint64_t recomputed;         /* batches that were recomputed as a whole */
};

/* Returns SL_CHECK_FAILED with a message about a batch: its number, its file and what is wrong. */
SL_PRINTF(2, 3)
static enum sl_status wrong(const struct sl_manifest_line *l, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return sl_fail(SL_CHECK_FAILED,
		"batch %llu%s%s: %s; the %smanifest was changed, or the disk is failing; use sluice "
		"run --resume to compute the batch again",
		(unsigned long long)l->batch, l->file[0] ? ", " : "", l->file, what,
		l->file[0] ? "file or the " : "");
}

/* Compares the digests of a table with the manifest. A rounded column has no digest to compare. */
static enum sl_status check_digests(const struct sl_manifest_line *l, const struct sl_table *t)
{
	sl_column_set seen = 0;

	if (t->n != l->survivors)
		return wrong(l, "the number of survivors is %u, but %llu in the manifest", t->n,
			(unsigned long long)l->survivors);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];

		if (c->internal)
			continue;
		seen |= SL_BIT(c->column);
		if (strcmp(sl_table_name(t, k), sl_label_name(l->label, c->column)) != 0)
			return wrong(l, "it has a column %s, which is %s in the manifest",
				sl_table_name(t, k), sl_label_name(l->label, c->column));
		if (!c->rounded && c->digest != l->digest[c->column])
			return wrong(l, "the digest of column %s differs from the manifest",
				sl_table_name(t, k));
	}
	return seen == l->columns ? SL_OK
	                          : wrong(l, "the columns differ from those of the manifest");
}

/* The table without rounded columns, which cannot be compared bit for bit. */
static struct sl_table exact_columns(const struct sl_table *t)
{
	struct sl_table exact = {.n = t->n};

	memcpy(exact.label, t->label, sizeof(exact.label));
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].rounded)
			exact.column[exact.n_columns++] = t->column[k];
	return exact;
}

/* The columns of a table as the sort key reads them. has_key() refuses constant key columns. */
static struct sl_columns as_columns(const struct sl_table *t)
{
	struct sl_columns columns = {0};

	for (uint32_t k = 0; k < t->n_columns; k++)
		memcpy((char *)&columns + sl_column_facts[t->column[k].column].offset,
			&t->column[k].data, sizeof(void *));
	return columns;
}

/*
 * Does the table have all fields of the key, so that the order of all rows can be checked? A constant
 * column is stored once and cannot be read row by row.
 */
static bool has_key(const struct sl_recipe *r, const struct sl_table *t)
{
	for (uint32_t k = 0; k < r->n_fields; k++) {
		const struct sl_table_column *c = sl_table_find(t, r->field[k].column);

		if (!c || c->constant)
			return false;
	}
	return true;
}

/* Key and id of the row before, to check the order of rows. */
struct last_row {
	bool exists;
	uint64_t key, id;
};

/* Checks that row i comes after the last row: a larger key, or the same key and a larger id. */
static enum sl_status check_next(struct last_row *last, const struct sl_manifest_line *l,
	uint32_t i, uint64_t key, uint64_t id)
{
	if (last->exists && (key < last->key || (key == last->key && id <= last->id)))
		return wrong(l, "row %u: survivors are not in the order of their keys", i);
	*last = (struct last_row){true, key, id};
	return SL_OK;
}

/* Checks the order of all rows, if the file has the key columns. Without ids, ties are not checked. */
static enum sl_status check_order(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, struct counts *counts)
{
	struct sl_columns columns = as_columns(t);
	const struct sl_table_column *ids = sl_table_find(t, SL_COLUMN_id);
	struct last_row last = {0};

	if (!has_key(r, t))
		return SL_OK;
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t id = ids ? ((const uint64_t *)ids->data)[i] : i;

		SL_TRY(check_next(
			&last, l, i, sl_key_pack(r->field, r->n_fields, &columns, i, id), id));
	}
	counts->ordered += t->n;
	return SL_OK;
}

/* Compares row i bit for bit with p, the particle recomputed from the id of that row. */
static enum sl_status check_row(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, uint32_t i, const struct sl_particle *p)
{
	unsigned long long id = p->id;

	if (p->id < l->first_id || p->id - l->first_id >= l->generated || !SL_HAS(r->keep, p->fate))
		return wrong(l, "row %u: %llu is not the id of a survivor of this batch", i, id);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const struct sl_column_facts *facts = &sl_column_facts[c->column];
		const char *row =
			(const char *)c->data + (c->constant ? 0 : (size_t)i * facts->bytes);

		if (memcmp(row, (const char *)p + facts->in_particle, facts->bytes) != 0)
			return wrong(l,
				"row %u: %s differs from the particle recomputed from id %llu", i,
				sl_table_name(t, k), id);
	}
	return SL_OK;
}

/*
 * Recomputes evenly spaced survivors and compares them with their rows. Also checks their order: the
 * key of a recomputed particle is known even if the file lacks the key columns.
 */
static enum sl_status check_sample(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, struct counts *counts)
{
	const struct sl_table_column *ids = sl_table_find(t, SL_COLUMN_id);
	uint32_t n = t->n < SAMPLE ? t->n : SAMPLE;
	struct last_row last = {0};

	for (uint32_t k = 0; ids && k < n; k++) {
		uint32_t i = (uint32_t)((uint64_t)k * t->n / n);
		struct sl_particle p = sl_compute_particle(r, ((const uint64_t *)ids->data)[i]);
		struct sl_columns columns = sl_columns_of(&p);

		SL_TRY(check_row(r, l, t, i, &p));
		SL_TRY(check_next(
			&last, l, i, sl_key_pack(r->field, r->n_fields, &columns, 0, p.id), p.id));
		counts->sampled++;
	}
	return SL_OK;
}

/* Compares two tables read from files of one format, rounded columns included. */
static enum sl_status check_same(const struct sl_manifest_line *l, const struct sl_table *found,
	const struct sl_table *expected)
{
	if (found->n != expected->n || found->n_columns != expected->n_columns)
		return wrong(l, "the number of rows or columns differs from the recomputed batch");
	for (uint32_t k = 0; k < expected->n_columns; k++)
		if (found->column[k].column != expected->column[k].column ||
			found->column[k].digest != expected->column[k].digest)
			return wrong(l, "column %s differs from the recomputed batch",
				sl_table_name(expected, k));
	return SL_OK;
}

/*
 * Writes the recomputed batch to a file in memory and reads that file, so that its values are rounded
 * like those of found. Then the rounded columns can be compared too.
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

	SL_TRY(format->pack(&slot->exec, &run, &t, &slot->packed));
	SL_TRY(format->assemble(
		&run, &facts, &slot->packed, w->file_image, w->plan->memory.image, &pieces));
	SL_TRY(sl_memory_get(SL_HOST, pieces.bytes, &file));
	sl_pieces_join(&pieces, file);
	s = sl_survivors_of(format, file, pieces.bytes, &expected);
	sl_memory_give(SL_HOST, file);
	SL_TRY(s);
	s = check_same(l, found, &expected.table);
	sl_survivors_free(&expected);
	return s;
}

/*
 * Recomputes the batch; compares fate counts, histograms and digests with the manifest, and rounded
 * columns with the file, found, which is NULL if the run writes none. The memory of the workspace is only allocated for the first such batch,
 * because most runs need none.
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
		return wrong(l, "the tally of the manifest differs from the recomputed batch");
	sl_batch_file_line(&slot->batch, &expected);
	if (expected.bins_crc != l->bins_crc)
		return wrong(l, "the histograms differ from those of the recomputed batch");
	SL_TRY(sl_order_file_put(
		w->plan, &slot->batch, NULL, &expected.order_bytes, &expected.order_crc));
	if (l->order_file[0] && expected.order_crc != l->order_crc)
		return wrong(l, "the sort keys differ from those of the recomputed batch");
	SL_TRY(check_digests(l, &slot->batch.table));
	return found && exact_columns(found).n_columns < found->n_columns ? check_file(w, l, found)
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
		return wrong(l,
			"the manifest has %llu particles from id %llu and the histogram file '%s', "
			"which is no batch of this run",
			(unsigned long long)l->generated, (unsigned long long)l->first_id,
			l->bins_file);
	if (sum != l->generated || kept != l->survivors)
		return wrong(l,
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
	return wrong(l, "the %s has %llu bytes and CRC-32 %08x, but %llu and %08x in the manifest",
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
	exact = exact_columns(&s.table);
	status = check_digests(l, &s.table);
	if (status == SL_OK)
		status = check_order(r, l, &exact, counts);
	if (status == SL_OK && !r->inputs)
		status = check_sample(r, l, &exact, counts);
	checked = sl_table_find(&exact, SL_COLUMN_id) && has_key(r, &exact) &&
	          sl_counter_words(r) == 0 && exact.n_columns == s.table.n_columns;
	/*
	 * Particles from input files have no seed, so every batch is recomputed. For others, if not
	 * all values could be checked, the first batch shows whether this program computes the same.
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
		SL_TRY(sl_histogram_read(r, dir, l, &sum));
		sl_memory_give(SL_HOST, sum);
	}
	status = l->file[0] ? check_survivors(w, dir, l, counts) : check_unwritten(w, l, counts);
	counts->batches++;
	counts->survivors += l->survivors;
	counts->bytes += l->file_bytes;
	return status;
}

/*
 * Makes the plan of the run in dir, after run.json was checked byte for byte. The stored configuration
 * leaves out output.joined, which does not change the batches, so it is set again.
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

/* Prints what was checked of a run without files of survivors. */
static void print_unwritten(
	const struct counts *c, uint64_t of, const struct sl_plan *plan, FILE *out)
{
	fprintf(out,
		"%llu of %llu batches are correct: %llu survivors, not written; checked: fate "
		"counts%s of all batches; digests of %s, recomputed\n",
		(unsigned long long)c->batches, (unsigned long long)of,
		(unsigned long long)c->survivors,
		sl_counter_words(&plan->recipe) > 0 ? " and histograms" : "",
		c->recomputed == 1 ? "one batch" : "all batches");
}

/*
 * Prints the counts of a run without errors. of: the number of batches of the complete run. Some keys
 * of the JSON object have older names; scripts read them, so they stay.
 */
static void print_counts(
	const struct counts *c, uint64_t of, const struct sl_plan *plan, bool json, FILE *out)
{
	bool image = plan->config.output.image, joined = sl_plan_is_joined(plan);
	struct sl_json j = sl_json_stream(out);
	char bytes[32];

	if (!json && plan->choices.format == &sl_format_none) {
		print_unwritten(c, of, plan, out);
		return;
	}
	if (!json) {
		fprintf(out,
			"%llu of %llu batches are correct: %llu survivors in %s; checked: digests of "
			"all survivors, order of %llu, %llu recomputed from their ids%s%s%s\n",
			(unsigned long long)c->batches, (unsigned long long)of,
			(unsigned long long)c->survivors, sl_sized((double)c->bytes, bytes),
			(unsigned long long)c->ordered, (unsigned long long)c->sampled,
			c->recomputed == 0   ? ""
			: c->recomputed == 1 ? ", one batch recomputed"
					     : ", all batches recomputed",
			image ? ", the image" : "", joined ? ", the merged list" : "");
		return;
	}
	sl_json_object(&j, NULL);
	sl_json_u64(&j, "batches", c->batches);
	sl_json_u64(&j, "of_batches", of);
	sl_json_u64(&j, "survivors", c->survivors);
	sl_json_u64(&j, "bytes", c->bytes);
	sl_json_u64(&j, "order_checked", c->ordered);
	sl_json_u64(&j, "remade", c->sampled);
	sl_json_bool(&j, "batch_computed_anew", c->recomputed > 0);
	sl_json_bool(&j, "image_added_up", image);
	sl_json_bool(&j, "joined_compared", joined);
	sl_json_close(&j);
	fputc('\n', out);
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
			return wrong(&m->line[i], "stop.when ended the run before this batch");
		SL_TRY(check_batch(w, dir, &m->line[i], counts));
	}
	if (m->damaged > 0)
		return sl_fail(SL_CHECK_FAILED,
			"%s/manifest.jsonl: %zu damaged line%s, changed or not completely written; use "
			"sluice run --resume to compute these batches again",
			dir->path, m->damaged, m->damaged == 1 ? "" : "s");
	if (m->n < of)
		return sl_fail(SL_CHECK_FAILED,
			"%s: %zu of %s%llu batches are committed, because the run has not ended; use "
			"sluice run --resume to continue it",
			dir->path, m->n, w->plan->choices.stop_rule.below > 0 ? "at most " : "",
			(unsigned long long)of);
	return sl_verify_side_files(w, dir, m);
}

/*
 * The directory is not locked, so a run can be verified on a read-only disk; a run in progress fails,
 * because batches are missing. of is the number of batches at which stop.when ended the run.
 */
enum sl_status sl_verify(const char *directory, bool json, bool quiet, FILE *out)
{
	struct sl_dir dir;
	struct sl_manifest m = {0};
	struct counts counts = {0};
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
		s = verify(w, &dir, &m, of, &counts);
	}
	if (s == SL_OK && (json || !quiet))
		print_counts(&counts, of, plan, json, out);
	sl_manifest_free(&m);
	sl_workspace_close(w);
	sl_plan_free(plan);
	sl_dir_close(&dir);
	return s;
}
