/*
 * ptrace_run.h - runs a program and kills it, or makes a system call fail, at its k-th call that
 * changes files.
 *
 * What strace's fault injection does, but counting the calls of all threads together: strace counts
 * those of each thread by themselves, and so never reaches the first calls of one that starts late.
 * A test program becomes the tracer when it starts itself:
 *
 *	/proc/self/exe traced LOG AT ERROR PROGRAM ARGUMENT...
 *
 *	LOG     where a line for each call goes: its name, its descriptor (or that of its folder),
 *	        its path or "-", its result (or minus errno), all with a space between
 *	AT      the call that is hit, from 1; with a + also all after it; 0: none
 *	ERROR   the errno that it returns without being made; 0: the program is killed before it
 *	PROGRAM "sluice" is the program under test
 *
 * Ends with the program's exit code, or 128 + n when signal n ended it, or PTRACE_REFUSED. Calls to
 * remove or to truncate are killed at and logged, but never fail: they are how a failure is mended.
 * Those on stdin, stdout and stderr do not count.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_PTRACE_RUN_H
#define SL_TESTS_SUPPORT_PROGRAM_PTRACE_RUN_H

enum { PTRACE_REFUSED = 126 };

/*
 * What main of such a test returns: as the tracer the code above; else what tests returns, which
 * are thinned out as the environment asks (cases/thin.h), and skipped where nothing can be traced.
 */
int ptrace_main(int argc, char **argv, int (*tests)(void));

#endif
