/*
 * walk.h - runs every backend of a memory space over all sizes and variants of its case, except
 * those that thin.h omits.
 */
#ifndef SL_TESTS_CASES_WALK_H
#define SL_TESTS_CASES_WALK_H

#include "case.h"
#include "thin.h"

/*
 * Runs b over sizes x variants, each with scratch and outputs poisoned in two ways and once with a
 * byte of scratch too little, tuned so. Adds to *trials. The first wrong answer is
 * SL_CHECK_FAILED, its story says where.
 */
enum sl_status sl_walk(const struct sl_backend *b, struct sl_tuning tuning, uint64_t *trials);

/*
 * The same with the smallest tiles that b can have, for sizes around one tile, and of so many that
 * tiles must pass on what they learn of others.
 */
enum sl_status sl_walk_tiles(const struct sl_backend *b, uint64_t *trials);

/* The device's backends of p, with tunings that stand for all they can have. Adds to *trials. */
enum sl_status sl_walk_tunings(enum sl_primitive p, uint64_t *trials);

/* Walks all backends of space that have a case. SL_CHECK_FAILED when there are none. */
enum sl_status sl_walk_space(enum sl_space space, uint64_t *trials);

#endif
