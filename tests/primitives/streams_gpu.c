/*
 * streams_gpu.c - tests the calls on a device that the caller also uses in other ways: with
 * streams, captures, memory and errors that the caller made with the CUDA runtime, and with other
 * kernels.
 *
 * Each test queues chains of calls (scan, sort, compact, and a sort of as many survivors as the
 * device has counted; one chain per kind of backend) and compares their results with those of the
 * same chain on the host. The test is skipped without a device.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

#ifdef SL_WITH_CUDA

#include <cuda_runtime_api.h>

#include "streams_kernels.h"
#include "tests/cases/cross_check.h"
#include "tests/cases/inputs.h"

#define assert_cuda(call) assert_int_equal(call, cudaSuccess)

/* --- chains ----------------------------------------------------------------------------------- */

/* The blocks of a chain: the input, then the outputs, then the scratch. */
enum { IN, KEEP, SUMS, SORTED, INDEX, OUT, COUNT, SCRATCH, BLOCKS };

struct chain {
	const struct sl_backend *scan, *sort, *compact;
	uint32_t n;
	bool counts; /* the survivors are sorted: the sort takes n_on_device */
	struct sl_guarded block[BLOCKS];
};

/*
 * Waits. The outputs of the run before are overwritten. Chains of all spaces get the same input
 * with a number.
 */
static void chain_load(struct chain *c, uint32_t number)
{
	uint32_t *in;
	uint8_t *keep;

	assert_ok(sl_memory_get(SL_HOST, c->n * sizeof(*in), (void **)&in));
	assert_ok(sl_memory_get(SL_HOST, c->n, (void **)&keep));
	for (uint32_t i = 0; i < c->n; i++) {
		in[i] = (uint32_t)sl_mixed(((uint64_t)number << 32) + i);
		keep[i] = sl_mixed(i) % 3 == 0;
	}
	for (int i = SUMS; i < BLOCKS; i++)
		assert_ok(sl_fill(c->block[i].at, 0xa5, c->block[i].bytes, NULL));
	assert_ok(sl_copy(c->block[IN].at, in, c->n * sizeof(*in), NULL));
	assert_ok(sl_copy(c->block[KEEP].at, keep, c->n, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_HOST, in);
	sl_memory_give(SL_HOST, keep);
}

/* Memory for backends of that name. */
static struct chain chain_get(const char *name, uint32_t n, uint32_t number)
{
	const struct sl_shape shape = {.n = n, .type = SL_U32, .n_columns = 1};
	struct chain c = {.n = n};
	const struct sl_backend **const of[] = {&c.scan, &c.compact, &c.sort};
	size_t bytes[BLOCKS];

	for (int i = IN; i < BLOCKS; i++)
		bytes[i] = n * sizeof(uint32_t);
	bytes[KEEP] = n;
	bytes[COUNT] = sizeof(uint32_t);
	bytes[SCRATCH] = 0;
	for (int p = SL_SCAN; p <= SL_SORT; p++) {
		assert_ok(sl_find((enum sl_primitive)p, name, of[p]));
		if (sl_scratch(*of[p], &shape) > bytes[SCRATCH])
			bytes[SCRATCH] = sl_scratch(*of[p], &shape);
	}
	c.counts = c.sort->takes_n_on_device;
	for (int i = IN; i < BLOCKS; i++)
		assert_ok(sl_guarded_get(c.scan->space, bytes[i], &c.block[i]));
	chain_load(&c, number);
	return c;
}

static void chain_free(struct chain *c)
{
	for (int i = 0; i < BLOCKS; i++) {
		assert_ok(sl_guarded_check(&c->block[i], "a block"));
		sl_guarded_give(&c->block[i]);
	}
}

/*
 * The sums of the input, sorted; of the sorted sums, those of the positions that KEEP selects; these
 * sorted by their low bits.
 */
static enum sl_status try_queue(struct chain *c, sl_stream s)
{
	struct sl_guarded *m = c->block;
	struct sl_exec x = {.space = c->scan->space,
		.stream = s,
		.scratch = {m[SCRATCH].at, 0, m[SCRATCH].bytes}};
	struct sl_compact_column column = {m[SORTED].at, m[OUT].at, sizeof(uint32_t)};

	SL_TRY(sl_scan(c->scan, &x,
		&(struct sl_scan_job){
			.in = m[IN].at, .out = m[SUMS].at, .n = c->n, .inclusive = true}));
	SL_TRY(sl_sort(c->sort, &x,
		&(struct sl_sort_job){
			.key = m[SUMS].at, .key_out = m[SORTED].at, .n = c->n, .end_bit = 32}));
	SL_TRY(sl_compact(c->compact, &x,
		&(struct sl_compact_job){.keep = (const uint8_t *)m[KEEP].at,
			.out = (uint32_t *)m[INDEX].at,
			.n_out = (uint32_t *)m[COUNT].at,
			.n = c->n,
			.n_columns = 1,
			.column = &column}));
	if (!c->counts)
		return SL_OK;
	return sl_sort(c->sort, &x,
		&(struct sl_sort_job){.key = m[OUT].at,
			.index = (uint32_t *)m[INDEX].at,
			.n = c->n,
			.n_on_device = m[COUNT].at,
			.end_bit = 12});
}

static void chain_queue(struct chain *c, sl_stream s)
{
	assert_ok(sl_add_context(try_queue(c, s), "%s, n=%u", c->scan->name, c->n));
}

/* Waits for the stream, and compares the survivors with those of the host for that input. */
static void chain_check(struct chain *c, uint32_t number, sl_stream s)
{
	struct chain host;
	uint32_t n_out = 0, *out;

	assert_ok(sl_add_context(sl_stream_wait(s), "%s, n=%u", c->scan->name, c->n));
	host = chain_get("cpu", c->n, number);
	host.counts = c->counts;
	chain_queue(&host, NULL);
	assert_ok(sl_memory_get(SL_HOST, c->n * sizeof(*out), (void **)&out));
	assert_ok(sl_copy(&n_out, c->block[COUNT].at, sizeof(n_out), NULL));
	assert_ok(sl_copy(out, c->block[OUT].at, c->n * sizeof(*out), NULL));
	assert_ok(sl_stream_wait(NULL));
	assert_int_equal(n_out, *(uint32_t *)host.block[COUNT].at);
	if (memcmp(out, host.block[OUT].at, n_out * sizeof(*out)) != 0)
		fail_msg("%s, n=%u, input %u: wrong survivors", c->scan->name, c->n, number);
	sl_memory_give(SL_HOST, out);
	chain_free(&host);
}

/* Queues once, which loads the kernels and may wait for that. */
static struct chain chain_get_loaded(const char *kind, uint32_t n, sl_stream s)
{
	struct chain c = chain_get(kind, n, 0);

	chain_queue(&c, s);
	assert_ok(sl_stream_wait(s));
	return c;
}

/* The kinds of backends that a device has for all three primitives; naive is slow. */
static const char *const kinds[] = {"naive", "work_efficient", "tiled", "shared", "thrust"};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), NAIVE = 0, SHARED = 3 };

/* Two streams and a flag of each test, in memory that kernels read. */
static sl_stream first, second;
static int *flag;

/* --- captures --------------------------------------------------------------------------------- */

/*
 * Two chains of different sizes with one scratch in a graph of the caller, which runs four times.
 */
static void capture(const char *kind, enum cudaStreamCaptureMode mode, uint32_t n, bool runs_before)
{
	struct chain large = chain_get(kind, n, 0);
	struct chain small = chain_get(kind, n / 40 + 2, 0);
	struct sl_guarded own = small.block[SCRATCH];
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	small.block[SCRATCH] = large.block[SCRATCH];
	if (runs_before)
		chain_queue(&large, first);
	assert_ok(sl_stream_wait(first));
	assert_cuda(cudaStreamBeginCapture(first, mode));
	chain_queue(&small, first);
	chain_queue(&large, first);
	assert_cuda(cudaStreamEndCapture(first, &graph));
	assert_cuda(cudaGraphInstantiate(&executable, graph, 0));
	for (uint32_t number = 1; number <= 4; number++) {
		chain_load(&large, number);
		chain_load(&small, number + 10);
		for (uint32_t i = 0; i < number; i++)
			assert_cuda(cudaGraphLaunch(executable, first));
		chain_check(&large, number, first);
		chain_check(&small, number + 10, first);
	}
	assert_cuda(cudaGraphExecDestroy(executable));
	assert_cuda(cudaGraphDestroy(graph));
	small.block[SCRATCH] = own;
	chain_free(&small);
	chain_free(&large);
}

/* The first test: no kernel has been loaded yet. */
TEST(calls_can_be_captured_in_every_mode)
{
	for (int k = 0; k < KINDS; k++)
		capture(kinds[k], cudaStreamCaptureModeGlobal, 3000000, false);
	for (int k = 0; k < KINDS; k++) {
		capture(kinds[k], cudaStreamCaptureModeGlobal, 90, true);
		capture(kinds[k], cudaStreamCaptureModeGlobal, 100003, true);
		capture(kinds[k], cudaStreamCaptureModeThreadLocal, 300000, true);
		capture(kinds[k], cudaStreamCaptureModeRelaxed, 300000, true);
	}
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Queues a late copy of another input, then the chain: it has to wait for the copy. */
static void queue_after_late_copy(struct chain *c, const struct chain *input, sl_stream s)
{
	assert_ok(streams_copy_late(
		(uint32_t *)c->block[IN].at, (const uint32_t *)input->block[IN].at, c->n, s));
	chain_queue(c, s);
}

TEST(calls_keep_the_order_of_every_kind_of_stream)
{
	cudaStream_t streams[] = {NULL, cudaStreamLegacy, cudaStreamPerThread, NULL};

	assert_cuda(cudaStreamCreateWithPriority(&streams[3], cudaStreamNonBlocking, -5));
	for (int k = 0; k < KINDS; k++) {
		struct chain c = chain_get(kinds[k], 100000, 0);
		struct chain other = chain_get(kinds[k], 100000, 0);

		for (uint32_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
			chain_load(&other, i + 1);
			queue_after_late_copy(&c, &other, streams[i]);
			chain_check(&c, i + 1, streams[i]);
		}
		chain_free(&c);
		chain_free(&other);
	}
	assert_cuda(cudaStreamDestroy(streams[3]));
}

/* A kernel holds the stream until the calls have returned: none of them may wait for it. */
TEST(calls_do_not_wait_for_the_stream)
{
	for (int k = 0; k < KINDS; k++) {
		/* naive with more items would fill the queue of a stream, 1024 launches. */
		struct chain c = chain_get_loaded(kinds[k], k == NAIVE ? 3000 : 2000000, first);

		*flag = 0;
		assert_ok(streams_hold(1, 0, flag, first));
		chain_queue(&c, first);
		assert_int_equal(cudaStreamQuery(first), cudaErrorNotReady);
		*flag = 1;
		chain_check(&c, 0, first);
		chain_free(&c);
	}
}

TEST(two_streams_work_at_the_same_time)
{
	const sl_stream s[2] = {first, second};

	for (int k = 0; k < KINDS; k++)
		for (uint32_t n = 5000; n < 5000000; n *= 30) {
			const int rounds = k == NAIVE ? 2 : 50;
			struct chain c[2];

			for (uint32_t i = 0; i < 2; i++)
				c[i] = chain_get(kinds[k], n, i);
			for (int i = 0; i < 2 * rounds; i++)
				chain_queue(&c[i % 2], s[i % 2]);
			for (uint32_t i = 0; i < 2; i++) {
				chain_check(&c[i], i, s[i]);
				chain_free(&c[i]);
			}
		}
}

/* Two streams with the same memory, which events of the caller order. */
TEST(streams_share_scratch_in_the_order_of_events)
{
	enum { ROUNDS = 20 };
	const sl_stream s[2] = {first, second};
	cudaEvent_t e;

	assert_cuda(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	for (int k = 0; k < KINDS; k++) {
		struct chain c = chain_get(kinds[k], 700000, 0);
		struct chain inputs[2] = {
			chain_get(kinds[k], 700000, 0), chain_get(kinds[k], 700000, 1)};

		for (uint32_t i = 0; i < ROUNDS; i++) {
			queue_after_late_copy(&c, &inputs[i % 2], s[i % 2]);
			assert_cuda(cudaEventRecord(e, s[i % 2]));
			assert_cuda(cudaStreamWaitEvent(s[1 - i % 2], e, 0));
		}
		chain_check(&c, (ROUNDS - 1) % 2, s[0]);
		chain_free(&c);
		chain_free(&inputs[0]);
		chain_free(&inputs[1]);
	}
	assert_cuda(cudaEventDestroy(e));
}

static void *run_chains(void *worker)
{
	const uint32_t number = *(const uint32_t *)worker;
	sl_stream s;

	assert_ok(sl_stream_make(&s));
	for (uint32_t i = 0; i < 10; i++) {
		const uint32_t n = 1000 + (number * 7919 + i * 104729) % 300000;
		struct chain c = chain_get(kinds[SHARED], n, 0);

		chain_queue(&c, s);
		chain_check(&c, 0, s);
		chain_free(&c);
	}
	sl_stream_free(s);
	return NULL;
}

TEST(threads_of_the_host_work_at_the_same_time)
{
	uint32_t number[] = {0, 1, 2, 3};
	pthread_t thread[4];

	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run_chains, &number[i]), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
}

/* --- other work on the device ----------------------------------------------------------------- */

/* Blocks wait for blocks that have started only, so a call ends on a single multiprocessor. */
TEST(calls_end_on_one_multiprocessor)
{
	struct sl_limits limits;

	assert_ok(sl_device_limits(&limits));
	for (int k = 0; k < KINDS; k++) {
		struct chain c = chain_get_loaded(kinds[k], 400000, first);

		*flag = 0;
		assert_ok(streams_hold(
			limits.multiprocessors - 1, limits.shared_bytes, flag, second));
		usleep(5000); /* until its blocks have started */
		chain_queue(&c, first);
		assert_ok(sl_stream_wait(first));
		assert_int_equal(cudaStreamQuery(second), cudaErrorNotReady);
		*flag = 1;
		chain_check(&c, 0, first);
		assert_ok(sl_stream_wait(second));
		chain_free(&c);
	}
}

/* Queues the chain c, and a comparison of its results with those of right. */
static void queue_and_compare(struct chain *c, const struct chain *right, uint32_t *differ)
{
	chain_queue(c, first);
	for (int k = SUMS; k <= COUNT; k++)
		assert_ok(sl_queue_differ(
			c->block[k].at, right->block[k].at, c->block[k].bytes, differ, first));
}

/*
 * Tile states must be visible in order also if the memory is busy. The device compares all results.
 */
TEST(results_are_the_same_while_the_memory_is_busy)
{
	enum { RUNS = 300, WORDS = 1 << 26 };
	struct chain c = chain_get(kinds[SHARED], 9000001, 0);
	struct chain right = chain_get(kinds[SHARED], 9000001, 0);
	uint32_t *words, *differ, found = 1;

	*flag = 0;
	assert_ok(sl_memory_get(SL_DEVICE, WORDS * sizeof(*words), (void **)&words));
	assert_ok(sl_memory_get(SL_DEVICE, sizeof(*differ), (void **)&differ));
	assert_ok(sl_fill(differ, 0, sizeof(*differ), first));
	chain_queue(&right, first);
	chain_check(&right, 0, first);
	queue_and_compare(
		&c, &right, differ); /* a kernel that is loaded waits for those that run */
	assert_ok(streams_load_memory(words, WORDS, flag, second));
	for (int i = 0; i < RUNS; i++)
		queue_and_compare(&c, &right, differ);
	assert_ok(sl_copy(&found, differ, sizeof(found), first));
	assert_ok(sl_stream_wait(first));
	assert_int_equal(found, 0);
	assert_int_equal(cudaStreamQuery(second), cudaErrorNotReady);
	*flag = 1;
	assert_ok(sl_stream_wait(second));
	chain_free(&c);
	chain_free(&right);
	sl_memory_give(SL_DEVICE, words);
	sl_memory_give(SL_DEVICE, differ);
}

/* Memory from the pool of a stream, and memory that moves between host and device. */
TEST(memory_can_be_of_every_kind_that_a_device_has)
{
	for (int queued = 0; queued < 2; queued++) {
		struct chain own = chain_get(kinds[SHARED], 500000, 0), c = own;

		for (int i = 0; i < BLOCKS; i++) {
			struct sl_guarded *g = &c.block[i];

			assert_cuda(
				queued ? cudaMallocAsync(&g->at, g->bytes, first)
				       : cudaMallocManaged(&g->at, g->bytes, cudaMemAttachGlobal));
		}
		assert_ok(sl_stream_wait(first));
		chain_load(&c, 1);
		chain_queue(&c, first);
		chain_check(&c, 1, first);
		for (int i = 0; i < BLOCKS; i++)
			assert_cuda(queued ? cudaFreeAsync(c.block[i].at, first)
					   : cudaFree(c.block[i].at));
		chain_free(&own);
	}
}

/* --- errors ----------------------------------------------------------------------------------- */

/* After an allocation that failed, a program may go on with less memory. */
TEST(an_error_that_the_caller_ignored_is_not_returned)
{
	static const uint32_t sizes[] = {90, 3000000};

	for (int k = 0; k < 2 * KINDS; k++) {
		struct chain c = chain_get(kinds[k % KINDS], sizes[k / KINDS], 0);
		void *p;

		assert_int_equal(cudaMalloc(&p, (size_t)1 << 60), cudaErrorMemoryAllocation);
		chain_queue(&c, NULL);
		chain_check(&c, 0, NULL);
		chain_free(&c);
	}
	assert_false(sl_device_has_failed(0));
}

/* The last test: the device cannot be used after it. */
TEST(an_illegal_address_fails_the_device)
{
	struct chain c = chain_get(kinds[SHARED], 1000, 0);
	void *count = c.block[COUNT].at;

	c.block[COUNT].at = (void *)0x1000;
	chain_queue(&c, NULL);
	assert_fails(sl_stream_wait(NULL), SL_DEVICE_FAILED, "illegal memory access");
	c.block[COUNT].at = count;
	assert_fails(try_queue(&c, NULL), SL_DEVICE_FAILED, "");
	assert_true(sl_device_has_failed(0));
}

BEFORE_TESTS()
{
	skip_without_device();
	assert_ok(sl_stream_make(&first));
	assert_ok(sl_stream_make(&second));
	assert_ok(sl_memory_get(SL_PINNED, sizeof(*flag), (void **)&flag));
}

#else

TEST(calls_in_streams)
{
	skip_test("the test needs a build with CUDA");
}

#endif
