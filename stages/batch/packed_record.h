/*
 * packed_record.h - a survivor as one record, which fused mode passes from kernel to kernel.
 *
 * Models whose particles are expensive to compute again store such a record in the select kernel;
 * the gather kernel reads it. A record has one 32-bit word per column of a set, in order of
 * columns.def. The id, the only column of 64 bits, is stored as the number in the batch. Records
 * are padded to vectors of 16 bytes: they are read in random order, where the number of memory
 * accesses counts, not the number of bytes.
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

/* Words of a record with the columns of a set; at least one vector. */
static inline uint32_t sl_record_words(sl_column_set set)
{
	uint32_t n = 0;

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		n += SL_HAS(set, c);
	n = n > 0 ? n : 1;
	return (n + SL_RECORD_VECTOR - 1) / SL_RECORD_VECTOR * SL_RECORD_VECTOR;
}

/*
 * Writes particle p, number i of its batch, as a record with the columns of set. all are the
 * columns of the model, a constant at each call; set is a subset of it.
 */
SL_HD void sl_record_put(uint32_t *word, sl_column_set all, sl_column_set set, uint32_t i,
	const struct sl_particle *p)
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

/* Reads a record that sl_record_put() wrote into p; the other columns of p stay as they are. */
SL_HD void sl_record_get(const uint32_t *word, sl_column_set all, sl_column_set set,
	uint64_t first_id, struct sl_particle *p)
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
