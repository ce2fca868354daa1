/* openpmd_chunk.c - see openpmd.h. */
#include "stages/formats/openpmd/openpmd.h"

#include <math.h>
#include <string.h>

#include "primitives/deflate/planes.h"

/* Size of the sample of a column that decides whether to shuffle it. */
enum { SAMPLE_BYTES = 1 << 15 };

size_t sl_openpmd_chunk_scratch(const struct sl_file_facts *run)
{
	struct sl_shape shape = {.in_bytes = SL_OPENPMD_CHUNK_BYTES,
		.chunk_bytes = SL_OPENPMD_CHUNK_BYTES,
		.item_bytes = sizeof(uint64_t),
		.level = run->level};

	return sl_round_up(sl_scratch(run->deflate, &shape), SL_ALIGN);
}

static const uint8_t *bytes_of(const struct sl_openpmd_stretch *s)
{
	return (const uint8_t *)s->c->data + (size_t)s->first * sl_facts_of(s->c)->bytes;
}

/* Stores a stretch without compression, as a chunk of room items padded with zeros. */
static void store_chunk(uint8_t *to, const struct sl_openpmd_stretch *s, uint32_t room)
{
	size_t item = sl_facts_of(s->c)->bytes;
	const uint8_t *from = bytes_of(s);

	if (s->planes) {
		sl_to_planes(from, s->n, to, room, item);
	} else {
		memcpy(to, from, s->n * item);
		memset(to + s->n * item, 0, (room - s->n) * item);
	}
}

/*
 * The job that compresses a stretch as a chunk of room items to out. It fails with *got = 0 if the
 * stream is not shorter than the chunk.
 */
static struct sl_deflate_job job_of(const struct sl_file_facts *run,
	const struct sl_openpmd_stretch *s, uint32_t room, uint8_t *out, size_t *got)
{
	size_t item = sl_facts_of(s->c)->bytes, bytes = room * item;

	return (struct sl_deflate_job){
		.in = bytes_of(s),
		.in_bytes = s->n * item,
		.out = out,
		.out_size = bytes - 1,
		.out_bytes = got,
		.level = run->level,
		.wrapper = SL_ZLIB,
		.chunk_bytes = bytes,
		.item_bytes = s->planes ? (uint32_t)item : 1,
		.whole_chunks = true,
	};
}

/* Compresses a stretch to find the size of the stream; nothing is kept. */
static enum sl_status try_chunk(struct sl_exec *x, const struct sl_file_facts *run,
	struct sl_openpmd_stretch s, bool planes, uint8_t *out, size_t *got)
{
	struct sl_deflate_job job;

	s.planes = planes;
	job = job_of(run, &s, s.n, out, got);
	SL_TRY(sl_deflate(run->deflate, x, &job));
	*got = *got ? *got : job.in_bytes;
	return SL_OK;
}

/*
 * Shuffling shortens numbers that differ in few bits by a factor of 1.1 to 2.2. It can lengthen
 * columns with few distinct values, such as lines of a spectrum, by a factor of 2.5, because a
 * repeated value is then no longer one match. So a backend that searches for matches compresses a
 * sample both ways, at a cost of 1/30 of a chunk each. The encoder of the device, on both
 * processors, always shuffles: it loses at most 3 % by it, and the bytes must be the same.
 */
enum sl_status sl_openpmd_choose_planes(
	struct sl_exec *x, const struct sl_file_facts *run, struct sl_openpmd_stretch *s)
{
	uint32_t item = sl_facts_of(s->c)->bytes, most = (uint32_t)SAMPLE_BYTES / item;
	struct sl_openpmd_stretch sample = {s->c, 0, s->n < most ? s->n : most, false};
	uint8_t out[SAMPLE_BYTES];
	size_t plain, planes;

	s->planes = sl_openpmd_shuffles(sl_facts_of(s->c));
	if (!s->planes || run->deflate == &sl_deflate_cpu || run->deflate == &sl_deflate_cpu_fast)
		return SL_OK;
	SL_TRY(try_chunk(x, run, sample, false, out, &plain));
	SL_TRY(try_chunk(x, run, sample, true, out, &planes));
	s->planes = planes <= plain + plain / 8;
	return SL_OK;
}

enum sl_status sl_openpmd_pack_chunk(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_openpmd_stretch *s, uint32_t room, uint8_t *out,
	struct sl_openpmd_chunk *chunk)
{
	const struct sl_column_facts *f = sl_facts_of(s->c);
	size_t got = 0;
	struct sl_deflate_job job = job_of(run, s, room, out, &got);

	SL_TRY(sl_deflate(run->deflate, x, &job));
	if (got == 0)
		store_chunk(out, s, room);
	chunk->bytes = got ? got : job.chunk_bytes;
	chunk->skipped = (got ? 0 : sl_openpmd_deflate_skipped(f)) |
	                 (s->planes ? 0 : sl_openpmd_shuffle_skipped(f));
	return SL_OK;
}

/* Adding 0 removes the sign of a zero, as the device does. */
void sl_openpmd_bound(const struct sl_table_column *c, uint32_t n, double *lo, double *hi)
{
	const float *v = (const float *)c->data;
	float least = INFINITY, greatest = -INFINITY;

	for (uint32_t i = 0; i < (c->constant && n ? 1 : n); i++) {
		least = v[i] < least ? v[i] : least;
		greatest = v[i] > greatest ? v[i] : greatest;
	}
	*lo = (double)(least + 0.0f);
	*hi = (double)(greatest + 0.0f);
}
