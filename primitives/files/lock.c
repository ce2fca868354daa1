/* lock.c - see files.h. */
#include "primitives/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "disk.h"

/* --- the lock --------------------------------------------------------------------------------- */

/*
 * Reads the first line of LOCK: the signature of the process that holds the lock, or that held it
 * and was killed. Empty before the first signature and after the holder closed the directory.
 * Returns 0 or an errno.
 */
static int read_signature(int fd, char *text, size_t size)
{
	ssize_t n = sl_fault_injected("file_read") ? -1 : pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return n < 0 ? errno : 0;
}

static bool is_alive(uint64_t pid)
{
	return pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static void name_host(char name[SL_HOST_CHARS + 1])
{
	snprintf(name, SL_HOST_CHARS + 1, "unknown");
	gethostname(name, SL_HOST_CHARS);
}

/* Whether the process that signed LOCK was on this machine and has ended. */
static bool holder_has_ended(int fd)
{
	struct sl_lock_holder holder;
	char text[256], host[SL_HOST_CHARS + 1];

	name_host(host);
	return read_signature(fd, text, sizeof(text)) == 0 && sl_lock_parse(text, &holder) &&
	       strcmp(host, holder.host) == 0 && !is_alive(holder.pid);
}

/*
 * A process that was killed can have a child that it has just forked (to call HDF5) and that has
 * not yet closed its copy of LOCK, which holds the lock. So the lock of a dead process is waited
 * for: at most two seconds, since a program could also have left a child that keeps it. Returns 0
 * or an errno.
 */
static int try_lock(int fd, int kind)
{
	static const struct timespec pause = {0, 10000000};
	int tries = 200;

	while (flock(fd, kind | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK)
			return errno;
		if (tries-- == 0 || !holder_has_ended(fd))
			return EWOULDBLOCK;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static enum sl_status refuse_lock(const struct sl_dir *d, int fd)
{
	char holder[256];

	read_signature(fd, holder, sizeof(holder));
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s is in use by another run (%s; two runs would overwrite each other); wait "
		"until it has ended or choose another output folder",
		d->path,
		holder[0] ? holder : "it has not written its name to LOCK yet, or joins this one");
}

/* Writes the signature of this process, which sl_lock_parse() reads. */
static enum sl_status sign(const struct sl_dir *d, int fd)
{
	char text[256], host[SL_HOST_CHARS + 1], start[32];
	time_t now = time(NULL);
	struct tm utc;
	int n, error;

	name_host(host);
	strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	n = snprintf(text, sizeof(text), "pid %ld host %s start %s\n", (long)getpid(), host, start);
	/* The old text is cut after the new one is complete: readers always find a signature. */
	error = sl_write_all(fd, "dir_sign", NULL, text, (size_t)n);
	/* Flushed, because a network file system shows it to the ranks on other nodes only then. */
	if (!error && (ftruncate(fd, n) != 0 || fdatasync(fd) != 0))
		error = errno;
	if (!error)
		return SL_OK;
	/*
	 * Part of a signature would be taken for a user's file. Emptying needs no space on the
	 * disk.
	 */
	if (ftruncate(fd, 0) != 0)
		return sl_disk_failed(errno, "empty", d->path, SL_LOCK_NAME);
	return sl_disk_failed(error, "write", d->path, SL_LOCK_NAME);
}

/* Locks the open file LOCK, and signs it if this program has made it. */
static enum sl_status take_lock(struct sl_dir *d, int fd)
{
	struct sl_lock_holder last;
	struct stat facts;
	char holder[256];
	int error = sl_fault_injected("dir_lock") ? errno : try_lock(fd, LOCK_EX);

	if (error != 0)
		return error == EWOULDBLOCK ? refuse_lock(d, fd)
		                            : sl_disk_failed(error, "lock", d->path, SL_LOCK_NAME);
	/*
	 * sluice join removes LOCK after a failure: the lock of a file without a name keeps no one
	 * away
	 */
	if (fstat(fd, &facts) != 0)
		return sl_disk_failed(errno, "look up", d->path, SL_LOCK_NAME);
	if (facts.st_nlink == 0)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s/" SL_LOCK_NAME
			" was removed by the process that held it; start the program again",
			d->path);
	if (read_signature(fd, holder, sizeof(holder)) != 0)
		return sl_disk_failed(errno, "read", d->path, SL_LOCK_NAME);
	d->interrupted = sl_lock_parse(holder, &last);
	if (d->interrupted || (holder[0] == '\0' && lseek(fd, 0, SEEK_END) == 0))
		return sign(d, fd);
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/" SL_LOCK_NAME
		" was not made by sluice (a run would overwrite it with its lock); "
		"move it away or choose another output folder",
		d->path);
}

/* Sets path to that of the directory now, and returns its CRC-32; 0 if the kernel does not say. */
static uint32_t find_place(const struct sl_dir *d, char path[SL_PATH_BYTES])
{
	char name[32];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", d->fd);
	n = readlink(name, path, SL_PATH_BYTES - 1);
	path[n > 0 ? n : 0] = '\0';
	return n > 0 ? sl_crc32(path, (size_t)n) : 0;
}

enum sl_status sl_dir_check(const struct sl_dir *d)
{
	struct stat held, named = {0};
	char path[SL_PATH_BYTES];

	if (d->lock < 0)
		return SL_OK;
	if (d->place != 0 && find_place(d, path) != d->place)
		return sl_fail(SL_OUTPUT_IN_USE,
			"%s was renamed or removed during the run (its path is %.2000s now); move it "
			"back or name it by --out, and use --resume to continue",
			d->path, path);
	if (fstat(d->lock, &held) != 0 ||
		(fstatat(d->fd, SL_LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT))
		return sl_disk_failed(errno, "look up", d->path, SL_LOCK_NAME);
	if (held.st_dev == named.st_dev && held.st_ino == named.st_ino)
		return SL_OK;
	return sl_fail(SL_OUTPUT_IN_USE,
		"%s/" SL_LOCK_NAME
		" was removed or replaced during the run (a second run could start there and "
		"overwrite files of this one); let no other program change the folder, and use "
		"--resume to continue",
		d->path);
}

enum sl_status sl_dir_lock(struct sl_dir *d)
{
	char path[SL_PATH_BYTES];
	uint64_t bytes;
	enum sl_status s;
	int fd;

	if (d->lock >= 0)
		return SL_OK;
	fd = sl_open(d->fd, SL_LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return sl_disk_failed(errno, "open", d->path, SL_LOCK_NAME);
	SL_TRY(sl_check_regular(fd, d->path, SL_LOCK_NAME, &bytes));
	s = take_lock(d, fd);
	if (s != SL_OK)
		close(fd);
	else
		d->lock = fd;
	d->place = find_place(d, path);
	return s;
}

enum sl_status sl_dir_lock_shared(struct sl_dir *d)
{
	int fd = sl_open(d->fd, SL_LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	enum sl_status s = SL_OK;

	if (fd < 0) /* removed, or of another user: the caller checks what it reads */
		return SL_OK;
	/* a file system without locks has no other process that holds one, either */
	if (try_lock(fd, LOCK_SH) == EWOULDBLOCK)
		s = refuse_lock(d, fd);
	if (s != SL_OK)
		close(fd);
	else
		d->lock = fd;
	return s;
}

/* --- its holder ------------------------------------------------------------------------------- */

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
 * Reads the first line of LOCK and the file's facts. *exists is false if there is no such file.
 * Something that is no regular file has no line.
 */
static enum sl_status read_lock(
	const struct sl_dir *d, char *text, size_t size, struct stat *facts, bool *exists)
{
	int fd = sl_open(d->fd, SL_LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), error = 0;

	*exists = fd >= 0;
	text[0] = '\0';
	if (fd < 0)
		return errno == ENOENT ? SL_OK
		                       : sl_disk_failed(errno, "open", d->path, SL_LOCK_NAME);
	if (sl_fault_injected("file_stat") || fstat(fd, facts) != 0)
		error = errno;
	if (!error && S_ISREG(facts->st_mode))
		error = read_signature(fd, text, size);
	error = sl_close(fd, error);
	return error ? sl_disk_failed(error, "read", d->path, SL_LOCK_NAME) : SL_OK;
}

/*
 * Does a process hold the flock of that file for itself, not for reading? The device of a line is
 * that of the file system, which some file systems hide from stat(2); then the process must be the
 * one that LOCK names.
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

enum sl_status sl_dir_lock_holder(
	const struct sl_dir *d, const char *locks, struct sl_lock_holder *holder)
{
	char text[256], host[SL_HOST_CHARS + 1];
	struct stat facts;
	bool exists, held;
	FILE *list;

	memset(holder, 0, sizeof(*holder));
	SL_TRY(read_lock(d, text, sizeof(text), &facts, &exists));
	if (!exists)
		return SL_OK;
	if (!sl_lock_parse(text, holder))
		memset(holder, 0, sizeof(*holder));
	name_host(host);
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
