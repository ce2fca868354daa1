/*
 * placement.c - the processors near a device, read from a copy of sysfs that the test writes; where it is
 * incomplete or damaged, threads stay where they are.
 */
#include "primitives/device/placement.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

#define PCI       "0000:3b:00.0"
#define NODE_FILE "bus/pci/devices/" PCI "/numa_node"
#define LIST_FILE "devices/system/node/node1/cpulist"

/* The first processor that the test may use; the machine may have no other. */
static size_t own;

static void make_below(const char *const *names)
{
	char path[200] = "";

	for (; *names; names++) {
		strcat(strcat(path, path[0] ? "/" : ""), *names);
		(void)mkdir(folder_path(&folder, path), 0700);
	}
}

BEFORE_TESTS()
{
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (own = 0; !CPU_ISSET(own, &all);)
		own++;
	make_below((const char *const[]){"bus", "pci", "devices", PCI, NULL});
	make_below((const char *const[]){"devices", "system", "node", "node1", NULL});
}

static void write_sysfs(const char *node, const char *list)
{
	folder_write(&folder, NODE_FILE, node, strlen(node));
	folder_write(&folder, LIST_FILE, list, strlen(list));
}

static bool is_found(const char *node, const char *list)
{
	struct sl_placement p;

	write_sysfs(node, list);
	sl_placement_find(folder.path, PCI, &p);
	return p.known;
}

TEST(processors_of_the_node_are_found)
{
	struct sl_placement p;
	char list[64];

	snprintf(list, sizeof(list), "%zu-%zu,1000\n", own, own);
	write_sysfs("1\n", list);
	sl_placement_find(folder.path, PCI, &p);
	assert_true(p.known);
	assert_int_equal(CPU_COUNT(&p.near), 1); /* without 1000, which the process cannot use */
	assert_true(CPU_ISSET(own, &p.near));
	assert_true(is_found("1\n", "0-1023\n"));
}

TEST(unknown_nodes_are_no_error)
{
	struct sl_placement p;
	char list[64];

	snprintf(list, sizeof(list), "%zu\n", own);
	assert_true(is_found("1\n", list));
	assert_false(is_found("-1\n", list)); /* as on a machine with one node */
	assert_false(is_found("0\n", list));  /* it has no file */
	assert_false(is_found("", list));
	assert_false(is_found("x\n", list));
	assert_false(is_found("99999999999\n", list));
	assert_false(is_found("1\n", ""));
	assert_false(is_found("1\n", "\n"));
	assert_false(is_found("1\n", "1000-1023\n")); /* none that the process may use */
	assert_false(is_found("1\n", "0-\n"));
	assert_false(is_found("1\n", "a\n"));
	assert_false(is_found("1\n", "0;1\n"));
	assert_false(is_found("1\n", "0-99999999999999999999,x\n"));
	write_sysfs("1\n", list);
	sl_placement_find(folder.path, "", &p);
	assert_false(p.known);
	sl_placement_find(folder.path, "0000:00:00.0", &p);
	assert_false(p.known);
	sl_placement_find("/nowhere", PCI, &p);
	assert_false(p.known);
}

TEST(threads_move_and_return)
{
	cpu_set_t all, before, now;
	struct sl_placement p;
	char list[64];

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	snprintf(list, sizeof(list), "%zu\n", own);
	write_sysfs("1\n", list);
	sl_placement_find(folder.path, PCI, &p);
	sl_placement_enter(&p, &before);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &p.near));
	sl_placement_leave(&p, &before);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &all));

	/* an unknown place moves nothing */
	sl_placement_find(folder.path, "", &p);
	sl_placement_enter(&p, &before);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &all));
	sl_placement_leave(&p, &before);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &all));
}
