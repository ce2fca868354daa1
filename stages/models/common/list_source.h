/*
 * list_source.h - particles that start where those of a list are.
 *
 * The records are in the data of the rules, with weights turned into the probabilities of an alias
 * table, in an order that the reader of the lists chooses (stages/inputs/list_source.c). Particle i of
 * a run of n records looks at record i modulo n, and takes it with the probability `keep` or else the
 * one that the table has for it. So each history starts with weight 1, and a record is used in
 * proportion to its weight; where all weights are equal, in turn.
 * (Walker, Electron. Lett. 10 (1974) 127; Vose, IEEE Trans. Softw. Eng. 17 (1991) 972.)
 */
#ifndef SL_STAGES_MODELS_COMMON_LIST_SOURCE_H
#define SL_STAGES_MODELS_COMMON_LIST_SOURCE_H

#include "stages/models/common/optics.h"
#include "stages/models/common/rules_data.h"

/* 32 bytes, which a thread of a device reads at once. */
struct sl_list_record {
	float x, y, z, u, v, w, time;
	float keep; /* the probability that the record is taken */
};

/* Blocks of random words that no flight reaches, nor the start of a source with a width. */
#define SL_LIST_CHOICE_BLOCK ((UINT64_C(1) << 32) + 1)
#define SL_LIST_SMEAR_BLOCK  ((UINT64_C(1) << 32) + 2)
#define SL_LIST_TIME_BLOCK   ((UINT64_C(1) << 32) + 3)

SL_HD const struct sl_list_record *sl_list_records(const struct sl_rules_data *data)
{
	return (const struct sl_list_record *)((const uint8_t *)data->at + data->list.offset);
}

/* The record of particle id. The other records of the table are words after all records. */
SL_HD_PART sl_u32 sl_list_choose(const struct sl_rules_data *data, uint64_t seed, sl_u64 id)
{
	sl_u32 k = sl_remainder(id, data->list.n);

	if (data->list.weighted) {
		const struct sl_list_record *record = sl_list_records(data);
		const float *other = (const float *)(record + data->list.n);
		struct sl_words random = sl_draw(seed, id, sl_all_u64(SL_LIST_CHOICE_BLOCK));

		k = sl_select_u32(sl_uniform(random.at[0]) <= SL_MEMBER(record, k, keep), k,
			sl_bits(SL_ITEM(other, k)));
	}
	return k;
}

/*
 * Moves p across its direction, and then turns the direction, by normally distributed distances and
 * angles (Box and Muller, 1958).
 */
SL_HD_PART void sl_list_smear(const struct sl_rules_data *data, uint64_t seed, sl_lanes *p)
{
	struct sl_words random = sl_draw(seed, p->id, sl_all_u64(SL_LIST_SMEAR_BLOCK));
	sl_f32 off = data->list.position * sqrtf(-2.0f * sl_log(sl_uniform(random.at[0])));
	sl_f32 turn = data->list.direction * sqrtf(-2.0f * sl_log(sl_uniform(random.at[2])));
	sl_lanes q = *p;
	sl_f32 sine, cosine;

	sl_deflect(&q, p->u, p->v, p->w, off, sl_all(0.0f), 2.0f * sl_uniform(random.at[1]));
	p->x += q.u;
	p->y += q.v;
	p->z += q.w;
	if (data->list.direction > 0.0f) {
		sl_sincospi(turn, &sine, &cosine);
		sl_deflect(p, p->u, p->v, p->w, sine, cosine, 2.0f * sl_uniform(random.at[3]));
		sl_set_direction(p, p->u, p->v, p->w);
	}
}

/* A normally distributed time, for particle id. */
SL_HD_PART sl_f32 sl_list_delay(const struct sl_rules_data *data, uint64_t seed, sl_u64 id)
{
	struct sl_words random = sl_draw(seed, id, sl_all_u64(SL_LIST_TIME_BLOCK));
	sl_f32 length = data->list.time * sqrtf(-2.0f * sl_log(sl_uniform(random.at[0])));
	sl_f32 sine, cosine;

	sl_sincospi(2.0f * sl_uniform(random.at[1]), &sine, &cosine);
	return length * cosine;
}

/* Starts p, whose id is set, where the list says. */
SL_HD_PART void sl_list_start(const struct sl_rules_data *data, uint64_t seed, sl_lanes *p)
{
	const struct sl_list_record *record = sl_list_records(data);
	sl_u32 k = sl_list_choose(data, seed, p->id);

	p->x = SL_MEMBER(record, k, x);
	p->y = SL_MEMBER(record, k, y);
	p->z = SL_MEMBER(record, k, z);
	p->u = SL_MEMBER(record, k, u);
	p->v = SL_MEMBER(record, k, v);
	p->w = SL_MEMBER(record, k, w);
	p->time = SL_MEMBER(record, k, time);
	if (data->list.position > 0.0f || data->list.direction > 0.0f)
		sl_list_smear(data, seed, p);
	if (data->list.time > 0.0f)
		p->time += sl_list_delay(data, seed, p->id);
}

#endif
