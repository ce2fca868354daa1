/* machine.h - facts about the machine that a plan is made for and a report names. */
#ifndef SL_PIPELINE_PLAN_MACHINE_H
#define SL_PIPELINE_PLAN_MACHINE_H

#include <stdint.h>

struct sl_machine {
	char host[128];
	char system[256];    /* "Linux 6.1.0-18-amd64 x86_64" */
	char processor[128]; /* "AMD EPYC 7763 64-Core Processor" */
	uint32_t cores;      /* usable by this process (affinity mask) */
	uint64_t memory_bytes;
	uint64_t free_bytes; /* available now, within the cgroup and RLIMIT_AS */
};

/* Reads the facts from the system. Unknown texts are empty, unknown sizes 0, unknown cores 1. */
void sl_machine_read(struct sl_machine *m);

#endif
