/* merge_target.c - see merge_target.h. */
#include "pipeline/output/merge/merge_target.h"

enum sl_status sl_merge_target_flush(struct sl_merge_target *t)
{
	size_t used = t->used;

	t->used = 0;
	return sl_file_add(&t->file, t->buffer, used);
}
