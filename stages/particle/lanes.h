/*
 * lanes.h - the types and functions in which rules are written, so that one text computes one
 * particle, or one particle in each lane of a SIMD vector.
 *
 * With SL_SIMD_LANES = 1, the default, a value is a scalar. The host loops define SL_SIMD_LANES as
 * 4, 8 or 16 before they include the rules (lanes_simd.h). A value is then a vector of that many
 * lanes, and an operation does in each lane exactly what it does to a scalar, so that the bits are
 * the same.
 *
 * The lanes of a vector may take different branches. So a rule computes masks, branches with
 * sl_any() where a branch saves work, and merges the result of the branch into the lanes whose mask
 * is set:
 *
 *	sl_mask hits = distance >= 0.0f;
 *
 *	if (sl_any(hits)) {
 *		sl_lanes q = *p;
 *
 *		sl_fly(&q, distance, sl_all(r->slowness));
 *		sl_assign_if(hits, p, &q);
 *	}
 *
 * For a scalar this is an ordinary branch: sl_any(hits) is hits, which is known to be true inside.
 * Conditions on the parameters of a model are the same in all lanes and need no mask.
 *
 *	sl_f32, sl_u32, sl_i32      a float, uint32_t or int32_t in each lane
 *	sl_u64                      a uint64_t in each lane: an id, or the number of a block of words
 *	sl_mask                     true or false in each lane; &, | and sl_not() combine masks
 *	sl_lanes                    a struct sl_particle in each lane
 *	sl_all(x)                   the float x in each lane; also sl_all_u32(), sl_all_u64(),
 *	                            sl_all_mask(), and sl_all_fate() for the column fate
 *	sl_select(m, a, b)          a where m is true, else b: sl_f32
 *	sl_select_u32(m, a, b)      the same for sl_u32, and sl_select_fate() for the column fate
 *	sl_any(m)                   whether m is true in any lane
 *	sl_one_if(m)                1 where m is true, else 0: sl_u32
 *	sl_f32_of(i)                an sl_u32 or sl_i32, rounded to a float
 *	sl_u32_of(x)                x without its fraction, where 0 <= x < 2^31
 *	sl_float(bits), sl_bits(x)  the float with the given bits, and its inverse
 *	sl_low(a), sl_high(a)       the halves of an sl_u64
 *	sl_sum(n, i)                n + i for a scalar n and an sl_u32 i: sl_u64
 *	sl_remainder(a, n)          a % n for a scalar n below 2^32: sl_u32
 *	sl_first(m, i)              the value of the sl_u32 i in the first lane in which m is true
 *	SL_ITEM(array, i)           array[i] of floats; i is an sl_u32
 *	SL_BYTE(array, i)           array[i] of bytes: sl_u32
 *	SL_MEMBER(array, i, name)   array[i].name, a float; SL_MEMBER_FEW() if i is below SL_FEW
 *	sl_assign_some_if()         sl_assign_if() of some columns, in which alone q differs from p
 *	fmaf, sqrtf, fabsf          as in math.h
 *
 * Operators, and the functions above, combine lanes with scalars. Arguments of other functions must
 * be lanes: sl_all(x).
 */
#ifndef SL_STAGES_PARTICLE_LANES_H
#define SL_STAGES_PARTICLE_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "primitives/base/hd.h"
#include "stages/particle/particle.h"

#ifndef SL_SIMD_LANES
#define SL_SIMD_LANES 1
#endif

/* With vectors, a choice among so many items costs less than a look-up. */
#define SL_FEW (SL_SIMD_LANES > 1 ? 4u : 1u)

#if SL_SIMD_LANES > 1
#include "stages/particle/lanes_simd.h"
#else

typedef float sl_f32;
typedef uint32_t sl_u32;
typedef int32_t sl_i32;
typedef uint64_t sl_u64;
typedef bool sl_mask;
typedef struct sl_particle sl_lanes;

#define sl_all(x)                 (x)
#define sl_all_u32(x)             ((uint32_t)(x))
#define sl_all_u64(x)             ((uint64_t)(x))
#define sl_all_mask(x)            ((bool)(x))
#define sl_all_fate(x)            ((uint8_t)(x))
#define sl_low(a)                 ((uint32_t)(a))
#define sl_high(a)                ((uint32_t)((a) >> 32))
#define sl_sum(n, i)              ((n) + (uint64_t)(i))
#define sl_select(m, a, b)        ((m) ? (a) : (b))
#define sl_select_u32(m, a, b)    ((m) ? (a) : (b))
#define sl_select_fate(m, a, b)   ((m) ? (uint8_t)(a) : (uint8_t)(b))
#define sl_any(m)                 (m)
#define sl_not(m)                 (!(m))
#define sl_one_if(m)              ((uint32_t)(m))
#define sl_f32_of(i)              ((float)(i))
#define sl_u32_of(x)              ((uint32_t)(x))
#define sl_remainder(a, n)        ((uint32_t)((a) % (n)))
#define sl_first(m, i)            (i)
#define SL_ITEM(array, i)         ((array)[i])
#define SL_BYTE(array, i)         ((uint32_t)(array)[i])
#define SL_MEMBER(array, i, name) ((array)[i].name)
#define SL_MEMBER_FEW             SL_MEMBER

/* The float with the given bits. */
SL_HD float sl_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* The bits of a float. */
SL_HD uint32_t sl_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* Assigns *q to *p in the lanes in which m is true. */
SL_HD_PART void sl_assign_if(sl_mask m, sl_lanes *p, const sl_lanes *q)
{
	if (m)
		*p = *q;
}

#define sl_assign_some_if(set, m, p, q) sl_assign_if(m, p, q)

#endif
#endif
