/* cgroup.c - see cgroup.h. A file that is missing, or holds "max" or -1, sets no limit. */
#include "pipeline/plan/limits/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 4096 };

/* Version 1 states this, a multiple of the page size below 2^63, or more if there is no limit. */
#define NO_LIMIT ((uint64_t)1 << 62)

/* The files of a version of cgroups. */
struct version {
	const char *memory_limit, *memory_used, *memory_cache;
	const char *quota, *period; /* period NULL: quota has "QUOTA PERIOD" */
};

static const struct version versions[] = {
	[1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
		"cpu.cfs_quota_us", "cpu.cfs_period_us"},
	[2] = {"memory.max", "memory.current", "inactive_file", "cpu.max", NULL},
};

/* --- files ------------------------------------------------------------------------------------ */

/* Reads up to most whole numbers, of at most two, from a file of the group; returns how many it has. */
static int read_numbers(const char *group, const char *name, uint64_t *number, int most)
{
	unsigned long long at[2];
	char path[PATH_BYTES];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%.3900s/%s", group, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fscanf(f, "%20llu %20llu", &at[0], &at[1]);
	fclose(f);
	n = n < most ? n : most;
	for (int i = 0; i < n; i++)
		number[i] = at[i];
	return n > 0 ? n : 0;
}

/* The number after key in memory.stat; 0 if there is none. */
static uint64_t read_stat(const char *group, const char *key)
{
	char path[PATH_BYTES], line[256];
	size_t n = strlen(key);
	uint64_t value = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%.3900s/memory.stat", group);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			value = strtoull(line + n, NULL, 10);
	if (f)
		fclose(f);
	return value;
}

/* --- limits ----------------------------------------------------------------------------------- */

/* The kernel evicts the page cache, for example of our output, when memory is requested. */
static void add_memory(const char *group, const struct version *v, struct sl_cgroup *c)
{
	uint64_t limit, used = 0, cache, left;

	if (read_numbers(group, v->memory_limit, &limit, 1) == 0 || limit >= NO_LIMIT)
		return;
	read_numbers(group, v->memory_used, &used, 1);
	cache = read_stat(group, v->memory_cache);
	used = used > cache ? used - cache : 0;
	left = limit > used ? limit - used : 0;
	if (!c->limits_memory || left < c->free_bytes)
		c->free_bytes = left;
	c->limits_memory = true;
}

/* A quota of 1.5 CPUs keeps two threads busy for most of the time. */
static void add_cpus(const char *group, const struct version *v, struct sl_cgroup *c)
{
	uint64_t quota[2] = {0, 0}, cpus;

	read_numbers(group, v->quota, quota, 2);
	if (v->period)
		read_numbers(group, v->period, &quota[1], 1);
	if (quota[0] == 0 || quota[0] >= NO_LIMIT || quota[1] == 0)
		return;
	cpus = quota[0] / quota[1] + (quota[0] % quota[1] > 0);
	if (cpus <= UINT32_MAX && (c->cpus == 0 || cpus < c->cpus))
		c->cpus = (uint32_t)cpus;
}

/* Adds the limits of a group and of all groups above it, up to base. */
static void add_groups(const char *base, const char *path, const struct version *v,
	void (*add)(const char *group, const struct version *v, struct sl_cgroup *c),
	struct sl_cgroup *c)
{
	char group[PATH_BYTES];
	struct stat facts;
	size_t root = strlen(base);

	snprintf(group, sizeof(group), "%s%.2000s", base, strcmp(path, "/") == 0 ? "" : path);
	if (strstr(path, "/..") || stat(group, &facts) != 0)
		group[root] = '\0'; /* a path outside of this container */
	for (;;) {
		add(group, v, c);
		if (strlen(group) <= root)
			return;
		*strrchr(group, '/') = '\0';
	}
}

/* --- /proc/self/cgroup ------------------------------------------------------------------------ */

/* Is word one of the items of a list with commas? */
static bool has_item(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; list; list = strchr(list, ','), list += list != NULL)
		if (strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0'))
			return true;
	return false;
}

/* Adds the limits of the group of a line: "N", the controllers and the path. */
static void add_line(
	const char *root, const char *controllers, const char *path, struct sl_cgroup *c)
{
	const struct version *v = &versions[controllers[0] ? 1 : 2];
	char base[PATH_BYTES];

	if (controllers[0] == '\0') {
		snprintf(base, sizeof(base), "%.1900s/sys/fs/cgroup", root);
		add_groups(base, path, v, add_memory, c);
		add_groups(base, path, v, add_cpus, c);
		return;
	}
	/* the folder of several controllers has the name of all, as "cpu,cpuacct" */
	snprintf(base, sizeof(base), "%.1000s/sys/fs/cgroup/%.900s", root, controllers);
	if (has_item(controllers, "memory"))
		add_groups(base, path, v, add_memory, c);
	if (has_item(controllers, "cpu"))
		add_groups(base, path, v, add_cpus, c);
}

void sl_cgroup_read(const char *root, struct sl_cgroup *c)
{
	char path[PATH_BYTES], line[LINE_BYTES];
	FILE *f;

	memset(c, 0, sizeof(*c));
	snprintf(path, sizeof(path), "%.4000s/proc/self/cgroup", root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'),
		     *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		add_line(root, controllers + 1, group, c);
	}
	if (f)
		fclose(f);
}
