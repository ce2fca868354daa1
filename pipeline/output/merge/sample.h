/* sample.h - finds the threshold of a sample in the priorities of all batches. */
#ifndef SL_PIPELINE_OUTPUT_MERGE_SAMPLE_H
#define SL_PIPELINE_OUTPUT_MERGE_SAMPLE_H

#include "pipeline/output/source/record_source.h"

/*
 * Sets sampled, threshold and kept of s for a sample of n of the survivors in m: the threshold is
 * the largest priority but n. Particles of exactly this priority are not in the sample. With at
 * most n survivors all are kept, and sampled is false. n = 0: no sample is wanted. Reads the order
 * files three times and allocates SL_SAMPLE_BYTES. SL_CHECK_FAILED if an order file differs from
 * the manifest; SL_BAD_INPUT if the weights of the sample would be infinite in the file.
 */
enum sl_status sl_sample_find(
	const struct sl_dir *dir, const struct sl_manifest *m, uint64_t n, struct sl_selection *s);

#endif
