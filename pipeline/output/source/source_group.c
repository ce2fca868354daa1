/* source_group.c - see source_group.h. */
#include "pipeline/output/source/source_group.h"

enum sl_status sl_source_group_begin(struct sl_source_group *g, uint32_t n)
{
	sl_loser_tree_begin(&g->tree, n);
	for (uint32_t i = 0; i < n; i++)
		SL_TRY(sl_source_group_advance(g, i));
	return SL_OK;
}
