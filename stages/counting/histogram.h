/*
 * histogram.h - fills the histograms of a batch on a device, in staged mode.
 *
 * Input: the particles of a batch with their final fates. Output: the counters of the histograms
 * (stages/selection/histogram.h). On the host mark.c does the same; in fused mode select.cu.
 */
#ifndef SL_STAGES_COUNTING_HISTOGRAM_H
#define SL_STAGES_COUNTING_HISTOGRAM_H

#include "primitives/device/device.h"
#include "stages/batch/batch.h"
#include "stages/selection/histogram.h"

SL_C_BEGIN

/*
 * Queues the kernel. It adds to sum: sl_histogram_words(bins) words of device memory. Weights are
 * multiplied by weight_scale (see sl_weight_scale()).
 */
typedef enum sl_status sl_histograms_launcher(const struct sl_histogram_set *bins,
	float weight_scale, const struct sl_batch *b, uint64_t *sum, sl_stream s);
sl_histograms_launcher sl_queue_histograms, sl_queue_histograms_emulated;

SL_C_END

#endif
