/*
 * ptrace_run.h - runs a program and kills it, or makes a system call fail, at its k-th call that
 * changes (or also reads) files.
 *
 * Like the fault injection of strace, but it counts the calls of all threads together. strace counts
 * per thread, so its k-th call is not reached in threads that make few calls.
 * A test program becomes the tracer when it starts itself:
 *
 *	/proc/self/exe traced LOG AT ERROR PROGRAM ARGUMENT...
 *
 *	LOG     receives a line per call: its name, its descriptor (or that of its folder),
 *	        its path or "-", and its result (or -errno), separated by spaces
 *	AT      number of the call to fail, from 1; with a + also all later calls; 0: none. With an a,
 *	        calls that read count too, from the opening of a configuration (NAME.yaml) on:
 *	        before that, the dynamic loader reads its libraries
 *	ERROR   errno that the call returns without being made; 0: kill the program before the call
 *	PROGRAM "sluice" is the program under test
 *
 * Ends with the program's exit code, or 128 + n when signal n ended it, or PTRACE_REFUSED. Calls that
 * remove or truncate are logged and can be the place of a kill, but never fail, because the program
 * needs them to clean up after a failure. Calls on stdin, stdout and stderr do not count.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_PTRACE_RUN_H
#define SL_TESTS_SUPPORT_PROGRAM_PTRACE_RUN_H

enum { PTRACE_REFUSED = 126 };

/*
 * The main function of such a test: runs as the tracer, or runs the tests, and returns the exit code.
 * Without ptrace the tests are skipped.
 */
int ptrace_main(int argc, char **argv);

#endif
