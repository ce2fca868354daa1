/*
 * exchange.h - the merge of a global sort of two shares, with copies between the two devices.
 *
 * A kernel that reads the memory of the other device reaches about three quarters of the bandwidth of a copy
 * (298 against 393 GB/s each way, over NVLink between two H200), and its binary searches wait for the latency of that
 * memory. So the part of each device is cut into pieces. A second stream of the device copies the pairs of a piece
 * that are in the other share, while the device merges the piece before, from its own memory only.
 *
 * Device 0 takes the pieces of its part from the first to the last, device 1 from the last to the first. So the first
 * pairs that a device needs of the other share are at the beginning or at the end of that share. They are copied while
 * the boundaries of the parts are searched.
 */
#ifndef SL_PRIMITIVES_GLOBAL_SORT_EXCHANGE_H
#define SL_PRIMITIVES_GLOBAL_SORT_EXCHANGE_H

#include "primitives/global_sort/shares.h"

/* Pieces of each part. More pieces take the host longer to queue. */
enum { SL_PIECES = 8 };

/* Whether the parts are merged by pieces, if the devices can read each other's memory: two devices, and many keys. */
bool sl_exchange_is_used(const struct sl_sort_phases *p);

/*
 * Sets the least bytes of keys and indices in a piece, on average, for which sl_exchange_is_used(). Returns the previous
 * number. For tests, whose sorts are too small by default. Not while other threads sort.
 */
uint64_t sl_exchange_set_least(uint64_t bytes);

/* Creates the streams of the copies, p->copies. */
enum sl_status sl_exchange_open(struct sl_sort_phases *p);

/* Queues the first copies, for which no boundary is needed. The shares are sorted. */
enum sl_status sl_exchange_begin(const struct sl_sort_phases *p);

/* Where the merge of both shares is cut into the pieces: 2 SL_PIECES of them, first those of device 0. */
struct sl_run_cuts sl_exchange_cuts(const struct sl_sort_phases *p);

/* Queues the other copies, and the merges of all pieces. p->begin has the parts that sl_exchange_cuts() gives. */
enum sl_status sl_exchange_merge(const struct sl_sort_phases *p);

/* Frees the streams. Their copies may still be queued: the streams of the shares wait for the copies. */
void sl_exchange_close(struct sl_sort_phases *p);

/* Waits for the copies and frees the streams, also if only some were created. After a failure. */
void sl_exchange_stop(struct sl_sort_phases *p);

#endif
