/*
 * packed_record.h - a survivor as one piece: what the fused way carries of it from kernel to kernel, where
 * to make it again would be dear.
 *
 * A record has a word of 32 bits for each column of a set, in order of columns.def; of the id, the
 * only one of 64 bits, the number in the batch. It is filled up to vectors of 16 bytes: memory
 * counts accesses, not bytes, when records are fetched in any order.
 */
#ifndef SL_STAGES_BATCH_PACKED_RECORD_H
#define SL_STAGES_BATCH_PACKED_RECORD_H

#include "stages/particle/math.h"
#include "stages/particle/particle.h"

enum {
	SL_RECORD_VECTOR = 4, /* words */
	SL_RECORD_MAX =
		(SL_COLUMN_COUNT + SL_RECORD_VECTOR - 1) / SL_RECORD_VECTOR * SL_RECORD_VECTOR
};

/* Words of a record with the columns of that set: one vector at least. */
static inline uint32_t sl_record_words(uint32_t set)
{
	uint32_t n = 0;

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		n += SL_HAS(set, c);
	n = n > 0 ? n : 1;
	return (n + SL_RECORD_VECTOR - 1) / SL_RECORD_VECTOR * SL_RECORD_VECTOR;
}

/* Writes p, number i of its batch, which may have columns of all; set is a part of all. */
SL_HD void sl_record_put(
	uint32_t *word, uint32_t all, uint32_t set, uint32_t i, const struct sl_particle *p)
{
#define sl_word_of_float(value)    sl_bits(value)
#define sl_word_of_uint32_t(value) (value)
#define sl_word_of_uint8_t(value)  (value)
#define sl_word_of_int32_t(value)  (uint32_t)(value)
#define sl_word_of_uint64_t(value) i
#define COLUMN(name, type, unit, record, component, help)                   \
	if (SL_HAS(all, SL_COLUMN_##name) && SL_HAS(set, SL_COLUMN_##name)) \
		*word++ = sl_word_of_##type(p->name);
#include "stages/particle/columns.def"
#undef COLUMN
}

/* Reads what sl_record_put() wrote into p, the rest of which stays. */
SL_HD void sl_record_get(
	const uint32_t *word, uint32_t all, uint32_t set, uint64_t first_id, struct sl_particle *p)
{
#define sl_value_of_float(word)    sl_float(word)
#define sl_value_of_uint32_t(word) (word)
#define sl_value_of_uint8_t(word)  (uint8_t)(word)
#define sl_value_of_int32_t(word)  (int32_t)(word)
#define sl_value_of_uint64_t(word) first_id + (word)
#define COLUMN(name, type, unit, record, component, help)                   \
	if (SL_HAS(all, SL_COLUMN_##name) && SL_HAS(set, SL_COLUMN_##name)) \
		p->name = sl_value_of_##type(*word++);
#include "stages/particle/columns.def"
#undef COLUMN
}

#endif
