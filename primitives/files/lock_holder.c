/* lock_holder.c - see lock_holder.h. */
#include "lock_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "disk.h"

bool sl_lock_parse(const char *text, struct sl_lock_holder *holder)
{
	char pid[32];
	int end = 0;

	if (sscanf(text, "pid %31[0-9] host %127s start %31[0-9TZ:-]%n", pid, holder->host,
		    holder->since, &end) != 3 ||
		text[end] != '\0')
		return false;
	holder->pid = strtoull(pid, NULL, 10);
	return true;
}

/*
 * Reads the first line of LOCK and the file's facts. *exists is false if there is no such file. Something
 * that is no regular file has no line.
 */
static enum sl_status read_lock(
	const struct sl_dir *d, char *text, size_t size, struct stat *facts, bool *exists)
{
	int fd = sl_open(d->fd, SL_LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), error = 0;
	ssize_t n = 0;

	*exists = fd >= 0;
	text[0] = '\0';
	if (fd < 0)
		return errno == ENOENT ? SL_OK
		                       : sl_disk_failed(errno, "open", d->path, SL_LOCK_NAME);
	if (sl_fault_injected("file_stat") || fstat(fd, facts) != 0)
		error = errno;
	if (!error && S_ISREG(facts->st_mode)) {
		n = sl_fault_injected("file_read") ? -1 : pread(fd, text, size - 1, 0);
		error = n < 0 ? errno : 0;
	}
	error = sl_close(fd, error);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return error ? sl_disk_failed(error, "read", d->path, SL_LOCK_NAME) : SL_OK;
}

/*
 * Does a process hold the flock of that file for itself, not for reading? The device of a line is that of the file system, which some file systems
 * hide from stat(2); then the process must be the one that LOCK names.
 */
static bool is_locked(FILE *locks, const struct stat *facts, uint64_t pid)
{
	unsigned long long holder, inode;
	unsigned of_major, of_minor;
	char line[256];

	while (fgets(line, sizeof(line), locks)) {
		const char *at = strstr(line, "FLOCK");

		if (!at || sscanf(at, "FLOCK %*s WRITE %llu %x:%x:%llu", &holder, &of_major,
				   &of_minor, &inode) != 4)
			continue;
		if (inode != (unsigned long long)facts->st_ino)
			continue;
		if (holder == pid ||
			(of_major == major(facts->st_dev) && of_minor == minor(facts->st_dev)))
			return true;
	}
	return false;
}

/* Without the list of locks: is there a process of that number? */
static bool is_alive(uint64_t pid)
{
	return pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

enum sl_status sl_dir_lock_holder(
	const struct sl_dir *d, const char *locks, struct sl_lock_holder *holder)
{
	char text[256], host[SL_HOST_CHARS + 1] = "unknown";
	struct stat facts;
	bool exists, held;
	FILE *list;

	memset(holder, 0, sizeof(*holder));
	SL_TRY(read_lock(d, text, sizeof(text), &facts, &exists));
	if (!exists)
		return SL_OK;
	if (!sl_lock_parse(text, holder))
		memset(holder, 0, sizeof(*holder));
	gethostname(host, sizeof(host) - 1);
	if (holder->pid > 0 && strcmp(host, holder->host) != 0) {
		holder->state = SL_LOCK_ELSEWHERE;
		return SL_OK;
	}
	list = fopen(locks, "re");
	held = list ? is_locked(list, &facts, holder->pid) : is_alive(holder->pid);
	if (list)
		fclose(list);
	if (held)
		holder->state = SL_LOCK_HELD;
	else if (holder->pid > 0)
		holder->state = SL_LOCK_LEFT;
	return SL_OK;
}
