/*
 * version.c - prints what the program was built from and what it runs with.
 *
 * CUDA and HDF5 have two versions: that of the build and that of the library or driver at run time.
 * Both are printed, because most problems of an installation are a difference between them.
 */
#include "pipeline/help/help.h"

#include <hdf5.h>

#include "pipeline/ranks/ranks.h"
#include "pipeline/text/text.h"
#include "primitives/device/device_driver.h"
#include "stages/host/host.h"

/* A CUDA version is the number 1000 * major + 10 * minor; 0: no driver. */
static void print_cuda(FILE *out)
{
#ifdef SL_WITH_CUDA
	int driver = 0, runtime = 0;

	sl_driver_in_use()->versions(&driver, &runtime);
	fprintf(out, "CUDA       built with %d.%d, ", runtime / 1000, runtime % 1000 / 10);
	if (driver > 0)
		fprintf(out, "driver supports %d.%d\n", driver / 1000, driver % 1000 / 10);
	else
		fprintf(out, "no driver\n");
#else
	fprintf(out, "CUDA       none (built without CUDA)\n");
#endif
}

/* The CPU levels of the program that this processor can run; it uses the first. */
static void print_levels(FILE *out)
{
	const char *separator = "";
	const struct sl_loops *l;

	for (size_t k = 0; (l = sl_loops_at(k)) != NULL; k++)
		if (sl_find_loops(l->level)) {
			fprintf(out, "%s%s", separator, l->level);
			separator = ", ";
		}
	fprintf(out, "; uses %s\n", sl_find_loops(NULL)->level);
}

void sl_version_print(FILE *out)
{
	unsigned built[] = {H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE}, major, minor, release;

	fprintf(out, "sluice %s\n", sl_version());
	fprintf(out, "commit     %s\n", sl_commit());
	fprintf(out, "compilers  C %s, C++ %s\n", __VERSION__, SL_CXX_COMPILER);
	print_cuda(out);
	fprintf(out, "HDF5       built with %u.%u.%u", built[0], built[1], built[2]);
	if (H5get_libversion(&major, &minor, &release) >= 0)
		fprintf(out, ", runs with %u.%u.%u", major, minor, release);
	fprintf(out, "\nMPI        %s\n", sl_ranks_library());
	fprintf(out, "CPU loops  ");
	print_levels(out);
}
