/* walk.c - see walk.h. */
#include "walk.h"

#include <stdlib.h>

/* Two patterns: an answer that depends on what memory held before cannot be right with both. */
static const int poisons[] = {0xa5, 0x5a};

static enum sl_status try_poison(const struct sl_case *c, struct sl_trial *t, int poison)
{
	SL_TRY(c->load(t, poison));
	SL_TRY(c->run(t));
	SL_TRY(sl_stream_wait(NULL));
	return sl_while(c->right(t), "poison %02x", (unsigned)poison);
}

/* One byte of scratch too little must be refused. */
static enum sl_status try_short(const struct sl_case *c, struct sl_trial *t)
{
	enum sl_status s;

	if (t->scratch_bytes == 0)
		return SL_OK;
	t->scratch_bytes--;
	s = c->run(t);
	t->scratch_bytes++;
	if (s != SL_USAGE)
		return sl_fail(SL_CHECK_FAILED, "a byte of scratch too little gave %s, not USAGE",
			sl_status_name(s));
	return SL_OK;
}

static enum sl_status try_setting(const struct sl_case *c, struct sl_trial *t)
{
	SL_TRY(c->make(t));
	SL_TRY(try_short(c, t));
	SL_TRY(try_poison(c, t, poisons[0]));
	return t->set.n > SL_SIZE_LARGE ? SL_OK : try_poison(c, t, poisons[1]);
}

/* Not for b, or too long: large sizes are for random input, and half alive, only. */
static bool is_skipped(const struct sl_backend *b, const struct sl_setting *set)
{
	if (set->scan && set->scan->space != b->space)
		return true;
	if (set->n <= SL_SIZE_LARGE)
		return false;
	return b->primitive == SL_COMPACT ? set->alive != SL_ALIVE_HALF
	                                  : set->input != SL_INPUT_RANDOM;
}

static enum sl_status walk_size(const struct sl_case *c, const struct sl_backend *b, uint32_t n,
	uint32_t block, uint64_t *trials)
{
	struct sl_setting set = {.n = n, .block = block};

	for (size_t i = 0; c->variant(i, &set); i++) {
		struct sl_trial t = {.backend = b, .set = set};
		enum sl_status s;
		char text[128];

		if (is_skipped(b, &set))
			continue;
		s = try_setting(c, &t);
		sl_trial_free(&t);
		c->describe(&set, text, sizeof(text));
		SL_TRY(sl_while(s, "%s/%s, n=%u, %s, block %u", sl_primitive_name(b->primitive),
			b->name, n, text, block));
		(*trials)++;
	}
	return SL_OK;
}

/* A tool that makes kernels a thousand times slower is given SLUICE_LARGEST=5000, for one. */
static uint32_t largest_size(void)
{
	const char *largest = getenv("SLUICE_LARGEST");

	return largest ? (uint32_t)strtoul(largest, NULL, 10) : UINT32_MAX;
}

enum sl_status sl_walk(const struct sl_backend *b, uint32_t block, uint64_t *trials)
{
	const struct sl_case *c = sl_case_of(b->primitive);

	if (!c)
		return SL_OK;
	for (size_t i = 0; i < sl_sizes_count; i++)
		if (sl_sizes[i] <= largest_size())
			SL_TRY(walk_size(c, b, sl_sizes[i], block, trials));
	return SL_OK;
}

enum sl_status sl_walk_space(enum sl_space space, uint64_t *trials)
{
	const struct sl_backend *b;

	*trials = 0;
	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (b->space == space)
			SL_TRY(sl_walk(b, 0, trials));
	if (*trials == 0)
		return sl_fail(SL_CHECK_FAILED, "no backend of that space was tried");
	return SL_OK;
}
