/* boundaries.c - see boundaries.h. */
#include "primitives/global_sort/boundaries.h"

/* The range is cut into intervals whose numbers of values differ by at most one; their last values are tried. */
uint32_t sl_rank_values(const struct sl_rank_range *r, uint32_t most, uint64_t *value)
{
	const uint64_t intervals = (uint64_t)most + 1, width = r->high - r->low;
	const uint64_t each = width / intervals;
	const uint64_t longer = width % intervals + 1; /* intervals of each + 1 values */
	uint32_t n = 0;

	if (each == 0)
		for (; n < width; n++)
			value[n] = r->low + n;
	else
		for (; n < most; n++)
			value[n] = r->low + (n + 1) * each + (n + 1 < longer ? n : longer - 1);
	return n;
}

void sl_rank_narrow(
	struct sl_rank_range *r, const uint64_t *value, const uint64_t *not_more, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		if (not_more[k] > r->rank) {
			r->high = value[k];
			return;
		}
		r->low = value[k] + 1;
	}
}

void sl_rank_divide(uint64_t rank, const struct sl_run_rank *of, uint32_t n_shares, uint32_t *at)
{
	for (uint32_t i = 0; i < n_shares; i++) {
		at[i] = of[i].less;
		rank -= of[i].less;
	}
	for (uint32_t i = 0; i < n_shares; i++) {
		uint32_t equal = of[i].not_more - of[i].less;
		uint32_t taken = rank < equal ? (uint32_t)rank : equal;

		at[i] += taken;
		rank -= taken;
	}
}
