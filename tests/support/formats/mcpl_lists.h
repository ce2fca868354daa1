/* mcpl_lists.h - MCPL files for tests: those of the reference implementation and generated ones. */
#ifndef SL_TESTS_SUPPORT_FORMATS_MCPL_LISTS_H
#define SL_TESTS_SUPPORT_FORMATS_MCPL_LISTS_H

#include "stages/formats/mcpl/mcpl_stream.h"
#include "tests/support/program/folder.h"
#include "tests/support/property/property.h"

/* Returns the path of a reference file, valid until the next call. */
const char *reference_path(const char *name);

/* Reads a reference file into memory of exactly its size, which the caller frees. */
char *reference_list(const char *name, size_t *bytes);

/* Copies a reference file to the folder of a test. */
void copy_reference_list(const struct folder *f, const char *name);

/* Returns the next random number of 24 bits in 0 .. 1, and advances the state *at. */
double next_random(uint32_t *at);

/* A random direction of unit length; some are almost in a plane of two axes, and some are axes. */
void any_direction(struct rnd *g, double d[3]);

/*
 * Writes h->particles particles as an MCPL file, compressed if its name ends in .gz. The header of
 * h is followed by the source "a test" and by the strings of its comments and blobs. The function
 * computes record_bytes.
 */
void make_list(const struct folder *f, const char *name, const struct sl_mcpl_header *h,
	const char *const *strings, const struct sl_mcpl_particle *p);

/*
 * Expects that particle in the precision of a file. Directions are rounded; one NaN is as good as
 * another.
 */
void expect_record(const struct sl_mcpl_header *h, const struct sl_mcpl_particle *found,
	const struct sl_mcpl_particle *expected);

/* Reads all particles of a file. The caller frees them. */
struct sl_mcpl_particle *particles_of(
	const struct folder *f, const char *name, struct sl_mcpl_header *h);

#endif
