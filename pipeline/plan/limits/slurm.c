/* slurm.c - see slurm.h. */
#include "pipeline/plan/limits/slurm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A whole number of at most most; 0 if the variable has another value or is not set. */
static uint64_t variable(const char *name, uint64_t most)
{
	const char *text = getenv(name);
	uint64_t value;

	if (!text || *text == '\0' || text[strspn(text, "0123456789")] != '\0')
		return 0;
	errno = 0;
	value = strtoull(text, NULL, 10);
	return errno == 0 && value <= most ? value : 0;
}

void sl_slurm_read(struct sl_slurm *s)
{
	const uint64_t most_mib = (uint64_t)1 << 40;
	uint64_t node = variable("SLURM_MEM_PER_NODE", most_mib);
	uint64_t cpu = variable("SLURM_MEM_PER_CPU", most_mib);

	*s = (struct sl_slurm){.cpus = (uint32_t)variable("SLURM_CPUS_PER_TASK", 1 << 20)};
	/* a task without --cpus-per-task has one CPU */
	cpu = cpu < most_mib ? cpu * (s->cpus > 0 ? s->cpus : 1) : 0;
	if (node > 0 && (cpu == 0 || node <= cpu)) {
		s->memory_bytes = node << 20;
		s->memory_name = "SLURM_MEM_PER_NODE";
	} else if (cpu > 0 && cpu <= most_mib) {
		s->memory_bytes = cpu << 20;
		s->memory_name = "SLURM_MEM_PER_CPU";
	}
}
