/*
 * lanes_simd.h - the types and functions of lanes.h as SIMD vectors, by the vector extensions of
 * gcc and clang. What these do not express is written with intrinsics, for
 *
 *	SL_SIMD_LANES = 16   x86-64-v4 (AVX-512)
 *	SL_SIMD_LANES = 8    x86-64-v3 (AVX2, FMA)
 *	SL_SIMD_LANES = 4    AArch64 (NEON)
 *
 * A mask has all bits of a lane set or clear. Functions that also accept scalars are macros that
 * select by the type of an argument, as those of tgmath.h do.
 */
#ifndef SL_STAGES_PARTICLE_LANES_SIMD_H
#define SL_STAGES_PARTICLE_LANES_SIMD_H

#ifdef __aarch64__
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif

#define SL_VECTOR(bytes) __attribute__((vector_size(bytes)))

typedef float sl_f32 SL_VECTOR(4 * SL_SIMD_LANES);
typedef uint32_t sl_u32 SL_VECTOR(4 * SL_SIMD_LANES);
typedef int32_t sl_i32 SL_VECTOR(4 * SL_SIMD_LANES);
typedef uint8_t sl_u8 SL_VECTOR(SL_SIMD_LANES);
typedef sl_i32 sl_mask;

typedef struct {
	sl_u32 low, high; /* halves of the numbers */
} sl_u64;

/* The types of a column in lanes: fate is widened to 32 bits. */
#define SL_LANES_OF_float    sl_f32
#define SL_LANES_OF_uint8_t  sl_u32
#define SL_LANES_OF_uint32_t sl_u32
#define SL_LANES_OF_int32_t  sl_i32
#define SL_LANES_OF_uint64_t sl_u64

typedef struct {
#define COLUMN(name, type, unit, record, component, help) SL_LANES_OF_##type name;
#include "stages/particle/columns.def"
#undef COLUMN
} sl_lanes;

/* --- scalars in each lane --------------------------------------------------------------------- */

/* x - 0 is x for every x, also for -0. */
static inline sl_f32 sl_all(float x)
{
	return x - (sl_f32){0};
}

static inline sl_u32 sl_all_u32(uint32_t x)
{
	return x + (sl_u32){0};
}

static inline sl_u64 sl_all_u64(uint64_t x)
{
	return (sl_u64){sl_all_u32((uint32_t)x), sl_all_u32((uint32_t)(x >> 32))};
}

static inline sl_mask sl_all_mask(bool x)
{
	return (sl_mask){0} - (int32_t)x;
}

static inline sl_u32 sl_all_fate(enum sl_fate x)
{
	return sl_all_u32((uint32_t)x);
}

/* x as a value of the type of other: in each lane if other is an sl_f32. */
#define SL_AS(other, x) ((x) - _Generic((other), sl_f32 : (sl_f32){0}, default : 0.0f))

/* --- intrinsics ------------------------------------------------------------------------------- */

/* Half as many lanes of 64 bits. */
typedef uint64_t sl_pairs SL_VECTOR(4 * SL_SIMD_LANES);

#if SL_SIMD_LANES == 16
#define SL_FMA(a, b, c)       ((sl_f32)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define SL_SQRT(x)            ((sl_f32)_mm512_sqrt_ps((__m512)(x)))
#define SL_MASK_BITS(m)       ((uint32_t)_mm512_movepi32_mask((__m512i)(m)))
#define SL_GATHER(base, i)    ((sl_f32)_mm512_i32gather_ps((__m512i)(i), (base), 4))
#define SL_MULTIPLY_LOW(a, b) ((sl_pairs)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define SL_LOAD_BYTES(at)     ((sl_u32)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(at))))
#elif SL_SIMD_LANES == 8
#define SL_FMA(a, b, c)       ((sl_f32)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define SL_SQRT(x)            ((sl_f32)_mm256_sqrt_ps((__m256)(x)))
#define SL_MASK_BITS(m)       ((uint32_t)_mm256_movemask_ps((__m256)(m)))
#define SL_GATHER(base, i)    ((sl_f32)_mm256_i32gather_ps((base), (__m256i)(i), 4))
#define SL_MULTIPLY_LOW(a, b) ((sl_pairs)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define SL_LOAD_BYTES(at)     ((sl_u32)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(at))))
#else
#define SL_FMA(a, b, c) ((sl_f32)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define SL_SQRT(x)      ((sl_f32)vsqrtq_f32((float32x4_t)(x)))
#define SL_MASK_BITS(m) vaddvq_u32((uint32x4_t)(m) & (uint32x4_t){1, 2, 4, 8})
#define SL_GATHER(base, i) \
	((sl_f32){(base)[(i)[0]], (base)[(i)[1]], (base)[(i)[2]], (base)[(i)[3]]})
#define SL_MULTIPLY_LOW(a, b) \
	((sl_pairs)vmull_u32(vmovn_u64((uint64x2_t)(a)), vmovn_u64((uint64x2_t)(b))))
#define SL_LOAD_BYTES(at) ((sl_u32){(at)[0], (at)[1], (at)[2], (at)[3]})
#endif

/* --- functions -------------------------------------------------------------------------------- */

static inline sl_f32 sl_fma_lanes(sl_f32 a, sl_f32 b, sl_f32 c)
{
	return SL_FMA(a, b, c);
}

static inline float sl_fma_scalar(float a, float b, float c)
{
	return fmaf(a, b, c);
}

static inline sl_f32 sl_sqrt_lanes(sl_f32 x)
{
	return SL_SQRT(x);
}

static inline float sl_sqrt_scalar(float x)
{
	return sqrtf(x);
}

static inline sl_f32 sl_abs_lanes(sl_f32 x)
{
	return (sl_f32)((sl_u32)x & 0x7fffffffu);
}

static inline float sl_abs_scalar(float x)
{
	return fabsf(x);
}

static inline float sl_float_scalar(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline sl_f32 sl_float_lanes(sl_u32 bits)
{
	return (sl_f32)bits;
}

static inline sl_u32 sl_bits(sl_f32 x)
{
	return (sl_u32)x;
}

/* Products of the low halves of the 64-bit lanes. */
static inline sl_pairs sl_multiply_low(sl_pairs a, sl_pairs b)
{
	return SL_MULTIPLY_LOW(a, b);
}

/* Bit l is set if lane l is. */
static inline uint32_t sl_mask_bits(sl_mask m)
{
	return SL_MASK_BITS(m);
}

/* One of the lanes must be set. */
static inline uint32_t sl_first(sl_mask m, sl_u32 i)
{
	return i[__builtin_ctz(sl_mask_bits(m))];
}

static inline sl_u32 sl_remainder(sl_u64 a, uint64_t n)
{
	sl_u32 remainder;

	for (int l = 0; l < SL_SIMD_LANES; l++)
		remainder[l] = (uint32_t)(((uint64_t)a.high[l] << 32 | a.low[l]) % n);
	return remainder;
}

static inline bool sl_any(sl_mask m)
{
	return sl_mask_bits(m) != 0;
}

static inline sl_mask sl_not(sl_mask m)
{
	return ~m;
}

static inline sl_u32 sl_one_if(sl_mask m)
{
	return (sl_u32)m & 1;
}

static inline sl_u32 sl_low(sl_u64 a)
{
	return a.low;
}

static inline sl_u32 sl_high(sl_u64 a)
{
	return a.high;
}

/* n + i */
static inline sl_u64 sl_sum(uint64_t n, sl_u32 i)
{
	sl_u32 low = i + (uint32_t)n;

	return (sl_u64){low, sl_one_if(low < i) + (uint32_t)(n >> 32)};
}

static inline sl_u32 sl_select_u32_lanes(sl_mask m, sl_u32 a, sl_u32 b)
{
	return ((sl_u32)m & a) | (~(sl_u32)m & b);
}

static inline sl_f32 sl_select_lanes(sl_mask m, sl_f32 a, sl_f32 b)
{
	return (sl_f32)sl_select_u32_lanes(m, (sl_u32)a, (sl_u32)b);
}

static inline sl_f32 sl_f32_of_u32(sl_u32 i)
{
	return __builtin_convertvector(i, sl_f32);
}

static inline sl_f32 sl_f32_of_i32(sl_i32 i)
{
	return __builtin_convertvector(i, sl_f32);
}

static inline sl_u32 sl_u32_of(sl_f32 x)
{
	return (sl_u32) __builtin_convertvector(x, sl_i32);
}

/* base[i * stride] */
static inline sl_f32 sl_gather(const float *base, uint32_t stride, sl_u32 i)
{
	i *= stride;
	return SL_GATHER(base, i);
}

static inline sl_u32 sl_gather_bytes(const uint8_t *base, sl_u32 i)
{
	sl_u32 bytes;

	for (int l = 0; l < SL_SIMD_LANES; l++)
		bytes[l] = base[i[l]];
	return bytes;
}

/* a, b, c or d as i is 0, 1, 2 or 3. */
static inline sl_f32 sl_among(sl_u32 i, float a, float b, float c, float d)
{
	sl_f32 x = sl_select_lanes(i >= 1, sl_all(b), sl_all(a));

	x = sl_select_lanes(i >= 2, sl_all(c), x);
	return sl_select_lanes(i >= 3, sl_all(d), x);
}

#undef fmaf
#undef sqrtf
#undef fabsf
#define fmaf(a, b, c)                    \
	_Generic((a) + (b) + (c), sl_f32 \
		 : sl_fma_lanes, default \
		 : sl_fma_scalar)(       \
		SL_AS((a) + (b) + (c), a), SL_AS((a) + (b) + (c), b), SL_AS((a) + (b) + (c), c))
#define sqrtf(x)                _Generic((x), sl_f32 : sl_sqrt_lanes, default : sl_sqrt_scalar)(x)
#define fabsf(x)                _Generic((x), sl_f32 : sl_abs_lanes, default : sl_abs_scalar)(x)
#define sl_float(bits)          _Generic((bits), sl_u32 : sl_float_lanes, default : sl_float_scalar)(bits)
#define sl_select(m, a, b)      sl_select_lanes(m, SL_AS((sl_f32){0}, a), SL_AS((sl_f32){0}, b))
#define sl_select_u32(m, a, b)  sl_select_u32_lanes(m, (a) + (sl_u32){0}, (b) + (sl_u32){0})
#define sl_select_fate(m, a, b) sl_select_u32(m, a, b)
#define sl_f32_of(i)            _Generic((i), sl_u32 : sl_f32_of_u32, sl_i32 : sl_f32_of_i32)(i)

#define SL_ITEM(array, i) sl_gather((array), 1, i)
#define SL_BYTE           sl_gather_bytes
#define SL_MEMBER(array, i, name) \
	sl_gather(&(array)[0].name, (uint32_t)(sizeof((array)[0]) / sizeof(float)), i)

#define SL_MEMBER_FEW(array, i, name) \
	sl_among(i, (array)[0].name, (array)[1].name, (array)[2].name, (array)[3].name)

/* --- particles -------------------------------------------------------------------------------- */

#define SL_ASSIGN_IF_float(m, to, from)    to = sl_select_lanes(m, from, to)
#define SL_ASSIGN_IF_uint8_t(m, to, from)  to = sl_select_u32_lanes(m, from, to)
#define SL_ASSIGN_IF_uint32_t(m, to, from) to = sl_select_u32_lanes(m, from, to)
#define SL_ASSIGN_IF_int32_t(m, to, from) \
	to = (sl_i32)sl_select_u32_lanes(m, (sl_u32)from, (sl_u32)to)
#define SL_ASSIGN_IF_uint64_t(m, to, from)                  \
	(to.low = sl_select_u32_lanes(m, from.low, to.low), \
		to.high = sl_select_u32_lanes(m, from.high, to.high))

/* Assigns *q to *p in the lanes in which m is true. */
static inline void sl_assign_if(sl_mask m, sl_lanes *p, const sl_lanes *q)
{
#define COLUMN(name, type, unit, record, component, help) SL_ASSIGN_IF_##type(m, p->name, q->name);
#include "stages/particle/columns.def"
#undef COLUMN
}

/*
 * The same for a *q that differs from *p only in the columns of set, a constant. If all columns of
 * q are read, gcc copies the whole struct of 2 KB in memory; of some columns it makes registers.
 */
SL_HD_PART void sl_assign_some_if(sl_column_set set, sl_mask m, sl_lanes *p, const sl_lanes *q)
{
#define COLUMN(name, type, unit, record, component, help) \
	if (SL_HAS(set, SL_COLUMN_##name))                \
		SL_ASSIGN_IF_##type(m, p->name, q->name);
#include "stages/particle/columns.def"
#undef COLUMN
}

#endif
