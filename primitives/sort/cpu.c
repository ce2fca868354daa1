/*
 * sort/cpu.c - stable radix sort on one host thread, 8 bits per pass from the least significant
 * digit: the specification of every sort backend.
 *
 * One read of the keys counts the digits of all passes. Each pass then moves keys and indices to
 * the other buffer in the order of its digit; equal digits keep their order, so after the last pass
 * the keys are sorted by all digits. (Knuth, The Art of Computer Programming 3, 5.2.5; Seward,
 * 1954.) A pass in which all keys have the same digit would move nothing and is skipped; the number
 * of remaining passes decides which buffer the first pass writes, so that the last one writes the
 * output.
 *
 * Memory: one read of the keys for the counts, then one read and one write of key and index per
 * pass. Scratch: a second buffer of n pairs and 8 histograms. Limits: n < 2^32, keys of 32 or 64
 * bits.
 */
#include "primitives/primitives.h"

#include <string.h>

/* 8 bits: a pass writes to 256 runs, whose cache lines and pages fit the L2 cache and its TLB. */
enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, PASSES_MAX = 64 / DIGIT_BITS };

struct pair_arrays {
	void *key;
	uint32_t *index; /* NULL: keys only */
};

/* Scratch of one call. */
struct sort_cpu_scratch {
	struct pair_arrays other;  /* n pairs; passes write it and the output in turn */
	uint32_t (*count)[DIGITS]; /* PASSES_MAX histograms, then offsets */
};

static struct sort_cpu_scratch lay_out(
	struct sl_arena *a, uint32_t n, enum sl_type type, bool keys_only)
{
	struct sort_cpu_scratch l = {.other = {NULL, NULL}};

	l.other.key = sl_cut_items(a, n, sl_type_bytes(type));
	if (!keys_only)
		l.other.index = (uint32_t *)sl_cut_items(a, n, sizeof(*l.other.index));
	l.count = (uint32_t(*)[DIGITS])sl_cut_items(a, PASSES_MAX, sizeof(*l.count));
	return l;
}

static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};

	lay_out(&a, shape->n, shape->type, shape->keys_only);
	return a.used;
}

/* type is constant in each loop, so compilers specialise the loop for both types. */
static inline uint64_t key_at(const void *key, enum sl_type type, uint32_t i)
{
	return type == SL_U32 ? ((const uint32_t *)key)[i] : ((const uint64_t *)key)[i];
}

static inline void put_key(void *key, enum sl_type type, uint32_t i, uint64_t value)
{
	if (type == SL_U32)
		((uint32_t *)key)[i] = (uint32_t)value;
	else
		((uint64_t *)key)[i] = value;
}

/* Bit field of the key that a pass sorts by; the last pass may have fewer than DIGIT_BITS bits. */
struct digit {
	uint32_t shift;
	uint32_t mask;
};

static struct digit digit_of(const struct sl_sort_job *job, uint32_t pass)
{
	uint32_t begin = job->begin_bit + pass * DIGIT_BITS;
	uint32_t bits = job->end_bit - begin < DIGIT_BITS ? job->end_bit - begin : DIGIT_BITS;
	struct digit d = {begin, (1u << bits) - 1};

	return d;
}

static inline uint32_t digit_in(uint64_t key, struct digit d)
{
	return (uint32_t)(key >> d.shift) & d.mask;
}

/* Counts the digits of all passes in one read of the keys. */
static void count(const struct sl_sort_job *job, uint32_t (*counts)[DIGITS], uint32_t passes)
{
	struct digit digits[PASSES_MAX];

	for (uint32_t pass = 0; pass < passes; pass++)
		digits[pass] = digit_of(job, pass);
	memset(counts, 0, passes * sizeof(*counts));
	for (uint32_t i = 0; i < job->n; i++) {
		uint64_t key = key_at(job->key, job->type, i);

		for (uint32_t pass = 0; pass < passes; pass++)
			counts[pass][digit_in(key, digits[pass])]++;
	}
}

/* Exclusive scan: turns the counts of one pass into the offset of the first key of each digit. */
static void sum(uint32_t *count)
{
	uint32_t before = 0;

	for (int digit = 0; digit < DIGITS; digit++) {
		uint32_t n = count[digit];

		count[digit] = before;
		before += n;
	}
}

/* One pass: moves each pair to the next offset of its digit. Stable because i ascends. */
static void scatter(struct pair_arrays from, struct pair_arrays to, enum sl_type type, uint32_t n,
	struct digit d, uint32_t *next)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t key = key_at(from.key, type, i);
		uint32_t at = next[digit_in(key, d)]++;

		put_key(to.key, type, at, key);
		if (from.index)
			to.index[at] = from.index[i];
	}
}

/* True if a pass changes the order, that is, if not all keys share the digit of key 0. */
static bool reorders(const struct sl_sort_job *job, const uint32_t *count, struct digit d)
{
	return count[digit_in(key_at(job->key, job->type, 0), d)] < job->n;
}

/* Copies n pairs. */
static void copy(struct pair_arrays from, struct pair_arrays to, enum sl_type type, uint32_t n)
{
	memcpy(to.key, from.key, (size_t)n * sl_type_bytes(type));
	if (from.index)
		memcpy(to.index, from.index, (size_t)n * sizeof(*from.index));
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_arena a = x->scratch;
	struct sort_cpu_scratch l = lay_out(&a, job->n, job->type, !job->index);
	struct pair_arrays from = {job->key, job->index}, output = from;
	uint32_t passes = (job->end_bit - job->begin_bit + DIGIT_BITS - 1) / DIGIT_BITS,
		 passes_left = 0;

	if (job->key_out)
		output = (struct pair_arrays){job->key_out, job->index_out};
	count(job, l.count, passes);
	for (uint32_t pass = 0; pass < passes; pass++)
		passes_left += reorders(job, l.count[pass], digit_of(job, pass));
	if (passes_left % 2 == 1 && !job->key_out)
		passes_left++; /* in place: the first pass must not write the array that it reads */
	for (uint32_t pass = 0; pass < passes; pass++) {
		struct digit d = digit_of(job, pass);
		struct pair_arrays to = passes_left % 2 == 1 ? output : l.other;

		if (!reorders(job, l.count[pass], d))
			continue;
		sum(l.count[pass]);
		scatter(from, to, job->type, job->n, d, l.count[pass]);
		from = to;
		passes_left--;
	}
	if (from.key != output.key)
		copy(from, output, job->type, job->n);
	return SL_OK;
}

const struct sl_backend sl_sort_cpu = {
	.name = "cpu",
	.primitive = SL_SORT,
	.space = SL_HOST,
	.help = "radix sort on one thread, 8 bits per pass; the specification",
	.scratch = scratch,
	.sort = run,
};
