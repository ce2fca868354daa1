/* link.c - see files.h. */
#include "primitives/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk.h"

/*
 * File systems without links, or with a limit of links, and files of others: the bytes can be
 * copied.
 */
static bool can_copy(int error)
{
	return error == EXDEV || error == EPERM || error == EACCES || error == EMLINK ||
	       error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

enum sl_status sl_file_link(
	const struct sl_dir *from, const char *name, const struct sl_dir *to, bool *linked)
{
	struct stat facts;

	*linked = false;
	SL_TRY(sl_check_name(name));
	if (fstatat(from->fd, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
		return sl_disk_failed(errno, "look up", from->path, name);
	if (!S_ISREG(facts.st_mode)) /* a link to a symbolic link would depend on its place */
		return SL_OK;
	*linked = !sl_fault_injected("file_link") && linkat(from->fd, name, to->fd, name, 0) == 0;
	if (*linked || can_copy(errno))
		return SL_OK;
	if (errno == EEXIST)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s/%s already exists (results are never overwritten); choose another output "
			"folder",
			to->path, name);
	return sl_disk_failed(errno, "link", to->path, name);
}
