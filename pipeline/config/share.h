/* share.h - the share of a machine that one of several processes of a run may use. */
#ifndef SL_PIPELINE_CONFIG_SHARE_H
#define SL_PIPELINE_CONFIG_SHARE_H

#include <stdint.h>

/* All zero, or of = 1: the process has the machine to itself. Each number includes this process. */
struct sl_share {
	uint32_t of;            /* the number of processes of the run on this machine */
	uint32_t cores_of;      /* those that may use the same cores as this one */
	uint32_t devices_of;    /* those that see the same GPUs as this one */
	uint32_t device_number; /* of this process among these, from 0 */
};

#endif
