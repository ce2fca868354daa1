/*
 * host_and_device.h - runs a batch on the host, which is the specification, and in a pipeline of
 * the current device, and compares the results byte by byte.
 */
#ifndef SL_TESTS_SUPPORT_DEVICE_HOST_AND_DEVICE_H
#define SL_TESTS_SUPPORT_DEVICE_HOST_AND_DEVICE_H

#include "stages/device/device_pipeline.h"
#include "tests/support/basic/batch_memory.h"

/* A device pipeline with the host memory of its results. */
struct test_batch {
	struct sl_batch b;
	struct sl_device_pipeline pipeline;
	void *device_memory, *pinned, *rules_data;
};

/*
 * Allocates memory and fills it with the byte 0xa5, so that reads of unwritten memory change
 * results.
 */
void *poisoned_get(enum sl_space space, size_t bytes);

/*
 * poison fills the device memory. With 0, memory after the particles of a batch looks like
 * particles that are alive. A recipe that packs receives only its unpacked columns as they are.
 */
void test_batch_open_device(struct test_batch *s, const struct sl_recipe *r, unsigned char poison);
void test_batch_close_device(struct test_batch *s);

/* The name of the compact backend that selects fused mode, which has no compact backend. */
static const char *const fused = NULL;

/* Returns the recipe with the kernels of the device and the named backends. */
struct sl_recipe recipe_on_device(const struct sl_recipe *r, const char *compact, const char *sort);

/*
 * Expects equal counts, tallies, histograms, rounds, tables and digests; of columns that were
 * packed only the digests.
 */
void assert_same_batch(const struct sl_batch *a, const struct sl_batch *b);

/* Runs batch number on the host and on the device, and compares the results. */
void run_host_and_device(const struct sl_recipe *r, struct batch_memory *host,
	const struct sl_recipe *on_device, struct test_batch *pipeline, uint64_t number);

#endif
