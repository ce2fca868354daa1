/*
 * host_and_device.h - runs a batch on the host, which is the specification, and in a pipeline of
 * the current device, and compares the results byte by byte.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_HOST_AND_DEVICE_H
#define SL_TESTS_SUPPORT_DEVICE_HOST_AND_DEVICE_H

#include "stages/device/device_pipeline.h"

/* A batch of the host with its memory, or a device pipeline with the memory of its results. */
struct side {
	struct sl_batch b;
	struct sl_exec x;
	struct sl_device_pipeline pipeline;
	void *block, *scratch, *of_device, *pinned;
};

/* Allocates memory of that space, filled with poison. */
void *poisoned_get(enum sl_space space, size_t bytes);

void side_open_host(struct side *s, const struct sl_recipe *r);
void side_close_host(struct side *s);
void side_open_device(struct side *s, const struct sl_recipe *r);
void side_close_device(struct side *s);

/* As the compact backend: NULL selects the fused mode, which has none. */
static const char *const fused = NULL;

/* Returns the recipe with the kernels of the device and the named backends. */
struct sl_recipe recipe_on_device(const struct sl_recipe *r, const char *compact, const char *sort);

/* Compares counts, tallies, bins, tables and digests. */
void assert_same_batch(const struct sl_batch *a, const struct sl_batch *b);

/* Runs batch number on both sides and compares the results. */
void run_host_and_device(const struct sl_recipe *r, struct side *host,
	const struct sl_recipe *on_device, struct side *pipeline, uint64_t number);

/* Compares all batches of the recipe: with the named backends, or with the simplest in both modes. */
void compare_host_and_device(const struct sl_recipe *r, const char *compact, const char *sort);
void compare_host_and_device_modes(const struct sl_recipe *r);

#endif
