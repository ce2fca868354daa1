/*
 * emulator_kernels.cu - see emulator_kernels.h. Compiled for the emulated device alone. The name of
 * a kernel says which error it makes.
 */
#include "tests/primitives/emulator/emulator_kernels.h"

#include "primitives/kernel/bulk.cuh"

static __global__ void nothing(uint32_t *)
{
}

/* --- memory ----------------------------------------------------------------------------------- */

struct bytes_of_48_kib {
	unsigned char at[48 << 10];
};

/* --- races ------------------------------------------------------------------------------------ */

/* Thread 0 of each block writes what thread 0 of the next reads. */
template <bool release, bool acquire> static __global__ void message(uint32_t *words)
{
	uint32_t *flag = &words[500];

	if (threadIdx.x != 0)
		return;
	if (blockIdx.x > 0) {
		while ((acquire ? sl_load_acquire(flag) : sl_load_relaxed(flag)) != blockIdx.x)
			sl_backoff(20);
		words[blockIdx.x] += words[blockIdx.x - 1];
	}
	words[blockIdx.x]++;
	if (release)
		sl_store_release(flag, blockIdx.x + 1);
	else
		sl_store_relaxed(flag, blockIdx.x + 1);
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint32_t blocks, threads;
	size_t shared_bytes;
	void (*kernel)(uint32_t *words);
} kernels[] = {
	{"nothing", 1, 1, 0, nothing},
	{"no_blocks", 0, 32, 0, nothing},
	{"no_threads", 1, 0, 0, nothing},
	{"too_many_threads", 1, 1025, 0, nothing},
	{"too_much_dynamic_shared", 1, 32, (227 << 10) + 1, nothing},
	{"add_one", 1, 64, 0, [](uint32_t *words) { words[threadIdx.x]++; }},
	{"two_barriers", 2, 64, 0,
		[](uint32_t *) {
			if (threadIdx.x < 3)
				__syncthreads();
			else
				__syncthreads();
		}},
	{"barrier_or_warp", 1, 64, 0,
		[](uint32_t *) {
			if (threadIdx.x == 5)
				__syncthreads();
			else
				__syncwarp();
		}},
	{"mask_lacks_caller", 1, 64, 0,
		[](uint32_t *words) { words[threadIdx.x] = __ballot_sync(0x0000ffffu, 1); }},
	{"mask_names_ended", 1, 64, 0,
		[](uint32_t *words) {
			if (threadIdx.x == 9)
				return;
			words[threadIdx.x] = __ballot_sync(SL_LANES, 1);
		}},
	{"masks_differ", 1, 64, 0,
		[](uint32_t *words) {
			uint32_t mask = threadIdx.x == 31 ? 0xfffffffeu : SL_LANES;

			words[threadIdx.x] = __ballot_sync(mask, 1);
		}},
	{"calls_differ", 1, 64, 0,
		[](uint32_t *words) {
			if (threadIdx.x == 8)
				words[8] = __shfl_sync(SL_LANES, 1u, 0);
			else
				words[threadIdx.x] = __ballot_sync(SL_LANES, 1);
		}},
	{"a_lane_stays_away", 1, 64, 0,
		[](uint32_t *words) {
			if (threadIdx.x != 4)
				words[threadIdx.x] = __ballot_sync(SL_LANES, 1);
			__syncthreads();
		}},
	/* Even and odd lanes are in different calls at the same time. */
	{"two_calls", 1, 32, 0,
		[](uint32_t *words) {
			const uint32_t lane = threadIdx.x;

			words[lane] = lane % 2 ? __ballot_sync(0xaaaaaaaau, lane > 15)
	                                       : __shfl_xor_sync(0x55555555u, lane, 2);
		}},
	/* Lane 0 asks for the word of a lane that is not in the mask. */
	{"shuffle_outside", 1, 4, 0,
		[](uint32_t *words) {
			words[threadIdx.x] = __shfl_sync(0xfu, 7u, threadIdx.x == 0 ? 9 : 1);
		}},
	/*
	 * Each block waits for the block of the previous index: hangs if a later block starts
	 * first.
	 */
	{"wait_for_block_before", 20, 32, 0,
		[](uint32_t *words) {
			if (threadIdx.x == 0 && blockIdx.x > 0)
				while (sl_load_acquire(&words[blockIdx.x - 1]) == 0)
					sl_backoff(20);
			__syncthreads();
			if (threadIdx.x == 0)
				sl_store_release(&words[blockIdx.x], 1);
		}},
	/*
	 * The same with a whole warp, which votes before each read: a vote lets no other block run.
	 */
	{"warp_waits_for_block_before", 20, 32, 0,
		[](uint32_t *words) {
			while (blockIdx.x > 0 &&
				!__any_sync(SL_LANES, sl_load_acquire(&words[blockIdx.x - 1]) != 0))
				sl_backoff(20);
			if (threadIdx.x == 0)
				sl_store_release(&words[blockIdx.x], 1);
		}},
	{"wait_for_next_block", 20, 32, 0,
		[](uint32_t *words) {
			sl_store_release(&words[blockIdx.x], 1);
			if (blockIdx.x + 1 < gridDim.x)
				while (sl_load_acquire(&words[blockIdx.x + 1]) == 0)
					sl_backoff(20);
		}},
	{"no_backoff", 1, 32, 0,
		[](uint32_t *words) {
			while (sl_load_acquire(&words[0]) == 0)
				;
		}},
	/* Thread 0 loads four words; the others read them without waiting for the mbarrier. */
	{"gate_passed", 1, 64, 0,
		[](uint32_t *words) {
			SL_SHARED(uint4, four);
			SL_SHARED(struct sl_mbarrier, full);

			if (threadIdx.x == 0)
				sl_mbarrier_init(&full, 1);
			__syncthreads();
			if (threadIdx.x == 0) {
				sl_mbarrier_arrive_expect(&full, sizeof(four));
				sl_bulk_load(&four, words + 512, sizeof(four), &full);
			} else {
				words[threadIdx.x] = four.x;
			}
		}},
	{"gate_not_made", 1, 1, 0,
		[](uint32_t *) {
			SL_SHARED(struct sl_mbarrier, gate);

			sl_mbarrier_arrive(&gate);
		}},
	{"gate_overrun", 1, 1, 0,
		[](uint32_t *) {
			SL_SHARED(struct sl_mbarrier, gate);

			sl_mbarrier_init(&gate, 1);
			sl_mbarrier_arrive_expect(&gate, 16);
			sl_mbarrier_arrive(&gate);
		}},
	{"gate_asked_late", 1, 1, 0,
		[](uint32_t *) {
			SL_SHARED(struct sl_mbarrier, gate);

			sl_mbarrier_init(&gate, 1);
			for (uint32_t round = 0; round < 2; round++)
				sl_mbarrier_arrive(&gate);
			sl_mbarrier_wait(&gate, 1);
			sl_mbarrier_wait(&gate, 0);
		}},
	{"gate_in_vain", 1, 64, 0,
		[](uint32_t *) {
			SL_SHARED(struct sl_mbarrier, gate);

			if (threadIdx.x == 0)
				sl_mbarrier_init(&gate, blockDim.x);
			__syncthreads();
			if (threadIdx.x != 7)
				sl_mbarrier_arrive(&gate);
			sl_mbarrier_wait(&gate, 0);
		}},
	{"bytes_in_vain", 1, 1, 0,
		[](uint32_t *words) {
			SL_SHARED(uint4, four);
			SL_SHARED(struct sl_mbarrier, gate);

			sl_mbarrier_init(&gate, 1);
			sl_mbarrier_arrive_expect(&gate, 32);
			sl_bulk_load(&four, words, 16, &gate);
			sl_mbarrier_wait(&gate, 0);
		}},
	{"bulk_load_off", 1, 1, 0,
		[](uint32_t *words) {
			SL_SHARED(uint4, four);
			SL_SHARED(struct sl_mbarrier, gate);

			sl_mbarrier_init(&gate, 1);
			sl_bulk_load(&four, words + 1, 16, &gate);
		}},
	{"too_much_shared", 1, 1, 0,
		[](uint32_t *words) {
			SL_SHARED(bytes_of_48_kib, all);
			SL_SHARED(uint32_t, more);

			words[0] = all.at[0] + more;
		}},
	/* The initial contents of shared memory, in the first and the second block. */
	{"shared_at_first", 2, 1, 16,
		[](uint32_t *words) {
			SL_SHARED(uint32_t, one);
			SL_SHARED_DYNAMIC(uint32_t, more);

			words[2 * blockIdx.x] = one;
			words[2 * blockIdx.x + 1] = more[3];
			one = more[3] = 0;
		}},
	{"beyond_dynamic_shared", 1, 1, 16,
		[](uint32_t *) {
			SL_SHARED_DYNAMIC(uint32_t, words);

			words[4] = 1;
		}},
	{"beyond_static_shared", 1, 1, 0,
		[](uint32_t *words) {
			SL_SHARED(uint2, pair);

			(&pair.x)[words[0] % 2 + 2] = 1;
		}},
	{"beyond_memory", 1, 1, 0, [](uint32_t *words) { words[KERNEL_WORDS] = 1; }},
	{"no_barrier", 1, 64, 0,
		[](uint32_t *words) {
			SL_SHARED(uint32_t, word);

			if (threadIdx.x == 0)
				word = 1;
			words[threadIdx.x] = word;
		}},
	/* A shuffle transfers a word but does not order memory. */
	{"shuffle_for_syncwarp", 1, 32, 0,
		[](uint32_t *words) {
			words[threadIdx.x] = threadIdx.x;
			(void)__shfl_sync(SL_LANES, 1, 0);
			words[32 + threadIdx.x] = words[threadIdx.x ^ 1];
		}},
	{"syncwarp_for_barrier", 1, 64, 0,
		[](uint32_t *words) {
			words[threadIdx.x] = threadIdx.x;
			__syncwarp();
			words[64 + threadIdx.x] = words[threadIdx.x ^ 32];
		}},
	{"message_unreleased", 9, 32, 0, message<false, true>},
	{"message_unacquired", 9, 32, 0, message<true, false>},
	{"two_blocks_one_word", 2, 1, 0, [](uint32_t *words) { words[0] = blockIdx.x; }},
};

enum sl_status launch_kernel(const char *name, uint32_t *words, sl_stream s)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (strcmp(kernels[i].name, name) == 0)
			return sl_launch(kernels[i].name, kernels[i].kernel, kernels[i].blocks,
				kernels[i].threads, kernels[i].shared_bytes, s, words);
	return sl_fail(SL_USAGE, "there is no kernel %s", name);
}
