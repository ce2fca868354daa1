/* ptrace_run.c - ptrace(2): every thread stops before and after each of its system calls. */
#include "tests/support/program/ptrace_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/basic/skip.h"
#include "tests/support/basic/test_file.h"

enum { THREADS_MAX = 64, CANNOT_RUN = 127, SYSCALL_STOP = SIGTRAP | 0x80 };

/*
 * The calls that count.
 *
 *	path       index of the argument that is a path; -1 if there is none
 *	cleans_up  the program makes this call to clean up after a failure, so it never fails
 *	reads      the call changes no file, so it counts only if the tracer counts all calls
 */
static const struct kind {
	long number;
	const char *name;
	int path;
	bool cleans_up, reads;
} kinds[] = {
	{SYS_read, "read", -1, false, true},
	{SYS_pread64, "pread64", -1, false, true},
	{SYS_newfstatat, "newfstatat", 1, false, true},
	{SYS_fstat, "fstat", -1, false, true},
	{SYS_statfs, "statfs", 0, false, true},
	{SYS_fstatfs, "fstatfs", -1, false, true},
	{SYS_getdents64, "getdents64", -1, false, true},
	{SYS_flock, "flock", -1, false, true},
	{SYS_mmap, "mmap", -1, false, true},
#ifdef SYS_mkdir
	{SYS_stat, "stat", 0, false, true},
	{SYS_access, "access", 0, false, true},
#endif
	{SYS_write, "write", -1, false, false},
	{SYS_writev, "writev", -1, false, false},
	{SYS_pwrite64, "pwrite64", -1, false, false},
	{SYS_fsync, "fsync", -1, false, false},
	{SYS_fdatasync, "fdatasync", -1, false, false},
	{SYS_openat, "openat", 1, false, false},
	{SYS_mkdirat, "mkdirat", 1, false, false},
	{SYS_linkat, "linkat", 3, false, false},
	{SYS_renameat2, "renameat2", 3, false, false},
#ifdef SYS_renameat
	{SYS_renameat, "renameat", 3, false, false},
#endif
#ifdef SYS_mkdir
	{SYS_mkdir, "mkdir", 0, false, false},
#endif
	{SYS_ftruncate, "ftruncate", -1, true, false},
	{SYS_unlinkat, "unlinkat", 1, true, false},
};

/* A thread between the entry and the exit of a counted call. */
struct pending {
	pid_t thread; /* 0: this entry is free */
	const struct kind *kind;
	int fd;
	bool fails;
	char path[256];
};

struct tracer {
	pid_t pid;
	unsigned long at, calls;
	bool permanent;
	bool all;     /* count calls that read, too */
	bool started; /* the program has opened its configuration */
	int error;
	FILE *log;
	struct pending pending[THREADS_MAX];
};

/* --- one call ------------------------------------------------------------------------------ */

/* Returns the kind of a counted call, or NULL. */
static const struct kind *find_kind(
	const struct tracer *t, const struct __ptrace_syscall_info *call)
{
	const bool all = t->all && t->started;
	uint64_t fd = call->entry.args[call->entry.nr == SYS_mmap ? 4 : 0];
	const struct kind *k = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !k; i++)
		if ((unsigned long)kinds[i].number == call->entry.nr)
			k = &kinds[i];
	if (k && k->number == SYS_openat && !(call->entry.args[2] & O_CREAT) && !all)
		return NULL;
	if (k && k->reads && !all)
		return NULL;
	/* Standard streams do not count, and neither does mmap of memory without a file. */
	if (k && k->path < 0 && (fd <= STDERR_FILENO || (int)fd < 0))
		return NULL;
	return k;
}

/* Reads the path at address, up to the end of its page. */
static void read_path(pid_t thread, unsigned long long address, char path[256])
{
	char name[64];
	ssize_t n = 0;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/mem", (int)thread);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = pread(fd, path, 255, (off_t)address);
		close(fd);
	}
	path[n > 0 ? n : 0] = '\0';
}

/* Returns the entry of thread, or a free entry. */
static struct pending *find_pending(struct tracer *t, pid_t thread)
{
	struct pending *free_one = NULL;

	for (int i = 0; i < THREADS_MAX; i++) {
		if (t->pending[i].thread == thread)
			return &t->pending[i];
		if (t->pending[i].thread == 0 && !free_one)
			free_one = &t->pending[i];
	}
	if (!free_one)
		_exit(CANNOT_RUN);
	return free_one;
}

/* At entry: replaces the number by an invalid one, so no call is made. At exit: sets the result. */
#if defined(__x86_64__)
static void skip_call(pid_t thread)
{
	ptrace(PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, orig_rax), -1L);
}

static void answer_call(pid_t thread, int error)
{
	ptrace(PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, rax), -(long)error);
}
#else
static void skip_call(pid_t thread)
{
	(void)thread;
	fputs("traced: calls can be made to fail on x86-64 only\n", stderr);
	_exit(PTRACE_REFUSED);
}

static void answer_call(pid_t thread, int error)
{
	(void)thread, (void)error;
}
#endif

static void on_call_entry(struct tracer *t, pid_t thread, const struct __ptrace_syscall_info *call)
{
	const struct kind *kind;
	struct pending *p;
	char path[256];
	bool hit;

	if (t->all && !t->started && call->entry.nr == SYS_openat) {
		read_path(thread, call->entry.args[1], path);
		t->started = strstr(path, ".yaml") != NULL;
	}
	kind = find_kind(t, call);
	if (!kind)
		return;
	t->calls++;
	hit = t->at && (t->calls == t->at || (t->permanent && t->calls > t->at));
	p = find_pending(t, thread);
	*p = (struct pending){.thread = thread, .kind = kind, .path = "-"};
	p->fd = kind->path == 0 ? AT_FDCWD : (int)call->entry.args[kind->path == 3 ? 2 : 0];
	if (kind->path >= 0)
		read_path(thread, call->entry.args[kind->path], p->path);
	if (hit && t->error == 0) {
		kill(t->pid, SIGKILL);
	} else if (hit && !kind->cleans_up) {
		p->fails = true;
		skip_call(thread);
	}
}

static void on_call_exit(struct tracer *t, pid_t thread, const struct __ptrace_syscall_info *call)
{
	struct pending *p = find_pending(t, thread);
	long result = (long)call->exit.rval;

	if (p->thread == 0)
		return;
	if (p->fails) {
		answer_call(thread, t->error);
		result = -(long)t->error;
	}
	if (t->log)
		fprintf(t->log, "%s %d %s %ld\n", p->kind->name, p->fd, p->path[0] ? p->path : "-",
			result);
	p->thread = 0;
}

/* --- the process --------------------------------------------------------------------------- */

static void on_call(struct tracer *t, pid_t thread)
{
	struct __ptrace_syscall_info call;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(call), &call) <= 0)
		return; /* the process has been killed */
	if (call.op == PTRACE_SYSCALL_INFO_ENTRY)
		on_call_entry(t, thread, &call);
	else if (call.op == PTRACE_SYSCALL_INFO_EXIT)
		on_call_exit(t, thread, &call);
}

/* Follows all threads to the end of the process; returns its status. */
static int follow(struct tracer *t)
{
	for (;;) {
		int status, signal_to_pass = 0;
		pid_t thread = waitpid(-1, &status, __WALL);

		if (thread < 0 && errno != EINTR)
			return CANNOT_RUN << 8;
		if (thread == t->pid && !WIFSTOPPED(status))
			return status;
		if (thread < 0 || !WIFSTOPPED(status))
			continue;
		if (WSTOPSIG(status) == SYSCALL_STOP)
			on_call(t, thread);
		else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)
			signal_to_pass = WSTOPSIG(status);
		ptrace(PTRACE_SYSCALL, thread, 0, (long)signal_to_pass);
	}
}

/* Executes the program in the child, which stops first so that the tracer can set its options. */
static void exec_traced(char **argv)
{
	const char *sluice = getenv("SLUICE");
	bool is_ours = strcmp(argv[0], "sluice") == 0 && sluice;

	if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
		_exit(PTRACE_REFUSED);
	raise(SIGSTOP);
	execvp(is_ours ? sluice : argv[0], argv);
	_exit(CANNOT_RUN);
}

static int trace(struct tracer *t, char **argv)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;
	int status;

	t->pid = fork();
	if (t->pid == 0)
		exec_traced(argv);
	if (t->pid < 0 || waitpid(t->pid, &status, 0) != t->pid)
		return CANNOT_RUN;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (ptrace(PTRACE_SETOPTIONS, t->pid, 0, options) != 0 ||
		ptrace(PTRACE_SYSCALL, t->pid, 0, 0) != 0) {
		kill(t->pid, SIGKILL);
		return PTRACE_REFUSED;
	}
	status = follow(t);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The tracer: LOG AT ERROR PROGRAM ARGUMENT... */
static int run_tracer(char **words)
{
	struct tracer t = {.pid = 0};
	int code;

	t.log = fopen(words[0], "we");
	t.at = strtoul(words[1], NULL, 10);
	t.permanent = strchr(words[1], '+') != NULL;
	t.all = strchr(words[1], 'a') != NULL;
	t.error = atoi(words[2]);
	code = t.log ? trace(&t, words + 3) : CANNOT_RUN;
	if (t.log && fclose(t.log) != 0)
		code = CANNOT_RUN;
	return code;
}

/* Tests whether this system allows ptrace. */
static bool is_possible(void)
{
	char program[] = "true";
	char *argv[] = {program, NULL};
	struct tracer t = {.pid = 0};

	return trace(&t, argv) == 0;
}

int ptrace_main(int argc, char **argv)
{
	if (argc >= 6 && strcmp(argv[1], "traced") == 0)
		return run_tracer(argv + 2);
	if (!is_possible()) {
		printf("SKIP: the test traces processes, but ptrace is refused here; allow it (for example "
		       "docker run --cap-add SYS_PTRACE)\n");
		return SKIPPED;
	}
	return run_test_file(argv[0]);
}
