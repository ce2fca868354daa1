/*
 * scan_only.c - a program that uses nothing but a scan. It must not depend on HDF5, PNG or YAML.
 *
 * It defines STATUS and BACKEND before it includes the library's headers, which must leave them
 * alone.
 */
#define STATUS  41
#define BACKEND 1

#include "primitives/primitives.h"

#include <stdio.h>

#if STATUS + BACKEND != 42
#error a header of the library has changed STATUS or BACKEND
#endif

int main(void)
{
	const uint32_t in[4] = {3, 1, 4, 1};
	uint32_t out[4];
	struct sl_exec x = {.space = SL_HOST};
	struct sl_scan_job job = {.in = in, .out = out, .n = 4, .type = SL_U32};

	if (sl_scan(&sl_scan_cpu, &x, &job) != SL_OK) {
		fprintf(stderr, "%s\n", sl_last_error());
		return 1;
	}
	printf("%u %u %u %u\n", (unsigned)out[0], (unsigned)out[1], (unsigned)out[2],
		(unsigned)out[3]);
	return 0;
}
