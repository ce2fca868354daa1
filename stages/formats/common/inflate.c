/* inflate.c - see common.h. */
#include "stages/formats/common/common.h"

#include <isa-l/igzip_lib.h>

#include "primitives/files/files.h"

enum { PORTION_BYTES_MOST = 1 << 30 }; /* ISA-L counts bytes in 32 bits */

_Static_assert(sizeof(struct inflate_state) <= SL_INFLATE_BYTES, "plans count the state");

/*
 * Prepares the state for a new stream. All of it is cleared: in a damaged stream ISA-L reads
 * entries of its tables and bytes of its window that it has not set, and the result must not depend
 * on an earlier stream or on memory that was never set.
 */
static void start_stream(struct inflate_state *state, uint32_t format)
{
	memset(state, 0, sizeof(*state));
	isal_inflate_init(state);
	state->crc_flag = format;
}

enum sl_status sl_inflate_begin(
	struct sl_inflate *s, enum sl_wrapper wrapper, const void *in, size_t in_bytes)
{
	static const uint32_t formats[] = {
		[SL_RAW] = ISAL_DEFLATE, [SL_ZLIB] = ISAL_ZLIB, [SL_GZIP] = ISAL_GZIP};

	*s = (struct sl_inflate){.in = (const uint8_t *)in, .left = in_bytes};
	SL_TRY(sl_host_get(1, sizeof(*s->state), &s->state));
	start_stream(s->state, formats[wrapper]);
	return SL_OK;
}

void sl_inflate_end(struct sl_inflate *s)
{
	sl_memory_give(SL_HOST, s->state);
	s->state = NULL;
}

void sl_inflate_again(struct sl_inflate *s, const void *in, size_t in_bytes)
{
	start_stream(s->state, s->state->crc_flag);
	s->in = (const uint8_t *)in;
	s->left = in_bytes;
	s->ended = false;
	s->damage = NULL;
}

static uint32_t portion(size_t bytes)
{
	return bytes < PORTION_BYTES_MOST ? (uint32_t)bytes : PORTION_BYTES_MOST;
}

/* What ISA-L's answer means; ISAL_DECOMP_OK here means that it needs more input than there is. */
static const char *describe(int answer)
{
	switch (answer) {
	case ISAL_DECOMP_OK:
	case ISAL_END_INPUT:
		return "the data ends in the middle of a stream";
	case ISAL_INVALID_BLOCK:
		return "invalid block";
	case ISAL_INVALID_SYMBOL:
		return "invalid code";
	case ISAL_INVALID_LOOKBACK:
		return "invalid distance";
	case ISAL_INCORRECT_CHECKSUM:
		return "wrong checksum or length";
	default:
		return "wrong header";
	}
}

/* Reports the damage, now and at each later call: ISA-L itself would go on after it. */
static enum sl_status refuse(struct sl_inflate *s, const char *why)
{
	s->damage = why;
	if (s->ended)
		return sl_fail(SL_BAD_INPUT,
			"%zu bytes follow the end of the compressed data: the file is damaged, or "
			"another program appended to it; make it again",
			s->left);
	return sl_fail(SL_BAD_INPUT,
		"the compressed data cannot be inflated (%s): the file is damaged or cut short; "
		"make it again",
		why);
}

/*
 * Whether all bytes are zero: tapes and block devices fill a file with them, and gunzip ignores
 * them.
 */
static bool is_padding(const uint8_t *at, size_t bytes)
{
	return bytes == 0 || (*at == 0 && memcmp(at, at + 1, bytes - 1) == 0);
}

/*
 * One call of ISA-L, which consumes input or produces output: up to size bytes, and their number in
 * *got.
 */
static enum sl_status step(struct sl_inflate *s, uint8_t *out, size_t size, size_t *got)
{
	struct inflate_state *state = s->state;
	const uint32_t given = portion(s->left), room = portion(size);
	uint32_t taken;
	int answer;

	*got = 0;
	/*
	 * ISA-L ignores the reserved flags of gzip, which other decoders refuse (RFC 1952, 2.3.1.2)
	 */
	if (state->crc_flag == ISAL_GZIP && !state->wrapper_flag && s->left > 3 && s->in[3] & 0xe0)
		return refuse(s, "wrong header");
	state->next_in = (uint8_t *)(uintptr_t)s->in; /* ISA-L does not write to it */
	state->avail_in = given;
	state->next_out = out;
	state->avail_out = room;
	answer = isal_inflate(state);
	taken = given - state->avail_in;
	*got = room - state->avail_out;
	s->in += taken;
	s->left -= taken;
	s->ended = answer == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH;
	if (s->ended && s->members && is_padding(s->in, s->left)) {
		s->in += s->left;
		s->left = 0;
	} else if (s->ended && s->members) {
		s->ended = false;
		start_stream(state, state->crc_flag);
	}
	if (answer != ISAL_DECOMP_OK || (taken == 0 && *got == 0 && !s->ended))
		return refuse(s, describe(answer));
	return s->ended && s->left > 0 ? refuse(s, "other bytes follow") : SL_OK;
}

enum sl_status sl_inflate_next(struct sl_inflate *s, void *out, size_t size, size_t *got)
{
	enum sl_status status = SL_OK;
	size_t more;

	*got = 0;
	if (s->damage)
		return refuse(s, s->damage);
	while (*got < size && !s->ended && status == SL_OK) {
		status = step(s, (uint8_t *)out + *got, size - *got, &more);
		*got += more;
	}
	return status;
}

/* One more call must find the end of the stream. */
enum sl_status sl_inflate_whole(
	enum sl_wrapper wrapper, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	SL_CLOSED_BY(sl_inflate_end) struct sl_inflate s = {.state = NULL};
	unsigned char beyond;
	size_t got, more;

	SL_TRY(sl_inflate_begin(&s, wrapper, in, in_bytes));
	SL_TRY(sl_inflate_next(&s, out, out_bytes, &got));
	SL_TRY(sl_inflate_next(&s, &beyond, 1, &more));
	if (got + more != out_bytes)
		return sl_fail(SL_BAD_INPUT,
			"the compressed data expands to %s than the %zu bytes expected: the file is "
			"damaged; make it again",
			more ? "more" : "less", out_bytes);
	return SL_OK;
}
