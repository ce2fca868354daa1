/* deflate/store.h - a stream of stored blocks, also for backends whose own stream is too long. */
#ifndef SL_PRIMITIVES_DEFLATE_STORE_H
#define SL_PRIMITIVES_DEFLATE_STORE_H

#include "primitives/primitives.h"

/* Writes one stream if it fits, as sl_deflate_chunk of chunks.h. */
enum sl_status sl_deflate_store_one(struct sl_exec *x, const struct sl_deflate_job *job);

#endif
