/*
 * mcpl_header.c - see mcpl.h.
 *
 * The header is written by functions that count bytes if there is no memory for them, so the same
 * code computes its size and writes it.
 */
#include "stages/formats/mcpl/mcpl.h"

#include <inttypes.h>
#include <stdio.h>

enum { TEXT_BYTES = 1024 };

/* The PDG code that the header states for all particles; 0: each record has its own. */
static int32_t common_pdg(const struct sl_table *t, const struct sl_mcpl_facts *facts)
{
	const struct sl_table_column *c = sl_table_find(t, SL_COLUMN_pdg);

	/* A table that is only measured has no data: take the longer record. */
	return c && c->constant && c->data ? *(const int32_t *)c->data : facts->pdg;
}

double sl_mcpl_common_weight(const struct sl_table *t, const struct sl_mcpl_facts *facts)
{
	const struct sl_table_column *c = sl_table_find(t, SL_COLUMN_weight);
	double weight = c && c->constant ? (double)*(const float *)c->data : 0;

	if (weight != 0 && (float)facts->weight == (float)weight)
		weight = facts->weight;
	return isfinite(weight) ? weight : 0;
}

struct sl_mcpl_header sl_mcpl_header_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, double weight)
{
	const struct sl_mcpl_metadata *c = facts->metadata;
	struct sl_mcpl_header h = {.version = 3,
		.particles = t->n,
		.comments = facts->flags == SL_COLUMN_COUNT ? 3 : 4,
		.blobs = 1 + (c ? c->blobs.n : 0),
		.flags = facts->flags != SL_COLUMN_COUNT,
		.polarised = sl_table_find(t, SL_COLUMN_pol_x) != NULL,
		.single = !facts->wide,
		.pdg = common_pdg(t, facts),
		.weight = weight};

	if (c) /* a sluice_generated of a list replaces the comment of this program */
		h.comments += c->sums.n - sl_mcpl_metadata_has_generated(c) + c->sources.n +
		              c->comments.n;
	h.record_bytes = sl_mcpl_record_bytes(&h);
	return h;
}

enum sl_status sl_mcpl_record_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, struct sl_mcpl_record *r)
{
	struct sl_mcpl_header h = sl_mcpl_header_of(t, facts, sl_mcpl_common_weight(t, facts));
	sl_column_set needed;

	*r = sl_mcpl_record_of_header(&h);
	r->flags = facts->flags;
	r->energy = facts->energy / SL_MCPL_KEV;
	needed = SL_MCPL_NEEDED | (r->polarised ? SL_MCPL_POLARISATION : 0) |
	         (r->typed ? SL_BIT(SL_COLUMN_pdg) : 0) |
	         (isnan(r->energy) ? SL_BIT(SL_COLUMN_energy) : 0) |
	         (r->flags < SL_COLUMN_COUNT ? SL_BIT(r->flags) : 0);
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(needed, c) && !sl_table_find(t, (enum sl_column)c))
			return sl_fail(SL_USAGE,
				"an MCPL record has the column %s, and the table does not; add "
				"the column",
				sl_column_facts[c].name);
	return SL_OK;
}

struct sl_mcpl_rows sl_mcpl_rows_of(const struct sl_table *t)
{
	struct sl_mcpl_rows rows = {
		.source = t->source, .source_index = t->source_index, .first_id = t->first_id};

	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		const struct sl_column_facts *f = &sl_column_facts[c->column];

		if (c->constant) {
			memcpy((char *)&rows.constant + f->in_particle, c->data, f->bytes);
		} else if (c->data) {
			rows.set |= SL_BIT(c->column);
			*(void **)(void *)((char *)&rows.at + f->offset) = c->data;
		}
	}
	return rows;
}

/* Describes the user flags; if they are fates, also the number of each fate. */
static void put_flags(struct sl_mcpl_buffer *w, enum sl_column flags)
{
	char text[TEXT_BYTES];
	int n = snprintf(text, sizeof(text), "User flags are the column %s: %s",
		sl_column_facts[flags].name, sl_column_facts[flags].help);

	/* no survivor is damaged */
	for (int f = 0; flags == SL_COLUMN_fate && f < SL_FATE_damaged; f++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s %d %s", f ? "," : ";", f,
			sl_fate_facts[f].name);
	sl_mcpl_write_text(w, text);
}

/* The comment by which sl_mcpl_read() finds the columns of a file of this program. */
static void put_columns(struct sl_mcpl_buffer *w, const struct sl_table *t)
{
	char text[TEXT_BYTES];
	int n = snprintf(text, sizeof(text), SL_MCPL_COLUMNS);
	bool any = false;

	for (uint32_t k = 0; k < t->n_columns; k++) {
		if (t->column[k].internal)
			continue;
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s", any ? "," : "",
			sl_column_facts[t->column[k].column].name);
		any = true;
	}
	sl_mcpl_write_text(w, text);
}

/* --- strings of input lists ------------------------------------------------------------------- */

/* Writes prefix, string and suffix as one string. */
static void put_joined(struct sl_mcpl_buffer *w, const char *prefix, const struct sl_mcpl_string *s,
	const char *suffix)
{
	sl_mcpl_write_u32(w, (uint32_t)(strlen(prefix) + s->length + strlen(suffix)));
	sl_mcpl_write(w, prefix, strlen(prefix));
	sl_mcpl_write(w, s->at, s->length);
	sl_mcpl_write(w, suffix, strlen(suffix));
}

/*
 * Is the number of generated particles known? It is 0 for a batch whose particles are unknown, but
 * also for the batch of empty lists.
 */
static bool is_known(const struct sl_mcpl_metadata *c, const struct sl_batch_facts *batch)
{
	return batch->generated > 0 || (c && sl_mcpl_metadata_particles(c) == 0);
}

/* All values have the same length, so the value is not needed when bytes are only counted. */
static void put_sum(struct sl_mcpl_buffer *w, const struct sl_mcpl_metadata *c, uint32_t k,
	const struct sl_batch_facts *batch)
{
	char value[SL_MCPL_VALUE_BYTES + 1];
	double sum = -1;

	if (w->at && is_known(c, batch))
		sum = sl_mcpl_metadata_sum(
			c, k, batch->first_id, batch->first_id + batch->generated);
	sl_mcpl_print_value(sum, value);
	put_joined(w, "", &c->sums.at[k].text, value);
}

void sl_mcpl_put_metadata(struct sl_mcpl_buffer *w, const struct sl_mcpl_metadata *c,
	const struct sl_batch_facts *batch)
{
	for (uint32_t k = 0; c && k < c->sums.n; k++)
		put_sum(w, c, k, batch);
	for (uint32_t k = 0; c && k < c->sources.n; k++)
		put_joined(w, "Read from a list of ", &c->sources.at[k].text, "");
	for (uint32_t k = 0; c && k < c->comments.n; k++)
		put_joined(w, "", &c->comments.at[k].text, "");
}

/* In MCPL, all names of blobs precede all contents; both lists are in the same order. */
void sl_mcpl_put_blobs(
	struct sl_mcpl_buffer *w, const char *config, const struct sl_mcpl_metadata *c)
{
	char suffix[SL_MCPL_SUFFIX_BYTES];

	if (config)
		sl_mcpl_write_text(w, SL_MCPL_CONFIG);
	for (uint32_t k = 0; c && k < c->blobs.n; k++)
		put_joined(w, "", &c->blobs.at[k].text,
			sl_mcpl_blob_suffix(c->blobs.at[k].number, suffix));
	if (config)
		sl_mcpl_write_text(w, config);
	for (uint32_t k = 0; c && k < c->blobs.n; k++)
		put_joined(w, "", &c->blobs.at[k].data, "");
}

/* --- the header ------------------------------------------------------------------------------- */

/* The convention of stat:sum: 24 characters, padded with blanks on the left; -1 is unknown. */
static void put_generated(struct sl_mcpl_buffer *w, const struct sl_mcpl_metadata *c,
	const struct sl_batch_facts *batch)
{
	char text[TEXT_BYTES];

	if (w->at && is_known(c, batch))
		snprintf(text, sizeof(text), SL_MCPL_STAT "%24" PRIu64, batch->generated);
	else
		snprintf(text, sizeof(text), SL_MCPL_STAT "%24d", -1);
	sl_mcpl_write_text(w, text);
}

/* The comment on the origin of the particles: a run and its seed, or several merged runs. */
static void put_run(struct sl_mcpl_buffer *w, const struct sl_file_facts *run)
{
	char text[TEXT_BYTES];

	if (run->merged) {
		const struct sl_mcpl_string merged = {
			(const uint8_t *)run->merged, (uint32_t)strlen(run->merged)};

		put_joined(w, SL_MCPL_MERGED, &merged, "");
		return;
	}
	snprintf(text, sizeof(text),
		SL_MCPL_RUN "%s, seed %" PRIu64 ", rules version %" PRIu32 ", species %s",
		run->run_name, run->seed, run->rules_version, run->species);
	sl_mcpl_write_text(w, text);
}

size_t sl_mcpl_put_header(uint8_t *at, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, uint64_t particles, const struct sl_batch_facts *batch)
{
	const struct sl_mcpl_metadata *metadata = run->mcpl.metadata;
	struct sl_mcpl_header h = sl_mcpl_header_of(t, &run->mcpl, weight);
	struct sl_mcpl_buffer w = {at, 0};
	char text[TEXT_BYTES];

	h.particles = particles;
	w.used = sl_mcpl_put_fixed(at, &h);
	snprintf(text, sizeof(text), SL_MCPL_SOURCE "%s", run->software_version);
	sl_mcpl_write_text(&w, text);
	if (!sl_mcpl_metadata_has_generated(metadata))
		put_generated(&w, metadata, batch);
	sl_mcpl_put_metadata(&w, metadata, batch);
	put_run(&w, run);
	if (h.flags)
		put_flags(&w, run->mcpl.flags);
	put_columns(&w, t);
	sl_mcpl_put_blobs(&w, run->config, metadata);
	return w.used;
}
