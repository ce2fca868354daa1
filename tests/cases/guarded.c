/* guarded.c - see guarded.h. */
#include "guarded.h"

#include <string.h>

/*
 * A canary is as long as the alignment, so that the memory after it keeps its alignment or offset.
 */
enum { CANARY = 0xc5, CANARY_BYTES = 256 };

/* AddressSanitizer detects writes and also reads after the block, if the block ends there. */
#if defined(__SANITIZE_ADDRESS__)
enum { CANARY_AFTER_BYTES = 0 };
#else
enum { CANARY_AFTER_BYTES = CANARY_BYTES };
#endif

enum sl_status sl_guarded_get(enum sl_space space, size_t bytes, struct sl_guarded *g)
{
	return sl_guarded_get_offset(space, bytes, 0, g);
}

enum sl_status sl_guarded_get_offset(
	enum sl_space space, size_t bytes, size_t off, struct sl_guarded *g)
{
	size_t all = CANARY_BYTES + off + bytes + CANARY_AFTER_BYTES;
	void *p;

	memset(g, 0, sizeof(*g));
	SL_TRY(sl_memory_get(space, all, &p));
	g->space = space;
	g->block = (char *)p;
	g->at = g->block + CANARY_BYTES + off;
	g->bytes = bytes;
	return sl_fill(g->block, CANARY, all, NULL);
}

void sl_guarded_give(struct sl_guarded *g)
{
	sl_memory_give(g->space, g->block);
	memset(g, 0, sizeof(*g));
}

enum sl_status sl_guarded_check(const struct sl_guarded *g, const char *name)
{
	unsigned char canary[CANARY_BYTES + CANARY_AFTER_BYTES];

	if (!g->block)
		return SL_OK;
	SL_TRY(sl_copy(canary, (char *)g->at - CANARY_BYTES, CANARY_BYTES, NULL));
	SL_TRY(sl_copy(canary + CANARY_BYTES, (char *)g->at + g->bytes, CANARY_AFTER_BYTES, NULL));
	SL_TRY(sl_stream_wait(NULL));
	for (size_t i = 0; i < sizeof(canary); i++)
		if (canary[i] != CANARY)
			return sl_fail(SL_CHECK_FAILED,
				"%s: byte %zu of the canaries before and after it was overwritten",
				name, i);
	return SL_OK;
}
