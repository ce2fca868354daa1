/*
 * process.h - runs a program, or a function in a child process, and returns how it ended.
 *
 *	const char *argv[] = {"sluice", "run", "demo.yaml", NULL};
 *	const char *env[] = {"SL_FAULT=file_write:1:28", NULL};
 *	struct process p = {.argv = argv, .env = env, .folder = folder.path};
 *	struct ending e;
 *
 *	process_run(&p, 30, &e);
 *	assert_int_equal(e.code, SL_DISK);
 *	process_free(&e);
 *
 * "sluice" is not executed, but called in a child process (program_server.h), where allocations can
 * fail:
 *
 *	FAIL_AT=k     malloc, calloc, realloc and aligned allocations are counted together, from 1, those of
 *	              libraries included; the k-th returns NULL with errno ENOMEM (not with sanitizers)
 *	FAIL_ON=1     all after it fail too
 *	FAIL_COUNT=1  at its end the program writes "allocs N" to stderr, to know where to stop
 *	FAIL_MARKS=1  the same before each file is renamed, by which it is committed
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_PROCESS_H
#define SL_TESTS_SUPPORT_PROGRAM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Time limit in seconds; only a program that hangs reaches it. */
enum { HANG_SECONDS = 600 };

struct process {
	const char *const *argv; /* NULL-terminated; "sluice" is the program under test */
	const char *const
		*env; /* NULL-terminated "NAME=value", added to the environment; may be NULL */
	const char *folder;       /* working directory; NULL: the current one */
	unsigned long file_bytes; /* RLIMIT_FSIZE; 0: none */
	void (*begin)(void); /* called in the child before main() of "sluice"; NULL: not called */
};

struct running {
	pid_t pid; /* also its process group */
	int out, err;
};

struct ending {
	int code;   /* exit code; -1 if a signal ended the program */
	int signal; /* that signal, or 0 */
	bool timed_out;
	char *out, *err; /* stdout and stderr, NUL-terminated */
	size_t out_bytes, err_bytes;
};

/* Starts the program. The test is skipped if the program under test was not built. */
void process_start(const struct process *p, struct running *r);

/* Waits for the program. After that many seconds, kills its process group. */
void process_wait(struct running *r, int seconds, struct ending *e);

/* Starts the program and waits for it. */
void process_run(const struct process *p, int seconds, struct ending *e);

void process_free(struct ending *e);

/*
 * Runs body(argument) in a forked child, whose exit code is the return value. Returns that code, or
 * 128 + n if signal n ended the child. body must not call assertions argument cmocka.
 */
int in_child(int (*body)(void *argument), void *argument);

/* Finds the children of all threads of a process. Returns their number, up to most. */
size_t children_of(pid_t parent, pid_t *child, size_t most);

#endif
