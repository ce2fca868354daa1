/* mcpl_metadata.c - see mcpl_metadata.h. */
#include "stages/formats/mcpl/mcpl_metadata.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/formats/mcpl/mcpl.h"

/* Iterates over the strings of a header. */
struct strings {
	const uint8_t *at;
	uint32_t comments, blobs;
};

/* Starts at the source, the first string of a header in memory. */
static struct strings strings_of(const struct sl_mcpl_part *p)
{
	return (struct strings){p->head.bytes + sl_mcpl_put_fixed(NULL, &p->head.fixed),
		p->head.fixed.comments, p->head.fixed.blobs};
}

/* Strings of a file have no terminator, so the length is compared first. */
static bool has_prefix(const struct sl_mcpl_string *s, const char *prefix)
{
	return s->length >= strlen(prefix) && memcmp(s->at, prefix, strlen(prefix)) == 0;
}

static void add_once(struct sl_mcpl_string *all, uint32_t *n, struct sl_mcpl_string s)
{
	for (uint32_t i = 0; i < *n; i++)
		if (sl_mcpl_is_same(&all[i], &s))
			return;
	all[(*n)++] = s;
}

/* --- blobs ------------------------------------------------------------------------------------ */

const char *sl_mcpl_blob_suffix(const struct sl_mcpl_blob *b, char text[SL_MCPL_SUFFIX_BYTES])
{
	text[0] = '\0';
	if (b->number > 1)
		snprintf(text, SL_MCPL_SUFFIX_BYTES, "_%" PRIu32, b->number);
	return text;
}

/* Character i of the name of a blob in the output, with its suffix. */
static uint8_t name_at(const struct sl_mcpl_blob *b, const char *suffix, size_t i)
{
	return i < b->name.length ? b->name.at[i] : (uint8_t)suffix[i - b->name.length];
}

/* Compares the names that two blobs get in the output. */
static bool have_same_name(const struct sl_mcpl_blob *a, const struct sl_mcpl_blob *b)
{
	char suffix_a[SL_MCPL_SUFFIX_BYTES], suffix_b[SL_MCPL_SUFFIX_BYTES];
	size_t n = a->name.length + strlen(sl_mcpl_blob_suffix(a, suffix_a));

	if (n != b->name.length + strlen(sl_mcpl_blob_suffix(b, suffix_b)))
		return false;
	for (size_t i = 0; i < n; i++)
		if (name_at(a, suffix_a, i) != name_at(b, suffix_b, i))
			return false;
	return true;
}

/* Whether the name of b is in use, by this program's blob or by one added before. */
static bool is_taken(const struct sl_mcpl_metadata *c, const struct sl_mcpl_blob *b)
{
	static const char config[] = SL_MCPL_CONFIG;
	const struct sl_mcpl_blob own = {
		.name = {(const uint8_t *)config, sizeof(config) - 1}, .number = 1};

	for (uint32_t i = 0; i < c->n_blobs; i++)
		if (have_same_name(&c->blob[i], b))
			return true;
	return have_same_name(&own, b);
}

static void add_blob(struct sl_mcpl_metadata *c, struct sl_mcpl_blob b)
{
	b.number = 1;
	for (uint32_t i = 0; i < c->n_blobs; i++) {
		bool same = sl_mcpl_is_same(&c->blob[i].name, &b.name);

		if (same && sl_mcpl_is_same(&c->blob[i].data, &b.data))
			return;
		b.number += same;
	}
	while (is_taken(c, &b))
		b.number++;
	c->blob[c->n_blobs++] = b;
}

/* --- headers ---------------------------------------------------------------------------------- */

/* Adds the strings of a list that the lists before it do not have. */
static void add_part(struct sl_mcpl_metadata *c, uint32_t part)
{
	struct strings s = strings_of(&c->part[part]);
	const uint8_t *data;

	add_once(c->source, &c->n_sources, sl_mcpl_next_string(&s.at));
	for (uint32_t i = 0; i < s.comments; i++) {
		struct sl_mcpl_string comment = sl_mcpl_next_string(&s.at);
		double value;
		size_t at;

		if (sl_mcpl_is_sum(&comment, &at, &value))
			add_once(c->sum, &c->n_sums,
				(struct sl_mcpl_string){comment.at, (uint32_t)at});
		else if (!has_prefix(&comment, SL_MCPL_COLUMNS))
			add_once(c->comment, &c->n_comments, comment);
	}
	data = s.at;
	for (uint32_t i = 0; i < s.blobs; i++)
		sl_mcpl_next_string(&data);
	for (uint32_t i = 0; i < s.blobs; i++) {
		struct sl_mcpl_blob b = {.part = part};

		b.name = sl_mcpl_next_string(&s.at);
		b.data = sl_mcpl_next_string(&data);
		add_blob(c, b);
	}
}

/* Cuts the arrays for the case that no two strings are equal. */
static void lay_out(struct sl_arena *a, struct sl_mcpl_metadata *c)
{
	size_t comments = 0, blobs = 0;

	for (uint32_t k = 0; k < c->n_parts; k++) {
		comments += c->part[k].head.fixed.comments;
		blobs += c->part[k].head.fixed.blobs;
	}
	c->source = (struct sl_mcpl_string *)sl_cut_items(a, c->n_parts, sizeof(*c->source));
	c->comment = (struct sl_mcpl_string *)sl_cut_items(a, comments, sizeof(*c->comment));
	c->sum = (struct sl_mcpl_string *)sl_cut_items(a, comments, sizeof(*c->sum));
	c->blob = (struct sl_mcpl_blob *)sl_cut_items(a, blobs, sizeof(*c->blob));
}

enum sl_status sl_mcpl_metadata_add(
	const struct sl_mcpl_part *parts, uint32_t n, struct sl_mcpl_metadata **made)
{
	struct sl_mcpl_metadata *c;
	struct sl_arena a = {0};
	void *memory;

	*made = NULL;
	SL_TRY(sl_memory_get(SL_HOST, sizeof(*c) + n * sizeof(*parts), &memory));
	c = *made = (struct sl_mcpl_metadata *)memory;
	*c = (struct sl_mcpl_metadata){.part = (struct sl_mcpl_part *)(void *)(c + 1),
		.memory = sizeof(*c) + n * sizeof(*parts)};
	for (; c->n_parts < n; c->n_parts++) {
		struct sl_mcpl_part *p = &c->part[c->n_parts];
		bool recovered;

		*p = parts[c->n_parts];
		SL_TRY(sl_mcpl_head_read(p->file, p->bytes, &p->head, &recovered));
		c->memory += p->head.size;
	}
	lay_out(&a, c);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &c->block));
	c->memory += a.used;
	a = (struct sl_arena){c->block, 0, a.used};
	lay_out(&a, c);
	for (uint32_t k = 0; k < n; k++)
		add_part(c, k);
	return SL_OK;
}

void sl_mcpl_metadata_free(struct sl_mcpl_metadata *c)
{
	if (!c)
		return;
	for (uint32_t k = 0; k < c->n_parts; k++)
		sl_mcpl_head_free(&c->part[k].head);
	sl_memory_give(SL_HOST, c->block);
	sl_memory_give(SL_HOST, c);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* The value of a key in a list; -1 if the list lacks the key. */
static double value_in(const struct sl_mcpl_part *p, const struct sl_mcpl_string *key)
{
	struct strings s = strings_of(p);

	sl_mcpl_next_string(&s.at);
	for (uint32_t i = 0; i < s.comments; i++) {
		struct sl_mcpl_string comment = sl_mcpl_next_string(&s.at);
		double value;
		size_t at;

		if (sl_mcpl_is_sum(&comment, &at, &value) && at == key->length &&
			memcmp(comment.at, key->at, at) == 0)
			return value;
	}
	return -1;
}

/*
 * The share of a list's value that belongs to the particles before number to, rounded down if the
 * value is an integer. Differences of two such shares then add up to the value. The value of a list
 * without particles belongs to the next particle, or, at the end, to the last one.
 */
static double share(const struct sl_mcpl_part *p, double value, uint64_t to, bool at_end)
{
	double part;

	if (at_end || to >= p->first + p->particles + (p->particles == 0))
		return value;
	if (to <= p->first)
		return 0;
	part = value * ((double)(to - p->first) / (double)p->particles);
	return value == floor(value) ? floor(part) : part;
}

double sl_mcpl_metadata_sum(
	const struct sl_mcpl_metadata *c, uint32_t k, uint64_t from, uint64_t to)
{
	const struct sl_mcpl_part *last = &c->part[c->n_parts - 1];
	uint64_t end = last->first + last->particles;
	double sum = 0;

	for (uint32_t i = 0; i < c->n_parts; i++) {
		double value = value_in(&c->part[i], &c->sum[k]);

		if (value < 0)
			return -1;
		sum += share(&c->part[i], value, to, to == end) -
		       share(&c->part[i], value, from, from == end);
	}
	return sum;
}

bool sl_mcpl_metadata_has_generated(const struct sl_mcpl_metadata *c)
{
	for (uint32_t k = 0; c && k < c->n_sums; k++)
		if (c->sum[k].length == strlen(SL_MCPL_STAT) &&
			has_prefix(&c->sum[k], SL_MCPL_STAT))
			return true;
	return false;
}
