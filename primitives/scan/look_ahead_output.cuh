/*
 * scan/look_ahead_output.cuh - how the warps of the look-ahead scan write their results.
 *
 * A lane holds vectors of 16 bytes as they are in the input. If the output has the same alignment,
 * a vector is scanned and stored as it is. Otherwise each vector of the output consists of the last
 * items of one lane and the first items of the next lane (realign()).
 */
#ifndef SL_PRIMITIVES_SCAN_LOOK_AHEAD_OUTPUT_CUH
#define SL_PRIMITIVES_SCAN_LOOK_AHEAD_OUTPUT_CUH

#include <string.h>

#include "primitives/count.cuh"
#include "primitives/kernel/look_back.cuh"
#include "warp.cuh"

/* Arguments of the kernel, by value. */
template <typename T> struct look_ahead_job {
	static constexpr uint32_t width = VECTOR_BYTES / sizeof(T); /* items per vector */

	const T *in;
	T *out;
	uint32_t lead; /* items of the first tile before in[0] */
	struct sl_count count;
	uint64_t end;   /* lead + count, set by the kernel: positions count from the first tile */
	uint32_t shift; /* position of the first multiple of 16 bytes of out: 0 .. width - 1 */
	bool inclusive;
	struct sl_look_back<T> sums; /* states: each tile's own sum only */
};

/* Scan of one vector, starting from sum, the sum of all items before it. */
template <typename T>
static __device__ inline struct vector<T> scan_vector(struct vector<T> x, T sum, bool inclusive) {
	SL_UNROLL
	for (uint32_t i = 0; i < VECTOR_BYTES / sizeof(T); i++) {
		T prefix = sum;

		sum += x.item[i];
		x.item[i] = inclusive ? sum : prefix;
	}
	return x;
}

/* Writes items from .. end - 1 of the vector at position at, without those outside of out. */
template <typename T>
static __device__ inline void write_items(const struct look_ahead_job<T> &job, uint64_t at,
	const struct vector<T> &x, uint32_t from, uint32_t end)
{
	SL_UNROLL
	for (uint32_t i = 0; i < job.width; i++)
		if (i >= from && i < end && at + i >= job.lead && at + i < job.end)
			job.out[at + i - job.lead] = x.item[i];
}

/*
 * Writes the vector at position at, a multiple of 16 bytes of out. If not WHOLE, writes only those
 * of its items that belong to out, which excludes positions before lead and from end on.
 */
template <bool WHOLE, typename T>
static __device__ inline void write_vector(
	const struct look_ahead_job<T> &job, uint64_t at, const struct vector<T> &x)
{
	if constexpr (WHOLE) {
		uint4 bytes;

		memcpy(&bytes, &x, sizeof(bytes));
		sl_store_vector(job.out + (at - job.lead), bytes);
	} else {
		write_items(job, at, x, 0, job.width);
	}
}

/*
 * For a warp with the vectors x of LANES consecutive vectors: the last width - shift items of the
 * vector before the lane's own one, then the first shift items of the own one. before is the lane's
 * vector of the preceding LANES vectors: that of the last lane precedes the first lane's x.
 */
template <typename T>
static __device__ inline struct vector<T> realign(
	const struct vector<T> &before, const struct vector<T> &x, uint32_t lane, uint32_t shift) {
	constexpr uint32_t width = look_ahead_job<T>::width;
	struct vector<T> moved;
	T both[2 * width] = {};

	SL_UNROLL
	for (uint32_t i = 0; i < width; i++) {
		T from = lane == LANES - 1 ? before.item[i] : x.item[i];

		both[i] = i > 0 ? __shfl_sync(SL_LANES, from, (int)((lane + LANES - 1) % LANES))
		                : 0; /* shift > 0 */
		both[width + i] = x.item[i];
	}
	SL_UNROLL
	for (uint32_t by = width / 2; by > 0; by /= 2)
		SL_UNROLL
	for (uint32_t i = 0; i + by < 2 * width; i++)
		both[i] = shift & by ? both[i + by] : both[i];
	SL_UNROLL
	for (uint32_t i = 0; i < width; i++)
		moved.item[i] = both[i];
	return moved;
}

/*
 * Scans a lane's vectors and writes them; the first is at position at, the others LANES vectors
 * apart.
 */
template <bool WHOLE, typename T, uint32_t VECTORS>
static __device__ inline void write_part(const struct look_ahead_job<T> &job, uint64_t at,
	const struct vector<T> (&x)[VECTORS], const T (&prefix)[VECTORS], T sum)
{
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		write_vector<WHOLE>(job, at + v * LANES * job.width,
			scan_vector(x[v], (T)(sum + prefix[v]), job.inclusive));
}

/*
 * The same if shift > 0. The first items of the part's first vector and the last ones of its last
 * vector belong to vectors of out that this part has not completely.
 */
template <bool WHOLE, typename T, uint32_t VECTORS>
static __device__ inline void write_part_realigned(const struct look_ahead_job<T> &job, uint64_t at,
	const struct vector<T> (&x)[VECTORS], const T (&prefix)[VECTORS], T sum)
{
	uint32_t lane = threadIdx.x % LANES;
	struct vector<T> own{}, before;

	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++, at += LANES * job.width) {
		before = own;
		own = scan_vector(x[v], (T)(sum + prefix[v]), job.inclusive);
		struct vector<T> moved = realign(before, own, lane, job.shift);
		if (v == 0 && lane == 0)
			write_items(job, at, own, 0, job.shift);
		else
			write_vector<WHOLE>(job, at + job.shift - job.width, moved);
		if (v == VECTORS - 1 && lane == LANES - 1)
			write_items(job, at, own, job.shift, job.width);
	}
}

#endif
