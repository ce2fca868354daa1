/*
 * fork_server.h - starts the program under test once and forks it for each run
 * (tests/preload/server.h).
 *
 * SLUICE_SERVER names the library. The test keeps one server, and a second one for runs with a
 * preloaded library (LD_PRELOAD). Both are restarted if the mount name space changes.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_FORK_SERVER_H
#define SL_TESTS_SUPPORT_PROGRAM_FORK_SERVER_H

#include "tests/support/program/process.h"

/*
 * Starts the program at path with the files of r, as process_start() does. Returns false and starts
 * nothing with sanitizers, for other programs, and if memory is limited: loading the libraries must
 * count against that limit.
 */
bool fork_server_start(const struct process *p, const char *path, struct running *r);

#endif
