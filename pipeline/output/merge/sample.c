/*
 * sample.c - selects the (n + 1)-th largest priority by its digits.
 *
 * Priorities are not negative, so their order is that of their bits. Each pass over the order files
 * counts the values of one digit among the priorities that have the digits found so far, the most
 * significant digit first. Three digits make the 64 bits, so memory does not depend on the number
 * of particles.
 */
#include "pipeline/output/merge/merge.h"

#include <float.h>
#include <string.h>

#include "pipeline/plan/joined_memory.h"
#include "pipeline/plan/plan.h"
#include "primitives/device/device.h"

enum { DIGIT_BITS = 22, DIGITS = 3, VALUES = 1 << DIGIT_BITS };

_Static_assert(VALUES * sizeof(uint64_t) == SL_SAMPLE_BYTES, "plans count these bytes");

/* The digits found so far, and the number of priorities above all that have these digits. */
struct search {
	uint64_t prefix;
	unsigned shift; /* of the last digit; 64: none is known */
	uint64_t above;
	uint64_t *count; /* VALUES */
};

/* Counts the digit at shift of the priorities of one batch that have the digits that are known. */
static enum sl_status count_batch(const struct sl_dir *dir, const struct sl_manifest_line *l,
	const struct sl_order_items *items, unsigned shift, struct search *s)
{
	size_t at = items->key ? sizeof(uint64_t) : 0;
	SL_CLOSED_BY(sl_checked_file_close) struct sl_checked_file f = {.name = NULL};
	uint64_t priority;

	SL_TRY(sl_checked_file_open(&f, dir, &l->order));
	for (size_t from = 0; from + items->bytes <= f.map.bytes; from += items->bytes) {
		memcpy(&priority, (const char *)f.map.at + from + at, sizeof(priority));
		if (s->shift == 64 || priority >> s->shift == s->prefix)
			s->count[priority >> shift & (VALUES - 1)]++;
		sl_checked_file_advance(&f, from);
	}
	return sl_checked_file_end(&f);
}

/* Finds the next digit of the priority that has n larger ones. */
static enum sl_status find_digit(const struct sl_dir *dir, const struct sl_manifest *m,
	const struct sl_order_items *items, uint64_t n, struct search *s)
{
	unsigned shift = s->shift == 64 ? (DIGITS - 1) * DIGIT_BITS : s->shift - DIGIT_BITS;
	uint32_t digit = VALUES - 1;

	memset(s->count, 0, SL_SAMPLE_BYTES);
	for (size_t i = 0; i < m->n; i++)
		SL_TRY(count_batch(dir, &m->line[i], items, shift, s));
	while (digit > 0 && s->above + s->count[digit] <= n)
		s->above += s->count[digit--];
	s->prefix = s->prefix << DIGIT_BITS | digit;
	s->shift = shift;
	return SL_OK;
}

/* Records with numbers of 8 bytes, each with a weight, can have any threshold. */
static enum sl_status check_threshold(const struct sl_selection *s, uint64_t n)
{
	bool wide = !s->rows && !s->layout.single && s->layout.weight == 0;

	if (wide || s->threshold <= (double)FLT_MAX)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"output.sample: with %lu particles each one has a weight of %.4g or more, but "
		"weights are stored in single precision (at most %.2g); scale the weights of the list, or "
		"use a larger sample",
		n, s->threshold, (double)FLT_MAX);
}

enum sl_status sl_sample_find(
	const struct sl_dir *dir, const struct sl_manifest *m, uint64_t n, struct sl_selection *s)
{
	SL_CLOSED_BY(sl_host_give) uint64_t *count = NULL;
	struct search search = {.shift = 64};

	s->kept = 0;
	for (size_t i = 0; i < m->n; i++)
		s->kept += m->line[i].survivors;
	s->sampled = n > 0 && n < s->kept;
	if (!s->sampled)
		return SL_OK;
	SL_TRY(sl_host_get(1, SL_SAMPLE_BYTES, &count));
	search.count = count;
	for (int digit = 0; digit < DIGITS; digit++)
		SL_TRY(find_digit(dir, m, &s->items, n, &search));
	memcpy(&s->threshold, &search.prefix, sizeof(s->threshold));
	s->kept = search.above;
	return check_threshold(s, n);
}
