/*
 * cgroup.h - the CPU and memory limits of the cgroup (version 2) of this process.
 *
 * The line "0::/PATH" of /proc/self/cgroup names it. All groups from there up to the root limit the
 * process, so the least limit counts. A container sees its own group as the root; if it still reads the
 * path outside, which does not exist inside, the root is used. The files are memory.max, memory.current,
 * memory.stat (inactive_file) and cpu.max.
 */
#ifndef SL_PIPELINE_PLAN_LIMITS_CGROUP_H
#define SL_PIPELINE_PLAN_LIMITS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct sl_cgroup {
	bool limits_memory;
	uint64_t free_bytes; /* memory that the process may still get, if limits_memory */
	uint32_t cpus;       /* CPUs that the quota allows, rounded up; 0: no limit */
};

/* Reads the limits; root is "", or a folder that has copies of /proc and /sys/fs/cgroup. */
void sl_cgroup_read(const char *root, struct sl_cgroup *c);

#endif
