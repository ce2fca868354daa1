/*
 * program_server.h - starts programs. The one under test is called in a separate process, without
 * the loader: that and the libraries take longer than a run of a few particles.
 *
 * At its start the program of the tests forks a process, the server, which waits. For each run the
 * server forks a child that calls main() of the program (program_main.h). So that child has nothing
 * of the state that the tests of the library leave in their process, and is a child of the test,
 * not of the server.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_PROGRAM_SERVER_H
#define SL_TESTS_SUPPORT_PROGRAM_PROGRAM_SERVER_H

#include "tests/support/program/process.h"

/*
 * Before the first test, and again in another name space, where the new server replaces the earlier
 * one.
 */
void program_server_start(void);

/*
 * Starts a program with the files of r, and sets r->pid. "sluice" is executed only in builds that
 * do not link it (program_main.h); other programs always are.
 */
void program_server_call(const struct process *p, struct running *r);

#endif
