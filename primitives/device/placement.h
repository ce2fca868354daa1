/*
 * placement.h - the processors near a device: those of the NUMA node that its PCI slot belongs to.
 *
 * A thread that serves a device runs on these processors, and pinned memory is allocated by a
 * thread that runs there, so that the kernel takes pages of that node. Copies then do not cross the
 * link between sockets. Where the system does not tell the node (virtual machines, one socket, the
 * emulated device), all functions do nothing.
 */
#ifndef SL_PRIMITIVES_DEVICE_PLACEMENT_H
#define SL_PRIMITIVES_DEVICE_PLACEMENT_H

#include <sched.h>
#include <stdbool.h>

#include "primitives/base/hd.h"

SL_C_BEGIN

struct sl_placement {
	bool known;
	cpu_set_t near; /* those that the process may use */
};

/*
 * Finds the processors near the PCI device of that address; sys is the mount point of sysfs,
 * "/sys". Unknown if the address is "", if a file of sysfs is missing or malformed, or if the
 * process may use none of them.
 */
void sl_placement_find(const char *sys, const char *pci, struct sl_placement *p);

/* Moves the calling thread to the processors, and sets *before to those that it could use. */
void sl_placement_enter(const struct sl_placement *p, cpu_set_t *before);

/* Gives the thread back the processors of before; p as in enter. */
void sl_placement_leave(const struct sl_placement *p, const cpu_set_t *before);

SL_C_END

#endif
