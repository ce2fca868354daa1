/*
 * limits.c - the limits of a cgroup and of a Slurm job, from copies of the kernel's files and from variables. limits.txt has
 * groups of files: PATH TEXT, with \n for the ends of lines. After >, the bytes that a group leaves free, or none, and its CPUs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "pipeline/plan/limits/cgroup.h"
#include "pipeline/plan/limits/slurm.h"
#include "pipeline/plan/limits/machine.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* Makes the folders above a file of the copy, then the file. */
static void put(const char *name, const char *text)
{
	char part[512];

	for (size_t i = 0; name[i]; i++)
		if (name[i] == '/' && i > 0) {
			snprintf(part, sizeof(part), "%.*s", (int)i, name);
			(void)mkdir(folder_path(&folder, part), 0777);
		}
	write_text(&folder, name, text);
}

/* Removes all files. */
static void begin_again(void)
{
	folder_remove(&folder);
	folder_make(&folder);
}

/* Replaces \\n by the end of a line. */
static void unescape(char *text)
{
	for (char *at; (at = strstr(text, "\\n")) != NULL;) {
		*at = '\n';
		memmove(at + 1, at + 2, strlen(at + 2) + 1);
	}
}

static void check_limits(const char *title, const char *line)
{
	char found[64];
	struct sl_cgroup c;

	sl_cgroup_read(folder.path, &c);
	if (c.limits_memory)
		snprintf(found, sizeof(found), "%llu %u", (unsigned long long)c.free_bytes, c.cpus);
	else
		snprintf(found, sizeof(found), "none %u", c.cpus);
	if (strcmp(found, line + 2) != 0)
		fail_msg("%s: %s, expected %s", title, found, line + 2);
}

TEST(cgroups_limit_by_their_files)
{
	const char *source = getenv("SLUICE_SOURCE");
	char path[4096], title[512] = "", line[512];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/pipeline/plan/limits.txt", source ? source : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *text = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || line[0] == '\0')
			continue;
		if (strncmp(line, "== ", 3) == 0) {
			strcpy(title, line);
			begin_again();
		} else if (line[0] == '>') {
			check_limits(title, line);
			n++;
		} else {
			*text = '\0';
			unescape(text + 1);
			put(line, text + 1);
		}
	}
	fclose(f);
	assert_int_equal(n, 12);
}

static struct sl_slurm read_slurm(const char *cpus, const char *node, const char *cpu)
{
	const char *const names[] = {
		"SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU"};
	const char *const values[] = {cpus, node, cpu};
	struct sl_slurm s;

	for (int i = 0; i < 3; i++)
		if (values[i])
			setenv(names[i], values[i], 1);
		else
			unsetenv(names[i]);
	sl_slurm_read(&s);
	for (int i = 0; i < 3; i++)
		unsetenv(names[i]);
	return s;
}

TEST(slurm_limits_by_its_variables)
{
	static const struct {
		const char *cpus, *node, *cpu;
		uint64_t expected_cpus, expected_mib;
		const char *name; /* of the variable that limits; NULL: not tested */
	} rows[] = {
		{NULL, NULL, NULL, 0, 0, NULL},
		{"8", NULL, NULL, 8, 0, NULL},
		{"8", "4096", NULL, 8, 4096, NULL},
		{"8", NULL, "512", 8, 4096, NULL},
		{NULL, NULL, "512", 0, 512, NULL},
		{"2", NULL, "512", 2, 1024, "SLURM_MEM_PER_CPU"},
		{"2", "100", "512", 2, 100, "SLURM_MEM_PER_NODE"},
		{"2", "0", NULL, 2, 0, NULL}, /* --mem=0: all of the node */
		{"", "4G", "-1", 0, 0, NULL},
		{"99999999999999999999", "4G", "-1", 0, 0, NULL},
		{"8", "4G", "-1", 8, 0, NULL},
		{"1048576", NULL, "1099511627775", 1048576, 0, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_slurm s = read_slurm(rows[i].cpus, rows[i].node, rows[i].cpu);

		if (s.cpus != rows[i].expected_cpus ||
			s.memory_bytes != rows[i].expected_mib * MIB ||
			(rows[i].name && strcmp(s.memory_name, rows[i].name) != 0))
			fail_msg("row %zu: %llu CPUs, %llu bytes", i, (unsigned long long)s.cpus,
				(unsigned long long)s.memory_bytes);
	}
}

/* The least of all limits, and its name. */
TEST(machine_has_the_least_limit)
{
	struct sl_machine m;

	begin_again();
	put("proc/meminfo", "MemTotal:  16777216 kB\nMemAvailable:  8388608 kB\n");
	put("proc/self/status", "VmSize:  1048576 kB\nVmRSS:   262144 kB\n");
	put("proc/cpuinfo", "model name\t: A processor\n");
	sl_machine_read(folder.path, &m);
	assert_int_equal(m.memory_bytes, 16 * GIB);
	assert_int_equal(m.free_bytes, 8 * GIB);
	assert_null(m.memory_limit);
	assert_string_equal(m.processor, "A processor");
	put("proc/self/cgroup", "0::/job\n");
	put("sys/fs/cgroup/job/memory.max", "2147483648\n");
	put("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
	sl_machine_read(folder.path, &m);
	assert_int_equal(m.free_bytes, 2 * GIB);
	assert_string_equal(m.memory_limit, "its cgroup");
	assert_int_equal(m.cores, 1);
	setenv("SLURM_MEM_PER_NODE", "1024", 1);
	sl_machine_read(folder.path, &m);
	unsetenv("SLURM_MEM_PER_NODE");
	assert_int_equal(m.free_bytes, 768 * MIB); /* without what this process has */
	assert_string_equal(m.memory_limit, "SLURM_MEM_PER_NODE");
}

static struct sl_machine divided(struct sl_machine m, uint32_t of, uint32_t cores_of)
{
	sl_machine_divide(&m, &(struct sl_share){.of = of, .cores_of = cores_of});
	return m;
}

/* Ranks divide the memory, and the cores unless they are bound to different ones; never to 0. */
TEST(ranks_divide_the_machine)
{
	static const struct {
		uint32_t of, cores_of, cores;
		uint64_t free_bytes;
	} rows[] = {{0, 0, 8, 8 * GIB}, {1, 1, 8, 8 * GIB}, {4, 4, 2, 2 * GIB}, {4, 1, 8, 2 * GIB},
		{16, 16, 1, GIB / 2}};
	const struct sl_machine all = {.cores = 8, .free_bytes = 8 * GIB};
	struct sl_machine per_cpu = all;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_machine m = divided(all, rows[i].of, rows[i].cores_of);

		assert_int_equal(m.cores, rows[i].cores);
		assert_int_equal(m.free_bytes, rows[i].free_bytes);
	}
	assert_null(divided(all, 4, 1).cores_limit);
	setenv("SLURM_CPUS_PER_TASK", "8", 1);
	setenv("SLURM_MEM_PER_CPU", "1024", 1);
	per_cpu.memory_limit = "SLURM_MEM_PER_CPU";
	assert_int_equal(divided(per_cpu, 4, 4).cores, 8);
	assert_int_equal(divided(per_cpu, 4, 4).free_bytes, 8 * GIB);
	unsetenv("SLURM_CPUS_PER_TASK");
	unsetenv("SLURM_MEM_PER_CPU");
}
