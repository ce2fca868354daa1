/*
 * rules.h - runs the functions that host and device share on both, and compares the results.
 *
 * Each rule maps input words to output words. All compilers must produce the same bits
 * (stages/bits_hash.c).
 *
 * Sign and payload of a NaN result differ between processors, so all NaN results of plain
 * arithmetic count as equal. The functions of math.h must return exactly SL_NAN_BITS.
 */
#ifndef SL_TESTS_CASES_RULES_H
#define SL_TESTS_CASES_RULES_H

#include "primitives/primitives.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/particle/digest.h"
#include "stages/particle/weight.h"
#include "stages/selection/key.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

SL_C_BEGIN

/* Words per item that a rule reads and can write. */
enum { SL_RULE_IN = 8, SL_RULE_OUT = 16 };

enum {
	SL_RULE_SLABS = 28,
	SL_RULE_DETECTORS = 36,
	SL_RULE_CAVITIES = 6,
	SL_RULE_SCENES = 6,
	SL_RULE_FIELDS = 8
};

/* Parameters of the rules, equal for all items. */
struct sl_rule_parameters {
	struct sl_slab slab[SL_RULE_SLABS];
	struct sl_source_detector detector[SL_RULE_DETECTORS];
	struct sl_cavity cavity[SL_RULE_CAVITIES];
	struct sl_rays scene[SL_RULE_SCENES];
	struct sl_key_rule field[SL_RULE_FIELDS]; /* the last of an integer column */
};

/* The rules: RULE(name, words that it writes). */
#define SL_RULES(RULE)            \
	RULE(log, 2)              \
	RULE(sincospi, 4)         \
	RULE(arithmetic, 4)       \
	RULE(draw, 4)             \
	RULE(key_maps, 4)         \
	RULE(key_pack, 2)         \
	RULE(keeps_and_weight, 3) \
	RULE(digest, 6)           \
	RULE(mcpl_single, 13)     \
	RULE(mcpl_double, 16)     \
	RULE(slab, 15)            \
	RULE(slab_paths, 10)      \
	RULE(detector, 15)        \
	RULE(cavity, 15)          \
	RULE(rays, 15)

enum sl_rule {
#define RULE(name, words) SL_RULE_##name,
	SL_RULES(RULE)
#undef RULE
		SL_RULE_COUNT
};

/*
 * Runs every rule on n varied items, on the host and on the current device. Returns SL_CHECK_FAILED
 * and names the first item that differs, unless all words are equal.
 */
enum sl_status sl_rules_agree(uint32_t n);

/* Queues a rule for n items; all pointers are device memory. In rules.cu. */
enum sl_status sl_queue_rule(enum sl_rule rule, const struct sl_rule_parameters *w,
	const uint32_t *in, uint32_t *out, uint32_t n, sl_stream s);
enum sl_status sl_queue_rule_emulated(enum sl_rule rule, const struct sl_rule_parameters *w,
	const uint32_t *in, uint32_t *out, uint32_t n, sl_stream s);

SL_C_END

/* --- words ------------------------------------------------------------------------------------ */

SL_HD uint64_t sl_rule_two(const uint32_t *in)
{
	return (uint64_t)in[1] << 32 | in[0];
}

SL_HD void sl_rule_put_two(uint32_t *out, uint64_t v)
{
	out[0] = (uint32_t)v;
	out[1] = (uint32_t)(v >> 32);
}

SL_HD uint32_t sl_rule_bits(float x)
{
	return x == x ? sl_bits(x) : SL_NAN_BITS;
}

/* Any float for an even word; a value in -1 .. 1, as particles have, for an odd word. */
SL_HD float sl_rule_float(uint32_t word)
{
	return word % 2 == 0 ? sl_float(word) : fmaf(2.0f, sl_uniform(word), -1.0f);
}

SL_HD struct sl_particle sl_rule_particle(const uint32_t *in)
{
	struct sl_particle p = {0};

	p.x = sl_rule_float(in[0]);
	p.y = sl_rule_float(in[1]);
	p.z = sl_rule_float(in[2]);
	p.u = sl_rule_float(in[3]);
	p.v = sl_rule_float(in[4]);
	p.w = sl_rule_float(in[5]);
	p.pixel = in[6];
	p.steps = in[7];
	return p;
}

SL_HD void sl_rule_put_floats(uint32_t *out, const float *at, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = sl_bits(at[i]);
}

SL_HD void sl_rule_put_particle(uint32_t *out, const struct sl_particle *p)
{
	const float floats[] = {p->x, p->y, p->z, p->u, p->v, p->w, p->energy, p->weight, p->time};

	sl_rule_put_two(out, p->id);
	sl_rule_put_floats(out + 2, floats, 9);
	out[11] = p->pixel;
	out[12] = p->steps;
	out[13] = p->collisions;
	out[14] = p->fate;
}

/* Defines a rule: reads the words of in, writes those of out. */
#define SL_RULE(name)                                                                         \
	SL_HD void sl_rule_##name(__attribute__((unused)) const struct sl_rule_parameters *w, \
		const uint32_t *in, uint32_t *out)

/* --- the rules -------------------------------------------------------------------------------- */

/* log of any float, and of the random numbers that models use. */
SL_RULE(log)
{
	out[0] = sl_bits(sl_log(sl_float(in[0])));
	out[1] = sl_bits(sl_log(sl_uniform(in[1])));
}

SL_RULE(sincospi)
{
	float s, c;

	sl_sincospi(sl_float(in[0]), &s, &c);
	out[0] = sl_bits(s);
	out[1] = sl_bits(c);
	sl_sincospi(2.0f * sl_uniform(in[1]), &s, &c);
	out[2] = sl_bits(s);
	out[3] = sl_bits(c);
}

/* The operations that all other rules consist of. */
SL_RULE(arithmetic)
{
	float a = sl_rule_float(in[0]), b = sl_rule_float(in[1]), c = sl_rule_float(in[2]);

	out[0] = sl_rule_bits(fmaf(a, b, c));
	out[1] = sl_rule_bits(a * b + c); /* rounded twice: no fused multiply-add */
	out[2] = sl_rule_bits(a / b);
	out[3] = sl_rule_bits(sqrtf(a));
}

SL_RULE(draw)
{
	uint64_t seed = sl_rule_two(in), id = sl_rule_two(in + 2), k = sl_rule_two(in + 4);
	struct sl_words words = sl_draw(seed, id, k);

	for (int i = 0; i < 4; i++)
		out[i] = words.at[i];
}

SL_RULE(key_maps)
{
	out[0] = sl_key_from_f32_bits(in[0]);
	out[1] = sl_key_to_f32_bits(in[0]);
	out[2] = sl_key_from_i32((int32_t)in[0]);
	out[3] = (uint32_t)sl_key_to_i32(in[0]);
}

SL_RULE(key_pack)
{
	struct sl_particle p = sl_rule_particle(in);
	struct sl_columns c;

#define COLUMN(name, type, unit, record, component, help) c.name = &p.name;
#include "stages/particle/columns.def"
#undef COLUMN
	sl_rule_put_two(out, sl_key_pack(w->field, SL_RULE_FIELDS, &c, 0, sl_rule_two(in)));
}

/* Weights are not negative and below 2^31, see mark.h. */
SL_RULE(keeps_and_weight)
{
	float weight = fabsf(sl_rule_float(in[2]));

	out[0] = sl_has_fate(in[0], (uint8_t)(in[1] % SL_FATE_COUNT));
	sl_rule_put_two(out + 1, sl_fixed_weight(weight < 0x1p31f ? weight : 1.0f));
}

SL_RULE(digest)
{
	uint64_t weight = sl_digest_weight(sl_rule_two(in));

	sl_rule_put_two(out, sl_digest_mix(sl_rule_two(in), sl_rule_two(in + 2)));
	sl_rule_put_two(out + 2, weight);
	sl_rule_put_two(out + 4, sl_digest_item(weight, sl_rule_two(in + 2)));
}

/* A particle of any bits. Direction, energy and time get all pairs of special values. */
SL_HD struct sl_particle sl_rule_row(const uint32_t *in)
{
	struct sl_particle p = sl_rule_particle(in);

	p.u = sl_float(in[0]);
	p.v = sl_float(in[1]);
	p.energy = sl_float(in[1]);
	p.time = sl_float(in[0]);
	p.weight = sl_float(in[2]);
	p.pol_x = sl_float(in[3]);
	p.pol_y = sl_float(in[4]);
	p.pol_z = sl_float(in[5]);
	p.pdg = (int32_t)in[6];
	p.userflags = in[7];
	return p;
}

SL_RULE(mcpl_single)
{
	const struct sl_mcpl_record r = {
		13 * 4, true, true, true, true, SL_COLUMN_userflags, (double)sl_float(SL_NAN_BITS)};
	struct sl_particle p = sl_rule_row(in);

	sl_mcpl_record_put(&r, &p, out);
}

/* For a quarter of the items, all particles have one energy. */
SL_RULE(mcpl_double)
{
	const struct sl_mcpl_record r = {16 * 4, false, false, true, false, SL_COLUMN_COUNT,
		in[7] % 4 ? (double)sl_float(SL_NAN_BITS) : 0.0253};
	struct sl_particle p = sl_rule_row(in);

	sl_mcpl_record_put(&r, &p, out);
}

/*
 * Generates a particle of a model, and advances it by that many steps, or not for every fourth
 * item.
 */
#define SL_RULE_OF_MODEL(rule, model, parameters, number, steps)                              \
	SL_RULE(rule)                                                                         \
	{                                                                                     \
		const struct sl_##model *r = &w->parameters[in[4] % (number)];                \
		uint64_t seed = sl_rule_two(in);                                              \
		struct sl_particle p =                                                        \
			sl_##model##_generate(r, SL_EVERY_COLUMN, seed, sl_rule_two(in + 2)); \
                                                                                              \
		sl_##model##_advance(r, SL_EVERY_COLUMN, seed, &p, in[5] % 4 ? steps : 0);    \
		sl_rule_put_particle(out, &p);                                                \
	}

SL_RULE_OF_MODEL(slab, slab, slab, SL_RULE_SLABS, UINT32_MAX)
SL_RULE_OF_MODEL(detector, source_detector, detector, SL_RULE_DETECTORS, 1)
SL_RULE_OF_MODEL(cavity, cavity, cavity, SL_RULE_CAVITIES, UINT32_MAX)
SL_RULE_OF_MODEL(rays, rays, scene, SL_RULE_SCENES, UINT32_MAX)

SL_RULE(slab_paths)
{
	const struct sl_slab_paths *r =
		(const struct sl_slab_paths *)(const void *)&w->slab[in[4] % SL_RULE_SLABS];
	uint64_t seed = sl_rule_two(in);
	struct sl_particle p =
		sl_slab_paths_generate(r, SL_EVERY_COLUMN, seed, sl_rule_two(in + 2));

	sl_slab_paths_advance(r, SL_EVERY_COLUMN, seed, &p, UINT32_MAX);
	const float floats[] = {
		p.path_1, p.path_2, p.path_3, p.momentum_1, p.momentum_2, p.momentum_3};

	sl_rule_put_floats(out, floats, 3);
	out[3] = p.collisions_1;
	out[4] = p.collisions_2;
	out[5] = p.collisions_3;
	sl_rule_put_floats(out + 6, floats + 3, 3);
	out[9] = p.fate;
}

#endif
