/*
 * fork_server.h - starts the program under test once and forks it for each run
 * (tests/preload/server.h).
 *
 * SLUICE_SERVER names the library. One server stays for as long as the test does, and another where
 * a library comes before the program (LD_PRELOAD); both begin anew in another name space of mounts.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_FORK_SERVER_H
#define SL_TESTS_SUPPORT_PROGRAM_FORK_SERVER_H

#include "tests/support/program/process.h"

/*
 * Starts the program at path with r's files, as process_start does. False, and nothing is begun:
 * there is no server with sanitizers, nor for other programs, nor where memory is limited, of which
 * the libraries want their part first.
 */
bool fork_server_start(const struct process *p, const char *path, struct running *r);

#endif
