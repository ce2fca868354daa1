/*
 * host_and_device.h - runs a batch on the host, which is the specification, and in a pipeline of
 * the current device, and compares the results byte by byte.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_HOST_AND_DEVICE_H
#define SL_TESTS_SUPPORT_DEVICE_HOST_AND_DEVICE_H

#include "stages/device/device_pipeline.h"

/* A host's batch with its memory, or a lane with the memory of what comes home. */
struct side {
	struct sl_batch b;
	struct sl_exec x;
	struct sl_device_pipeline lane;
	void *block, *scratch, *of_device, *pinned;
};

/* Memory of that space, of bytes that nobody has set. */
void *poisoned_get(enum sl_space space, size_t bytes);

void side_open_host(struct side *s, const struct sl_recipe *r);
void side_close_host(struct side *s);
void side_open_device(struct side *s, const struct sl_recipe *r);
void side_close_device(struct side *s);

/* For a compact: there is none, as the batch is run in the other way. */
static const char *const fused = NULL;

/* The recipe with the device's kernels, and its backends of those names. */
struct sl_recipe recipe_on_device(const struct sl_recipe *r, const char *compact, const char *sort);

/* Counts, tallies, bins, tables and their digests. */
void assert_same_batch(const struct sl_batch *a, const struct sl_batch *b);

/* Batch number on both sides, which must be the same. */
void run_host_and_device(const struct sl_recipe *r, struct side *host,
	const struct sl_recipe *on_device, struct side *lane, uint64_t number);

/* All batches of the recipe; by that compact and sort, or by the simplest, in both ways. */
void compare_host_and_device(const struct sl_recipe *r, const char *compact, const char *sort);
void compare_host_and_device_modes(const struct sl_recipe *r);

#endif
