/* limits.h - what a process may use of a machine */
#ifndef SL_PIPELINE_PLAN_LIMITS_LIMITS_H
#define SL_PIPELINE_PLAN_LIMITS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/config/config.h"

/* --- cgroup ----------------------------------------------------------------------------------- */

/*
 * The CPU and memory limits of the cgroup (version 2) of this process.
 *
 * The line "0::/PATH" of /proc/self/cgroup names it. All groups from there up to the root limit the
 * process, so the least limit counts. A container sees its own group as the root; if it still reads
 * the path outside, which does not exist inside, the root is used. The files are memory.max,
 * memory.current, memory.stat (inactive_file) and cpu.max.
 */

struct sl_cgroup {
	bool limits_memory;
	uint64_t free_bytes; /* memory that the process may still get, if limits_memory */
	uint32_t cpus;       /* CPUs that the quota allows, rounded up; 0: no limit */
};

/* Reads the limits; root is "", or a folder that has copies of /proc and /sys/fs/cgroup. */
void sl_cgroup_read(const char *root, struct sl_cgroup *c);

/* --- machine ---------------------------------------------------------------------------------- */

/*
 * Facts about the machine that a plan is made for and a report names.
 *
 * Cores and free memory are those that this process may use: within its affinity mask, its cgroup
 * (cgroup.c) and ulimit -v.
 */

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
 * Reads the facts from the system. Unknown texts are empty, unknown sizes 0, unknown cores 1. root
 * is "", or for tests a folder with copies of /proc and /sys/fs/cgroup.
 */
void sl_machine_read(const char *root, struct sl_machine *m);

/*
 * Copies the text after key in a file below root, such as /proc/cpuinfo; "" if the key is missing.
 */
void sl_look_up(const char *root, const char *file, const char *key, char *value, size_t size);

/* Lowers cores and free memory to the share of this process. */
void sl_machine_divide(struct sl_machine *m, const struct sl_share *share);

#endif
