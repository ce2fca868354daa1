/* placement.c - reads the NUMA node of a device and its processors from sysfs. See placement.h. */
#include "primitives/device/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 512, LINE_BYTES = 4096 };

/* Reads the first line of a file; false if there is none. */
static bool read_line(const char *path, char line[LINE_BYTES])
{
	FILE *f = fopen(path, "re");
	bool read = f && fgets(line, LINE_BYTES, f);

	if (f)
		fclose(f);
	return read;
}

/* The NUMA node of a PCI device; -1 if it is unknown. The kernel writes -1 for that, too. */
static int read_node(const char *sys, const char *pci)
{
	char path[PATH_BYTES], line[LINE_BYTES], *end;
	long node;

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/numa_node", sys, pci);
	if (!read_line(path, line))
		return -1;
	node = strtol(line, &end, 10);
	return end != line && node >= 0 && node < CPU_SETSIZE ? (int)node : -1;
}

/* Reads a list such as "0-15,32-47". False if it is malformed. */
static bool read_list(const char *text, cpu_set_t *set)
{
	CPU_ZERO(set);
	while (*text && *text != '\n') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text)
				return false;
		}
		for (unsigned long i = first; i <= last && i < CPU_SETSIZE; i++)
			CPU_SET(i, set);
		text = *end == ',' ? end + 1 : end;
		if (*end && *end != ',' && *end != '\n')
			return false;
	}
	return true;
}

void sl_placement_find(const char *sys, const char *pci, struct sl_placement *p)
{
	char path[PATH_BYTES], line[LINE_BYTES];
	cpu_set_t all;
	int node = pci[0] ? read_node(sys, pci) : -1;

	memset(p, 0, sizeof(*p));
	if (node < 0)
		return;
	snprintf(path, sizeof(path), "%s/devices/system/node/node%d/cpulist", sys, node);
	if (!read_line(path, line) || !read_list(line, &p->near) ||
		sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	CPU_AND(&p->near, &p->near, &all);
	p->known = CPU_COUNT(&p->near) > 0;
}

void sl_placement_enter(const struct sl_placement *p, cpu_set_t *before)
{
	CPU_ZERO(before);
	if (p->known && sched_getaffinity(0, sizeof(*before), before) == 0)
		(void)sched_setaffinity(0, sizeof(p->near), &p->near);
}

void sl_placement_leave(const struct sl_placement *p, const cpu_set_t *before)
{
	if (p->known && CPU_COUNT(before) > 0)
		(void)sched_setaffinity(0, sizeof(*before), before);
}
