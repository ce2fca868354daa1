/*
 * verify.c - reads the files of a run again and checks them, batch by batch.
 *
 * One batch is in memory at a time. Recomputing particles from (seed, id) also finds errors that
 * are in the file and in the manifest alike, which a checksum cannot find.
 */
#include "pipeline/verify/verify.h"

#include <string.h>

#include "pipeline/plan/file_names.h"
#include "pipeline/output/existing_run.h"
#include "pipeline/text/json.h"
#include "pipeline/plan/memory.h"
#include "pipeline/run/batch_file.h"
#include "pipeline/results/survivor_file.h"
#include "pipeline/verify/verify_side_files.h"
#include "pipeline/text/messages.h"
#include "primitives/files/read.h"

/* Survivors per batch that are recomputed; evenly spaced over the rows. */
enum { SAMPLE = 256 };

struct counts {
	uint64_t batches, survivors, bytes, remade, ordered;
	uint64_t redone; /* batches computed anew: one for want of ids or key, or for tallies by
	                    bins; all of a model that is read */
};

static enum sl_status wrong(const char *what, const struct sl_manifest_line *l)
{
	return sl_fail(SL_CHECK_FAILED,
		"%s (batch %llu, %s: the file or the manifest was changed, or the disk is "
		"failing), try --resume, which makes the batch anew",
		what, (unsigned long long)l->batch, l->file);
}

static enum sl_status check_digests(const struct sl_manifest_line *l, const struct sl_table *t)
{
	uint32_t seen = 0;

	if (t->n != l->survivors)
		return wrong("the number of survivors is not that of the manifest", l);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];

		seen |= SL_BIT(c->column);
		if (!c->rounded && c->digest != l->digest[c->column])
			return wrong("the digest of a column is not that of the manifest", l);
	}
	return seen == l->columns ? SL_OK : wrong("the columns are not those of the manifest", l);
}

/* The table without rounded columns, which cannot be compared bit for bit. */
static struct sl_table exact_columns(const struct sl_table *t)
{
	struct sl_table exact = {.n = t->n};

	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].rounded)
			exact.column[exact.n_columns++] = t->column[k];
	return exact;
}

/* The columns of a table as rules see them; constants do not take part in keys. */
static struct sl_columns as_columns(const struct sl_table *t)
{
	struct sl_columns columns = {0};

	for (uint32_t k = 0; k < t->n_columns; k++)
		memcpy((char *)&columns + sl_column_facts[t->column[k].column].offset,
			&t->column[k].data, sizeof(void *));
	return columns;
}

/* Does the table have all fields of the key, so that the order of all rows can be checked? */
static bool has_key(const struct sl_recipe *r, const struct sl_table *t)
{
	for (uint32_t k = 0; k < r->n_fields; k++) {
		const struct sl_table_column *c = sl_table_find(t, r->field[k].column);

		if (!c || c->constant)
			return false;
	}
	return true;
}

static enum sl_status check_order(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, struct counts *counts)
{
	struct sl_columns columns = as_columns(t);
	const struct sl_table_column *ids = sl_table_find(t, SL_COLUMN_id);
	uint64_t last_key = 0, last_id = 0;

	if (!has_key(r, t))
		return SL_OK;
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t id = ids ? ((const uint64_t *)ids->data)[i] : 0;
		uint64_t key = sl_key_pack(r->field, r->n_fields, &columns, i, id);

		if (i > 0 && (key < last_key || (ids && key == last_key && id <= last_id)))
			return wrong("survivors are not in the order of their key", l);
		last_key = key;
		last_id = id;
	}
	counts->ordered += t->n;
	return SL_OK;
}

/* Compares row i with the recomputed particle of that id. */
static enum sl_status check_row(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, uint32_t i, const struct sl_particle *p)
{
	if (p->id < l->first_id || p->id - l->first_id >= l->generated || !SL_HAS(r->keep, p->fate))
		return wrong("a survivor's id is not one of this batch's survivors", l);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const struct sl_column_facts *facts = &sl_column_facts[c->column];
		const char *row =
			(const char *)c->data + (c->constant ? 0 : (size_t)i * facts->bytes);

		if (memcmp(row, (const char *)p + facts->in_particle, facts->bytes) != 0)
			return wrong("a survivor is not the particle remade from its id", l);
	}
	return SL_OK;
}

/* The key of one particle; it does not need the key columns to be written. */
static uint64_t key_of(const struct sl_recipe *r, const struct sl_particle *p)
{
	struct sl_columns columns;

	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const void *value = (const char *)p + sl_column_facts[c].in_particle;

		memcpy((char *)&columns + sl_column_facts[c].offset, &value, sizeof(value));
	}
	return sl_key_pack(r->field, r->n_fields, &columns, 0, p->id);
}

static enum sl_status check_sample(const struct sl_recipe *r, const struct sl_manifest_line *l,
	const struct sl_table *t, struct counts *counts)
{
	const struct sl_table_column *ids = sl_table_find(t, SL_COLUMN_id);
	uint32_t n = t->n < SAMPLE ? t->n : SAMPLE;
	uint64_t last_key = 0, last_id = 0;

	for (uint32_t k = 0; ids && k < n; k++) {
		uint32_t i = (uint32_t)((uint64_t)k * t->n / n);
		struct sl_particle p = sl_compute_particle(r, ((const uint64_t *)ids->data)[i]);
		uint64_t key = key_of(r, &p);

		SL_TRY(check_row(r, l, t, i, &p));
		if (k > 0 && (key < last_key || (key == last_key && p.id <= last_id)))
			return wrong("survivors are not in the order of their key", l);
		last_key = key;
		last_id = p.id;
		counts->remade++;
	}
	return SL_OK;
}

/* Compares two tables read from files of one format, rounded columns included. */
static enum sl_status check_same(
	const struct sl_manifest_line *l, const struct sl_table *found, const struct sl_table *made)
{
	bool same = found->n == made->n && found->n_columns == made->n_columns;

	for (uint32_t k = 0; same && k < made->n_columns; k++)
		same = found->column[k].column == made->column[k].column &&
		       found->column[k].digest == made->column[k].digest;
	return same ? SL_OK : wrong("a column is not that of the batch computed anew", l);
}

/* Writes the recomputed batch to a file in memory and reads it, so that it is rounded like found. */
static enum sl_status check_file(
	struct sl_workspace *w, const struct sl_manifest_line *l, const struct sl_table *found)
{
	const struct sl_batch_facts facts = {l->batch, l->first_id, l->generated};
	struct sl_host_slot *slot = &w->slot[0];
	struct sl_survivors made;
	struct sl_pieces pieces;
	enum sl_status s;
	void *file;

	SL_TRY(w->plan->format->pack(
		&slot->exec, &w->plan->facts, &slot->batch.table, &slot->packed));
	SL_TRY(w->plan->format->assemble(&w->plan->facts, &facts, &slot->packed, w->file_image,
		w->plan->memory.image, &pieces));
	SL_TRY(sl_memory_get(SL_HOST, pieces.bytes, &file));
	sl_pieces_join(&pieces, file);
	s = sl_survivors_of(w->plan->format, file, pieces.bytes, &made);
	sl_memory_give(SL_HOST, file);
	SL_TRY(s);
	s = check_same(l, found, &made.table);
	sl_survivors_free(&made);
	return s;
}

/* Recomputes the batch in memory; compares digests, fate counts, histograms and rounded columns. */
static enum sl_status redo(
	struct sl_workspace *w, const struct sl_manifest_line *l, const struct sl_table *found)
{
	struct sl_manifest_line made;
	struct sl_host_slot *slot;

	if (!w->slot)
		SL_TRY(sl_workspace_allocate(w));
	slot = &w->slot[0];
	sl_batch_begin(&w->plan->recipe, &slot->batch, l->batch);
	SL_TRY(sl_stages_run(&w->plan->recipe, &slot->exec, &slot->batch, NULL));
	if (memcmp(&slot->batch.tally, &l->tally, sizeof(l->tally)) != 0)
		return wrong("the tallies are not those of the batch computed anew", l);
	sl_batch_file_line(&slot->batch, &made);
	if (made.bins_crc != l->bins_crc)
		return wrong("the tallies by bins are not those of the batch computed anew", l);
	SL_TRY(check_digests(l, &slot->batch.table));
	return exact_columns(found).n_columns < found->n_columns ? check_file(w, l, found) : SL_OK;
}

static enum sl_status check_line(const struct sl_recipe *r, const struct sl_manifest_line *l)
{
	struct sl_batch expected;
	uint64_t sum = 0, kept = 0;

	sl_batch_begin(r, &expected, l->batch);
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		sum += l->tally.count[f];
		kept += SL_HAS(r->keep, f) ? l->tally.count[f] : 0;
	}
	if (l->batch >= r->n_batches || l->first_id != expected.first_id ||
		l->generated != expected.n)
		return wrong("the batch is not one of this run", l);
	if (sum != l->generated || kept != l->survivors)
		return wrong("the fates do not close", l);
	return SL_OK;
}

/* The histograms of the batch are complete and sum to its fate counts. */
static enum sl_status check_bins(
	const struct sl_plan *plan, const struct sl_dir *dir, const struct sl_manifest_line *l)
{
	char name[SL_FILE_NAME_BYTES];
	uint64_t *sum;

	sl_batch_histogram_file_name(plan, l->batch, name);
	if (strcmp(l->bins_file, name) != 0)
		return wrong("the tallies by bins are not those of this run", l);
	if (!name[0])
		return SL_OK;
	SL_TRY(sl_histogram_read(&plan->recipe.bins, dir, l, &sum));
	sl_memory_give(SL_HOST, sum);
	return SL_OK;
}

static enum sl_status check_batch(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest_line *l, struct counts *counts)
{
	const struct sl_recipe *r = &w->plan->recipe;
	struct sl_survivors s;
	struct sl_table exact;
	enum sl_status status;
	uint64_t bytes;
	uint32_t crc;
	bool whole;

	SL_TRY(check_line(r, l));
	SL_TRY(check_bins(w->plan, dir, l));
	SL_TRY(sl_file_check(dir, l->file, &bytes, &crc));
	if (bytes != l->file_bytes || crc != l->file_crc)
		return wrong("size or checksum of the file is not that of the manifest", l);
	SL_TRY(sl_survivors_read(dir, l->file, &s));
	exact = exact_columns(&s.table);
	status = check_digests(l, &s.table);
	if (status == SL_OK)
		status = check_order(r, l, &exact, counts);
	if (status == SL_OK && !r->inputs)
		status = check_sample(r, l, &exact, counts);
	whole = sl_table_find(&exact, SL_COLUMN_id) && has_key(r, &exact) && r->bins.n == 0 &&
	        exact.n_columns == s.table.n_columns;
	/* Particles from input files have no seed; reading them again is the only check. */
	if (status == SL_OK && (r->inputs || (!whole && !counts->redone))) {
		counts->redone++;
		status = redo(w, l, &s.table);
	}
	if (status == SL_OK)
		status = sl_add_context(
			sl_image_sum_add(&w->image_sum, l->batch, &s.table), "%s", l->file);
	sl_survivors_free(&s);
	counts->batches++;
	counts->survivors += l->survivors;
	counts->bytes += bytes;
	return status;
}

static enum sl_status plan_of(const struct sl_dir *dir, struct sl_plan **plan)
{
	static const char *const joined[] = {"output.joined=true"};
	struct sl_existing_run existing;
	enum sl_status s;

	*plan = NULL;
	SL_TRY(sl_existing_run_read(dir, &existing));
	s = sl_existing_run_plan(&existing, joined, existing.joined ? 1 : 0, plan);
	sl_existing_run_free(&existing);
	return s;
}

/* Prints the counts of a run without errors. of: the number of batches of the whole run. */
static void tell(
	const struct counts *c, uint64_t of, const struct sl_plan *plan, bool json, FILE *out)
{
	bool image = plan->config.output.image, joined = plan->config.output.joined;
	char text[1024], bytes[32];
	struct sl_json j = sl_json_start(text, sizeof(text), true);

	if (!json) {
		fprintf(out,
			"%llu of %llu batches are what they should be: %llu survivors in %s; "
			"digests of all, order of %llu, %llu remade from their ids%s%s%s\n",
			(unsigned long long)c->batches, (unsigned long long)of,
			(unsigned long long)c->survivors, sl_sized((double)c->bytes, bytes),
			(unsigned long long)c->ordered, (unsigned long long)c->remade,
			c->redone == 0   ? ""
			: c->redone == 1 ? ", one batch computed anew"
					 : ", all computed anew",
			image ? ", the image added up" : "",
			joined ? ", the list of all compared" : "");
		return;
	}
	sl_json_object(&j, NULL);
	sl_json_u64(&j, "batches", c->batches);
	sl_json_u64(&j, "of_batches", of);
	sl_json_u64(&j, "survivors", c->survivors);
	sl_json_u64(&j, "bytes", c->bytes);
	sl_json_u64(&j, "order_checked", c->ordered);
	sl_json_u64(&j, "remade", c->remade);
	sl_json_bool(&j, "batch_computed_anew", c->redone > 0);
	sl_json_bool(&j, "image_added_up", image);
	sl_json_bool(&j, "joined_compared", joined);
	sl_json_close(&j);
	fprintf(out, "%s\n", text);
}

static enum sl_status verify(struct sl_workspace *w, const struct sl_dir *dir,
	const struct sl_manifest *m, uint64_t of, struct counts *counts)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->line[i].batch >= of && of < w->plan->recipe.n_batches)
			return wrong(
				"the run had met its stop.when before this batch", &m->line[i]);
		SL_TRY(check_batch(w, dir, &m->line[i], counts));
	}
	if (m->damaged > 0)
		return sl_fail(SL_CHECK_FAILED,
			"%s/manifest.jsonl: %zu lines are damaged (torn or changed), try --resume, "
			"which makes their batches anew",
			dir->path, m->damaged);
	if (m->n < of)
		return sl_fail(SL_CHECK_FAILED,
			"%s: %zu of %s%llu batches are committed (the run has not ended), go on "
			"with --resume",
			dir->path, m->n, w->plan->stop_rule.below > 0 ? "at most " : "",
			(unsigned long long)of);
	return sl_verify_side_files(w, dir, m);
}

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
		of = sl_stop_rule_state(&plan->stop_rule, plan->recipe.n_batches, &m).batches;
		s = verify(w, &dir, &m, of, &counts);
	}
	if (s == SL_OK && (json || !quiet))
		tell(&counts, of, plan, json, out);
	sl_manifest_free(&m);
	sl_workspace_close(w);
	sl_plan_free(plan);
	sl_dir_close(&dir);
	return s;
}
