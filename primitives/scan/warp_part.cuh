/*
 * scan/warp_part.cuh - a warp's part of a tile: transposes between coalesced access to global
 * memory and consecutive items per thread, through shared memory.
 *
 * Coalesced loads and stores need neighbouring lanes at neighbouring addresses; a scan needs
 * consecutive items in one thread. So a warp loads and stores vectors of 16 bytes striped over its
 * lanes and transposes them in shared memory.
 *
 * Shared memory serves a 16-byte access in groups of 8 lanes. Eight vectors are one row of 128
 * bytes over all 32 banks, so the 8 lanes must access 8 different columns of a row. Striped access
 * does. Access by threads with 8 consecutive vectors each would hit the same column 8 times;
 * therefore each row permutes its vectors by exclusive or with the row number (vector_of()). Both
 * access patterns are then free of bank conflicts, without padding.
 *
 * A warp never touches the part of another warp: between these calls __syncwarp() is sufficient.
 */
#ifndef SL_PRIMITIVES_SCAN_WARP_PART_CUH
#define SL_PRIMITIVES_SCAN_WARP_PART_CUH

#include "warp.cuh"

static constexpr uint32_t ROW_VECTORS = 8;

/* A warp's part of a tile, as seen by one of its lanes: VECTORS (1 to 8) vectors per lane. */
template <typename T, uint32_t VECTORS> struct part {
	static constexpr uint32_t width = VECTOR_BYTES / sizeof(T); /* items per vector */
	static constexpr uint32_t items = VECTORS * width * LANES;  /* items per part */

	uint32_t lane;
	uint64_t first; /* index of the part's first item in global memory */
	uint32_t left;  /* items from there to the end of the array; may exceed the part */
	struct vector<T> *vectors;
};

/* Vector i of the part in shared memory, after the permutation within its row. */
template <typename T, uint32_t VECTORS>
static __device__ inline vector<T> *vector_of(struct part<T, VECTORS> p, uint32_t i)
{
	return &p.vectors[i ^ i / ROW_VECTORS % ROW_VECTORS];
}

/* Item i of the part in shared memory. */
template <typename T, uint32_t VECTORS>
static __device__ inline T *item_of(struct part<T, VECTORS> p, uint32_t i)
{
	return &vector_of(p, i / p.width)->item[i % p.width];
}

/* True if the part starts at a multiple of 16 bytes in items, so that vector access is possible. */
template <typename T, uint32_t VECTORS>
static __device__ inline bool is_aligned(struct part<T, VECTORS> p, const T *items)
{
	return (uintptr_t)(items + p.first) % VECTOR_BYTES == 0;
}

/* Number of vectors of the part that are complete (at the end of the array the last may not be). */
template <typename T, uint32_t VECTORS>
static __device__ inline uint32_t whole_vectors(struct part<T, VECTORS> p)
{
	return (uint32_t)((p.left < p.items ? p.left : p.items) / p.width);
}

/* Index of the item that this lane has of the incomplete last vector; false if it has none. */
template <typename T, uint32_t VECTORS>
static __device__ inline bool has_tail_item(struct part<T, VECTORS> p, uint32_t *i)
{
	*i = whole_vectors(p) * p.width + p.lane;
	return p.left < p.items && *i < p.left;
}

/*
 * Loads the part from an aligned array; items past the end become 0. All loads are issued to
 * registers before the first store to shared memory, also those of the incomplete last vector, so
 * that VECTORS * 16 bytes per lane are in flight.
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

/* Loads the part from an array that is not aligned to 16 bytes, item by item. */
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

/* Global to shared memory, by vectors where alignment permits. The caller must __syncwarp(). */
template <typename T, uint32_t VECTORS>
static __device__ inline void read_part(struct part<T, VECTORS> p, const T *in)
{
	if (is_aligned(p, in))
		read_vectors(p, in);
	else
		read_items(p, in);
}

/* Shared to global memory; out may have another alignment than in. Writes no item past the end. */
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
		/*
		 * the lanes begin at a multiple of LANES items of memory, so each store fills its
		 * sectors
		 */
		uint32_t skip = (uint32_t)((uintptr_t)(out + p.first) / sizeof(T) % LANES);
		uint32_t end = skip + (uint32_t)(p.left < p.items ? p.left : p.items);

		for (uint32_t i = p.lane; i < end; i += LANES)
			if (i >= skip)
				out[p.first + i - skip] = *item_of(p, i - skip);
	}
}

/* Sum of the lane's own VECTORS * width consecutive items. */
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

/* Scans the lane's own items in place, starting from sum, the sum of all items before them. */
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
