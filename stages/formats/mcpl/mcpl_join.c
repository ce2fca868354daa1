/* mcpl_join.c - see mcpl_join.h. */
#include "stages/formats/mcpl/mcpl_join.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/formats/mcpl/mcpl_layout.h"

/* Fails because what, with its number if that is not 0, differs from the first file. */
static enum sl_status refuse(const char *what, uint32_t number)
{
	char shown[64];

	snprintf(shown, sizeof(shown), number > 0 ? "%s %" PRIu32 : "%s", what, number);
	return sl_fail(SL_BAD_INPUT,
		"its %s is not that of the first file (only files with equal headers can be "
		"joined, as by mcpltool --merge); use a run of the model list, which takes any "
		"files",
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

enum sl_status sl_mcpl_head_join(struct sl_mcpl_head *h, const struct sl_mcpl_head *more)
{
	const uint8_t *at = h->bytes + sl_mcpl_put_fixed(NULL, &h->fixed);
	const uint8_t *at_more = more->bytes + sl_mcpl_put_fixed(NULL, &more->fixed);

	SL_TRY(check_fixed(&h->fixed, &more->fixed));
	for (uint64_t i = 0; i < sl_mcpl_count_strings(&h->fixed); i++) {
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
