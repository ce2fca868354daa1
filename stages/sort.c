/*
 * sort.c - stage sort on the host: the key of each survivor. A sort backend then sorts index by it.
 */
#include "stages/sort.h"

#include "stages/batch/recipe.h"

void SL_AT_LEVEL(sl_loop_sort)(
	const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	uint32_t *key32 = (uint32_t *)b->key;
	uint64_t *key64 = (uint64_t *)b->key;
	bool narrow = sl_key_type(r) == SL_U32;

	for (uint32_t j = from; j < to; j++) {
		uint32_t i = b->index[j];
		uint64_t key =
			sl_key_pack(r->field, r->n_fields, &b->columns, i, sl_batch_id(b, i));

		if (narrow)
			key32[j] = (uint32_t)key;
		else
			key64[j] = key;
	}
}
