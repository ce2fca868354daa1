/* machine.c - reads /proc, the cgroup and the resource limits of this process. */
#include "pipeline/plan/machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * Copies the text after key in a file such as /proc/cpuinfo or memory.stat; "" if the key is missing.
 * Blanks, a colon, or both separate key and text. An empty key means the first line of the file.
 */
static void look_up(const char *path, const char *key, char *value, size_t size)
{
	size_t n = strlen(key);
	char line[512];
	FILE *f = fopen(path, "re");

	value[0] = '\0';
	while (f && value[0] == '\0' && fgets(line, sizeof(line), f))
		if (strncmp(line, key, n) == 0 && (n == 0 || strchr(" \t:", line[n]))) {
			const char *text = line + n + strspn(line + n, " \t:");

			snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
		}
	if (f)
		fclose(f);
}

/* The integer after key in a file; 0 if the key is missing or its text is no number ("max"). */
static uint64_t read_number(const char *path, const char *key)
{
	char value[64];

	look_up(path, key, value, sizeof(value));
	return strtoull(value, NULL, 10);
}

/* The files of /proc state sizes in KiB. */
static uint64_t read_kib(const char *path, const char *key)
{
	return read_number(path, key) * 1024;
}

/* Used if /proc is not mounted. Less than MemAvailable: it excludes the page cache. */
static uint64_t free_pages_bytes(void)
{
	struct sysinfo facts;

	return sysinfo(&facts) == 0 ? (uint64_t)facts.freeram * facts.mem_unit : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Bytes of a limited address space reserved for thread stacks and libraries. */
#define SPACE_KEPT ((uint64_t)64 << 20)

/*
 * The smallest of the free bytes of the system, the cgroup (version 2) and the address space. A
 * limit of 0 means that there is none: the file is missing outside a cgroup, and holds "max" without
 * a limit.
 */
static uint64_t free_memory(void)
{
	uint64_t bytes = read_kib("/proc/meminfo", "MemAvailable");
	uint64_t limit = read_number("/sys/fs/cgroup/memory.max", "");
	struct rlimit space;

	if (bytes == 0)
		bytes = free_pages_bytes();
	if (limit > 0) {
		uint64_t used = read_number("/sys/fs/cgroup/memory.current", "");
		/* the kernel evicts the page cache, for example of our output, when memory is requested */
		uint64_t cache = read_number("/sys/fs/cgroup/memory.stat", "inactive_file");

		used = used > cache ? used - cache : 0;
		bytes = least(bytes, limit > used ? limit - used : 0);
	}
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
		uint64_t used = read_kib("/proc/self/status", "VmSize") + SPACE_KEPT;

		bytes = least(bytes, space.rlim_cur > used ? space.rlim_cur - used : 0);
	}
	return bytes;
}

/* The affinity mask, not the number of cores: a batch system may give the process a part of them. */
static uint32_t count_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return (uint32_t)CPU_COUNT(&set);
	return 1;
}

/* A fact that cannot be read stays empty or 0; a plan is possible without it. */
void sl_machine_read(struct sl_machine *m)
{
	struct utsname u;

	memset(m, 0, sizeof(*m));
	if (gethostname(m->host, sizeof(m->host) - 1) != 0)
		m->host[0] = '\0';
	if (uname(&u) == 0)
		snprintf(m->system, sizeof(m->system), "%.63s %.63s %.63s", u.sysname, u.release,
			u.machine);
	look_up("/proc/cpuinfo", "model name", m->processor, sizeof(m->processor));
	m->cores = count_cores();
	m->memory_bytes = read_kib("/proc/meminfo", "MemTotal");
	m->free_bytes = free_memory();
}
