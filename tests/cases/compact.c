/* compact.c - the case of compact: none to all alive, on any alignment, with every scan inside. */
#include "case.h"

#include <stdio.h>

enum { KEEP, OUT, N_OUT };

/* The i-th scan of the matrix, whatever its space; NULL past the last. */
static const struct sl_backend *scan_at(size_t i)
{
	const struct sl_backend *b;

	for (size_t k = 0; (b = sl_backend_at(k)) != NULL; k++)
		if (b->primitive == SL_SCAN && i-- == 0)
			return b;
	return NULL;
}

/* All shares alive with the backend's own choice of a scan, half alive off alignment, each scan. */
static bool variant(size_t i, struct sl_setting *set)
{
	size_t off = i < SL_ALIVE_COUNT ? 0 : i - SL_ALIVE_COUNT + 1;

	set->scan = NULL;
	set->alive = off == 0 ? (enum sl_alive)i : SL_ALIVE_HALF;
	if (sl_set_off(off, set))
		return true;
	sl_set_off(0, set);
	i = off - SL_OFFS;
	set->alive = (enum sl_alive)(i % SL_ALIVE_COUNT);
	set->scan = scan_at(i / SL_ALIVE_COUNT);
	return set->scan != NULL;
}

static void describe(const struct sl_setting *set, char *text, size_t size)
{
	snprintf(text, size, "%s, scan %s", sl_alive_name(set->alive),
		set->scan ? set->scan->name : "of its own choice");
	sl_describe_off(set, text, size);
}

static enum sl_status make(struct sl_trial *t)
{
	struct sl_shape shape = {
		.n = t->set.n, .tuning = t->set.tuning, .scan = {.backend = t->set.scan}};

	SL_TRY(sl_memory_get(SL_HOST, t->set.n, &t->input));
	sl_alive_fill(t->set.alive, t->set.n, (uint8_t *)t->input);
	SL_TRY(sl_trial_block(t, KEEP, t->set.n, 1));
	SL_TRY(sl_trial_block(t, OUT, t->set.n, sizeof(uint32_t)));
	SL_TRY(sl_trial_block(t, N_OUT, 1, sizeof(uint32_t)));
	return sl_trial_scratch(t, &shape);
}

static enum sl_status load(struct sl_trial *t, int poison)
{
	SL_TRY(sl_copy(t->block[KEEP].at, t->input, t->block[KEEP].bytes, NULL));
	SL_TRY(sl_fill(t->block[OUT].at, poison, t->block[OUT].bytes, NULL));
	SL_TRY(sl_fill(t->block[N_OUT].at, poison, t->block[N_OUT].bytes, NULL));
	return sl_fill(t->scratch.at, poison, t->scratch.bytes, NULL);
}

static enum sl_status run(struct sl_trial *t)
{
	struct sl_exec x = sl_trial_exec(t);
	struct sl_compact_job job = {.keep = (const uint8_t *)t->block[KEEP].at,
		.out = (uint32_t *)t->block[OUT].at,
		.n_out = (uint32_t *)t->block[N_OUT].at,
		.n = t->set.n,
		.scan = {.backend = t->set.scan}};

	return sl_compact(t->backend, &x, &job);
}

static enum sl_status compare(
	uint32_t n, const uint8_t *keep, const uint32_t *out, const uint32_t *n_out)
{
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!keep[i])
			continue;
		if (out[n_kept] != i)
			return sl_fail(SL_CHECK_FAILED, "survivor %u is %u, not %u", n_kept,
				out[n_kept], i);
		n_kept++;
	}
	if (*n_out != n_kept)
		return sl_fail(
			SL_CHECK_FAILED, "%u survivors were counted, not %u", *n_out, n_kept);
	return SL_OK;
}

static enum sl_status right(struct sl_trial *t)
{
	void *out = NULL, *n_out = NULL;
	enum sl_status s = sl_trial_canaries(t);

	if (s == SL_OK)
		s = sl_trial_fetch(&t->block[OUT], &out);
	if (s == SL_OK)
		s = sl_trial_fetch(&t->block[N_OUT], &n_out);
	if (s == SL_OK)
		s = compare(t->set.n, (const uint8_t *)t->input, (const uint32_t *)out,
			(const uint32_t *)n_out);
	sl_memory_give(SL_HOST, n_out);
	sl_memory_give(SL_HOST, out);
	return s;
}

/* Behind the survivors a backend may leave what it likes. */
static enum sl_status answer_bytes(struct sl_trial *t, uint64_t bytes[SL_TRIAL_BLOCKS])
{
	void *n_out;

	SL_TRY(sl_trial_fetch(&t->block[N_OUT], &n_out));
	bytes[OUT] = *(const uint32_t *)n_out * sizeof(uint32_t);
	sl_memory_give(SL_HOST, n_out);
	return SL_OK;
}

/* Every flag is read, every survivor written. */
static uint64_t bytes_moved(const struct sl_trial *t)
{
	const uint8_t *keep = (const uint8_t *)t->input;
	uint64_t bytes = t->set.n;

	for (uint32_t i = 0; i < t->set.n; i++)
		bytes += keep[i] ? sizeof(uint32_t) : 0;
	return bytes;
}

const struct sl_case sl_case_compact = {
	.primitive = SL_COMPACT,
	.variant = variant,
	.describe = describe,
	.make = make,
	.load = load,
	.run = run,
	.right = right,
	.answer_bytes = answer_bytes,
	.bytes_moved = bytes_moved,
};
