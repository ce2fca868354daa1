/* machine.c - reads /proc, and the limits of this process. */
#include "pipeline/plan/limits/limits.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

void sl_look_up(const char *root, const char *file, const char *key, char *value, size_t size)
{
	char line[512], path[4096];
	size_t n = strlen(key);
	FILE *f;

	snprintf(path, sizeof(path), "%.4000s%s", root, file);
	f = fopen(path, "re");
	value[0] = '\0';
	while (f && value[0] == '\0' && fgets(line, sizeof(line), f))
		if (strncmp(line, key, n) == 0 && strchr(" \t:", line[n])) {
			const char *text = line + n + strspn(line + n, " \t:");

			snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
		}
	if (f)
		fclose(f);
}

/* The files of /proc state sizes in KiB. */
static uint64_t read_kib(const char *root, const char *file, const char *key)
{
	char value[64];

	sl_look_up(root, file, key, value, sizeof(value));
	return strtoull(value, NULL, 10) * 1024;
}

/* Used if /proc is not mounted. Less than MemAvailable: it excludes the page cache. */
static uint64_t free_pages_bytes(void)
{
	struct sysinfo facts;

	return sysinfo(&facts) == 0 ? (uint64_t)facts.freeram * facts.mem_unit : 0;
}

/* Bytes of a limited address space reserved for thread stacks and libraries. */
#define SPACE_KEPT ((uint64_t)64 << 20)

/* Lowers the free memory to the bytes that a limit leaves. */
static void limit_memory(struct sl_machine *m, uint64_t bytes, const char *limit)
{
	if (bytes >= m->free_bytes)
		return;
	m->free_bytes = bytes;
	m->memory_limit = limit;
}

/* Sets the smallest of the free bytes of the system, the cgroup and the address space. */
static void set_free_memory(const char *root, const struct sl_cgroup *group, struct sl_machine *m)
{
	struct rlimit space;

	m->free_bytes = read_kib(root, "/proc/meminfo", "MemAvailable");
	if (m->free_bytes == 0)
		m->free_bytes = free_pages_bytes();
	if (group->limits_memory)
		limit_memory(m, group->free_bytes, "its cgroup");
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
		uint64_t used = read_kib(root, "/proc/self/status", "VmSize") + SPACE_KEPT;

		limit_memory(m, space.rlim_cur > used ? space.rlim_cur - used : 0, "ulimit -v");
	}
}

static void limit_cores(struct sl_machine *m, uint32_t cores, const char *limit)
{
	if (cores == 0 || cores >= m->cores)
		return;
	m->cores = cores;
	m->cores_limit = limit;
}

/*
 * The affinity mask, not the number of cores: a batch system may give the process a part of them.
 */
static void set_cores(const struct sl_cgroup *group, struct sl_machine *m)
{
	cpu_set_t set;

	m->cores = 1;
	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		m->cores = (uint32_t)CPU_COUNT(&set);
	if (sysconf(_SC_NPROCESSORS_ONLN) > (long)m->cores)
		m->cores_limit = "its affinity mask";
	limit_cores(m, group->cpus, "the CPU quota of its cgroup");
}

void sl_machine_divide(struct sl_machine *m, const struct sl_share *share)
{
	static const char ranks[] = "the ranks of the run on this machine";

	if (share->of < 2)
		return;
	if (share->cores_of > 1)
		limit_cores(m, m->cores > share->cores_of ? m->cores / share->cores_of : 1, ranks);
	limit_memory(m, m->free_bytes / share->of, ranks);
}

/* A fact that cannot be read stays empty or 0; a plan is possible without it. */
void sl_machine_read(const char *root, struct sl_machine *m)
{
	struct sl_cgroup group;
	struct utsname u;

	memset(m, 0, sizeof(*m));
	if (gethostname(m->host, sizeof(m->host) - 1) != 0)
		m->host[0] = '\0';
	if (uname(&u) == 0)
		snprintf(m->system, sizeof(m->system), "%.63s %.63s %.63s", u.sysname, u.release,
			u.machine);
	sl_look_up(root, "/proc/cpuinfo", "model name", m->processor, sizeof(m->processor));
	m->memory_bytes = read_kib(root, "/proc/meminfo", "MemTotal");
	sl_cgroup_read(root, &group);
	set_cores(&group, m);
	set_free_memory(root, &group, m);
}
