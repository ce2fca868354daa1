/*
 * call_log.h - the calls of sl_fault() that a command makes, and a few system calls that the file
 * layer does not report to it, or that make files durable.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_CALL_LOG_H
#define SL_TESTS_SUPPORT_RUNS_CALL_LOG_H

#include <stddef.h>

enum { CALLS_MOST = 60000 };

struct call {
	char name[24];
	unsigned long site; /* the call and its callers; 0 without LOG_ALL */
	size_t k;           /* it is the k-th of its name */
};

struct calls {
	struct call at[CALLS_MOST];
	size_t n;
};

/*
 * In the child, for process.begin. With LOG_ALL in the environment, allocations and sites are
 * logged too.
 */
void call_log_begin(void);

/* Reads the log of the last command. */
void call_log_read(struct calls *c);

/* The number of calls of this name. */
size_t calls_of(const struct calls *c, const char *name);

#endif
