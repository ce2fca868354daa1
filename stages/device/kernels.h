/*
 * kernels.h - the stages' kernels, once for CUDA devices and once for the emulated one.
 *
 * Each call queues one stage's own work on a stream and returns. The batch's pointers are the
 * device's. The rules are those of the host's loops, compiled a second time: the same bits.
 */
#ifndef SL_STAGES_DEVICE_KERNELS_H
#define SL_STAGES_DEVICE_KERNELS_H

#include "primitives/base/arena.h"
#include "primitives/base/device.h"
#include "stages/batch/batch.h"
#include "stages/selection/histogram.h"
#include "stages/selection/condition.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/selection/key.h"
#include "stages/models/model.h"

SL_C_BEGIN

/* What the device counts of a batch, in one block: copied to the host in one piece. */
struct sl_batch_counters {
	struct sl_tally tally;
	uint64_t digest[SL_COLUMN_COUNT];
	uint64_t alive; /* behind the last round */
	uint32_t n_survivors;
};

/* The sums of tallies by bins stand behind it; bytes of both. */
static inline uint64_t *sl_batch_counters_histogram(struct sl_batch_counters *c)
{
	return (uint64_t *)(void *)(c + 1);
}

static inline size_t sl_batch_counters_bytes(const struct sl_histogram_set *b)
{
	return sizeof(struct sl_batch_counters) + sl_histogram_words(b) * sizeof(uint64_t);
}

/* What is found of what was pressed; the bytes of each stream stand behind it, as size_t. */
struct sl_pack_size_header {
	uint64_t digest; /* of all bytes, see sl_digest_bytes() */
	size_t used;     /* all bytes */
	/* Of x, y, z: the largest of all keys turned over, and of all keys; 0: there is no number.
	 */
	uint32_t below[3], above[3];
};

/* What the fused kernels are told of a recipe. */
struct sl_fused {
	enum sl_model_number model;
	const void *rules; /* its struct sl_NAME */
	uint64_t seed;
	const uint64_t *first_id; /* of the batch: on the device, where it may change while the rest
	                             of this is part of a graph */
	uint32_t keep;            /* set of fates */
	const struct sl_condition *condition;
	uint32_t n_fields;               /* of the key; 0: there is none */
	const struct sl_key_rule *field; /* those */
	bool narrow;                     /* keys are u32, else u64 */
	uint32_t metadata; /* set of columns in a record (packed_record.h); of a model not remade */
	const struct sl_histogram_set *bins;
	float weight_scale; /* see recipe.h */
	bool padded; /* the sieve puts the largest key there is behind those of the survivors, up to
	                one a particle: for a sort that does not know how many they are */
};

struct sl_kernels {
	/* Makes the particles of b by the rules of a model (its struct sl_NAME). */
	enum sl_status (*generate)(enum sl_model_number model, const void *rules, uint64_t seed,
		const struct sl_batch *b, sl_stream s);

	/*
	 * Moves b->living by those rules. Unless alive is NULL, sets b->keep for each, and adds to
	 * alive how many are so behind it.
	 */
	enum sl_status (*advance)(enum sl_model_number model, const void *rules, uint64_t seed,
		const struct sl_batch *b, uint64_t *alive, sl_stream s);

	/* The living that b->index names, to->n, in that order and with their places: to *to. */
	enum sl_status (*move)(
		const struct sl_batch *b, const struct sl_active_set *to, sl_stream s);

	/*
	 * Gives the fate dropped to those that do not meet the condition, sets b->keep and adds to
	 * the tally. Of particles that are not weighted the weight is counted as 1, of others times
	 * the scale (recipe.h).
	 */
	enum sl_status (*mark)(uint32_t keep, const struct sl_condition *condition, bool weighted,
		float weight_scale, const struct sl_batch *b, struct sl_tally *tally, sl_stream s);

	/* Adds to the sums of tallies by bins, once fates are known. */
	enum sl_status (*bins)(const struct sl_histogram_set *bins, float weight_scale,
		const struct sl_batch *b, uint64_t *sum, sl_stream s);

	/* Packs n fields of each survivor into b->key: u32 when narrow, else u64. */
	enum sl_status (*key)(const struct sl_key_rule *field, uint32_t n, bool narrow,
		const struct sl_batch *b, sl_stream s);

	/*
	 * Gathers the columns of b->table and adds to their digests. A constant column, whose data
	 * is on the host, is digested alone.
	 */
	enum sl_status (*gather)(
		const struct sl_batch *b, uint64_t digest[SL_COLUMN_COUNT], sl_stream s);

	/*
	 * Fused: makes all particles of b and moves them to their ends; sets b->key, b->index and
	 * b->record of the survivors, in the order of ids, and their number; adds to the tally,
	 * and to the sums of tallies by bins behind the census.
	 * The index is the number in the batch; of a model not remade, that of the record.
	 * Scratch has been set to 0.
	 */
	enum sl_status (*select)(const struct sl_fused *f, const struct sl_batch *b,
		struct sl_batch_counters *counters, struct sl_arena scratch, sl_stream s);
	size_t (*sieve_scratch)(const struct sl_fused *f, uint32_t n);

	/*
	 * Fused: what gather does, all columns in one, from b->index and the ids or b->record. How
	 * many rows there are is read on the device; b->n_survivors is as many at least.
	 */
	enum sl_status (*rows)(const struct sl_fused *f, const struct sl_batch *b,
		struct sl_batch_counters *counters, sl_stream s);

	/*
	 * The table's rows as records, n > 0 of them, to words: as many bytes as *used is set to,
	 * if it is not NULL.
	 */
	enum sl_status (*records)(const struct sl_table *t, const struct sl_mcpl_record *r,
		uint32_t n, uint32_t *words, size_t *used, sl_stream s);

	/* A column of n > 0 times a value of 1, 4 or 8 bytes, which is on the host: whole words. */
	enum sl_status (*fill)(
		const void *value, uint32_t bytes, uint32_t n, uint64_t *words, sl_stream s);

	/*
	 * Of what is pressed (pack.h): the least and the greatest position of b->table, into a
	 * sheet of zeros; and the digest of the bytes at out, so many as the sheet says, most at
	 * most.
	 */
	enum sl_status (*bounds)(
		const struct sl_batch *b, struct sl_pack_size_header *sheet, sl_stream s);
	enum sl_status (*weigh)(
		const uint8_t *out, size_t most, struct sl_pack_size_header *sheet, sl_stream s);
};

/*
 * Each is made of eleven files: generate.cu to write.cu, rounds.cu, histogram.cu, select.cu, gather_rows.cu,
 * mcpl_pack.cu and pack.cu.
 */
extern const struct sl_kernels sl_kernels_cuda, sl_kernels_emulated;

/* Those of the device in use; NULL when this build has none for it. */
const struct sl_kernels *sl_kernels_find(void);

/* The functions of the table, by file; each also with _emulated behind its name. */
#define SL_QUEUES(suffix)                                                                          \
	enum sl_status sl_queue_generate##suffix(enum sl_model_number model, const void *rules,    \
		uint64_t seed, const struct sl_batch *b, sl_stream s);                             \
	enum sl_status sl_queue_advance##suffix(enum sl_model_number model, const void *rules,     \
		uint64_t seed, const struct sl_batch *b, uint64_t *alive, sl_stream s);            \
	enum sl_status sl_queue_move##suffix(                                                      \
		const struct sl_batch *b, const struct sl_active_set *to, sl_stream s);            \
	enum sl_status sl_queue_mark##suffix(uint32_t keep, const struct sl_condition *condition,  \
		bool weighted, float weight_scale, const struct sl_batch *b,                       \
		struct sl_tally *tally, sl_stream s);                                              \
	enum sl_status sl_queue_histograms##suffix(const struct sl_histogram_set *bins,            \
		float weight_scale, const struct sl_batch *b, uint64_t *sum, sl_stream s);         \
	enum sl_status sl_queue_key##suffix(const struct sl_key_rule *field, uint32_t n,           \
		bool narrow, const struct sl_batch *b, sl_stream s);                               \
	enum sl_status sl_queue_gather##suffix(                                                    \
		const struct sl_batch *b, uint64_t digest[SL_COLUMN_COUNT], sl_stream s);          \
	enum sl_status sl_queue_select##suffix(const struct sl_fused *f, const struct sl_batch *b, \
		struct sl_batch_counters *counters, struct sl_arena scratch, sl_stream s);         \
	size_t sl_queue_select_scratch##suffix(const struct sl_fused *f, uint32_t n);              \
	enum sl_status sl_queue_gather_rows##suffix(const struct sl_fused *f,                      \
		const struct sl_batch *b, struct sl_batch_counters *counters, sl_stream s);        \
	enum sl_status sl_queue_records##suffix(const struct sl_table *t,                          \
		const struct sl_mcpl_record *r, uint32_t n, uint32_t *words, size_t *used,         \
		sl_stream s);                                                                      \
	enum sl_status sl_queue_fill##suffix(                                                      \
		const void *value, uint32_t bytes, uint32_t n, uint64_t *words, sl_stream s);      \
	enum sl_status sl_queue_bounds##suffix(                                                    \
		const struct sl_batch *b, struct sl_pack_size_header *sheet, sl_stream s);         \
	enum sl_status sl_queue_weigh##suffix(                                                     \
		const uint8_t *out, size_t most, struct sl_pack_size_header *sheet, sl_stream s);
SL_QUEUES()
SL_QUEUES(_emulated)

SL_C_END

#endif
