/* fork_server.c - see fork_server.h. */
#include "tests/support/program/fork_server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/preload/server.h"
#include "tests/support/basic/check.h"

enum { CANNOT_RUN = 127 };

/* A server (tests/preload/server.h), and its inherited properties that a request cannot change. */
struct server {
	int fd;
	pid_t owner;
	ino_t mounts; /* its mount name space */
};

/* For programs without a preloaded library, and with one. */
static struct server servers[2];

static const char *variable(const struct process *p, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *env = p->env; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Executes the server program; does not return. */
static void become_server(const char *path, const char *library, const char *more, int fd)
{
	char preload[8192], number[16];
	int null = open("/dev/null", O_RDWR);

	snprintf(preload, sizeof(preload), "%s%s%s", library, more ? ":" : "", more ? more : "");
	snprintf(number, sizeof(number), "%d", fd);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
		fcntl(fd, F_SETFD, 0) != 0 || setenv("LD_PRELOAD", preload, 1) != 0 ||
		setenv("SLUICE_SERVER_FD", number, 1) != 0 || setenv("LD_BIND_NOW", "1", 1) != 0)
		_exit(CANNOT_RUN);
	execl(path, "sluice", (char *)NULL);
	_exit(CANNOT_RUN);
}

/* Returns true if a suitable server runs; starts one if necessary. */
static void want_server(struct server *s, const char *path, const char *library, const char *more)
{
	struct stat mounts;
	int pair[2];
	pid_t pid;

	assert_int_equal(stat("/proc/self/ns/mnt", &mounts), 0);
	if (s->owner == getpid() && s->mounts == mounts.st_ino)
		return;
	if (s->owner != 0)
		close(s->fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		become_server(path, library, more, pair[1]);
	close(pair[1]);
	*s = (struct server){pair[0], getpid(), mounts.st_ino};
}

/* Appends a text with its NUL to the n bytes of a request. Returns false if it does not fit. */
static bool add_text(char bytes[SERVER_BYTES], size_t *n, const char *text)
{
	size_t more = strlen(text) + 1;

	if (more > SERVER_BYTES - *n)
		return false;
	memcpy(bytes + *n, text, more);
	*n += more;
	return true;
}

/* Tests whether p replaces an environment variable of this process. */
static bool is_left_out(const struct process *p, const char *text)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
	return variable(p, name) != NULL;
}

/* Writes the request to bytes. Returns its length, or 0 if it does not fit. */
static size_t make_request(const struct process *p, char bytes[SERVER_BYTES])
{
	struct server_request r = {.file_bytes = p->file_bytes};
	size_t n = sizeof(r);
	bool fits = true;

	for (const char *const *word = p->argv; *word; word++, r.n_words++)
		fits = fits && add_text(bytes, &n, *word);
	for (const char *const *env = p->env; env && *env; env++, r.n_variables++)
		fits = fits && add_text(bytes, &n, *env);
	for (char **env = environ; *env; env++)
		if (!is_left_out(p, *env)) {
			fits = fits && add_text(bytes, &n, *env);
			r.n_variables++;
		}
	for (int k = 1; k < SIGRTMIN; k++) {
		struct sigaction a;

		/* a shell starts background jobs with SIGINT ignored */
		if (k != SIGINT && sigaction(k, NULL, &a) == 0 && a.sa_handler == SIG_IGN)
			r.ignored |= UINT64_C(1) << k;
	}
	memcpy(bytes, &r, sizeof(r));
	return fits && r.n_words + r.n_variables <= SERVER_TEXTS ? n : 0;
}

/* Sends the request with its descriptors. Returns the pid, or -1. */
static pid_t request(const struct server *s, char *bytes, size_t n, const int files[SERVER_FILES])
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(SERVER_FILES * sizeof(int))] = {0};
	struct iovec part = {bytes, n};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	pid_t pid;

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(SERVER_FILES * sizeof(int));
	memcpy(CMSG_DATA(head), files, SERVER_FILES * sizeof(int));
	if (sendmsg(s->fd, &message, MSG_NOSIGNAL) < 0 ||
		recv(s->fd, &pid, sizeof(pid), 0) != sizeof(pid))
		return -1;
	return pid;
}

bool fork_server_start(const struct process *p, const char *path, struct running *r)
{
	static char bytes[SERVER_BYTES];
	const char *library = getenv("SLUICE_SERVER"), *more = variable(p, "LD_PRELOAD");
	struct server *s = &servers[more != NULL];
	size_t n;
	int files[SERVER_FILES];

	if (!library || strcmp(p->argv[0], "sluice") != 0 || p->memory_bytes != 0 ||
		(n = make_request(p, bytes)) == 0)
		return false;
	want_server(s, path, library, more);
	files[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	files[1] = p->out_to ? open(p->out_to, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : r->out;
	files[2] = r->err;
	files[3] = open(p->folder ? p->folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	r->pid = request(s, bytes, n, files);
	if (r->pid < 0)
		fail_msg("the fork server of the program does not answer");
	close(files[0]);
	close(files[3]);
	if (p->out_to)
		close(files[1]);
	return true;
}
