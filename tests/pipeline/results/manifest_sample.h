/* manifest_sample.h - a line of a manifest for the tests of this folder. */
#ifndef SL_TESTS_PIPELINE_RESULTS_MANIFEST_SAMPLE_H
#define SL_TESTS_PIPELINE_RESULTS_MANIFEST_SAMPLE_H

#include <stdio.h>
#include <string.h>

#include "pipeline/results/manifest.h"

/* A line with values in all parts. All bytes are set, so that lines can be compared with memcmp. */
static inline struct sl_manifest_line sample(uint64_t batch)
{
	struct sl_manifest_line line;

	memset(&line, 0, sizeof(line));
	line.batch = batch;
	line.first_id = batch * 1000;
	line.generated = 1000;
	line.survivors = 600;
	line.tally.count[SL_FATE_transmitted] = 600;
	line.tally.count[SL_FATE_reflected] = 400;
	line.tally.weight[SL_FATE_transmitted] = (uint64_t)600 << 32;
	line.tally.weight[SL_FATE_reflected] = UINT64_MAX;
	line.tally.steps = 12345;
	line.tally.collisions = 6789;
	line.columns = SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_w);
	line.digest[SL_COLUMN_id] = 0x0123456789abcdefu;
	line.digest[SL_COLUMN_w] = batch;
	snprintf(line.file, sizeof(line.file), "name_%llu.h5", (unsigned long long)batch);
	line.file_bytes = 987654;
	line.file_crc = 0xdeadbeef;
	return line;
}

#endif
