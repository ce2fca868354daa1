/*
 * index_overflow.c - tests scan and compact of 2^31+5 items, where an index exceeds int and a byte
 * count exceeds 32 bits.
 *
 * The input of 8.6 GB would not fit into host memory. It is made on the device by filling segments of
 * many lengths, so that a few thousand numbers define the whole answer, which is copied to the host in
 * pieces. A case that does not fit into device memory is left out with a message. The test is skipped
 * without a device.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cases/guarded.h"
#include "tests/cases/inputs.h"
#include "tests/cases/sweep.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

enum { PIECE = 1 << 24, SEGMENT_MOST = 1 << 20, SEGMENTS_MOST = 1 << 13 };

static const uint32_t N = (UINT32_C(1) << 31) + 5;

/* Items first[k] to first[k + 1] - 1 have all their bytes equal to value[k]. */
static struct {
	uint32_t n;
	uint32_t first[SEGMENTS_MOST + 1];
	uint8_t value[SEGMENTS_MOST];
} segments;

static void make_segments(void)
{
	uint32_t at = 0, k = 0;

	while (at < N && k < SEGMENTS_MOST) {
		uint64_t mixed = sl_mixed(k);
		uint32_t length = 1 + (uint32_t)(mixed % SEGMENT_MOST);

		segments.first[k] = at;
		segments.value[k] = (uint8_t)(mixed >> 56);
		at = length < N - at && k + 1 < SEGMENTS_MOST ? at + length : N;
		k++;
	}
	segments.first[k] = N;
	segments.n = k;
}

/* Fills n items of item_bytes with the segments' values, of which only the bits of mask are taken.
 */
static enum sl_status fill_segments(char *items, size_t item_bytes, uint8_t mask)
{
	for (uint32_t k = 0; k < segments.n; k++) {
		size_t length = segments.first[k + 1] - segments.first[k];

		SL_TRY(sl_fill(items + segments.first[k] * item_bytes, segments.value[k] & mask,
			length * item_bytes, NULL));
	}
	return sl_stream_wait(NULL);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Position in the answer, which is checked piece by piece. */
struct answer_position {
	uint32_t segment, at; /* the next item of the input */
	uint32_t sum;         /* of those before it */
};

/* Returns how many of the next items, at most most, are in the current segment. */
static uint32_t left_of(const struct answer_position *w, uint32_t most)
{
	uint32_t left = segments.first[w->segment + 1] - w->at;

	return left < most ? left : most;
}

static void advance_position(struct answer_position *w, uint32_t items)
{
	w->at += items;
	if (w->at == segments.first[w->segment + 1])
		w->segment++;
}

/* Is out[0 .. n-1] = from, from + step, ...? */
static bool is_progression(const uint32_t *out, uint32_t n, uint32_t from, uint32_t step)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < n; i++)
		wrong |= out[i] ^ (from + i * step);
	return wrong == 0;
}

/* The next n exclusive sums. */
static enum sl_status check_sums(struct answer_position *w, const uint32_t *out, uint32_t n)
{
	while (n > 0) {
		uint32_t items = left_of(w, n), step = segments.value[w->segment] * 0x01010101u;

		if (!is_progression(out, items, w->sum, step))
			return sl_fail(SL_CHECK_FAILED, "of the sums %u to %u one is wrong", w->at,
				w->at + items - 1);
		w->sum += items * step;
		advance_position(w, items);
		out += items;
		n -= items;
	}
	return SL_OK;
}

/* The next n survivors: the indices of segments of an odd value. */
static enum sl_status check_survivors(struct answer_position *w, const uint32_t *out, uint32_t n)
{
	while (n > 0) {
		bool alive = segments.value[w->segment] & 1;
		uint32_t items = left_of(w, alive ? n : UINT32_MAX);

		if (alive && !is_progression(out, items, w->at, 1))
			return sl_fail(SL_CHECK_FAILED, "of the survivors %u to %u one is wrong",
				w->at, w->at + items - 1);
		advance_position(w, items);
		out += alive ? items : 0;
		n -= alive ? items : 0;
	}
	return SL_OK;
}

static uint32_t count_survivors(void)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < segments.n; k++)
		if (segments.value[k] & 1)
			n += segments.first[k + 1] - segments.first[k];
	return n;
}

/* Copies n items to the host in pieces. */
static enum sl_status check_pieces(const uint32_t *out, uint32_t n, uint32_t *piece,
	enum sl_status (*check)(struct answer_position *w, const uint32_t *out, uint32_t n))
{
	struct answer_position w = {0};
	uint32_t items;

	for (; n > 0; n -= items, out += items) {
		items = n < PIECE ? n : PIECE;
		SL_TRY(sl_copy(piece, out, items * sizeof(*out), NULL));
		SL_TRY(sl_stream_wait(NULL));
		SL_TRY(check(&w, piece, items));
	}
	return SL_OK;
}

/* --- the calls -------------------------------------------------------------------------------- */

/* Memory of one primitive; the same for all its backends but for the scratch. */
struct batch_memory {
	struct sl_guarded in, out, n_out, scratch;
	uint32_t *piece; /* pinned */
};

static enum sl_status run_scan(const struct sl_backend *b, const struct batch_memory *r)
{
	struct sl_exec x = {.space = SL_DEVICE, .scratch = {r->scratch.at, 0, r->scratch.bytes}};
	const struct sl_scan_job job = {.in = r->in.at, .out = r->out.at, .n = N, .type = SL_U32};

	SL_TRY(sl_scan(b, &x, &job));
	SL_TRY(sl_stream_wait(NULL));
	return check_pieces((const uint32_t *)r->out.at, N, r->piece, check_sums);
}

static enum sl_status run_compact(const struct sl_backend *b, const struct batch_memory *r)
{
	struct sl_exec x = {.space = SL_DEVICE, .scratch = {r->scratch.at, 0, r->scratch.bytes}};
	const struct sl_compact_job job = {.keep = (const uint8_t *)r->in.at,
		.out = (uint32_t *)r->out.at,
		.n_out = (uint32_t *)r->n_out.at,
		.n = N};
	uint32_t n_out, want = count_survivors();

	SL_TRY(sl_compact(b, &x, &job));
	SL_TRY(sl_copy(&n_out, r->n_out.at, sizeof(n_out), NULL));
	SL_TRY(sl_stream_wait(NULL));
	if (n_out != want)
		return sl_fail(SL_CHECK_FAILED, "%u survivors were counted, not %u", n_out, want);
	return check_pieces(job.out, n_out, r->piece, check_survivors);
}

static enum sl_status try_backend(const struct sl_backend *b, struct batch_memory *r)
{
	const struct sl_shape shape = {.n = N, .type = SL_U32};
	enum sl_status s;

	SL_TRY(sl_guarded_get(SL_DEVICE, sl_scratch(b, &shape), &r->scratch));
	SL_TRY(sl_fill(r->scratch.at, 0xa5, r->scratch.bytes, NULL));
	SL_TRY(sl_fill(r->out.at, 0xa5, r->out.bytes, NULL));
	s = b->primitive == SL_SCAN ? run_scan(b, r) : run_compact(b, r);
	if (s == SL_OK)
		s = sl_guarded_check(&r->out, "out");
	if (s == SL_OK)
		s = sl_guarded_check(&r->scratch, "scratch");
	return s;
}

static enum sl_status get_memory(struct batch_memory *r, size_t item_bytes, uint8_t mask)
{
	SL_TRY(sl_guarded_get(SL_DEVICE, N * item_bytes, &r->in));
	SL_TRY(sl_guarded_get(SL_DEVICE, N * sizeof(uint32_t), &r->out));
	SL_TRY(sl_guarded_get(SL_DEVICE, sizeof(uint32_t), &r->n_out));
	SL_TRY(sl_memory_get(SL_PINNED, PIECE * sizeof(uint32_t), (void **)&r->piece));
	return fill_segments((char *)r->in.at, item_bytes, mask);
}

static void free_memory(struct batch_memory *r)
{
	sl_guarded_give(&r->in);
	sl_guarded_give(&r->out);
	sl_guarded_give(&r->n_out);
	sl_memory_give(SL_PINNED, r->piece);
}

/* Returns true, after printing why, if the device has too little memory for the case. */
static bool is_too_small(enum sl_status s)
{
	if (s == SL_DEVICE_MEMORY)
		printf("a case is left out: %s\n", sl_last_error());
	return s == SL_DEVICE_MEMORY;
}

static void try_backends(enum sl_primitive p, size_t item_bytes, uint8_t mask)
{
	const struct sl_backend *b;
	struct batch_memory r = {.piece = NULL};
	enum sl_status s = get_memory(&r, item_bytes, mask);

	for (size_t i = 0; s == SL_OK && (b = sl_backend_at(i)) != NULL; i++) {
		if (b->primitive != p || b->space != SL_DEVICE)
			continue;
		s = sl_add_context(try_backend(b, &r), "%s/%s", sl_primitive_name(p), b->name);
		sl_guarded_give(&r.scratch);
		s = is_too_small(s) ? SL_OK : s;
	}
	free_memory(&r);
	if (!is_too_small(s))
		assert_ok(s);
}

static void scan_of_more_items_than_int_max(void **state)
{
	(void)state;
	try_backends(SL_SCAN, sizeof(uint32_t), 0xff);
}

static void compact_of_more_items_than_int_max(void **state)
{
	(void)state;
	try_backends(SL_COMPACT, sizeof(uint8_t), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scan_of_more_items_than_int_max),
		cmocka_unit_test(compact_of_more_items_than_int_max),
	};

	if (!sl_sampling_from_environment())
		return 1;
	if (skips_without_device())
		return SKIPPED;
	if (sl_sampling_skips_size(N)) {
		printf("SKIP: SLUICE_LARGEST is less than %u items; unset it\n", N);
		return SKIPPED;
	}
	make_segments();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
