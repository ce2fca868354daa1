/*
 * exchange.h - the merge of a global sort of two shares, with copies between the two devices.
 *
 * A kernel that reads the memory of the other device reaches about three quarters of the bandwidth of a copy
 * (298 against 393 GB/s each way, over NVLink between two H200), and its binary searches wait for the latency of that
 * memory. So the part of each device is cut into pieces of equal size. A second stream of the device copies the pairs
 * of piece k that are in the other share, while the device merges piece k - 1, from its own memory only.
 */
#ifndef SL_PRIMITIVES_GLOBAL_SORT_EXCHANGE_H
#define SL_PRIMITIVES_GLOBAL_SORT_EXCHANGE_H

#include "primitives/global_sort/shares.h"

/*
 * Pieces of each part. The first copy overlaps no merge, and the last merge overlaps no copy: with eight pieces each
 * of these is an eighth of its total. More pieces take the host longer to queue.
 */
enum { SL_PIECES = 8 };

/* Whether the parts are merged by pieces, if the devices can read each other's memory: two devices, and many keys. */
bool sl_exchange_is_used(const struct sl_sort_phases *p);

/*
 * Sets the least bytes of keys and indices in a piece for which sl_exchange_is_used(), and returns the previous number.
 * For tests, whose sorts are too small by default. Not while other threads sort.
 */
uint64_t sl_exchange_set_least(uint64_t bytes);

/* Creates the streams of the copies, p->copies. */
enum sl_status sl_exchange_open(struct sl_sort_phases *p);

/* Queues the copies and the merges of all pieces. Part k of p->begin is piece k % SL_PIECES of device k / SL_PIECES. */
enum sl_status sl_exchange_merge(const struct sl_sort_phases *p);

/* Frees the streams. Their copies may still be queued: the streams of the shares wait for the copies. */
void sl_exchange_close(struct sl_sort_phases *p);

/* Waits for the copies and frees the streams, also if only some were created. After a failure. */
void sl_exchange_stop(struct sl_sort_phases *p);

#endif
