/* sort.cu - stage sort on a device: the key of each survivor, one thread per survivor. */
#include "primitives/count.cuh"
#include "stages/sort.h"

enum { BLOCK = 256 };

struct fields {
	struct sl_key_rule at[SL_KEY_FIELDS_MAX];
};

/* Key is the type of the packed keys: uint32_t or uint64_t. */
template <class Key>
static __global__ void key_kernel(struct fields fields, uint32_t n_fields, struct sl_columns c,
	const uint32_t *index, const uint64_t *first_id, struct sl_count count, Key *key)
{
	uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (j < sl_count_read(count)) {
		uint32_t i = index[j];

		key[j] = (Key)sl_key_pack(fields.at, n_fields, &c, i, *first_id + i);
	}
}

enum sl_status SL_NAME(sl_queue_key)(const struct sl_key_rule *field, uint32_t n, bool narrow,
	const struct sl_batch *b, sl_stream s)
{
	const struct sl_count count = {b->n_survivors, false, b->n_counted};
	uint32_t blocks = sl_grid(b->n_survivors, BLOCK);
	struct fields fields = {};

	for (uint32_t k = 0; k < n; k++)
		fields.at[k] = field[k];
	if (narrow)
		return SL_LAUNCH(key_kernel<uint32_t>, blocks, BLOCK, 0, s, fields, n, b->columns,
			b->index, b->first_id_on_device, count, (uint32_t *)b->key);
	return SL_LAUNCH(key_kernel<uint64_t>, blocks, BLOCK, 0, s, fields, n, b->columns, b->index,
		b->first_id_on_device, count, (uint64_t *)b->key);
}
