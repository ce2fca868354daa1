/* mcpl_header.c - the header of our files of MCPL: what they are, of which run, made of what. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stages/formats/mcpl/mcpl_metadata.h"

enum { TEXT_BYTES = 1024 };

bool sl_mcpl_is_polarised(const struct sl_table *t)
{
	return sl_table_find(t, SL_COLUMN_pol_x) != NULL;
}

int32_t sl_mcpl_common_pdg(const struct sl_table *t, const struct sl_mcpl_facts *facts)
{
	const struct sl_table_column *c = sl_table_find(t, SL_COLUMN_pdg);

	/* where a table is only measured, it has no data: the longer record is */
	return c && c->constant && c->data ? *(const int32_t *)c->data : facts->pdg;
}

/* How many comments are those of lists? Ours takes the place of a sum of that name. */
static uint32_t carried_comments(const struct sl_mcpl_metadata *c)
{
	return c ? c->n_sums - sl_mcpl_metadata_has_generated(c) + c->n_sources + c->n_comments : 0;
}

struct sl_mcpl_header sl_mcpl_header_of(
	const struct sl_table *t, const struct sl_mcpl_facts *facts, double weight)
{
	struct sl_mcpl_header h = {.version = 3,
		.particles = t->n,
		.comments = (facts->flags == SL_COLUMN_COUNT ? 3 : 4) +
	                    carried_comments(facts->metadata),
		.blobs = 1 + (facts->metadata ? facts->metadata->n_blobs : 0),
		.flags = facts->flags != SL_COLUMN_COUNT,
		.polarised = sl_mcpl_is_polarised(t),
		.single = !facts->wide,
		.pdg = sl_mcpl_common_pdg(t, facts),
		.weight = weight};

	h.record_bytes = sl_mcpl_record_bytes(&h);
	return h;
}

/* Bytes that are measured, and written if there is a place for them. */
struct bytes {
	uint8_t *at; /* NULL: measure */
	size_t used;
};

static void put(struct bytes *b, const void *from, size_t bytes)
{
	if (b->at)
		memcpy(b->at + b->used, from, bytes);
	b->used += bytes;
}

static void put_u32(struct bytes *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

static void put_string(struct bytes *b, const char *text)
{
	put_u32(b, (uint32_t)strlen(text));
	put(b, text, strlen(text));
}

static void put_fixed(struct bytes *b, const struct sl_mcpl_header *h)
{
	put(b, h->version == 2 ? "MCPL002L" : "MCPL003L", 8);
	put(b, &h->particles, sizeof(h->particles));
	put_u32(b, h->comments);
	put_u32(b, h->blobs);
	put_u32(b, h->flags);
	put_u32(b, h->polarised);
	put_u32(b, h->single);
	put_u32(b, (uint32_t)h->pdg);
	put_u32(b, h->record_bytes);
	put_u32(b, h->weight != 0);
	if (h->weight != 0)
		put(b, &h->weight, sizeof(h->weight));
}

/* What user flags are; of fates, which number is which. */
static void put_flags(struct bytes *b, enum sl_column flags)
{
	char text[TEXT_BYTES];
	int n = snprintf(text, sizeof(text), "User flags are the column %s: %s",
		sl_column_facts[flags].name, sl_column_facts[flags].help);

	for (int f = 0; flags == SL_COLUMN_fate && f < SL_FATE_COUNT; f++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s %d %s", f ? "," : ";", f,
			sl_fate_facts[f].name);
	put_string(b, text);
}

static void put_columns(struct bytes *b, const struct sl_table *t)
{
	char text[TEXT_BYTES];
	int n = snprintf(text, sizeof(text), SL_MCPL_COLUMNS);

	for (uint32_t k = 0; k < t->n_columns; k++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s", k ? "," : "",
			sl_column_facts[t->column[k].column].name);
	put_string(b, text);
}

/* --- what lists leave ------------------------------------------------------------------------- */

static void put_joined(
	struct bytes *b, const char *before, const struct sl_mcpl_string *s, const char *behind)
{
	put_u32(b, (uint32_t)(strlen(before) + s->length + strlen(behind)));
	put(b, before, strlen(before));
	put(b, s->at, s->length);
	put(b, behind, strlen(behind));
}

/* Where nothing is written, values need not be known: all are of one length. */
static void put_sum(struct bytes *b, const struct sl_mcpl_metadata *c, uint32_t k,
	const struct sl_batch_facts *batch)
{
	char value[SL_MCPL_VALUE_BYTES + 1];
	double sum = -1;

	if (b->at && batch->generated > 0)
		sum = sl_mcpl_metadata_sum(
			c, k, batch->first_id, batch->first_id + batch->generated);
	sl_mcpl_print_value(sum, value);
	put_joined(b, "", &c->sum[k], value);
}

static void put_carried_comments(
	struct bytes *b, const struct sl_mcpl_metadata *c, const struct sl_batch_facts *batch)
{
	for (uint32_t k = 0; c && k < c->n_sums; k++)
		put_sum(b, c, k, batch);
	for (uint32_t k = 0; c && k < c->n_sources; k++)
		put_joined(b, "Read from a list of ", &c->source[k], "");
	for (uint32_t k = 0; c && k < c->n_comments; k++)
		put_joined(b, "", &c->comment[k], "");
}

static void put_blob_names(struct bytes *b, const struct sl_mcpl_metadata *c)
{
	char behind[SL_MCPL_BEHIND_BYTES];

	put_string(b, SL_MCPL_CONFIG);
	for (uint32_t k = 0; c && k < c->n_blobs; k++)
		put_joined(b, "", &c->blob[k].name, sl_mcpl_blob_behind(&c->blob[k], behind));
}

static void put_blobs(struct bytes *b, const char *config, const struct sl_mcpl_metadata *c)
{
	put_string(b, config);
	for (uint32_t k = 0; c && k < c->n_blobs; k++)
		put_joined(b, "", &c->blob[k].data, "");
}

/* --- all of it -------------------------------------------------------------------------------- */

/* The convention of stat:sum wants 24 digits or blanks, and -1 of what is not known. */
static void put_generated(struct bytes *b, const struct sl_batch_facts *batch)
{
	char text[TEXT_BYTES];

	if (b->at && batch->generated > 0)
		snprintf(text, sizeof(text), SL_MCPL_STAT "%24" PRIu64, batch->generated);
	else
		snprintf(text, sizeof(text), SL_MCPL_STAT "%24d", -1);
	put_string(b, text);
}

static void put_all(struct bytes *b, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, const struct sl_batch_facts *batch)
{
	struct sl_mcpl_header h = sl_mcpl_header_of(t, &run->mcpl, weight);
	const struct sl_mcpl_metadata *metadata = run->mcpl.metadata;
	char text[TEXT_BYTES];

	put_fixed(b, &h);
	snprintf(text, sizeof(text), SL_MCPL_SOURCE "%s", run->software_version);
	put_string(b, text);
	if (!sl_mcpl_metadata_has_generated(metadata))
		put_generated(b, batch);
	put_carried_comments(b, metadata, batch);
	snprintf(text, sizeof(text),
		"Survivors of run %s, seed %" PRIu64 ", rules version %" PRIu32 ", species %s",
		run->run_name, run->seed, run->rules_version, run->species);
	put_string(b, text);
	if (h.flags)
		put_flags(b, run->mcpl.flags);
	put_columns(b, t);
	put_blob_names(b, metadata);
	put_blobs(b, run->config, metadata);
}

size_t sl_mcpl_put_fixed(uint8_t *at, const struct sl_mcpl_header *h)
{
	struct bytes b = {at, 0};

	put_fixed(&b, h);
	return b.used;
}

size_t sl_mcpl_put_header(uint8_t *at, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, const struct sl_batch_facts *batch)
{
	struct bytes b = {at, 0};

	put_all(&b, run, t, weight, batch);
	return b.used;
}
