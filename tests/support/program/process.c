/* process.c - fork, exec, wait with a limit; output goes to files in memory, because a pipe could fill up. */
#include "tests/support/program/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/basic/check.h"
#include "tests/support/program/program_server.h"

enum { CANNOT_RUN = 127 };

static const char *program(const char *name)
{
	const char *sluice = getenv("SLUICE");

	if (strcmp(name, "sluice") != 0)
		return name;
	if (!sluice)
		skip_test(
			"the test starts the program; set SLUICE to its path, or run the test with ctest");
	return sluice;
}

/* Executes the program in the child; does not return. */
static void exec_program(const struct process *p, const char *path, const struct running *r)
{
	const struct rlimit most = {p->file_bytes, p->file_bytes};
	int in = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	signal(SIGINT, SIG_DFL); /* a shell starts background jobs with SIGINT ignored */
	if (in < 0 || dup2(in, 0) < 0 || dup2(r->out, 1) < 0 || dup2(r->err, 2) < 0)
		_exit(CANNOT_RUN);
	if (p->folder && chdir(p->folder) != 0)
		_exit(CANNOT_RUN);
	for (const char *const *env = p->env; env && *env; env++)
		putenv((char *)(uintptr_t)*env);
	if (p->file_bytes != 0 && setrlimit(RLIMIT_FSIZE, &most) != 0)
		_exit(CANNOT_RUN);
	execvp(path, (char *const *)(uintptr_t)p->argv);
	_exit(CANNOT_RUN);
}

void process_start(const struct process *p, struct running *r)
{
	r->out = memfd_create("out", MFD_CLOEXEC);
	r->err = memfd_create("err", MFD_CLOEXEC);
	assert_true(r->out >= 0 && r->err >= 0);
	fflush(NULL);
	if (!program_server_call(p, r)) {
		const char *path = program(p->argv[0]);

		r->pid = fork();
		assert_true(r->pid >= 0);
		if (r->pid == 0)
			exec_program(p, path, r);
	}
	setpgid(r->pid, r->pid); /* parent and child both call it, because either can run first */
}

/* Waits for pid; kills its group after the time. Returns waitpid's status. */
static int wait_for(pid_t pid, int seconds, bool *timed_out)
{
	struct pollfd watched = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	int n, status = 0;

	assert_true(watched.fd >= 0);
	do
		n = poll(&watched, 1, seconds * 1000);
	while (n < 0 && errno == EINTR);
	*timed_out = n == 0;
	if (*timed_out && kill(-pid, SIGKILL) != 0)
		kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(watched.fd);
	return status;
}

static char *read_text(int fd, size_t *size)
{
	struct stat facts;
	char *text;

	assert_int_equal(fstat(fd, &facts), 0);
	text = (char *)calloc(1, (size_t)facts.st_size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)facts.st_size, 0), facts.st_size);
	*size = (size_t)facts.st_size;
	close(fd);
	return text;
}

void process_wait(struct running *r, int seconds, struct ending *e)
{
	int status = wait_for(r->pid, seconds, &e->timed_out);

	e->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	e->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	e->out = read_text(r->out, &e->out_bytes);
	e->err = read_text(r->err, &e->err_bytes);
}

void process_run(const struct process *p, int seconds, struct ending *e)
{
	struct running r;

	process_start(p, &r);
	process_wait(&r, seconds, e);
}

void process_free(struct ending *e)
{
	free(e->out);
	free(e->err);
	e->out = e->err = NULL;
}

int in_child(int (*body)(void *argument), void *argument)
{
	bool timed_out;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(body(argument));
	status = wait_for(pid, HANG_SECONDS, &timed_out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
