/*
 * gate.h - the kernels that run before a timed call: one empties the caches, one blocks the stream
 * until the host opens the gate. CUDA devices only.
 */
#ifndef SL_BENCH_MEASURE_GATE_H
#define SL_BENCH_MEASURE_GATE_H

#include "primitives/primitives.h"

SL_C_BEGIN

/* The words of a gate, in pinned memory. */
enum { SL_GATE_OPEN, SL_GATE_TIMED_OUT, SL_GATE_WORDS };

/*
 * Queues a kernel that ends when gate[SL_GATE_OPEN] is not 0. After about 30 ms the kernel sets
 * gate[SL_GATE_TIMED_OUT] and ends by itself.
 */
enum sl_status sl_queue_gate(uint32_t *gate, sl_stream s);

/*
 * Queues a kernel that reads a block of zeros, larger than the caches. The caches then contain only
 * clean lines of this block, so a timed call neither hits in them nor causes a write-back.
 */
enum sl_status sl_queue_flush(void *block, size_t bytes, sl_stream s);

/* Bytes of the L2 cache of the current device, or a large value if the driver does not know. */
size_t sl_cache_bytes(void);

SL_C_END

#endif
