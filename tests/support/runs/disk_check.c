/* disk_check.c - see disk_check.h. */
#include <string.h>

#include "tests/support/basic/check.h"
#include "tests/support/runs/disk_check.h"

unsigned check_disk_failure(struct tiny_run *t, const char *out, enum tiny_end how,
	const struct ending *e, int error, struct disk_failures *failures)
{
	unsigned batches = tiny_check(t, out, how);

	if (e->code == 0 && batches == t->batches) {
		failures->succeeded++;
	} else {
		failures->failed++;
		tiny_check_ending(t, e, SL_DISK, error ? strerrordesc_np(error) : NULL, "sluice: ");
		if (error && !strstr(e->err, out) && !strstr(e->err, "tiny.yaml"))
			fail_msg("%s: expected the name of a file in the message: %s", t->what,
				e->err);
	}
	tiny_resume_once(t, out, &failures->states);
	return batches;
}
