/* output_file.c - creates and closes the files that sluice-bench writes. */
#include "bench/measure/output_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum sl_status sl_output_create(const char *name, FILE **f)
{
	*f = fopen(name, "w");
	return *f ? SL_OK
	          : sl_fail(SL_DISK, "cannot create %s: %s; choose another file", name,
			    strerror(errno));
}

enum sl_status sl_output_close(const char *name, FILE **f)
{
	bool bad;

	if (!*f)
		return SL_OK;
	bad = ferror(*f) != 0;
	bad = fclose(*f) != 0 || bad;
	*f = NULL;
	return bad ? sl_fail(SL_DISK, "cannot write all of %s; free space on its disk", name)
	           : SL_OK;
}
