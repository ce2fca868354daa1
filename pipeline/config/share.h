/* share.h - the share of a machine that one of several processes of a run may use. */
#ifndef SL_PIPELINE_CONFIG_SHARE_H
#define SL_PIPELINE_CONFIG_SHARE_H

#include <stdint.h>

/* All zero, or {0, 1, 1}: the process has the machine to itself. */
struct sl_share {
	uint32_t number;   /* from 0, among the processes of the run on this machine */
	uint32_t of;       /* the number of these processes */
	uint32_t cores_of; /* those that may use the same cores as this one, with this one */
};

#endif
