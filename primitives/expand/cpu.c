/*
 * expand/cpu.c - indices of runs on one host thread: the specification of every expand backend.
 *
 * One loop writes the number of each run to the slot at the end of the run before it; of several that
 * begin there, the last one stays. The run of a slot is then the largest number up to the slot. No
 * branch depends on the lengths of runs, which a processor would predict badly. One more loop per
 * column copies their items. The end of the last run is not read.
 */
#include <string.h>

#include "indices.h"
#include "primitives/compact/items.h"

/* out[j] = the number of runs before the last that end at or before slot j. */
static void expand(const struct sl_expand_job *job, uint32_t *out)
{
	const uint32_t *end32 = (const uint32_t *)job->runs;
	const uint64_t *end64 = (const uint64_t *)job->runs;
	const uint32_t n = job->n, n_out = job->n_out;
	const bool narrow = job->type == SL_U32;
	uint32_t most = 0;

	memset(out, 0, n_out * sizeof(*out));
	for (uint32_t i = 0; i + 1 < n; i++) {
		uint64_t end = narrow ? end32[i] : end64[i];

		if (end < n_out)
			out[end] = i + 1;
	}
	for (uint32_t j = 0; j < n_out; j++)
		out[j] = most = out[j] > most ? out[j] : most;
}

/* bytes is a constant at each call, so that memcpy() becomes one load and one store. */
static inline void gather_items(
	const uint32_t *index, uint32_t n_out, const struct sl_compact_column *c, size_t bytes)
{
	const char *from = (const char *)c->from;
	char *to = (char *)c->to;

	for (uint32_t j = 0; j < n_out; j++)
		memcpy(to + j * bytes, from + index[j] * bytes, bytes);
}

/* Selects the loop for the item size of the column. */
static void gather_column(const uint32_t *index, uint32_t n_out, const struct sl_compact_column *c)
{
	switch (c->bytes) {
#define X(item_bytes, type)                                \
	case item_bytes:                                   \
		gather_items(index, n_out, c, item_bytes); \
		break;
		SL_COMPACT_ITEMS(X)
#undef X
	}
}

static enum sl_status run(struct sl_exec *x, const struct sl_expand_job *job)
{
	struct sl_arena a = x->scratch;
	uint32_t *index = sl_expand_cut_indices(&a, job->n_out, job->n_columns, job->out);

	expand(job, index);
	for (uint32_t k = 0; k < job->n_columns; k++)
		gather_column(index, job->n_out, &job->column[k]);
	return SL_OK;
}

const struct sl_backend sl_expand_cpu = {
	.name = "cpu",
	.primitive = SL_EXPAND,
	.space = SL_HOST,
	.help = "one loop over slots and runs on one thread; the specification",
	.scratch = sl_expand_scratch_of_indices,
	.expand = run,
};
