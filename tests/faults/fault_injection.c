/* fault_injection.c - see fault_injection.h. SL_FAULT is read at the first call. */
#include "tests/faults/fault_injection.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES_MAX = 16, CALL_BYTES = 32 };

struct entry {
	char call[CALL_BYTES];
	unsigned long at;   /* number of the call that fails, from 1 */
	bool on;            /* k+: all later calls fail too */
	int error;          /* the errno or CUDA error that it reports, or KILL or STOP */
	atomic_ulong calls; /* so far */
};

/* NONE is set only after the environment has been read, so a thread that sees it need not wait. */
enum { UNREAD, NONE, SOME };

static atomic_int state = UNREAD;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct entry entries[ENTRIES_MAX];
static int n_entries;
static char problem[256];

/* The process is stopped, or ends, before the call. */
enum { STOP = 0, KILL = -1 };

/*
 * Reads "call:k:errno", "call:k+:errno", "call:k:stop" or "call:k:kill"; *end is set to the
 * character after it.
 */
static bool read_entry(const char *text, struct entry *e, const char **end)
{
	char at[12], error[8];
	int n = 0;

	if (sscanf(text, "%31[a-z0-9_]:%9[0-9]%n", e->call, at, &n) != 2)
		return false;
	e->on = text[n] == '+';
	text += n + e->on;
	if (sscanf(text, ":%6[a-z0-9]%n", error, &n) != 1)
		return false;
	*end = text + n;
	e->at = strtoul(at, NULL, 10);
	e->error = strcmp(error, "stop") == 0   ? STOP
	           : strcmp(error, "kill") == 0 ? KILL
	                                        : atoi(error);
	atomic_store(&e->calls, 0);
	return e->at > 0 && (**end == ',' || **end == '\0') &&
	       (e->error == KILL || strcmp(error, "stop") == 0 ||
		       (e->error > 0 && error[strspn(error, "0123456789")] == '\0'));
}

static void read_all(const char *text)
{
	const char *at = text;

	n_entries = 0;
	problem[0] = '\0';
	while (at && *at) {
		const char *end = at;

		if (n_entries == ENTRIES_MAX || !read_entry(at, &entries[n_entries], &end) ||
			(*end == ',' && end[1] == '\0')) {
			snprintf(problem, sizeof(problem),
				"SL_FAULT: \"%.80s\" is not understood (write at most %d entries "
				"call:k:errno or call:k+:errno, separated by commas); use for example "
				"SL_FAULT=file_write:3:28",
				at, ENTRIES_MAX);
			n_entries = 0;
			break;
		}
		n_entries++;
		at = *end ? end + 1 : end;
	}
	atomic_store(&state, n_entries ? SOME : NONE);
}

void (*sl_fault_watch)(const char *call);

void sl_fault_from_environment(void)
{
	read_all(getenv("SL_FAULT"));
	if (problem[0]) {
		fprintf(stderr, "%s\n", problem);
		_exit(2);
	}
}

static void read_environment(void)
{
	if (atomic_load(&state) == UNREAD)
		sl_fault_from_environment();
}

int sl_fault(const char *call)
{
	int error = 0;

	if (sl_fault_watch)
		sl_fault_watch(call);
	if (atomic_load_explicit(&state, memory_order_acquire) == NONE)
		return 0;
	pthread_once(&once, read_environment);
	for (int i = 0; i < n_entries; i++) {
		struct entry *e = &entries[i];
		unsigned long k;

		if (strcmp(e->call, call) != 0)
			continue;
		k = atomic_fetch_add(&e->calls, 1) + 1;
		if (error != 0 || (k != e->at && !(e->on && k > e->at)))
			continue;
		error = e->error;
		if (error <= 0)
			raise(error == STOP ? SIGSTOP : SIGKILL); /* before this thread goes on */
	}
	return error;
}

const char *sl_fault_set(const char *text)
{
	read_all(text);
	return problem[0] ? problem : NULL;
}
