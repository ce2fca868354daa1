/*
 * machine.h - facts about the machine that a plan is made for and a report names.
 *
 * Cores and free memory are those that this process may use: within its affinity mask, its cgroup
 * (cgroup.h) and ulimit -v.
 */
#ifndef SL_PIPELINE_PLAN_LIMITS_MACHINE_H
#define SL_PIPELINE_PLAN_LIMITS_MACHINE_H

#include "pipeline/config/share.h"

struct sl_machine {
	char host[128];
	char system[256];    /* "Linux 6.1.0-18-amd64 x86_64" */
	char processor[128]; /* "AMD EPYC 7763 64-Core Processor" */
	uint32_t cores;      /* usable by this process */
	uint64_t memory_bytes;
	uint64_t free_bytes; /* available now to this process */
	/* What limits them below the rest of the machine, such as "its cgroup"; NULL: nothing. */
	const char *cores_limit, *memory_limit;
};

/*
 * Reads the facts from the system. Unknown texts are empty, unknown sizes 0, unknown cores 1. root is "", or
 * for tests a folder with copies of /proc and /sys/fs/cgroup.
 */
void sl_machine_read(const char *root, struct sl_machine *m);

/* Lowers cores and free memory to the share of this process. */
void sl_machine_divide(struct sl_machine *m, const struct sl_share *share);

#endif
