/*
 * device_order.h - sorts the keys of a merge on devices, so that the merge does not search for the next record.
 *
 * The devices of a run have nothing to compute after the last batch. They sort the keys of all files with the numbers
 * of the files (primitives/global_sort/): a stable sort, so records with equal keys keep the order of their files.
 * The result is the number of the file of each record, in the order of the list. The merge takes the next record
 * of each number in turn, which a merge by a tree would find by log2(files) comparisons. One comparison is left: with
 * the record before it, to check the order.
 *
 * The result stays on the devices, and the merge reads it in blocks. So the memory of the host does not depend on
 * the number of records. Each record takes sl_order_device_bytes() of the memory of a device.
 */
#ifndef SL_PIPELINE_OUTPUT_MERGE_DEVICE_ORDER_H
#define SL_PIPELINE_OUTPUT_MERGE_DEVICE_ORDER_H

#include <stdatomic.h>

#include "pipeline/output/source/record_source.h"
#include "pipeline/run/workspace.h"
#include "primitives/global_sort/global_sort.h"

/* The devices that sort. */
struct sl_order_devices {
	const struct sl_device *device[SL_DEVICES_MAX];
	uint32_t n;                 /* 0: the host merges by a tree */
	struct sl_global_sort sort; /* of the keys of the run */
};

/* The devices of w that have not failed; none if w did not allocate memory to compute batches, or is NULL. */
struct sl_order_devices sl_order_devices_of(const struct sl_workspace *w);

/* The keys that are sorted: those of the batches that the files of a pass were made from. */
struct sl_order_keys {
	const struct sl_dir *dir; /* of the batches */
	const struct sl_manifest *batches;
	const struct sl_selection *selection;
	const struct sl_record_range *range; /* of each batch; NULL: all of its records */
	uint64_t batches_per_file;
	uint64_t records; /* that are selected */
	const atomic_bool
		*cancel; /* if set, the work ends early with SL_PEER_LOST; NULL: it does not */
};

struct sl_device_order {
	struct sl_global_sort sort;
	struct sl_global_share share[SL_DEVICES_MAX]; /* of each device, and its memory */
	void *block[SL_DEVICES_MAX];
	uint32_t n_shares;
	uint64_t records; /* of all shares */
	/* A block on the host: keys and numbers of files on the way to a device, then numbers of the result. */
	uint32_t *file;
	void *key;
	uint32_t at_hand;  /* numbers of the result in `file` */
	uint32_t taken;    /* those of them that the merge has taken */
	uint32_t share_at; /* where the next block of the result is: the share, */
	uint64_t at;       /* and the place in it */
};

/*
 * Sorts the keys. The caller calls sl_device_order_end() in any case. Errors: SL_DEVICE_MEMORY, SL_HOST_MEMORY,
 * SL_DEVICE_FAILED, those of files; SL_CHECK_FAILED also if there is another number of records.
 */
enum sl_status sl_device_order_begin(struct sl_device_order *o,
	const struct sl_order_devices *devices, const struct sl_order_keys *keys);

/* Reads the next block of numbers. SL_DEVICE_FAILED. */
enum sl_status sl_device_order_read(struct sl_device_order *o);

/* Sets *file to the number of the file of the next record. There must be one. SL_DEVICE_FAILED. */
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
