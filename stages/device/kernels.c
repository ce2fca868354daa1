/* kernels.c - the table of kernels of each kind of device. */
#include "stages/device/kernels.h"

const struct sl_kernels sl_kernels_emulated = {
	.generate = sl_queue_generate_emulated,
	.advance = sl_queue_advance_emulated,
	.move = sl_queue_move_emulated,
	.mark = sl_queue_mark_emulated,
	.bins = sl_queue_histograms_emulated,
	.key = sl_queue_key_emulated,
	.gather = sl_queue_gather_emulated,
	.select = sl_queue_select_emulated,
	.select_scratch = sl_queue_select_scratch_emulated,
	.rows = sl_queue_gather_rows_emulated,
	.records = sl_queue_records_emulated,
	.fill = sl_queue_fill_emulated,
	.bounds = sl_queue_bounds_emulated,
	.digest = sl_queue_pack_digest_emulated,
};

#ifdef SL_WITH_CUDA
const struct sl_kernels sl_kernels_cuda = {
	.generate = sl_queue_generate,
	.advance = sl_queue_advance,
	.move = sl_queue_move,
	.mark = sl_queue_mark,
	.bins = sl_queue_histograms,
	.key = sl_queue_key,
	.gather = sl_queue_gather,
	.select = sl_queue_select,
	.select_scratch = sl_queue_select_scratch,
	.rows = sl_queue_gather_rows,
	.records = sl_queue_records,
	.fill = sl_queue_fill,
	.bounds = sl_queue_bounds,
	.digest = sl_queue_pack_digest,
};
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
