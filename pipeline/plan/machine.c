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

/* Copies what follows key and a colon in a file such as /proc/cpuinfo; "" if the key is missing. */
static void look_up(const char *path, const char *key, char *value, size_t size)
{
	char line[512];
	FILE *f = fopen(path, "re");

	value[0] = '\0';
	while (f && value[0] == '\0' && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (colon && strncmp(line, key, strlen(key)) == 0) {
			colon += 1 + strspn(colon + 1, " \t");
			colon[strcspn(colon, "\n")] = '\0';
			snprintf(value, size, "%s", colon);
		}
	}
	if (f)
		fclose(f);
}

/* The integer in a file that holds nothing else; fallback if there is none ("max"). */
static uint64_t read_number(const char *path, uint64_t fallback)
{
	unsigned long long value = fallback;
	FILE *f = fopen(path, "re");

	if (f) {
		if (fscanf(f, "%llu", &value) != 1)
			value = fallback;
		fclose(f);
	}
	return value;
}

static uint64_t kib_of(const char *key)
{
	char value[64];

	look_up("/proc/meminfo", key, value, sizeof(value));
	return strtoull(value, NULL, 10) * 1024;
}

/* Used if /proc is not mounted. Less than MemAvailable: it excludes the page cache. */
static uint64_t free_pages_bytes(void)
{
	struct sysinfo facts;

	return sysinfo(&facts) == 0 ? (uint64_t)facts.freeram * facts.mem_unit : 0;
}

/* The number after the key in a file such as memory.stat; 0 if the key is missing. */
static uint64_t read_keyed_number(const char *path, const char *key)
{
	unsigned long long value, found = 0;
	char word[64];
	FILE *f = fopen(path, "re");

	while (f && found == 0 && fscanf(f, "%63s %llu", word, &value) == 2)
		if (strcmp(word, key) == 0)
			found = value;
	if (f)
		fclose(f);
	return found;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Bytes of a limited address space reserved for thread stacks and libraries. */
#define SPACE_KEPT ((uint64_t)64 << 20)

/* The smallest of the free bytes of the system, the cgroup (version 2) and the address space. */
static uint64_t free_memory(void)
{
	uint64_t bytes = kib_of("MemAvailable"),
		 limit = read_number("/sys/fs/cgroup/memory.max", 0);
	struct rlimit space;

	if (bytes == 0)
		bytes = free_pages_bytes();
	if (limit > 0) {
		uint64_t used = read_number("/sys/fs/cgroup/memory.current", 0);
		/* the kernel evicts the page cache, for example of our output, when memory is requested */
		uint64_t cache = read_keyed_number("/sys/fs/cgroup/memory.stat", "inactive_file");

		used = used > cache ? used - cache : 0;
		bytes = least(bytes, limit > used ? limit - used : 0);
	}
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
		char value[64];
		uint64_t used;

		look_up("/proc/self/status", "VmSize", value, sizeof(value));
		used = strtoull(value, NULL, 10) * 1024 + SPACE_KEPT;
		bytes = least(bytes, space.rlim_cur > used ? space.rlim_cur - used : 0);
	}
	return bytes;
}

static uint32_t count_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return (uint32_t)CPU_COUNT(&set);
	return 1;
}

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
	m->memory_bytes = kib_of("MemTotal");
	m->free_bytes = free_memory();
}
