/*
 * limits.c - the limits of a cgroup and of a Slurm job, from copies of the kernel's files and from
 * variables.
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

static struct sl_cgroup read_cgroup(void)
{
	struct sl_cgroup c;

	sl_cgroup_read(folder.path, &c);
	return c;
}

TEST(nothing_limits_without_files)
{
	struct sl_cgroup c = read_cgroup();

	assert_false(c.limits_memory);
	assert_int_equal(c.cpus, 0);
	put("proc/self/cgroup", "0::/\nno line\n:\n\n7:\n");
	put("sys/fs/cgroup/memory.max", "max\n");
	put("sys/fs/cgroup/cpu.max", "max 100000\n");
	c = read_cgroup();
	assert_false(c.limits_memory);
	assert_int_equal(c.cpus, 0);
}

TEST(version_2_limits_by_the_group_of_the_process)
{
	struct sl_cgroup c;

	put("proc/self/cgroup", "0::/slurm/job_1/step_0\n");
	put("sys/fs/cgroup/slurm/job_1/step_0/memory.max", "4294967296\n");
	put("sys/fs/cgroup/slurm/job_1/step_0/memory.current", "2147483648\n");
	put("sys/fs/cgroup/slurm/job_1/step_0/memory.stat",
		"anon 1\ninactive_file_x 7\ninactive_file 1073741824\nactive_file 5\n");
	put("sys/fs/cgroup/slurm/job_1/step_0/cpu.max", "250000 100000\n");
	c = read_cgroup();
	assert_true(c.limits_memory);
	assert_int_equal(c.free_bytes, 3 * GIB); /* inactive pages of files are given back */
	assert_int_equal(c.cpus, 3);             /* 2.5 */
	/* a group above with a lower limit */
	put("sys/fs/cgroup/slurm/job_1/memory.max", "3221225472\n");
	put("sys/fs/cgroup/slurm/job_1/memory.current", "2147483648\n");
	put("sys/fs/cgroup/slurm/cpu.max", "100000 100000\n");
	c = read_cgroup();
	assert_int_equal(c.free_bytes, GIB);
	assert_int_equal(c.cpus, 1);
	/* more used than allowed */
	put("sys/fs/cgroup/slurm/memory.max", "1000\n");
	put("sys/fs/cgroup/slurm/memory.current", "2000\n");
	assert_int_equal(read_cgroup().free_bytes, 0);
}

/* A container sees its group as the root, and may still read the path outside. */
TEST(paths_outside_of_a_container_stand_for_the_root)
{
	static const char *const paths[] = {
		"0::/docker/abc\n", "0::/../../other\n", "0::/\n", "0::\n"};

	put("sys/fs/cgroup/memory.max", "1073741824\n");
	put("sys/fs/cgroup/memory.current", "0\n");
	put("sys/fs/cgroup/cpu.max", "50000 100000\n");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		put("proc/self/cgroup", paths[i]);
		assert_int_equal(read_cgroup().free_bytes, GIB);
		assert_int_equal(read_cgroup().cpus, 1);
	}
}

TEST(version_1_limits_by_its_controllers)
{
	struct sl_cgroup c;

	put("proc/self/cgroup", "9:name=systemd:/user\n"
				"4:memory:/slurm/job_1\n"
				"3:cpuset:/\n"
				"1:cpu,cpuacct:/slurm/job_1\n"
				"0::/user\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/memory/slurm/job_1/memory.limit_in_bytes", "2147483648\n");
	put("sys/fs/cgroup/memory/slurm/job_1/memory.usage_in_bytes", "1610612736\n");
	put("sys/fs/cgroup/memory/slurm/job_1/memory.stat", "total_inactive_file 536870912\n");
	put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	c = read_cgroup();
	assert_int_equal(c.free_bytes, GIB);
	assert_int_equal(c.cpus, 0);
	put("sys/fs/cgroup/cpu,cpuacct/slurm/job_1/cpu.cfs_quota_us", "400000\n");
	assert_int_equal(read_cgroup().cpus, 0); /* without a period */
	put("sys/fs/cgroup/cpu,cpuacct/slurm/job_1/cpu.cfs_period_us", "100000\n");
	assert_int_equal(read_cgroup().cpus, 4);
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
	assert_int_equal(read_slurm(NULL, NULL, NULL).cpus, 0);
	assert_int_equal(read_slurm(NULL, NULL, NULL).memory_bytes, 0);
	assert_int_equal(read_slurm("8", NULL, NULL).cpus, 8);
	assert_int_equal(read_slurm("8", "4096", NULL).memory_bytes, 4 * GIB);
	assert_int_equal(read_slurm("8", NULL, "512").memory_bytes, 4 * GIB);
	assert_int_equal(read_slurm(NULL, NULL, "512").memory_bytes, 512 * MIB);
	assert_string_equal(read_slurm("2", NULL, "512").memory_name, "SLURM_MEM_PER_CPU");
	assert_string_equal(read_slurm("2", "100", "512").memory_name, "SLURM_MEM_PER_NODE");
	assert_int_equal(read_slurm("2", "0", NULL).memory_bytes, 0); /* --mem=0: all of the node */
	assert_int_equal(read_slurm("", "4G", "-1").cpus, 0);
	assert_int_equal(read_slurm("99999999999999999999", "4G", "-1").cpus, 0);
	assert_int_equal(read_slurm("8", "4G", "-1").memory_bytes, 0);
	assert_int_equal(read_slurm("1048576", NULL, "1099511627775").memory_bytes, 0);
}

/* The least of all limits, and its name. */
TEST(machine_has_the_least_limit)
{
	struct sl_machine m;

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
	const struct sl_machine all = {.cores = 8, .free_bytes = 8 * GIB};
	struct sl_machine per_cpu = all;

	assert_int_equal(divided(all, 0, 0).cores, 8);
	assert_int_equal(divided(all, 1, 1).free_bytes, 8 * GIB);
	assert_int_equal(divided(all, 4, 4).cores, 2);
	assert_int_equal(divided(all, 4, 4).free_bytes, 2 * GIB);
	assert_int_equal(divided(all, 4, 1).cores, 8);
	assert_null(divided(all, 4, 1).cores_limit);
	assert_int_equal(divided(all, 16, 16).cores, 1);
	setenv("SLURM_CPUS_PER_TASK", "8", 1);
	setenv("SLURM_MEM_PER_CPU", "1024", 1);
	per_cpu.memory_limit = "SLURM_MEM_PER_CPU";
	assert_int_equal(divided(per_cpu, 4, 4).cores, 8);
	assert_int_equal(divided(per_cpu, 4, 4).free_bytes, 8 * GIB);
	unsetenv("SLURM_CPUS_PER_TASK");
	unsetenv("SLURM_MEM_PER_CPU");
}

BEFORE_EACH()
{
}
