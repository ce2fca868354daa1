/*
 * device_order.h - sorts the keys of a merge on devices, so that the merge compares no keys.
 *
 * The devices of a run have nothing to compute after the last batch. They sort the keys of all files with the numbers
 * of the files (primitives/global_sort/): a stable sort, so records with equal keys keep the order of their files.
 * The result is the number of the file of each record, in the order of the list. The merge takes the next record
 * of each number in turn, which a merge by a tree would find by log2(files) comparisons.
 *
 * The result stays on the devices, and the merge reads it in blocks. So the memory of the host does not depend on
 * the number of records. Each record takes sl_order_device_bytes() of the memory of a device.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_DEVICE_ORDER_H
#define SL_PIPELINE_OUTPUT_MERGE_DEVICE_ORDER_H

#include "pipeline/output/source/record_source.h"
#include "pipeline/run/workspace.h"
#include "primitives/global_sort/global_sort.h"

/* The devices that sort. */
struct sl_order_devices {
	const struct sl_device *device[SL_DEVICES_MAX];
	uint32_t n;            /* 0: the host merges by comparisons */
	struct sl_choice sort; /* the backend */
	uint32_t key_bits;     /* as in struct sl_recipe */
};

/* The devices of w that have not failed; none if w did not allocate memory to compute batches, or is NULL. */
struct sl_order_devices sl_order_devices_of(const struct sl_workspace *w);

struct sl_device_order {
	struct sl_global_sort sort;
	struct sl_global_share share[SL_DEVICES_MAX]; /* of each device, and its memory */
	void *block[SL_DEVICES_MAX];
	uint32_t n_shares;
	uint64_t records; /* of all shares */
	/* On the host: a block of keys and numbers on the way to a device, then one of the result. */
	void *staging, *key;
	uint32_t *file;
	/* Of the result: numbers of `file` that were taken, and that are there; the place of the next block. */
	uint32_t taken, at_hand, share_at;
	uint64_t at;
};

/*
 * Sorts the keys of n sources, which were opened and not read yet; they have `records` selected records. The caller
 * calls sl_device_order_end() in any case. Errors: SL_DEVICE_MEMORY, SL_HOST_MEMORY, SL_DEVICE_FAILED;
 * SL_CHECK_FAILED if the sources have another number of records. No source is changed.
 */
enum sl_status sl_device_order_begin(struct sl_device_order *o,
	const struct sl_order_devices *devices, const struct sl_record_source *source, uint32_t n,
	uint64_t records);

/* Reads the next block of numbers. SL_DEVICE_FAILED. */
enum sl_status sl_device_order_read(struct sl_device_order *o);

/* Sets *file to the number of the source of the next record. There must be one. SL_DEVICE_FAILED. */
static inline enum sl_status sl_device_order_next(struct sl_device_order *o, uint32_t *file)
{
	if (o->taken == o->at_hand)
		SL_TRY(sl_device_order_read(o));
	*file = o->file[o->taken++];
	return SL_OK;
}

/* Frees all memory. Keeps the last error message. */
void sl_device_order_end(struct sl_device_order *o);

#endif
