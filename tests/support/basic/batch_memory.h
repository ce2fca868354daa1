/* batch_memory.h - a batch on the host in a block of memory of exactly the measured size. */
#ifndef SL_TESTS_SUPPORT_BASIC_BATCH_MEMORY_H
#define SL_TESTS_SUPPORT_BASIC_BATCH_MEMORY_H

#include "stages/host/host.h"

struct batch_memory {
	struct sl_batch b;
	struct sl_exec x;
	void *block, *whole;
};

/* Allocates memory for any batch of r and fills it with the byte garbage. */
void open_batch_memory(struct batch_memory *m, const struct sl_recipe *r, int garbage);

/*
 * The same for batches that are not computed in blocks: all columns then have the items of all
 * particles.
 */
void open_whole_batch_memory(struct batch_memory *m, const struct sl_recipe *r, int garbage);

/* Runs all stages of batch number. */
void run_batch(const struct sl_recipe *r, struct batch_memory *m, uint64_t number);

void close_batch_memory(struct batch_memory *m);

#endif
