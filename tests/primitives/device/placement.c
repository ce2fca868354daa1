/*
 * placement.c - the processors near a device, read from a copy of sysfs that the test writes; where
 * it is incomplete or damaged, threads stay where they are.
 */
#include "primitives/device/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

#define PCI       "0000:3b:00.0"
#define NODE_FILE "bus/pci/devices/" PCI "/numa_node"
#define LIST_FILE "devices/system/node/node1/cpulist"

/* The first processor that the test may use; the machine may have no other. */
static size_t own;

BEFORE_TESTS()
{
	char command[sizeof(folder.path) + 100];
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (own = 0; !CPU_ISSET(own, &all);)
		own++;
	snprintf(command, sizeof(command),
		"cd '%s' && mkdir -p bus/pci/devices/" PCI " devices/system/node/node1",
		folder.path);
	assert_int_equal(system(command), 0);
}

static struct sl_placement find(const char *node, const char *list, const char *pci)
{
	struct sl_placement p;

	folder_write(&folder, NODE_FILE, node, strlen(node));
	folder_write(&folder, LIST_FILE, list, strlen(list));
	sl_placement_find(folder.path, pci, &p);
	return p;
}

/*
 * In the lists, @ stands for the processor that the test may use. A node of -1, as on a machine
 * with one node, and damaged files are no error.
 */
TEST(processors_of_the_node_are_found)
{
	static const struct {
		const char *node, *list, *pci;
		bool known;
	} rows[] = {
		{"1\n", "@-@,1000\n", PCI, true},
		{"1\n", "0-1023\n", PCI, true},
		{"1\n", "@\n", PCI, true},
		{"-1\n", "@\n", PCI, false},
		{"0\n", "@\n", PCI, false}, /* it has no file */
		{"", "@\n", PCI, false},
		{"x\n", "@\n", PCI, false},
		{"99999999999\n", "@\n", PCI, false},
		{"1\n", "", PCI, false},
		{"1\n", "\n", PCI, false},
		{"1\n", "1000-1023\n", PCI, false}, /* none that the process may use */
		{"1\n", "0-\n", PCI, false},
		{"1\n", "a\n", PCI, false},
		{"1\n", "0;1\n", PCI, false},
		{"1\n", "0-99999999999999999999,x\n", PCI, false},
		{"1\n", "@\n", "", false},
		{"1\n", "@\n", "0000:00:00.0", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char list[64] = "";
		struct sl_placement p;

		for (const char *c = rows[i].list; *c; c++)
			if (*c == '@')
				snprintf(list + strlen(list), 32, "%zu", own);
			else
				strncat(list, c, 1);
		p = find(rows[i].node, list, rows[i].pci);
		if (p.known != rows[i].known)
			fail_msg("node %s, list %s, device %s", rows[i].node, list, rows[i].pci);
		if (i == 0) /* without 1000, which the process cannot use */
			assert_true(CPU_COUNT(&p.near) == 1 && CPU_ISSET(own, &p.near));
	}
}

/* An unknown place moves nothing. */
TEST(threads_move_and_return)
{
	cpu_set_t all, before, now;
	char list[64];

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	snprintf(list, sizeof(list), "%zu\n", own);
	for (int known = 0; known < 2; known++) {
		struct sl_placement p = find("1\n", list, known ? PCI : "");

		sl_placement_enter(&p, &before);
		assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
		assert_true(CPU_EQUAL(&now, known ? &p.near : &all));
		sl_placement_leave(&p, &before);
		assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
		assert_true(CPU_EQUAL(&now, &all));
	}
}
