/* mcpl_lists.h - MCPL files for tests: those of the reference implementation and generated ones. */
#ifndef SL_TESTS_SUPPORT_FORMATS_MCPL_LISTS_H
#define SL_TESTS_SUPPORT_FORMATS_MCPL_LISTS_H

#include "stages/formats/mcpl/mcpl_stream.h"
#include "tests/support/program/folder.h"

/* Where a file of the reference implementation is, until the next call. */
const char *reference_path(const char *name);

/* Such a file, in memory of its very size; to be freed. */
char *reference_list(const char *name, size_t *bytes);

/* Copies it to the folder of a test. */
void bring_list(const struct folder *f, const char *name);

/* The next of a sequence of numbers from 0 to 1, in 24 bits. */
double next_number(uint32_t *at);

/*
 * Writes h->particles particles as a list, in gzip where its name ends so: behind the header that h
 * says stand the source "a test" and those strings, as many as its comments and blobs take.
 * record_bytes is found.
 */
void make_list(const struct folder *f, const char *name, const struct sl_mcpl_header *h,
	const char *const *strings, const struct sl_mcpl_particle *p);

/*
 * Writes c.yaml, which reads those files on the CPU: run goes on with the section of that name
 * (", batch: 70"), more are lines behind it all.
 */
void configure_list(const struct folder *f, const char *files, const char *run, const char *keep,
	const char *more);

/* plan and run refuse those files with that code and text, before anything is made. */
void refuse_list(const struct folder *f, const char *files, int code, const char *text);

/* All particles of a file; to be freed. */
struct sl_mcpl_particle *particles_of(
	const struct folder *f, const char *name, struct sl_mcpl_header *h);

#endif
