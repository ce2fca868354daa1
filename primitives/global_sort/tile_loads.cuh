/*
 * tile_loads.cuh - the items of two runs that a tile of their merge has, as loads of 16 bytes.
 *
 * Memory of another device is read in sectors of 32 bytes. Loads at multiples of 16 bytes read each sector once. If
 * each warp loaded 32 keys from any address on, it would read a sector again that the warp before it has read:
 * five sectors instead of four.
 *
 *	struct tile_loads<K, TILE, BLOCK> l;
 *
 *	l.a = make_part(a, n_a, a_begin, a_count, 0);
 *	l.b = make_part(b, n_b, b_begin, b_count, l.a.loads);
 *	begin_loads(&l);          // all loads of the thread, so that their latencies overlap
 *	end_loads(&l, slot);      // item i of a is in slot[l.a.at + i], item i of b in slot[l.b.at + i]
 */
#ifndef SL_PRIMITIVES_GLOBAL_SORT_TILE_LOADS_CUH
#define SL_PRIMITIVES_GLOBAL_SORT_TILE_LOADS_CUH

#include "primitives/kernel/kernel.cuh"

/* Items of T in a load. */
template <typename T> struct items_of_load {
	static constexpr uint32_t n = sizeof(uint4) / sizeof(T);
};

/* Consecutive items of a run, and the loads that contain them. */
template <typename T> struct run_part {
	const T *run;
	int64_t n;     /* items of the run */
	int64_t first; /* first item of the first load; less than 0 if the load begins before the run */
	uint32_t loads; /* 0 for no items */
	uint32_t at;    /* slot of the first item of the part */
};

/* The part of `count` items from number begin on. The parts before it have so many loads. */
template <typename T>
static __device__ __forceinline__ struct run_part<T> make_part(
	const T *run, uint64_t n, uint64_t begin, uint32_t count, uint32_t loads_before) {
	constexpr uint32_t items = items_of_load<T>::n;
	const uint32_t skipped = (uint32_t)((uintptr_t)(run + begin) / sizeof(T) % items);
	struct run_part<T> p;

	p.run = run;
	p.n = (int64_t)n;
	p.first = (int64_t)begin - skipped;
	p.loads = count > 0 ? (skipped + count + items - 1) / items : 0;
	p.at = loads_before * items + skipped;
	return p;
}

/* Do the loads of a part read items of its run only? */
template <typename T>
static __device__ __forceinline__ bool is_inside(const struct run_part<T> &p)
{
	return p.loads == 0 ||
	       (p.first >= 0 && p.first + (int64_t)p.loads * items_of_load<T>::n <= p.n);
}

/* A load that may begin before the run or end after it. Items outside are 0. */
template <typename T>
static __device__ uint4 load_at_edge(const struct run_part<T> &p, uint32_t number)
{
	const int64_t first = p.first + (int64_t)number * items_of_load<T>::n;
	uint4 v = {0, 0, 0, 0};

	for (uint32_t i = 0; i < items_of_load<T>::n; i++)
		if (first + i >= 0 && first + i < p.n)
			((T *)(void *)&v)[i] = p.run[first + i];
	return v;
}

/* At most TILE items of runs a and b, for a block of BLOCK threads. */
template <typename T, uint32_t TILE, uint32_t BLOCK> struct tile_loads {
	static constexpr uint32_t most = TILE / items_of_load<T>::n + 3;
	static constexpr uint32_t slots = most * items_of_load<T>::n;
	static constexpr uint32_t of_thread = (most + BLOCK - 1) / BLOCK;

	struct run_part<T> a, b; /* at least one item in all */
	uint4 v[of_thread];      /* loads number threadIdx.x + k * BLOCK */
};

/* Threads without a load repeat the last one of the tile, so that no load of a tile inside the runs has a condition. */
template <typename T, uint32_t TILE, uint32_t BLOCK>
static __device__ __forceinline__ void begin_loads(struct tile_loads<T, TILE, BLOCK> *l)
{
	constexpr uint32_t items = items_of_load<T>::n;
	const uint32_t of_a = l->a.loads, last = of_a + l->b.loads - 1;
	const int64_t a_first = l->a.first, b_first = l->b.first - (int64_t)of_a * items;
	const bool inside = is_inside(l->a) && is_inside(l->b);

	SL_UNROLL
	for (uint32_t k = 0; inside && k < l->of_thread; k++) {
		const uint32_t at = threadIdx.x + k * BLOCK, number = at < last ? at : last;
		const T *run = number < of_a ? l->a.run : l->b.run;
		const int64_t first = number < of_a ? a_first : b_first;

		l->v[k] = *(const uint4 *)(const void *)(run + (first + number * items));
	}
	SL_UNROLL
	for (uint32_t k = 0; !inside && k < l->of_thread; k++) {
		const uint32_t at = threadIdx.x + k * BLOCK, number = at < last ? at : last;

		l->v[k] = number < of_a ? load_at_edge(l->a, number)
		                        : load_at_edge(l->b, number - of_a);
	}
}

/* slot has tile_loads::slots items, and begins at a multiple of 16 bytes. */
template <typename T, uint32_t TILE, uint32_t BLOCK>
static __device__ __forceinline__ void end_loads(
	const struct tile_loads<T, TILE, BLOCK> *l, T *slot)
{
	SL_UNROLL
	for (uint32_t k = 0; k < l->of_thread; k++) {
		const uint32_t at = threadIdx.x + k * BLOCK;

		if (at < l->a.loads + l->b.loads)
			*(uint4 *)(void *)(slot + at * items_of_load<T>::n) = l->v[k];
	}
}

#endif
