/*
 * mcpl_head.c - copies headers to memory, checks their statistics, and merges them string by
 * string.
 */
#include "stages/formats/mcpl/mcpl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/files/files.h"

/* --- reading ---------------------------------------------------------------------------------- */

/*
 * Makes space in a header for more bytes. The size at least doubles, so that all copies together are
 * linear in the final size.
 */
static enum sl_status reserve(struct sl_mcpl_head *h, size_t *room, size_t more)
{
	size_t size = 2 * *room > h->size + more ? 2 * *room : h->size + more;
	void *memory;

	if (*room - h->size >= more)
		return SL_OK;
	SL_TRY(sl_memory_get(SL_HOST, size, &memory));
	if (h->size > 0)
		memcpy(memory, h->bytes, h->size);
	sl_memory_give(SL_HOST, h->bytes);
	h->bytes = (uint8_t *)memory;
	*room = size;
	return SL_OK;
}

/* Copies the header of a stream just opened: the fixed part, and each string after its length. */
static enum sl_status copy_header(struct sl_mcpl_stream *s, struct sl_mcpl_head *h)
{
	size_t room = 0;
	uint32_t length;

	SL_TRY(reserve(h, &room, sl_mcpl_put_fixed(NULL, &s->header)));
	h->size = sl_mcpl_put_fixed(h->bytes, &s->header);
	for (uint64_t i = 0; i < sl_mcpl_count_strings(&s->header); i++) {
		SL_TRY(sl_mcpl_string_length(s, &length));
		SL_TRY(reserve(h, &room, sizeof(length) + (size_t)length));
		memcpy(h->bytes + h->size, &length, sizeof(length));
		h->size += sizeof(length);
		SL_TRY(sl_mcpl_string_bytes(s, length, h->bytes + h->size, length));
		h->size += length;
	}
	SL_TRY(sl_mcpl_begin(s));
	h->fixed = s->header;
	return SL_OK;
}

/* Orders statistics by their keys, for qsort(). */
static int by_key(const void *a, const void *b)
{
	return sl_mcpl_order(
		(const struct sl_mcpl_string *)a, (const struct sl_mcpl_string *)b, "");
}

/*
 * Goes through the statistics of a header and returns their number. Lists them, each up to its
 * value, if keys is not NULL; replaces each value by another one if value is not NULL.
 */
static size_t list_sums(
	const struct sl_mcpl_head *h, struct sl_mcpl_string *keys, const char *value)
{
	const uint8_t *at = h->bytes + sl_mcpl_put_fixed(NULL, &h->fixed);
	size_t n = 0, value_at;
	double was;

	sl_mcpl_next_string(&at);
	for (uint32_t i = 0; i < h->fixed.comments; i++) {
		struct sl_mcpl_string comment = sl_mcpl_next_string(&at);

		if (!sl_mcpl_is_sum(&comment, &value_at, &was))
			continue;
		if (value)
			memcpy((uint8_t *)(uintptr_t)(comment.at + value_at), value,
				SL_MCPL_VALUE_BYTES);
		comment.length = (uint32_t)value_at;
		if (keys)
			keys[n] = comment;
		n++;
	}
	return n;
}

/* Refuses two statistics with the same key: it would be unknown which of the values counts. */
static enum sl_status check_sums(const struct sl_mcpl_head *h)
{
	SL_CLOSED_BY(sl_host_give) struct sl_mcpl_string *keys = NULL;
	size_t n = list_sums(h, NULL, NULL);

	SL_TRY(sl_host_get(n, sizeof(*keys), &keys));
	list_sums(h, keys, NULL);
	qsort(keys, n, sizeof(*keys), by_key);
	for (size_t i = 1; i < n; i++)
		if (sl_mcpl_is_same(&keys[i - 1], &keys[i]))
			return sl_fail(SL_BAD_INPUT,
				"its comment %.*s is repeated, so the value of this statistic is "
				"ambiguous; remove one of the comments",
				(int)keys[i].length - 1, (const char *)keys[i].at);
	return SL_OK;
}

enum sl_status sl_mcpl_head_take(struct sl_mcpl_stream *s, struct sl_mcpl_head *h)
{
	char unknown[SL_MCPL_VALUE_BYTES + 1];
	enum sl_status status;

	*h = (struct sl_mcpl_head){0};
	status = copy_header(s, h);
	if (status == SL_OK)
		status = check_sums(h);
	if (status != SL_OK)
		sl_mcpl_head_free(h);
	/* the writer ended early, so the records stand for an unknown part of what was simulated */
	sl_mcpl_print_value(-1, unknown);
	if (status == SL_OK && s->recovered)
		list_sums(h, NULL, unknown);
	return status;
}

enum sl_status sl_mcpl_head_read(
	const void *file, size_t bytes, struct sl_mcpl_head *h, bool *recovered)
{
	SL_CLOSED_BY(sl_mcpl_close) struct sl_mcpl_stream s = {.gzipped = false};
	enum sl_status status;

	*h = (struct sl_mcpl_head){0};
	*recovered = false;
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	status = sl_mcpl_head_take(&s, h);
	*recovered = s.recovered;
	return status;
}

void sl_mcpl_head_free(struct sl_mcpl_head *h)
{
	sl_memory_give(SL_HOST, h->bytes);
	h->bytes = NULL;
}

enum sl_status sl_mcpl_head_check(const void *file, size_t bytes)
{
	SL_CLOSED_BY(sl_mcpl_head_free) struct sl_mcpl_head h = {.bytes = NULL};
	bool recovered;

	return sl_mcpl_head_read(file, bytes, &h, &recovered);
}

/* --- merging ---------------------------------------------------------------------------------- */

/* Fails because what, with its number if that is not 0, differs from the first file. */
static enum sl_status refuse(const char *what, uint32_t number)
{
	char shown[64];

	snprintf(shown, sizeof(shown), number > 0 ? "%s %" PRIu32 : "%s", what, number);
	return sl_fail(SL_BAD_INPUT,
		"its %s is not that of the first file (only files with equal headers can be "
		"joined, as by mcpltool --merge); use a run of the model list, which takes any "
		"files, or name the directories of runs that differ in their seeds",
		shown);
}

/*
 * Compares what all records of a file depend on. Weights are compared as bytes, because the merged
 * header keeps those of the first file.
 */
static enum sl_status check_fixed(const struct sl_mcpl_header *a, const struct sl_mcpl_header *b)
{
	const struct {
		bool same;
		const char *what;
	} checks[] = {{a->version == b->version, "version"},
		{a->flags == b->flags, "having user flags or not"},
		{a->polarised == b->polarised, "having polarisation or not"},
		{a->single == b->single, "precision"},
		{a->pdg == b->pdg, "PDG code of all particles"},
		{memcmp(&a->weight, &b->weight, sizeof(a->weight)) == 0, "weight of all particles"},
		{a->comments == b->comments, "number of comments"},
		{a->blobs == b->blobs, "number of blobs"}};

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		if (!checks[i].same)
			return refuse(checks[i].what, 0);
	return SL_OK;
}

/* Adds the value of b to that of a, in place, if both are statistics with the same key. */
static bool add_up(const struct sl_mcpl_string *a, const struct sl_mcpl_string *b)
{
	char text[SL_MCPL_VALUE_BYTES + 1];
	size_t at_a, at_b;
	double x, y;

	if (!sl_mcpl_is_sum(a, &at_a, &x) || !sl_mcpl_is_sum(b, &at_b, &y) || at_a != at_b ||
		memcmp(a->at, b->at, at_a) != 0)
		return false;
	sl_mcpl_print_value(x < 0 || y < 0 || isinf(x + y) ? -1 : x + y, text);
	memcpy((uint8_t *)(uintptr_t)(a->at + at_a), text, SL_MCPL_VALUE_BYTES);
	return true;
}

/* Merges string i of two headers: equal statistics are added too, all else must be equal. */
static enum sl_status join_string(uint64_t i, const struct sl_mcpl_header *h,
	const struct sl_mcpl_string *a, const struct sl_mcpl_string *b)
{
	if (i == 0)
		return sl_mcpl_is_same(a, b) ? SL_OK : refuse("source", 0);
	if (i <= h->comments)
		return add_up(a, b) || sl_mcpl_is_same(a, b) ? SL_OK
		                                             : refuse("comment", (uint32_t)i);
	return sl_mcpl_is_same(a, b)
	               ? SL_OK
	               : refuse("blob", (uint32_t)(i - h->comments - 1) % h->blobs + 1);
}

/*
 * Joins all strings, but for those of merged runs that say which run a file is of: the comment on the
 * run, and the content of the first blob, if its name says that it is the configuration.
 */
static enum sl_status join(struct sl_mcpl_head *h, const struct sl_mcpl_head *more, bool merged)
{
	const uint8_t *at = h->bytes + sl_mcpl_put_fixed(NULL, &h->fixed);
	const uint8_t *at_more = more->bytes + sl_mcpl_put_fixed(NULL, &more->fixed);
	const uint64_t first_blob = (uint64_t)h->fixed.comments + 1;
	bool has_config = false;

	SL_TRY(check_fixed(&h->fixed, &more->fixed));
	for (uint64_t i = 0; i < sl_mcpl_count_strings(&h->fixed); i++) {
		const struct sl_mcpl_string a = sl_mcpl_next_string(&at),
					    b = sl_mcpl_next_string(&at_more);
		const bool is_origin = i < first_blob
		                               ? sl_mcpl_begins_with(&a, SL_MCPL_RUN) &&
		                                         sl_mcpl_begins_with(&b, SL_MCPL_RUN)
		                               : has_config && i == first_blob + h->fixed.blobs;

		if (i == first_blob)
			has_config = sl_is_text((const char *)a.at, a.length, SL_MCPL_CONFIG);
		if (!merged || !is_origin)
			SL_TRY(join_string(i, &h->fixed, &a, &b));
	}
	h->fixed.particles += more->fixed.particles;
	return SL_OK;
}

enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, struct sl_mcpl_head *more, bool merged)
{
	enum sl_status s;

	if (!h->bytes) {
		*h = *more;
		return SL_OK;
	}
	s = join(h, more, merged);
	sl_mcpl_head_free(more);
	return s;
}

void sl_mcpl_head_finish(struct sl_mcpl_head *h)
{
	sl_mcpl_put_fixed(h->bytes, &h->fixed);
}
