/* small_disk.c - see small_disk.h. */
#include "tests/support/basic/small_disk.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/program/program_server.h"

/* Nothing is mounted at the root of a chroot, so that its propagation cannot be changed: EINVAL. */
static int make_private(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 || errno == EINVAL ? 0 : -1;
}

void small_disk_mount(const char *path, const char *options)
{
	assert_int_equal(mkdir(path, 0777), 0);
	if (unshare(CLONE_NEWNS) == 0 && make_private() == 0 &&
		mount("tmpfs", path, "tmpfs", 0, options) == 0) {
		program_server_start(); /* in this name space */
		return;
	}
	assert_int_equal(rmdir(path), 0);
	skip_test(
		"the test mounts a tmpfs, which fails here (%s); run it as root, and in a container "
		"with CAP_SYS_ADMIN",
		strerror(errno));
}

int small_disk_change(const char *path, const char *options)
{
	return mount("tmpfs", path, "tmpfs", MS_REMOUNT, options);
}

void small_disk_unmount(const char *path)
{
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_int_equal(rmdir(path), 0);
}
