/* mcpl_join.c - see mcpl_join.h. */
#include "stages/formats/mcpl/mcpl_join.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/formats/mcpl/mcpl_strings.h"

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

/* Nobody knows for how much of what was simulated the particles stand that a dying writer left. */
static void forget_sums(struct sl_mcpl_head *h)
{
	const uint8_t *at = h->bytes + sl_mcpl_put_fixed(NULL, &h->fixed);
	char text[SL_MCPL_VALUE_BYTES + 1];

	sl_mcpl_print_value(-1, text);
	sl_mcpl_next_string(&at);
	for (uint32_t i = 0; i < h->fixed.comments; i++) {
		struct sl_mcpl_string comment = sl_mcpl_next_string(&at);
		double value;
		size_t value_at;

		if (sl_mcpl_is_sum(&comment, &value_at, &value))
			memcpy((uint8_t *)(uintptr_t)(comment.at + value_at), text,
				SL_MCPL_VALUE_BYTES);
	}
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
	else if (*recovered)
		forget_sums(h);
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
		"mcpltool --merge does), try a run of the model list, which takes any",
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

/* Adds the value of b to that of a, where both are sums of one key. */
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

/* Is string i of a header a comment, that is a sum in both? It is added up even if they are equal.
 */
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

enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, const struct sl_mcpl_head *more)
{
	const uint8_t *at = h->bytes + sl_mcpl_put_fixed(NULL, &h->fixed);
	const uint8_t *at_more = more->bytes + sl_mcpl_put_fixed(NULL, &more->fixed);

	SL_TRY(check_fixed(&h->fixed, &more->fixed));
	for (uint64_t i = 0; i < count_strings(&h->fixed); i++) {
		struct sl_mcpl_string a = sl_mcpl_next_string(&at),
				      b = sl_mcpl_next_string(&at_more);

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
	double weight, uint64_t particles, const struct sl_batch_facts *batch)
{
	struct sl_mcpl_header h = sl_mcpl_header_of(t, &run->mcpl, weight);
	size_t bytes = sl_mcpl_put_header(at, run, t, weight, batch);

	h.particles = particles;
	sl_mcpl_put_fixed(at, &h);
	return bytes;
}
