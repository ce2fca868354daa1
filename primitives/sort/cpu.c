/*
 * sort/cpu.c - stable radix sort on the host, on one thread or several: the specification of every
 * sort backend.
 *
 * Keys that fit a cache are sorted by digits from the least significant one: each pass counts the
 * digits, then moves keys and indices to the other buffer in the order of the digit; equal digits
 * keep their order. (Knuth, The Art of Computer Programming 3, 5.2.5; Seward, 1954.) The digits
 * cover the bits in which keys differ and no others.
 *
 * More keys are divided first by their most significant digit into parts, which are then sorted one
 * by one. So all keys pass through main memory twice, whatever their number of bits. The division
 * collects a cache line of each part, then writes it past the caches (Satish et al., Fast sort on
 * CPUs and GPUs, 2010). Threads divide a chunk each, then take parts: the chunks write each part in
 * their order, so the result is the same for every number of threads.
 *
 * Scratch: a second buffer of n pairs; per thread the counts of a digit and the lines. Limits:
 * n < 2^32, keys of 32 or 64 bits.
 */
#include "primitives/base/hd.h"
#include "primitives/base/jobs.h"
#include "primitives/primitives.h"

#include <stddef.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
	DIGIT_BITS = 12, /* counters of 2^12 digits take half of an L1 cache */
	DIGITS = 1 << DIGIT_BITS,
	FEW_BITS = 8, /* for fewer keys than half of that: fewer counters to add up */
	/* Keys that are in order by so many more bits than number them are sorted by insertion:
	   then one in 32 random keys has to move. */
	EXTRA_BITS = 4,
	/* Bytes of pairs that are sorted in a cache, where a digit can be written to any of 2^12
	   places. */
	CACHED_BYTES = 1 << 20,
	/* Lines of 2^10 parts fit an L2 cache, and their pages its TLB; with fewer than 2^8, the
	   next key often waits for the counter of the one before. */
	PART_BITS_MIN = 8,
	PART_BITS = 10,
	PARTS = 1 << PART_BITS,
	LINE = 64,
	CHUNK_MIN = 1 << 16 /* keys for which another thread is worth its start */
};

struct pair_arrays {
	void *key;
	uint32_t *index; /* NULL: keys only */
};

/* Bit field of the key. */
struct digit {
	uint32_t shift, mask;
};

/* Memory of a thread, which is also that of a chunk of the keys. */
struct sort_worker {
	uint32_t next[DIGITS]; /* counts, then the offset of the next key of each digit */
	uint64_t differ;       /* bits in which keys of the chunk differ */
	bool ascends;
	/* To divide keys, with a line of each part, which is written when it is full. */
	uint32_t first[PARTS]; /* of the chunk in the part */
	_Alignas(LINE) char key[PARTS][LINE];
	_Alignas(LINE) uint32_t index[PARTS][LINE / sizeof(uint32_t)];
	/* Second array of the part that is sorted; it stays in the cache. */
	_Alignas(LINE) char spare[CACHED_BYTES];
};

/* One call, or the part of it that a thread does by itself. */
struct sort_call {
	enum sl_type type;
	uint64_t wanted; /* bits to sort by */
	struct sl_job_pool *pool;
	uint32_t threads;
	struct sort_worker *worker; /* of each thread */
};

/* Keys to sort from one array to another; from may be spare or out. */
struct key_range {
	struct pair_arrays from, spare, out;
	uint32_t n;
};

/* One pass over keys. */
struct sort_pass {
	const struct sort_call *call;
	struct pair_arrays from, to;
	uint32_t n, n_seen; /* with the first key of the next chunk */
	struct digit digit;
	struct sort_worker *worker;
};

enum chunk_step { SCAN, COUNT, SCATTER };

/* A division into parts. */
struct division {
	const struct sort_call *call;
	struct key_range all;
	struct pair_arrays to;
	struct digit digit;
	enum chunk_step step;
	uint32_t first[PARTS + 1]; /* of each part */
};

/* Calls a function that is inlined for each type of keys, with an index and without. */
#define FOR_TYPE(function, p)                                                                    \
	((p)->call->type == SL_U32                                                               \
			? (p)->to.index ? function(SL_U32, true, p) : function(SL_U32, false, p) \
		: (p)->to.index ? function(SL_U64, true, p)                                      \
				: function(SL_U64, false, p))

static bool fits_cache(uint32_t n, enum sl_type type, bool keys_only)
{
	return n <= CACHED_BYTES / (sl_type_bytes(type) + (keys_only ? 0 : sizeof(uint32_t)));
}

static struct pair_arrays lay_out(struct sl_arena *a, const struct sl_shape *s, struct sort_call *c)
{
	const bool fits = fits_cache(s->n, s->type, s->keys_only);
	const uint32_t most = fits ? 1 : s->n / CHUNK_MIN, asked = s->tuning.threads,
		       threads = asked < most ? asked : most;
	struct pair_arrays spare = {NULL, NULL};

	c->threads = threads < 1                     ? 1
	             : threads < SL_JOB_THREADS_MOST ? threads
	                                             : SL_JOB_THREADS_MOST;
	spare.key = sl_cut_items(a, s->n, sl_type_bytes(s->type));
	if (!s->keys_only)
		spare.index = (uint32_t *)sl_cut_items(a, s->n, sizeof(*spare.index));
	c->worker = (struct sort_worker *)sl_cut_items(
		a, c->threads, fits ? offsetof(struct sort_worker, first) : sizeof(*c->worker));
	return spare;
}

static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};
	struct sort_call c = {.pool = NULL};

	lay_out(&a, shape, &c);
	return a.used;
}

SL_HD_PART uint64_t key_at(const void *key, enum sl_type type, size_t i)
{
	return type == SL_U32 ? ((const uint32_t *)key)[i] : ((const uint64_t *)key)[i];
}

SL_HD_PART void put_key(void *key, enum sl_type type, size_t i, uint64_t value)
{
	if (type == SL_U32)
		((uint32_t *)key)[i] = (uint32_t)value;
	else
		((uint64_t *)key)[i] = value;
}

static struct pair_arrays pairs_from(struct pair_arrays a, enum sl_type type, uint32_t first)
{
	a.key = (char *)a.key + first * sl_type_bytes(type);
	a.index = a.index ? a.index + first : NULL;
	return a;
}

static void copy(struct pair_arrays from, struct pair_arrays to, enum sl_type type, uint32_t n)
{
	if (to.key == from.key)
		return;
	memcpy(to.key, from.key, n * sl_type_bytes(type));
	if (to.index)
		memcpy(to.index, from.index, n * sizeof(*to.index));
}

/* --- passes ----------------------------------------------------------------------------------- */

SL_HD_PART uint32_t digit_in(uint64_t key, struct digit d)
{
	return (uint32_t)(key >> d.shift) & d.mask;
}

/* Which bits differ, and whether the keys ascend. */
SL_HD_PART void scan_of(enum sl_type type, bool has_index, const struct sort_pass *p)
{
	const uint64_t wanted = p->call->wanted;
	const uint32_t n = p->n_seen;
	uint64_t differ = 0;
	uint32_t i = 1;

	while (i < n && (key_at(p->from.key, type, i - 1) & wanted) <=
				(key_at(p->from.key, type, i) & wanted))
		i++;
	p->worker->ascends = i >= n;
	for (i = 1; i < n; i++)
		differ |= key_at(p->from.key, type, i) ^ key_at(p->from.key, type, 0);
	p->worker->differ = differ & wanted;
	(void)has_index;
}

SL_HD_PART void count_of(enum sl_type type, bool has_index, const struct sort_pass *p)
{
	const struct digit d = p->digit;
	const uint32_t n = p->n;
	const void *key = p->from.key;
	uint32_t *counts = p->worker->next;

	memset(counts, 0, (d.mask + (size_t)1) * sizeof(*counts));
	for (uint32_t i = 0; i < n; i++)
		counts[digit_in(key_at(key, type, i), d)]++;
	(void)has_index;
}

/* Exclusive scan: turns counts into the offset of the first key of each digit. */
static void sum(const struct sort_pass *p)
{
	const size_t digits = p->digit.mask + (size_t)1;
	uint32_t before = 0;

	for (size_t digit = 0; digit < digits; digit++) {
		const uint32_t n = p->worker->next[digit];

		p->worker->next[digit] = before;
		before += n;
	}
}

/* Moves each pair to the next offset of its digit. Stable because i ascends. */
SL_HD_PART void scatter_of(enum sl_type type, bool has_index, const struct sort_pass *p)
{
	const struct pair_arrays from = p->from, to = p->to;
	const struct digit d = p->digit;
	const uint32_t n = p->n;
	uint32_t *next = p->worker->next;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t key = key_at(from.key, type, i);
		const uint32_t at = next[digit_in(key, d)]++;

		put_key(to.key, type, at, key);
		if (has_index)
			to.index[at] = from.index[i];
	}
}

/* Writes a line, past the caches if the target is aligned. */
SL_HD_PART void write_line(void *to, const void *line, size_t bytes)
{
#ifdef __SSE2__
	for (; bytes > 0 && (uintptr_t)to % 16 == 0; bytes -= 16) {
		_mm_stream_si128((__m128i *)to, _mm_load_si128((const __m128i *)line));
		to = (char *)to + 16;
		line = (const char *)line + 16;
	}
#endif
	memcpy(to, line, bytes);
}

/* Writes the pairs first to end - 1, which are in the line of a part. */
SL_HD_PART void write_pairs(
	enum sl_type type, const struct sort_pass *p, uint32_t part, uint32_t first, uint32_t end)
{
	const uint32_t items = (uint32_t)(LINE / sl_type_bytes(type));

	for (uint32_t i = first; i < end; i++) {
		put_key(p->to.key, type, i, key_at(p->worker->key[part], type, i % items));
		if (p->to.index)
			p->to.index[i] = p->worker->index[part][i % items];
	}
}

/* The same by lines. At the edges of a part, lines are shared and written by pairs. */
SL_HD_PART void scatter_lines(enum sl_type type, bool has_index, const struct sort_pass *p)
{
	const struct pair_arrays from = p->from, to = p->to;
	const struct digit d = p->digit;
	const uint32_t n = p->n, items = (uint32_t)(LINE / sl_type_bytes(type));
	struct sort_worker *w = p->worker;
	uint32_t *next = w->next;

	memcpy(w->first, next, (d.mask + (size_t)1) * sizeof(*next));
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t key = key_at(from.key, type, i);
		const uint32_t part = digit_in(key, d), at = next[part]++, slot = at % items;

		put_key(w->key[part], type, slot, key);
		if (has_index)
			w->index[part][slot] = from.index[i];
		if (slot != items - 1)
			continue;
		if (at - slot < w->first[part]) {
			write_pairs(type, p, part, w->first[part], at + 1);
			continue;
		}
		write_line((char *)to.key + (at - slot) * sl_type_bytes(type), w->key[part], LINE);
		if (has_index)
			write_line(to.index + at - slot, w->index[part], items * sizeof(*next));
	}
	for (uint32_t part = 0; part <= d.mask; part++) {
		const uint32_t line = next[part] / items * items, first = w->first[part];

		write_pairs(type, p, part, line > first ? line : first, next[part]);
	}
#ifdef __SSE2__
	_mm_sfence(); /* other threads read the lines */
#endif
}

/*
 * Insertion sort of p->to, for keys that are almost in order. Stable. Returns false, with an
 * unfinished order of the same pairs, if more than n / 4 pairs would move.
 */
SL_HD_PART bool insert_of(enum sl_type type, bool has_index, const struct sort_pass *p)
{
	const struct pair_arrays a = p->to;
	const uint64_t wanted = p->call->wanted;
	const uint32_t n = p->n;
	uint32_t moves = n / 4;

	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = i; k > 0; k--) {
			const uint64_t key = key_at(a.key, type, k),
				       before = key_at(a.key, type, k - 1);
			const uint32_t index = has_index ? a.index[k] : 0;

			if ((before & wanted) <= (key & wanted))
				break;
			if (moves-- == 0)
				return false;
			put_key(a.key, type, k, before);
			put_key(a.key, type, k - 1, key);
			if (has_index) {
				a.index[k] = a.index[k - 1];
				a.index[k - 1] = index;
			}
		}
	return true;
}

/* --- keys that fit a cache -------------------------------------------------------------------- */

static uint32_t bits_up_to(uint64_t differ)
{
	return differ ? 64 - (uint32_t)__builtin_clzll(differ) : 0;
}

static uint32_t passes_of(uint32_t bits, uint32_t n)
{
	const uint32_t most = n < DIGITS / 2 ? FEW_BITS : DIGIT_BITS;

	return (bits + most - 1) / most;
}

/* Sorts by these bits. Returns the array that has the result: spare, or out. */
static struct pair_arrays sort_by_bits(
	const struct sort_call *c, const struct key_range *r, uint32_t begin, uint32_t end)
{
	const uint32_t passes = passes_of(end - begin, r->n),
		       bits = (end - begin + passes - 1) / passes;
	struct sort_pass p = {.call = c, .from = r->from, .n = r->n, .worker = c->worker};

	p.to = passes % 2 == 1 ? r->out : r->spare;
	if (p.from.key == p.to.key)
		p.to = p.from.key == r->out.key ? r->spare : r->out;
	for (uint32_t shift = begin; shift < end; shift += bits) {
		p.digit = (struct digit){
			shift, (1u << (end - shift < bits ? end - shift : bits)) - 1};
		FOR_TYPE(count_of, &p);
		sum(&p);
		FOR_TYPE(scatter_of, &p);
		p.from = p.to;
		p.to = p.to.key == r->out.key ? r->spare : r->out;
	}
	return p.from;
}

/*
 * Sorts by the first bits and then by insertion, if that saves a pass; if keys are so uneven that
 * it takes too long, by all bits.
 */
static void sort_in_cache(const struct sort_call *c, const struct key_range *r, uint64_t differ)
{
	const uint32_t begin = (uint32_t)__builtin_ctzll(differ), end = bits_up_to(differ),
		       enough = bits_up_to(r->n) + EXTRA_BITS,
		       saves = passes_of(enough, r->n) < passes_of(end - begin, r->n),
		       first = saves ? end - enough : begin;
	struct key_range rest = *r;
	struct sort_pass p = {.call = c, .n = r->n};

	p.to = rest.from = sort_by_bits(c, r, first, end);
	if (saves && !FOR_TYPE(insert_of, &p))
		rest.from = sort_by_bits(c, &rest, begin, end);
	copy(rest.from, r->out, c->type, r->n);
}

/* --- more keys -------------------------------------------------------------------------------- */

/* First key of a chunk. */
static uint32_t chunk_from(const struct division *v, uint32_t chunk)
{
	return (uint32_t)((uint64_t)v->all.n * chunk / v->call->threads);
}

static enum sl_status do_chunk(void *context, uint32_t worker, uint32_t chunk)
{
	const struct division *v = (const struct division *)context;
	const uint32_t first = chunk_from(v, chunk), n = chunk_from(v, chunk + 1) - first;
	const struct sort_pass p = {.call = v->call,
		.from = pairs_from(v->all.from, v->call->type, first),
		.to = v->to,
		.n = n,
		.n_seen = n + (chunk + 1 < v->call->threads),
		.digit = v->digit,
		.worker = &v->call->worker[chunk]};

	(void)worker;
	if (v->step == SCAN)
		FOR_TYPE(scan_of, &p);
	else if (v->step == COUNT)
		FOR_TYPE(count_of, &p);
	else
		FOR_TYPE(scatter_lines, &p);
	return SL_OK;
}

static void do_chunks(struct division *v, enum chunk_step step)
{
	v->step = step;
	(void)sl_tasks_run(v->call->pool, v->call->threads, v->call->threads, do_chunk, v);
}

/* In each part, the keys of a chunk follow those of the chunks before it. */
static void sum_chunks(struct division *v)
{
	uint32_t before = 0;

	for (uint32_t part = 0; part <= v->digit.mask; part++) {
		v->first[part] = before;
		for (uint32_t chunk = 0; chunk < v->call->threads; chunk++) {
			uint32_t *next = &v->call->worker[chunk].next[part], n = *next;

			*next = before;
			before += n;
		}
	}
	v->first[v->digit.mask + 1] = before;
}

static void sort_range(const struct sort_call *c, const struct key_range *r);

static enum sl_status sort_part(void *context, uint32_t worker, uint32_t part)
{
	const struct division *v = (const struct division *)context;
	const enum sl_type type = v->call->type;
	const uint32_t first = v->first[part], n = v->first[part + 1] - first;
	const struct pair_arrays out = pairs_from(v->all.out, type, first);
	struct key_range r = {.from = pairs_from(v->to, type, first),
		.n = n,
		.out = out,
		.spare = pairs_from(v->all.spare, type, first)};
	struct sort_call alone = *v->call;

	if (n == 0)
		return SL_OK;
	alone.threads = 1;
	alone.worker += worker;
	if (fits_cache(n, type, !out.index)) {
		char *spare = alone.worker->spare;

		r.out = r.from;
		r.spare.key = spare;
		r.spare.index =
			out.index ? (uint32_t *)(void *)(spare + n * sl_type_bytes(type)) : NULL;
	}
	sort_range(&alone, &r);
	copy(r.out, out, type, n);
	return SL_OK;
}

/* Divides the keys by their most significant digit that differs, then sorts the parts. */
static void divide(struct division *v, uint64_t differ)
{
	const uint32_t top = bits_up_to(differ), span = top - (uint32_t)__builtin_ctzll(differ),
		       wanted = bits_up_to((v->all.n - 1) / DIGITS),
		       most = wanted < PART_BITS ? wanted : PART_BITS,
		       least = most > PART_BITS_MIN ? most : PART_BITS_MIN,
		       bits = span < least ? span : least;

	v->digit = (struct digit){top - bits, (1u << bits) - 1};
	v->to = v->all.from.key == v->all.out.key ? v->all.spare : v->all.out;
	do_chunks(v, COUNT);
	sum_chunks(v);
	do_chunks(v, SCATTER);
	(void)sl_tasks_run(v->call->pool, v->call->threads, v->digit.mask + 1, sort_part, v);
}

static void sort_range(const struct sort_call *c, const struct key_range *r)
{
	struct division v = {.call = c, .all = *r};
	uint64_t differ = 0;
	bool ascends = true;

	do_chunks(&v, SCAN);
	for (uint32_t chunk = 0; chunk < c->threads; chunk++) {
		differ |= c->worker[chunk].differ;
		ascends = ascends && c->worker[chunk].ascends;
	}
	if (ascends)
		copy(r->from, r->out, c->type, r->n);
	else if (fits_cache(r->n, c->type, !r->out.index))
		sort_in_cache(c, r, differ);
	else
		divide(&v, differ);
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct sl_shape shape = {
		.n = job->n, .type = job->type, .tuning = x->tuning, .keys_only = !job->index};
	struct sort_call c = {.type = job->type,
		.wanted = UINT64_MAX >> (64 - (job->end_bit - job->begin_bit)) << job->begin_bit};
	struct key_range all = {.from = {job->key, job->index}, .n = job->n};
	struct sl_job_pool pool;
	struct sl_arena a = x->scratch;

	all.spare = lay_out(&a, &shape, &c);
	all.out = all.from;
	if (job->key_out)
		all.out = (struct pair_arrays){job->key_out, job->index_out};
	c.pool = &pool;
	sl_job_pool_open(&pool, c.threads - 1);
	sort_range(&c, &all);
	sl_job_pool_close(&pool);
	return SL_OK;
}

const struct sl_backend sl_sort_cpu = {
	.name = "cpu",
	.primitive = SL_SORT,
	.space = SL_HOST,
	.help = "radix sort, in parts that fit a cache; the specification",
	.tunable = {.threads = true},
	.scratch = scratch,
	.sort = run,
};
