/*
 * walk.h - every backend of a space, over all sizes and variants of its case.
 */
#ifndef SL_CASES_WALK_H
#define SL_CASES_WALK_H

#include "case.h"

/*
 * Runs b over sizes x variants, each with scratch and outputs poisoned in two ways and once with a
 * byte of scratch too little, block threads a block. Adds to *trials. The first wrong answer is
 * SL_CHECK_FAILED, its story says where.
 */
enum sl_status sl_walk(const struct sl_backend *b, uint32_t block, uint64_t *trials);

/* Walks all backends of space that have a case. SL_CHECK_FAILED when there are none. */
enum sl_status sl_walk_space(enum sl_space space, uint64_t *trials);

#endif
