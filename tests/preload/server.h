/*
 * server.h - the protocol between a test and a program that is started once and forked for each
 * run.
 *
 * The loader and the libraries take longer than a run of a few particles does, thousands of times.
 * With server.c before it (LD_PRELOAD), a program stops in front of main, reads requests from a
 * socket (SOCK_SEQPACKET), the number of which is in SLUICE_SERVER_FD, and answers each with the
 * pid of a process that begins main as if it had just been started: a child of who asks, not of the
 * server.
 *
 * A request is this struct, the words of its command line and then its whole environment, each with
 * its NUL; with it come its stdin, stdout and stderr, and the folder that it runs in.
 */
#ifndef SL_TESTS_PRELOAD_SERVER_H
#define SL_TESTS_PRELOAD_SERVER_H

#include <stdint.h>

enum { SERVER_FILES = 4, SERVER_BYTES = 1 << 16, SERVER_TEXTS = 1024 };

struct server_request {
	uint64_t ignored;    /* set of signals, bit 1 << n */
	uint64_t file_bytes; /* RLIMIT_FSIZE; 0: none */
	uint32_t n_words, n_variables;
};

#endif
