/*
 * schedule.h - the mode of a run, and how the advance stage follows the particles of a batch.
 *
 * The stage runs either as histories (each particle is followed to its end in one call) or in rounds of a
 * fixed number of steps (stages/rounds/rounds.h): after each round the particles that are alive are
 * compacted, and when few of the batch are left, one last round finishes them. A step is a pure
 * function of a particle, so no schedule changes a bit of the result.
 */
#ifndef SL_STAGES_BATCH_SCHEDULE_H
#define SL_STAGES_BATCH_SCHEDULE_H

#include <stdint.h>

/*
 * staged: one kernel or loop per stage. fused: on a device, as few kernels as possible
 * (stages/device/device.h).
 */
#define SL_MODES(X) X(staged) X(fused)
enum sl_mode {
#define X(name) SL_MODE_##name,
	SL_MODES(X)
#undef X
		SL_MODE_COUNT
};

struct sl_schedule {
	uint32_t steps; /* per round; 0: histories, there are no rounds */
	double finish;  /* fraction of the batch below which one last round takes all remaining
	                   steps; 0: never */
};

#endif
