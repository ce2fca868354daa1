/* renamed_blobs.c - finds blobs with a number above 1 in the metadata of the input lists. */
#include "stages/inputs/inputs.h"

#include "stages/formats/mcpl/mcpl_metadata.h"

bool sl_renamed_blob_next(const struct sl_inputs *inputs, struct sl_renamed_blob *b)
{
	const struct sl_mcpl_metadata *metadata = inputs ? inputs->metadata : NULL;

	while (metadata && b->next < metadata->blobs.n) {
		const struct sl_mcpl_item *item = &metadata->blobs.at[b->next++];

		if (item->number <= 1)
			continue;
		b->path = inputs->at[item->part].path;
		b->name = (const char *)item->text.at;
		b->name_bytes = item->text.length;
		b->number = item->number;
		return true;
	}
	return false;
}
