/* call_log.c - see call_log.h. */
#include "tests/support/runs/call_log.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/faults/fault_injection.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

enum { FRAMES = 8, LOG = 900 };

static pid_t logged; /* its children log nothing */
static bool logs_all;

static void log_call(const char *call)
{
	void *frame[FRAMES];
	uintptr_t site = 0;
	char line[64];
	int n;

	if (getpid() != logged)
		return;
	n = logs_all ? backtrace(frame, FRAMES) : 0;
	for (int i = 0; i < n; i++)
		site = site * 31 + (uintptr_t)frame[i];
	n = snprintf(line, sizeof(line), "%s %lu\n", call, (unsigned long)site);
	if (write(LOG, line, (size_t)n) != n) /* at a limit of the size of files, for example */
		sl_fault_watch = NULL;
}

static void log_allocation(void)
{
	log_call("malloc");
}

void call_log_begin(void)
{
	int file = open("../calls", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	void *frame[1];

	logged = getpid();
	logs_all = getenv("LOG_ALL") != NULL;
	if (logs_all)
		backtrace(frame, 1); /* loads a library the first time */
	if (dup2(file, LOG) == LOG && close(file) == 0)
		sl_fault_watch = log_call;
	if (logs_all)
		allocations_watch = log_allocation;
}

int fsync(int fd)
{
	struct stat facts;
	int error;

	syscall(SYS_fstat, fd, &facts);
	error = sl_fault(S_ISDIR(facts.st_mode) ? "sys_dirsync" : "sys_fsync");
	errno = error ? error : errno;
	return error ? -1 : (int)syscall(SYS_fsync, fd);
}

/*
 * System calls that the file layer makes in addition to those that it reports to sl_fault(), and
 * those that make files durable. The definitions replace those of the C library.
 */
#define SYSTEM_CALL(name, parameters, ...)                     \
	int name parameters                                    \
	{                                                      \
		int error = sl_fault("sys_" #name);            \
                                                               \
		errno = error ? error : errno;                 \
		return error ? -1 : (int)syscall(__VA_ARGS__); \
	}
SYSTEM_CALL(fdatasync, (int fd), SYS_fdatasync, fd)
SYSTEM_CALL(flock, (int fd, int how), SYS_flock, fd, how)
SYSTEM_CALL(fstat, (int fd, struct stat *to), SYS_fstat, fd, to)
SYSTEM_CALL(fstatat, (int at, const char *name, struct stat *to, int flags), SYS_newfstatat, at,
	name, to, flags)
SYSTEM_CALL(linkat, (int at, const char *name, int to, const char *other, int flags), SYS_linkat,
	at, name, to, other, flags)
SYSTEM_CALL(renameat2, (int at, const char *name, int to, const char *other, unsigned flags),
	SYS_renameat2, at, name, to, other, flags)

size_t calls_of(const struct calls *c, const char *name)
{
	for (size_t i = c->n; i-- > 0;)
		if (strcmp(c->at[i].name, name) == 0)
			return c->at[i].k;
	return 0;
}

void call_log_read(struct calls *c)
{
	size_t bytes;
	char *log = folder_read(&folder, "calls", &bytes);

	c->n = 0;
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(c->n < CALLS_MOST);
		assert_int_equal(sscanf(line, "%23s %lu", c->at[c->n].name, &c->at[c->n].site), 2);
		c->at[c->n].k = calls_of(c, c->at[c->n].name) + 1;
		c->n++;
	}
	free(log);
}
