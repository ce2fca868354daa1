/*
 * sort/cpu.c - the specification: least significant digit first, 8 bits a pass.
 *
 * One read counts the digits of all passes. Then each pass moves keys and indices to the other
 * buffer, in order of its digit and, for equal digits, in the order they had: so the last pass
 * leaves them sorted by all digits. A pass whose digit is the same in every key would move nothing
 * and is left out; how many are left tells into which buffer the first must write for the last to
 * end in the output. (Knuth, The art of computer programming 3, 5.2.5; Seward, 1954.)
 *
 * Reads a key once for the counts, then reads and writes key and index once a pass.
 */
#include "primitives/primitives.h"

#include <string.h>

/* 8: the 256 open ends of a pass, two cache lines each, just fit a second-level cache and TLB. */
enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, PASSES_MAX = 64 / DIGIT_BITS };

struct pairs {
	void *key;
	uint32_t *index; /* NULL: keys alone */
};

struct layout {
	struct pairs other;        /* n: what a pass writes to and the next one reads */
	uint32_t (*count)[DIGITS]; /* PASSES_MAX: how often, then where */
};

static struct layout lay_out(struct sl_arena *a, uint32_t n, enum sl_type type, bool keys_only)
{
	struct layout l = {.other = {NULL, NULL}};

	l.other.key = sl_cut_items(a, n, type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t));
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

/* type is the same throughout a loop: compilers make two loops of it. */
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

/* The bits that pass looks at. The last pass may have fewer than DIGIT_BITS. */
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

/* Counts become the place where the first key of each digit goes. */
static void sum(uint32_t *count)
{
	uint32_t before = 0;

	for (int digit = 0; digit < DIGITS; digit++) {
		uint32_t n = count[digit];

		count[digit] = before;
		before += n;
	}
}

static void scatter(struct pairs from, struct pairs to, enum sl_type type, uint32_t n,
	struct digit d, uint32_t *place)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t key = key_at(from.key, type, i);
		uint32_t at = place[digit_in(key, d)]++;

		put_key(to.key, type, at, key);
		if (from.index)
			to.index[at] = from.index[i];
	}
}

/* A pass that has something to move: not all keys have the digit of this one. */
static bool reorders(const struct sl_sort_job *job, const uint32_t *count, struct digit d)
{
	return count[digit_in(key_at(job->key, job->type, 0), d)] < job->n;
}

static void copy(struct pairs from, struct pairs to, enum sl_type type, uint32_t n)
{
	memcpy(to.key, from.key,
		(size_t)n * (type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t)));
	if (from.index)
		memcpy(to.index, from.index, (size_t)n * sizeof(*from.index));
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_arena a = x->scratch;
	struct layout l = lay_out(&a, job->n, job->type, !job->index);
	struct pairs from = {job->key, job->index}, output = from;
	uint32_t passes = (job->end_bit - job->begin_bit + DIGIT_BITS - 1) / DIGIT_BITS,
		 passes_left = 0;

	if (job->key_out)
		output = (struct pairs){job->key_out, job->index_out};
	count(job, l.count, passes);
	for (uint32_t pass = 0; pass < passes; pass++)
		passes_left += reorders(job, l.count[pass], digit_of(job, pass));
	if (passes_left % 2 == 1 && !job->key_out)
		passes_left++; /* in place: the first cannot write where it reads */
	for (uint32_t pass = 0; pass < passes; pass++) {
		struct digit d = digit_of(job, pass);
		struct pairs to = passes_left % 2 == 1 ? output : l.other;

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
	.help = "radix sort, 8 bits a pass from the least significant, the specification",
	.scratch = scratch,
	.sort = run,
};
