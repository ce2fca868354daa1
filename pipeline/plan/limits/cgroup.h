/*
 * cgroup.h - the CPU and memory limits of the cgroup of this process, of versions 1 and 2.
 *
 * /proc/self/cgroup names the cgroup: "0::/PATH" of version 2, "N:CONTROLLERS:/PATH" of version 1. All
 * groups from there up to the root limit the process, so the least limit counts. A container sees its own
 * group as the root; if it still reads the path outside, which does not exist inside, the root is used.
 *
 *	version 2   memory.max, memory.current, memory.stat: inactive_file; cpu.max
 *	version 1   memory.limit_in_bytes, memory.usage_in_bytes, memory.stat: total_inactive_file;
 *	            cpu.cfs_quota_us, cpu.cfs_period_us
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
