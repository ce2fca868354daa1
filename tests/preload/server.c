/* server.c - see server.h. It allocates nothing, so that failing_malloc.c counts the program's. */
#include "tests/preload/server.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CANNOT_RUN = 127 };

typedef int main_function(int argc, char **argv, char **env);

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

/* Defined in failing_malloc.c if that is preloaded too: reads the environment again. */
extern void failing_malloc_begin(void) __attribute__((weak));

static main_function *program;

/* The received request with its texts, and the file descriptors sent with it. */
static _Alignas(8) char bytes[SERVER_BYTES];
static char *texts[SERVER_TEXTS + 2]; /* arguments, NULL, environment, NULL */
static int files[SERVER_FILES];

/* Returns false at the end of the connection, when the test has ended. */
static bool receive(int from)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(files))];
	struct iovec part = {bytes, sizeof(bytes)};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	const struct cmsghdr *head;

	if (recvmsg(from, &message, 0) < (ssize_t)sizeof(struct server_request))
		return false;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_len != CMSG_LEN(sizeof(files)))
		return false;
	memcpy(files, CMSG_DATA(head), sizeof(files));
	return true;
}

/* Stores pointers to n consecutive texts, which begin at *at, and a final NULL. */
static void set_pointers(char **place, uint32_t n, char **at)
{
	for (uint32_t i = 0; i < n; i++, *at += strlen(*at) + 1)
		place[i] = *at;
	place[n] = NULL;
}

/* In the child: sets up descriptors, folder, limits and environment, as exec would find them. */
static int run_program(int from)
{
	const struct server_request *r = (const struct server_request *)(const void *)bytes;
	const struct rlimit most = {r->file_bytes, r->file_bytes};
	char *at = bytes + sizeof(*r);

	set_pointers(texts, r->n_words, &at);
	set_pointers(texts + r->n_words + 1, r->n_variables, &at);
	environ = texts + r->n_words + 1;
	setpgid(0, 0);
	for (int n = 1; n < SIGRTMIN; n++)
		signal(n, r->ignored >> n & 1 ? SIG_IGN : SIG_DFL);
	for (int i = 0; i < 3; i++)
		if (dup2(files[i], i) < 0)
			_exit(CANNOT_RUN);
	if (fchdir(files[3]) != 0)
		_exit(CANNOT_RUN);
	for (int i = 0; i < SERVER_FILES; i++)
		close(files[i]);
	close(from);
	if (r->file_bytes != 0 && setrlimit(RLIMIT_FSIZE, &most) != 0)
		_exit(CANNOT_RUN);
	if (failing_malloc_begin)
		failing_malloc_begin();
	return program((int)r->n_words, texts, environ);
}

/* Replaces main: serves requests until the test ends. */
static int serve(int argc, char **argv, char **env)
{
	const char *number = getenv("SLUICE_SERVER_FD");
	int from = number ? atoi(number) : -1;

	if (!number)
		return program(argc, argv, env);
	while (receive(from)) {
		pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

		if (pid == 0)
			return run_program(from);
		for (int i = 0; i < SERVER_FILES; i++)
			close(files[i]);
		if (send(from, &pid, sizeof(pid), MSG_NOSIGNAL) != sizeof(pid))
			break;
	}
	_exit(0);
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	int (*start)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void),
		void *);
	void *address = dlsym(RTLD_NEXT, "__libc_start_main");

	memcpy(&start, &address, sizeof(start));
	program = main;
	return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
