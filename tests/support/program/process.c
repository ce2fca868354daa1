/*
 * process.c - starts programs, and waits with a limit; output goes to files in memory, because a
 * pipe could fill up.
 */
#include "tests/support/program/process.h"

#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/basic/check.h"
#include "tests/support/program/program_server.h"

void process_start(const struct process *p, struct running *r)
{
	r->out = memfd_create("out", MFD_CLOEXEC);
	r->err = memfd_create("err", MFD_CLOEXEC);
	assert_true(r->out >= 0 && r->err >= 0);
	fflush(NULL);
	program_server_call(p, r);
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

size_t children_of(pid_t parent, pid_t *child, size_t most)
{
	char pattern[64];
	glob_t threads;
	size_t n = 0;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/children", (int)parent);
	if (glob(pattern, 0, NULL, &threads) != 0)
		return 0;
	for (size_t i = 0; i < threads.gl_pathc; i++) {
		FILE *f = fopen(threads.gl_pathv[i], "re");

		while (f && n < most && fscanf(f, "%d", &child[n]) == 1)
			n++;
		if (f)
			fclose(f);
	}
	globfree(&threads);
	return n;
}
