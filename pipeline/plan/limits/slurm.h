/*
 * slurm.h - what the Slurm job of this process has asked for.
 *
 *	SLURM_CPUS_PER_TASK   CPUs of each task (--cpus-per-task)
 *	SLURM_MEM_PER_NODE    memory on each node, in MiB (--mem); 0: all of the node
 *	SLURM_MEM_PER_CPU     memory for each CPU, in MiB (--mem-per-cpu), times the CPUs of the task
 *
 * Clusters without cgroups do not enforce these, but kill a job that exceeds its memory.
 */
#ifndef SL_PIPELINE_PLAN_LIMITS_SLURM_H
#define SL_PIPELINE_PLAN_LIMITS_SLURM_H

#include <stdint.h>

struct sl_slurm {
	uint32_t cpus;           /* 0: no limit */
	uint64_t memory_bytes;   /* 0: no limit */
	const char *memory_name; /* the variable that limits the memory; NULL: none */
};

/* Reads the variables; a value that is no whole number, or too large, is ignored. */
void sl_slurm_read(struct sl_slurm *s);

#endif
