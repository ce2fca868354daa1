/*
 * driver_calls_device.c - the CUDA calls of a run: the counts of driver_calls.c on a real device,
 * including the calls of Thrust. Skips without a device.
 *
 * The test replaces the CUDA functions (tests.def: --wrap) and forwards each call.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

#ifdef SL_WITH_CUDA

#include "primitives/primitives.h"
#include "tests/support/runs/library_run.h"

enum { BATCHES = 20, PARTICLES = 100003 };

/* --- counted calls ------------------------------------------------------------------------- */

struct CUmemPoolHandle_st;

/* Calls that allocate or free memory, and that create or destroy streams and events. */
#define MAKERS(X)                                                                   \
	X(cudaMalloc, (void **p, size_t n), (p, n))                                 \
	X(cudaMallocAsync, (void **p, size_t n, sl_stream s), (p, n, s))            \
	X(cudaMallocFromPoolAsync,                                                  \
		(void **p, size_t n, struct CUmemPoolHandle_st *pool, sl_stream s), \
		(p, n, pool, s))                                                    \
	X(cudaMallocManaged, (void **p, size_t n, unsigned flags), (p, n, flags))   \
	X(cudaMallocHost, (void **p, size_t n), (p, n))                             \
	X(cudaHostAlloc, (void **p, size_t n, unsigned flags), (p, n, flags))       \
	X(cudaHostRegister, (void *p, size_t n, unsigned flags), (p, n, flags))     \
	X(cudaFree, (void *p), (p))                                                 \
	X(cudaFreeAsync, (void *p, sl_stream s), (p, s))                            \
	X(cudaFreeHost, (void *p), (p))                                             \
	X(cudaStreamCreate, (sl_stream * s), (s))                                   \
	X(cudaStreamCreateWithFlags, (sl_stream * s, unsigned flags), (s, flags))   \
	X(cudaStreamDestroy, (sl_stream s), (s))                                    \
	X(cudaEventCreate, (sl_event * e), (e))                                     \
	X(cudaEventCreateWithFlags, (sl_event * e, unsigned flags), (e, flags))     \
	X(cudaEventDestroy, (sl_event e), (e))

/* Calls that block the host. */
#define WAITS(X)                                                                             \
	X(cudaDeviceSynchronize, (void), ())                                                 \
	X(cudaStreamSynchronize, (sl_stream s), (s))                                         \
	X(cudaEventSynchronize, (sl_event e), (e))                                           \
	X(cudaMemcpy, (void *to, const void *from, size_t n, int kind), (to, from, n, kind)) \
	X(cudaMemset, (void *p, int value, size_t n), (p, value, n))

enum call {
#define X(name, parameters, arguments) CALL_##name,
	MAKERS(X) WAITS(X)
#undef X
		N_CALLS,
	FIRST_WAIT = CALL_cudaDeviceSynchronize
};

static atomic_uint calls[N_CALLS];

#define X(name, parameters, arguments)                    \
	int __real_##name parameters;                     \
	int __wrap_##name parameters;                     \
                                                          \
	int __wrap_##name parameters                      \
	{                                                 \
		atomic_fetch_add(&calls[CALL_##name], 1); \
		return __real_##name arguments;           \
	}
MAKERS(X)
WAITS(X)
#undef X

static const char *const names[] = {
#define X(name, parameters, arguments) #name,
	MAKERS(X) WAITS(X)
#undef X
};

/* --- runs ---------------------------------------------------------------------------------- */

static unsigned in_run[N_CALLS];

static void note_start(void)
{
	for (int i = 0; i < N_CALLS; i++)
		in_run[i] = atomic_load(&calls[i]);
}

static void note_end(void)
{
	for (int i = 0; i < N_CALLS; i++)
		in_run[i] = atomic_load(&calls[i]) - in_run[i];
}

static void count_run(const char *compact, const char *sort, unsigned slots)
{
	const char *name = compact ? compact : "fused";
	const struct library_run r = {.device = "cuda",
		.mode = compact ? "staged" : "fused",
		.compact = compact,
		.sort = sort,
		.slots = slots,
		.threads = slots + 1,
		.particles = PARTICLES,
		.batches = BATCHES,
		.begun = note_start,
		.ended = note_end};
	unsigned waits = 0;

	assert_ok(library_run(&r));
	for (int i = 0; i < N_CALLS; i++) {
		waits += i >= FIRST_WAIT ? in_run[i] : 0;
		if (i < FIRST_WAIT && in_run[i] > 0)
			fail_msg(
				"%s, %s: %u calls of %s in a run", name, sort, in_run[i], names[i]);
	}
	print_message(
		"%s, %s, %u slots: %u waits in %d batches\n", name, sort, slots, waits, BATCHES);
	assert_true(waits > 0 && waits <= 2 * BATCHES);
}

TEST(no_allocation_during_a_run)
{
	for_each_backend(count_run);
	/* otherwise the wrappers do not receive the calls */
	assert_true(atomic_load(&calls[CALL_cudaMalloc]) > 0);
	assert_true(atomic_load(&calls[CALL_cudaMallocHost]) > 0);
}

BEFORE_TESTS()
{
	skip_without_device();
}

#else

TEST_FILE(argc, argv)
{
	printf("SKIP: the test replaces calls of CUDA, but the build has none; configure with "
	       "-DSLUICE_CUDA=ON\n");
	return SKIPPED;
}

#endif
