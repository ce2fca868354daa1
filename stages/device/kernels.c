/* kernels.c - the table of kernels of each kind of device. */
#include "stages/device/kernels.h"

/* The launchers of one kind of device, whose names differ in the suffix: none for CUDA. */
#define KERNELS(suffix)                                                                           \
	{                                                                                         \
		.derive = sl_queue_derive##suffix, .mark = sl_queue_mark##suffix,                 \
		.grids = sl_queue_grids##suffix, .grids_total = sl_queue_grids_total##suffix,     \
		.key = sl_queue_key##suffix, .gather = sl_queue_gather##suffix,                   \
		.records = sl_queue_records##suffix, .fill = sl_queue_fill##suffix,               \
		.bounds = sl_queue_bounds##suffix, .digest = sl_queue_pack_digest##suffix,        \
		.convert = sl_queue_convert##suffix, .list_filter = sl_queue_list_filter##suffix, \
		.list_key = sl_queue_list_key##suffix, .take = sl_queue_take##suffix,             \
		.filter = sl_queue_filter##suffix,                                                \
	}

const struct sl_kernels sl_kernels_emulated = KERNELS(_emulated);

#ifdef SL_WITH_CUDA
const struct sl_kernels sl_kernels_cuda = KERNELS();
#endif

const struct sl_kernels *sl_kernels_find(void)
{
	if (sl_device_is_emulated())
		return &sl_kernels_emulated;
#ifdef SL_WITH_CUDA
	return &sl_kernels_cuda;
#else
	return NULL;
#endif
}
