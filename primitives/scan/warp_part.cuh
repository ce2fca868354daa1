/*
 * scan/warp_part.cuh - a warp's part of a tile in shared memory, which it reads and writes by lane
 * and each of its threads runs through in a row.
 *
 * Global memory wants neighbouring lanes at neighbouring addresses, a scan wants items in a row in
 * one thread. So a warp reads and writes vectors of 16 bytes by lane and turns them round in shared
 * memory, where 8 vectors, a row, lie over all 32 banks and the hardware serves 8 lanes at a time.
 * Those 8 must meet 8 different places of a row. By lane they do; for threads with 8 vectors each,
 * all would meet the same place, so the vectors of a row change places, by exclusive or with the
 * number of the row (vector_of). So there are no bank conflicts either way, and no padding.
 *
 * A warp never touches another one's part: between the calls here it needs __syncwarp() alone.
 */
#ifndef SL_PRIMITIVES_SCAN_WARP_PART_CUH
#define SL_PRIMITIVES_SCAN_WARP_PART_CUH

#include "warp.cuh"

static constexpr uint32_t ROW_VECTORS = 8;

/* A warp's part of a tile, VECTORS a lane, 1 to 8 of them, as one of its lanes sees it. */
template <typename T, uint32_t VECTORS> struct part {
	static constexpr uint32_t width = VECTOR_BYTES / sizeof(T); /* items a vector */
	static constexpr uint32_t items = VECTORS * width * LANES;  /* a part */

	uint32_t lane;
	uint64_t first; /* where it begins in global memory */
	uint64_t left;  /* items from there to the last; maybe more than its own */
	struct vector<T> *vectors;
};

/* Vector i of a part: which change places by the number of their row. */
template <typename T, uint32_t VECTORS>
static __device__ inline vector<T> *vector_of(struct part<T, VECTORS> p, uint32_t i)
{
	return &p.vectors[i ^ i / ROW_VECTORS % ROW_VECTORS];
}

template <typename T, uint32_t VECTORS>
static __device__ inline T *item_of(struct part<T, VECTORS> p, uint32_t i)
{
	return &vector_of(p, i / p.width)->item[i % p.width];
}

/* Can its vectors be read from their places in items, or written to them, as such? */
template <typename T, uint32_t VECTORS>
static __device__ inline bool is_aligned(struct part<T, VECTORS> p, const T *items)
{
	return (uintptr_t)(items + p.first) % VECTOR_BYTES == 0;
}

/* Its vectors that have all their items. */
template <typename T, uint32_t VECTORS>
static __device__ inline uint32_t whole_vectors(struct part<T, VECTORS> p)
{
	return (uint32_t)((p.left < p.items ? p.left : p.items) / p.width);
}

/* The item that a lane has of the vector behind those; some lanes have one, if it has any. */
template <typename T, uint32_t VECTORS>
static __device__ inline bool has_tail_item(struct part<T, VECTORS> p, uint32_t *i)
{
	*i = whole_vectors(p) * p.width + p.lane;
	return p.left < p.items && *i < p.left;
}

/*
 * With 0 behind the last item. All are on their way, in registers, before the first is put down:
 * those of the last vector too, which may lack some.
 */
template <typename T, uint32_t VECTORS>
static __device__ inline void read_vectors(struct part<T, VECTORS> p, const T *in)
{
	const struct vector<T> *from = (const struct vector<T> *)(in + p.first) + p.lane;
	struct vector<T> in_flight[VECTORS];
	uint32_t whole = whole_vectors(p), i;
	bool has_tail = has_tail_item(p, &i);
	T tail = has_tail ? in[p.first + i] : 0;

	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		in_flight[v] = v * LANES + p.lane < whole ? from[v * LANES] : vector<T>{};
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		*vector_of(p, v * LANES + p.lane) = in_flight[v];
	__syncwarp();
	if (has_tail)
		*item_of(p, i) = tail;
}

/* The same of items off 16 bytes. */
template <typename T, uint32_t VECTORS>
static __device__ inline void read_items(struct part<T, VECTORS> p, const T *in)
{
	T in_flight[VECTORS * part<T, VECTORS>::width];

	SL_UNROLL
	for (uint32_t k = 0; k < VECTORS * p.width; k++)
		in_flight[k] = k * LANES + p.lane < p.left ? in[p.first + k * LANES + p.lane] : 0;
	SL_UNROLL
	for (uint32_t k = 0; k < VECTORS * p.width; k++)
		*item_of(p, k * LANES + p.lane) = in_flight[k];
}

template <typename T, uint32_t VECTORS>
static __device__ inline void read_part(struct part<T, VECTORS> p, const T *in)
{
	if (is_aligned(p, in))
		read_vectors(p, in);
	else
		read_items(p, in);
}

template <typename T, uint32_t VECTORS>
static __device__ inline void write_part(struct part<T, VECTORS> p, T *out)
{
	if (is_aligned(p, out)) {
		struct vector<T> *to = (struct vector<T> *)(out + p.first) + p.lane;
		uint32_t whole = whole_vectors(p), i;

		SL_UNROLL
		for (uint32_t v = 0; v < VECTORS; v++)
			if (v * LANES + p.lane < whole)
				to[v * LANES] = *vector_of(p, v * LANES + p.lane);
		if (has_tail_item(p, &i))
			out[p.first + i] = *item_of(p, i);
	} else {
		for (uint32_t i = p.lane; i < p.items && i < p.left; i += LANES)
			out[p.first + i] = *item_of(p, i);
	}
}

/* The sum of a lane's own items. */
template <typename T, uint32_t VECTORS>
static __device__ inline T sum_items(struct part<T, VECTORS> p)
{
	T sum = 0;

	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++) {
		struct vector<T> x = *vector_of(p, p.lane * VECTORS + v);

		SL_UNROLL
		for (uint32_t k = 0; k < p.width; k++)
			sum += x.item[k];
	}
	return sum;
}

/* A lane's own items become the sums up to each, or before each; sum is that of all before. */
template <typename T, uint32_t VECTORS>
static __device__ inline void scan_items(struct part<T, VECTORS> p, T sum, bool inclusive)
{
	struct vector<T> x[VECTORS];

	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		x[v] = *vector_of(p, p.lane * VECTORS + v);
	SL_UNROLL
	for (uint32_t i = 0; i < VECTORS * p.width; i++) {
		T &item = x[i / p.width].item[i % p.width], before = sum;

		sum += item;
		item = inclusive ? sum : before;
	}
	SL_UNROLL
	for (uint32_t v = 0; v < VECTORS; v++)
		*vector_of(p, p.lane * VECTORS + v) = x[v];
}

#endif
