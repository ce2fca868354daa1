/* program_server.c - see program_server.h. */
#include "tests/support/program/program_server.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/faults/fault_injection.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/program_main.h"

#pragma weak program_main

enum { CANNOT_RUN = 127, TEXTS_MOST = 1024, TEXT_BYTES = 1 << 16 };

/* What the child needs, in memory that the test shares with the server. */
struct request {
	pid_t test, pid;
	int out, err;     /* descriptors of the test */
	uint64_t ignored; /* set of signals, bit 1 << n */
	unsigned long file_bytes;
	void (*begin)(void);
	char folder[1024];
	unsigned n_words, n_variables;
	size_t used;
	char text[TEXT_BYTES]; /* words, then variables, each with its NUL */
};

static struct request *request;
static int to_server = -1, to_test = -1; /* the ends of a socket */
static pid_t owner;                      /* the test */

/* --- the child -------------------------------------------------------------------------------- */

static void print_allocations(void)
{
	char text[64];
	int n = snprintf(
		text, sizeof(text), "allocs %llu\n", (unsigned long long)allocations_since_armed());

	if (write(STDERR_FILENO, text, (size_t)n) != n)
		_exit(CANNOT_RUN);
}

void program_exit(int code)
{
	if (getenv("FAIL_COUNT"))
		print_allocations();
	_exit(code);
}

static void print_at_commit(const char *call)
{
	if (strcmp(call, "file_rename") == 0)
		print_allocations();
}

/* Opens the file of a descriptor of the test. */
static int open_of_test(int number)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)request->test, number);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Descriptors, folder, limits and signals, as exec would set them up. */
static bool prepare(void)
{
	const struct rlimit most = {request->file_bytes, request->file_bytes};
	const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int out = open_of_test(request->out);
	const int err = open_of_test(request->err);

	setpgid(0, 0);
	for (int n = 1; n < SIGRTMIN; n++)
		signal(n, request->ignored >> n & 1 ? SIG_IGN : SIG_DFL);
	return dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 &&
	       close(in) + close(out) + close(err) == 0 && chdir(request->folder) == 0 &&
	       (request->file_bytes == 0 || setrlimit(RLIMIT_FSIZE, &most) == 0);
}

/*
 * Executes a program, or calls the one under test as if it had just been started; does not return.
 */
static void run_program(void)
{
	static char *texts[TEXTS_MOST + 2], bytes[TEXT_BYTES];
	const int n_words = (int)request->n_words, n = n_words + (int)request->n_variables;
	void (*begin)(void) = request->begin;
	const bool ready = prepare();
	const char *fail_at;
	char *at = bytes;

	memcpy(bytes, request->text, request->used);
	for (int i = 0; i < n; i++, at += strlen(at) + 1)
		texts[i < n_words ? i : i + 1] = at;
	environ = texts + n_words + 1;
	request->pid = getpid();
	if (send(to_test, "", 1, MSG_NOSIGNAL) != 1 || close(to_test) != 0 || !ready)
		_exit(CANNOT_RUN);
	if (!program_main || strcmp(texts[0], "sluice") != 0) {
		execvp(strcmp(texts[0], "sluice") == 0 ? getenv("SLUICE") : texts[0], texts);
		_exit(CANNOT_RUN);
	}
	if (getenv("FAIL_MARKS"))
		sl_fault_watch = print_at_commit;
	if (begin)
		begin();
	sl_fault_from_environment();
	fail_at = getenv("FAIL_AT");
	allocations_fail(fail_at ? strtoull(fail_at, NULL, 10) : 0, getenv("FAIL_ON") != NULL);
	program_exit(program_main(n_words, texts));
}

/* --- the server ------------------------------------------------------------------------------- */

static void serve(void)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(to_server);
	while (recv(to_test, &byte, 1, 0) == 1)
		if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0)
			run_program();
	_exit(0);
}

void program_server_start(void)
{
	int ends[2];

	if (owner == getpid()) { /* an earlier one: it ends */
		close(to_server);
		munmap(request, sizeof(*request));
	}
	request = (struct request *)mmap(
		NULL, sizeof(*request), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (request == MAP_FAILED ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
	to_server = ends[0];
	to_test = ends[1];
	owner = getpid();
	if (fork() == 0)
		serve();
	close(to_test);
}

/* --- the test --------------------------------------------------------------------------------- */

static void add_text(const char *text)
{
	size_t bytes = strlen(text) + 1;

	assert_true(bytes <= TEXT_BYTES - request->used);
	memcpy(request->text + request->used, text, bytes);
	request->used += bytes;
}

/* Tests whether p replaces this environment variable. */
static bool is_replaced(const struct process *p, const char *variable)
{
	const size_t n = strcspn(variable, "=") + 1;

	for (const char *const *env = p->env; env && *env; env++)
		if (strncmp(*env, variable, n) == 0)
			return true;
	return false;
}

static void write_request(const struct process *p, const struct running *r)
{
	*request = (struct request){.test = getpid(),
		.out = r->out,
		.err = r->err,
		.file_bytes = p->file_bytes,
		.begin = p->begin};
	for (int k = 1; k < SIGRTMIN; k++) {
		struct sigaction a;

		/* a shell starts background jobs with SIGINT ignored */
		if (k != SIGINT && sigaction(k, NULL, &a) == 0 && a.sa_handler == SIG_IGN)
			request->ignored |= UINT64_C(1) << k;
	}
	if (p->folder)
		snprintf(request->folder, sizeof(request->folder), "%s", p->folder);
	else
		snprintf(request->folder, sizeof(request->folder), "/proc/%d/cwd", (int)getpid());
	for (const char *const *word = p->argv; *word; word++, request->n_words++)
		add_text(*word);
	for (const char *const *env = p->env; env && *env; env++, request->n_variables++)
		add_text(*env);
	for (char **env = environ; *env; env++)
		if (!is_replaced(p, *env)) {
			add_text(*env);
			request->n_variables++;
		}
	assert_true(request->n_words + request->n_variables <= TEXTS_MOST);
}

void program_server_call(const struct process *p, struct running *r)
{
	char byte;

	if (!program_main && strcmp(p->argv[0], "sluice") == 0 && !getenv("SLUICE"))
		skip_test(
			"the test starts the program; set SLUICE to its path, or run the test with ctest");
	assert_int_equal(owner, getpid());
	write_request(p, r);
	assert_int_equal(send(to_server, "", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(recv(to_server, &byte, 1, 0), 1);
	r->pid = request->pid;
}
