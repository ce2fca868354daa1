/* source_group.c - see source_group.h. */
#include "pipeline/output/source/source_group.h"

#include <string.h>

enum sl_status sl_source_group_begin(struct sl_source_group *g, uint32_t n)
{
	sl_loser_tree_begin(&g->tree, n);
	for (uint32_t i = 0; i < n; i++)
		SL_TRY(sl_source_group_advance(g, i));
	return SL_OK;
}

enum sl_status sl_source_group_fill(
	struct sl_source_group *g, uint8_t *block, size_t size, size_t *used)
{
	const size_t bytes = g->source[0].selection->record_bytes;

	*used = 0;
	while (g->tree.left > 0 && *used + sizeof(uint64_t) + bytes <= size) {
		uint32_t i = sl_loser_tree_least(&g->tree);
		const struct sl_record_source *s = &g->source[i];
		uint8_t *to = block + *used;

		memcpy(to, &s->key, sizeof(s->key));
		sl_record_copy(to + sizeof(s->key), s->record, bytes);
		*used += sizeof(s->key) + bytes;
		SL_TRY(sl_source_group_advance(g, i));
	}
	return SL_OK;
}
