/* mcpl_join.c - see mcpl_join.h. */
#include "stages/formats/mcpl_join.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A string of a header, behind its length. */
struct string {
	const uint8_t *at;
	uint32_t length;
};

/* --- reading ---------------------------------------------------------------------------------- */

static uint64_t count_strings(const struct sl_mcpl_header *h)
{
	return 1 + (uint64_t)h->comments + 2 * (uint64_t)h->blobs;
}

/* Reads all strings behind the bytes that are used, or, where to is NULL, measures them. */
static enum sl_status read_strings(struct sl_mcpl_stream *s, uint8_t *to, size_t size, size_t *used)
{
	char nothing[1];
	uint32_t length;

	for (uint64_t i = 0; i < count_strings(&s->header); i++) {
		char *text = to ? (char *)to + *used + sizeof(length) : nothing;

		SL_TRY(sl_mcpl_text(
			s, text, to ? size - *used - sizeof(length) : sizeof(nothing), &length));
		if (to)
			memcpy(to + *used, &length, sizeof(length));
		*used += sizeof(length) + length;
	}
	return SL_OK;
}

/* One pass over the strings, of a stream that is opened for it. */
static enum sl_status pass(const void *file, size_t bytes, uint8_t *to, size_t size,
	struct sl_mcpl_head *h, bool *recovered)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	SL_TRY(sl_mcpl_open(&s, file, bytes));
	h->size = sl_mcpl_put_fixed(to, &s.header);
	status = read_strings(&s, to, size, &h->size);
	if (status == SL_OK)
		status = sl_mcpl_begin(&s);
	h->fixed = s.header;
	*recovered = s.recovered;
	sl_mcpl_close(&s);
	return status;
}

enum sl_status sl_mcpl_skip_head(struct sl_mcpl_stream *s)
{
	size_t bytes = 0;

	SL_TRY(read_strings(s, NULL, 0, &bytes));
	return sl_mcpl_begin(s);
}

enum sl_status sl_mcpl_head_read(
	const void *file, size_t bytes, struct sl_mcpl_head *h, bool *recovered)
{
	enum sl_status status;
	void *memory;
	size_t size;

	*h = (struct sl_mcpl_head){0};
	SL_TRY(pass(file, bytes, NULL, 0, h, recovered));
	size = h->size + 1; /* behind a text stands a 0 */
	SL_TRY(sl_memory_get(SL_HOST, size, &memory));
	status = pass(file, bytes, (uint8_t *)memory, size, h, recovered);
	h->bytes = (uint8_t *)memory;
	if (status != SL_OK)
		sl_mcpl_head_free(h);
	return status;
}

void sl_mcpl_head_free(struct sl_mcpl_head *h)
{
	sl_memory_give(SL_HOST, h->bytes);
	h->bytes = NULL;
}

/* --- joining ---------------------------------------------------------------------------------- */

static enum sl_status refuse(const char *what, uint32_t number)
{
	char shown[64];

	snprintf(shown, sizeof(shown), number > 0 ? "%s %" PRIu32 : "%s", what, number);
	return sl_fail(SL_BAD_INPUT,
		"its %s is not that of the first file (lists of one header alone are joined, as "
		"mcpltool --merge does), try converting it by itself",
		shown);
}

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

/* The string at *at, which moves on behind it. */
static struct string next_string(const uint8_t **at)
{
	struct string s;

	memcpy(&s.length, *at, sizeof(s.length));
	s.at = *at + sizeof(s.length);
	*at = s.at + s.length;
	return s;
}

enum { VALUE_BYTES = 24 };

/*
 * Is it stat:sum:KEY:VALUE? Where its value begins, and the value. (MCPL 2.1: a key of letters,
 * digits and _, 64 at most; a value of 24 characters, -1 or not below 0.)
 */
static bool is_sum(const struct string *s, size_t *value_at, double *value)
{
	static const char begin[] = "stat:sum:", digits[] = " 0123456789.-+eE";
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	enum { BEGIN = sizeof(begin) - 1, KEY_MOST = 64 };
	char text[BEGIN + KEY_MOST + 1 + VALUE_BYTES + 1], *end;
	size_t key;

	if (s->length >= sizeof(text))
		return false;
	memcpy(text, s->at, s->length);
	text[s->length] = '\0';
	if (strlen(text) != s->length || strncmp(text, begin, BEGIN) != 0)
		return false;
	key = strspn(text + BEGIN, letters);
	*value_at = BEGIN + key + 1;
	if (key == 0 || text[BEGIN + key] != ':' || s->length - *value_at != VALUE_BYTES ||
		strspn(text + *value_at, digits) != VALUE_BYTES)
		return false;
	*value = strtod(text + *value_at, &end);
	return end[strspn(end, " ")] == '\0' && end > text + *value_at && isfinite(*value) &&
	       (*value >= 0 || *value == -1);
}

/* In 24 characters, with no more digits than read back to the same. */
static void print_value(double value, char text[VALUE_BYTES + 1])
{
	snprintf(text, VALUE_BYTES + 1, "%*.15g", VALUE_BYTES, value);
	if (strtod(text, NULL) != value)
		snprintf(text, VALUE_BYTES + 1, "%*.17g", VALUE_BYTES, value);
}

/* Adds the value of b to that of a, where both are sums of one key. */
static bool add_up(const struct string *a, const struct string *b)
{
	char text[VALUE_BYTES + 1];
	size_t at_a, at_b;
	double x, y;

	if (!is_sum(a, &at_a, &x) || !is_sum(b, &at_b, &y) || at_a != at_b ||
		memcmp(a->at, b->at, at_a) != 0)
		return false;
	print_value(x < 0 || y < 0 || isinf(x + y) ? -1 : x + y, text);
	memcpy((uint8_t *)(uintptr_t)(a->at + at_a), text, VALUE_BYTES);
	return true;
}

static bool is_same(const struct string *a, const struct string *b)
{
	return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

/* Is string i of a header a comment, that is a sum in both? It is added up even if they are equal.
 */
static enum sl_status join_string(
	uint64_t i, const struct sl_mcpl_header *h, const struct string *a, const struct string *b)
{
	if (i == 0)
		return is_same(a, b) ? SL_OK : refuse("source", 0);
	if (i <= h->comments)
		return add_up(a, b) || is_same(a, b) ? SL_OK : refuse("comment", (uint32_t)i);
	return is_same(a, b) ? SL_OK
	                     : refuse("blob", (uint32_t)(i - h->comments - 1) % h->blobs + 1);
}

enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, const struct sl_mcpl_head *more)
{
	const uint8_t *at = h->bytes + sl_mcpl_put_fixed(NULL, &h->fixed);
	const uint8_t *at_more = more->bytes + sl_mcpl_put_fixed(NULL, &more->fixed);

	SL_TRY(check_fixed(&h->fixed, &more->fixed));
	for (uint64_t i = 0; i < count_strings(&h->fixed); i++) {
		struct string a = next_string(&at), b = next_string(&at_more);

		SL_TRY(join_string(i, &h->fixed, &a, &b));
	}
	h->fixed.particles += more->fixed.particles;
	return SL_OK;
}

void sl_mcpl_head_finish(struct sl_mcpl_head *h)
{
	sl_mcpl_put_fixed(h->bytes, &h->fixed);
}

size_t sl_mcpl_put_list(uint8_t *at, const struct sl_file_facts *run, const struct sl_table *t,
	double weight, uint64_t particles, uint64_t generated)
{
	struct sl_mcpl_header h = sl_mcpl_header_of(t, &run->mcpl, weight);
	size_t bytes = sl_mcpl_put_header(at, run, t, weight, generated);

	h.particles = particles;
	sl_mcpl_put_fixed(at, &h);
	return bytes;
}
