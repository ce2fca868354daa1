/*
 * lanes_columns.h - particles between columns and the lanes of a vector, for the loops of the host.
 */
#ifndef SL_STAGES_PARTICLE_LANES_COLUMNS_H
#define SL_STAGES_PARTICLE_LANES_COLUMNS_H

#include "stages/particle/lanes.h"

#if SL_SIMD_LANES == 1

#define SL_STORE_LANES_uint8_t(to, from, n) (*(to) = (uint8_t)(from), (void)(n))

/* Consecutive numbers from first on. */
static inline sl_u64 sl_count_from(uint64_t first)
{
	return first;
}

/* SL_SIMD_LANES consecutive items of an array. */
static inline sl_u32 sl_load_u32(const uint32_t *at)
{
	return *at;
}

static inline uint32_t sl_mask_bits(sl_mask m)
{
	return m;
}

/* Bit l of a number in lane l. */
static inline sl_u32 sl_bits_of_lanes(uint32_t bits)
{
	return bits & 1;
}

/* The value of lane l. */
#define SL_LANE(v, l) ((void)(l), (v))

static inline void sl_set_u32(sl_u32 *v, uint32_t l, uint32_t x)
{
	(void)l;
	*v = x;
}

/*
 * Loads the particles from i on with the columns of set; others become 0. set is a constant at each
 * call, or that without some.
 */
SL_HD_PART sl_lanes sl_load_lanes(const struct sl_columns *c, sl_column_set set, uint64_t i)
{
	return sl_load(c, set, i);
}

/*
 * Stores particles from i on; n, at least 1, is how many follow in c. set as for sl_load_lanes().
 */
SL_HD_PART void sl_store_lanes(
	const struct sl_columns *c, sl_column_set set, uint64_t i, uint64_t n, const sl_lanes *p)
{
	(void)n;
	sl_store(c, set, i, p);
}

/* The particle of lane l with the columns of set. */
SL_HD_PART struct sl_particle sl_get_lane(const sl_lanes *p, sl_column_set set, uint32_t l)
{
	(void)set, (void)l;
	return *p;
}

/* Sets the columns of set and the id of lane l. */
SL_HD_PART void sl_set_lane(
	sl_lanes *p, sl_column_set set, uint32_t l, const struct sl_particle *from)
{
	(void)set, (void)l;
	*p = *from;
}

#else

static inline sl_u32 sl_load_u32(const uint32_t *at)
{
	sl_u32 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* The number of each lane. */
static inline sl_u32 sl_lane_numbers(void)
{
	static const uint32_t count[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

	return sl_load_u32(count);
}

static inline sl_u64 sl_count_from(uint64_t first)
{
	return sl_sum(first, sl_lane_numbers());
}

static inline sl_u32 sl_bits_of_lanes(uint32_t bits)
{
	return bits >> sl_lane_numbers() & 1;
}

#define SL_LANE(v, l)                    ((v)[l])

static inline void sl_set_u32(sl_u32 *v, uint32_t l, uint32_t x)
{
	(*v)[l] = x;
}

/* What loads and stores a column of each type. */
#define SL_LOAD_LANES_float(to, from)    memcpy(&(to), from, sizeof(to))
#define SL_LOAD_LANES_uint32_t(to, from) memcpy(&(to), from, sizeof(to))
#define SL_LOAD_LANES_int32_t(to, from)  memcpy(&(to), from, sizeof(to))
#define SL_LOAD_LANES_uint64_t(to, from) (void)(to) /* no stored column has this type */
#define SL_LOAD_LANES_uint8_t(to, from)  to = SL_LOAD_BYTES(from)

#define SL_STORE_LANES_float(to, from, n)    memcpy(to, &(from), (n) * sizeof(float))
#define SL_STORE_LANES_uint32_t(to, from, n) memcpy(to, &(from), (n) * sizeof(uint32_t))
#define SL_STORE_LANES_int32_t(to, from, n)  memcpy(to, &(from), (n) * sizeof(int32_t))
#define SL_STORE_LANES_uint64_t(to, from, n) (void)(from)
#define SL_STORE_LANES_uint8_t(to, from, n)                               \
	do {                                                              \
		const sl_u8 bytes = __builtin_convertvector(from, sl_u8); \
                                                                          \
		memcpy(to, &bytes, n);                                    \
	} while (0)

SL_HD_PART sl_lanes sl_load_lanes(const struct sl_columns *c, sl_column_set set, uint64_t i)
{
	sl_lanes p = {0};
#define COLUMN(name, type, unit, record, component, help) \
	if (SL_HAS(set, SL_COLUMN_##name))                \
		SL_LOAD_LANES_##type(p.name, c->name + i);
#include "stages/particle/columns.def"
#undef COLUMN
	return p;
}

SL_HD_PART void sl_store_lanes(
	const struct sl_columns *c, sl_column_set set, uint64_t i, uint64_t n, const sl_lanes *p)
{
#define COLUMN(name, type, unit, record, component, help)                                   \
	if (SL_HAS(set, SL_COLUMN_##name)) {                                                \
		if (n >= SL_SIMD_LANES)                                                     \
			SL_STORE_LANES_##type(c->name + i, p->name, (size_t)SL_SIMD_LANES); \
		else                                                                        \
			SL_STORE_LANES_##type(c->name + i, p->name, (size_t)n);             \
	}
#include "stages/particle/columns.def"
#undef COLUMN
}

#define SL_GET_LANE_float(v, l)    v[l]
#define SL_GET_LANE_uint32_t(v, l) v[l]
#define SL_GET_LANE_int32_t(v, l)  v[l]
#define SL_GET_LANE_uint8_t(v, l)  (uint8_t) v[l]
#define SL_GET_LANE_uint64_t(v, l) ((uint64_t)v.high[l] << 32 | v.low[l])

SL_HD_PART struct sl_particle sl_get_lane(const sl_lanes *p, sl_column_set set, uint32_t l)
{
	struct sl_particle one;
#define COLUMN(name, type, unit, record, component, help) \
	one.name = SL_HAS(set, SL_COLUMN_##name) ? SL_GET_LANE_##type(p->name, l) : (type)0;
#include "stages/particle/columns.def"
#undef COLUMN
	return one;
}

#define SL_SET_LANE_float(v, l, x)    v[l] = x
#define SL_SET_LANE_uint32_t(v, l, x) v[l] = x
#define SL_SET_LANE_int32_t(v, l, x)  v[l] = x
#define SL_SET_LANE_uint8_t(v, l, x)  v[l] = x
#define SL_SET_LANE_uint64_t(v, l, x) v.low[l] = (uint32_t)(x), v.high[l] = (uint32_t)((x) >> 32)

SL_HD_PART void sl_set_lane(
	sl_lanes *p, sl_column_set set, uint32_t l, const struct sl_particle *from)
{
#define COLUMN(name, type, unit, record, component, help)         \
	if (SL_HAS(set | SL_BIT(SL_COLUMN_id), SL_COLUMN_##name)) \
		SL_SET_LANE_##type(p->name, l, from->name);
#include "stages/particle/columns.def"
#undef COLUMN
}

#endif
#endif
