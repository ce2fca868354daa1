/*
 * keys.h - maps from int32_t and float to unsigned keys that sort in the same order, and back.
 *
 * int32_t: the sign bit is inverted. float, given as its bits: negative values are inverted, others
 * get the sign bit. The order is -NaN < -inf < ... < -0 = +0 < ... < +inf < +NaN; -0 is mapped to
 * +0 so that equal numbers keep their order. Sources: P. Terdiman, Radix sort revisited, 2000; M.
 * Herf, Radix tricks, 2001.
 */
#ifndef SL_PRIMITIVES_KEYS_H
#define SL_PRIMITIVES_KEYS_H

#include <stdint.h>

#include "primitives/base/hd.h"

SL_HD uint32_t sl_key_from_i32(int32_t v)
{
	return (uint32_t)v ^ 0x80000000u;
}

SL_HD int32_t sl_key_to_i32(uint32_t key)
{
	return (int32_t)(key ^ 0x80000000u);
}

SL_HD uint32_t sl_key_from_f32_bits(uint32_t v)
{
	v = v == 0x80000000u ? 0 : v;
	return v & 0x80000000u ? ~v : v | 0x80000000u;
}

SL_HD uint32_t sl_key_to_f32_bits(uint32_t key)
{
	return key & 0x80000000u ? key & 0x7fffffffu : ~key;
}

#endif
