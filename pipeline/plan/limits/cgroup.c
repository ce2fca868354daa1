/* cgroup.c - see limits.h. A file that is missing, or holds "max", sets no limit. */
#include "pipeline/plan/limits/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 4096 };

/* Reads up to two whole numbers from a file of the group; returns how many it has. */
static int read_numbers(const char *group, const char *name, unsigned long long number[2])
{
	char path[PATH_BYTES];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%.3900s/%s", group, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fscanf(f, "%20llu %20llu", &number[0], &number[1]);
	fclose(f);
	return n > 0 ? n : 0;
}

/* The kernel evicts the page cache, for example of our output, when memory is requested. */
static void add_memory(const char *group, struct sl_cgroup *c)
{
	unsigned long long limit[2], used[2] = {0};
	uint64_t cache, left;
	char inactive[32];

	if (read_numbers(group, "memory.max", limit) == 0)
		return;
	read_numbers(group, "memory.current", used);
	sl_look_up(group, "/memory.stat", "inactive_file", inactive, sizeof(inactive));
	cache = strtoull(inactive, NULL, 10);
	used[0] = used[0] > cache ? used[0] - cache : 0;
	left = limit[0] > used[0] ? limit[0] - used[0] : 0;
	if (!c->limits_memory || left < c->free_bytes)
		c->free_bytes = left;
	c->limits_memory = true;
}

/* A quota of 1.5 CPUs keeps two threads busy for most of the time. */
static void add_cpus(const char *group, struct sl_cgroup *c)
{
	unsigned long long quota[2]; /* per period */
	uint64_t cpus;

	if (read_numbers(group, "cpu.max", quota) < 2 || quota[0] == 0 || quota[1] == 0)
		return;
	cpus = quota[0] / quota[1] + (quota[0] % quota[1] > 0);
	if (cpus <= UINT32_MAX && (c->cpus == 0 || cpus < c->cpus))
		c->cpus = (uint32_t)cpus;
}

/* Adds the limits of a group and of all groups above it. */
static void add_groups(const char *root, const char *path, struct sl_cgroup *c)
{
	char group[PATH_BYTES];
	struct stat facts;
	size_t base = (size_t)snprintf(group, sizeof(group), "%.1900s/sys/fs/cgroup", root);

	if (strcmp(path, "/") != 0)
		snprintf(group + base, sizeof(group) - base, "%.2000s", path);
	if (strstr(path, "/..") || stat(group, &facts) != 0)
		group[base] = '\0'; /* a path outside of this container */
	for (;;) {
		add_memory(group, c);
		add_cpus(group, c);
		if (strlen(group) <= base)
			return;
		*strrchr(group, '/') = '\0';
	}
}

void sl_cgroup_read(const char *root, struct sl_cgroup *c)
{
	static const char own[] = "0::";
	char path[PATH_BYTES], line[LINE_BYTES];
	FILE *f;

	memset(c, 0, sizeof(*c));
	snprintf(path, sizeof(path), "%.4000s/proc/self/cgroup", root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, own, strlen(own)) == 0)
			add_groups(root, line + strlen(own), c);
	}
	if (f)
		fclose(f);
}
