/*
 * gunzip.c - see lists.h.
 *
 * A member does not state its size, so its end is not known before it is decompressed. But programs
 * that write many members begin each with the same 8 bytes, which occur elsewhere with a
 * probability of 2^-64, and each member ends with the size of its contents. So the members between
 * these places are decompressed at once, each to where the sizes before it add up to. Each must end
 * where it is expected to, with its checksum and size; if one does not, the file is decompressed
 * from its beginning.
 */
#include "python/src/lists/lists.h"

#include <stdint.h>
#include <string.h>

#include "primitives/device/device.h"
#include "stages/formats/common/common.h"

/* Identification, DEFLATE, no flags, no time of modification. */
static const char beginning[] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0};

/* The size of the contents, modulo 2^32, ends a member. A member has at least 18 bytes. */
enum { SIZE_BYTES = 4, MEMBER_LEAST = 18 };

struct member {
	size_t at, out; /* in the file; in the decompressed file */
};

struct members {
	const uint8_t *file;
	uint8_t *to;
	size_t n, capacity;
	struct member *member; /* n + 1: the last one is the end */
};

static enum sl_status add(struct members *m, size_t at, size_t out)
{
	SL_TRY(sl_host_grow(&m->member, m->n, &m->capacity, sizeof(*m->member)));
	m->member[m->n++] = (struct member){at, out};
	return SL_OK;
}

/* The place where the next member seems to begin; bytes if there is none. */
static size_t next_member(const uint8_t *file, size_t bytes, size_t from)
{
	const void *found = bytes - from > MEMBER_LEAST ? memmem(file + from + MEMBER_LEAST,
								  bytes - from - MEMBER_LEAST,
								  beginning, sizeof(beginning))
	                                                : NULL;

	return found ? (size_t)((const uint8_t *)found - file) : bytes;
}

/* Finds the members. *size: that of their contents. */
static enum sl_status find_members(
	const uint8_t *file, size_t bytes, struct members *m, size_t *size)
{
	*size = 0;
	for (size_t at = 0, next; at < bytes; at = next) {
		uint32_t contents = 0;

		next = next_member(file, bytes, at);
		if (next - at >= MEMBER_LEAST)
			memcpy(&contents, file + next - SIZE_BYTES, sizeof(contents));
		SL_TRY(add(m, at, *size));
		*size += contents;
	}
	SL_TRY(add(m, bytes, *size));
	m->n--;
	return SL_OK;
}

static enum sl_status inflate_member(void *ctx, uint32_t worker, uint32_t k)
{
	const struct members *m = (const struct members *)ctx;
	const struct member *a = &m->member[k], *end = a + 1;

	(void)worker;
	return sl_inflate_whole(
		SL_GZIP, m->file + a->at, end->at - a->at, m->to + a->out, end->out - a->out);
}

/* From beginning to end, on one core. */
static enum sl_status inflate_in_order(const void *file, size_t bytes, uint8_t *to, size_t size)
{
	SL_CLOSED_BY(sl_inflate_end) struct sl_inflate z = {.state = NULL};
	uint8_t more;
	size_t got;

	SL_TRY(sl_inflate_begin(&z, SL_GZIP, file, bytes));
	z.members = true;
	SL_TRY(sl_inflate_next(&z, to, size, &got));
	if (got < size)
		return sl_fail(SL_BAD_INPUT, "the contents are shorter than the header states");
	SL_TRY(sl_inflate_next(&z, &more, 1, &got));
	return got == 0 ? SL_OK
	                : sl_fail(SL_BAD_INPUT, "the contents are longer than the header states");
}

enum sl_status sl_py_gunzip(
	struct sl_job_pool *pool, const void *file, size_t bytes, void *to, size_t size)
{
	struct members m = {.file = (const uint8_t *)file, .to = (uint8_t *)to};
	size_t found;
	enum sl_status s = find_members(m.file, bytes, &m, &found);

	if (s == SL_OK)
		s = m.n > 1 && m.n <= UINT32_MAX && found == size
		            ? sl_tasks_run(pool, pool->n + 1, (uint32_t)m.n, inflate_member, &m)
		            : SL_BAD_INPUT;
	if (s == SL_BAD_INPUT)
		s = inflate_in_order(file, bytes, m.to, size);
	sl_memory_give(SL_HOST, m.member);
	return s;
}
