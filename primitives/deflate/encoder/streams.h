/*
 * encoder/streams.h - how a deflate job is divided: into chunks, each of which becomes one stream,
 * and chunks into segments, each of which is compressed independently.
 *
 * The bytes of a chunk are arranged in planes (planes.h) if its items have more than one byte.
 * Planes differ in their statistics, so a segment contains bytes of one plane only, unless the
 * chunk is too small for that. The header is shared by host and device code.
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_STREAMS_H
#define SL_PRIMITIVES_DEFLATE_ENCODER_STREAMS_H

#include "primitives/base/hd.h"
#include "primitives/primitives.h"

enum {
	SL_SEGMENT = 1 << 15, /* bytes of a segment at most: the range of a DEFLATE distance */
	SL_HISTORY = 1024,    /* bytes before a segment that its matches may refer to */
	SL_PLANE_MIN = SL_SEGMENT / 8, /* a plane of at least so many bytes has separate segments */
	SL_STORED_HEADER_BYTES = 5,    /* header of a stored block: type, LEN, NLEN */
	SL_LOADS_IN_FLIGHT = 8         /* loads that a thread issues before the first store */
};

struct sl_streams {
	const uint8_t *in;
	uint64_t in_bytes, chunk_bytes;
	uint32_t item_bytes;
	bool whole;                   /* the last chunk is padded with zeros */
	uint64_t n;                   /* number of streams */
	uint64_t n_segments;          /* of all streams */
	uint64_t segments_per_stream; /* of every chunk but the last, which may have fewer */
	enum sl_wrapper wrapper;
};

/* Bytes from .. from + bytes - 1 of a chunk in plane order. */
struct sl_segment {
	uint64_t stream, from;
	uint32_t bytes;   /* 0: segment of an empty chunk */
	uint32_t history; /* bytes before it in the same plane: SL_HISTORY or 0 */
	bool last;        /* last segment of its stream */
};

/* a / b rounded up. */
SL_HD uint64_t sl_deflate_ceil_div(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

/* Bytes of chunk k, with padding. */
SL_HD uint64_t sl_chunk_bytes(const struct sl_streams *s, uint64_t k)
{
	uint64_t left = s->in_bytes - k * s->chunk_bytes;

	return s->whole || left > s->chunk_bytes ? s->chunk_bytes : left;
}

/*
 * Bytes of a section: the part of a chunk that is cut into segments on its own. A plane, or the
 * whole chunk if planes are shorter than SL_PLANE_MIN.
 */
SL_HD uint64_t sl_section_bytes(uint64_t bytes, uint32_t item_bytes)
{
	uint64_t plane = bytes / item_bytes;

	return plane < SL_PLANE_MIN ? bytes : plane;
}

/* Segments of a chunk; an empty chunk has one empty segment. */
SL_HD uint64_t sl_chunk_segments(uint64_t bytes, uint32_t item_bytes)
{
	uint64_t section = sl_section_bytes(bytes, item_bytes);

	return section ? bytes / section * sl_deflate_ceil_div(section, SL_SEGMENT) : 1;
}

/* Divides in_bytes; chunk_bytes and item_bytes may be 0 as in a job: one chunk, items of 1 byte. */
SL_HD struct sl_streams sl_streams_make(
	uint64_t in_bytes, uint64_t chunk_bytes, uint32_t item_bytes, bool whole)
{
	struct sl_streams s = {NULL, in_bytes, chunk_bytes ? chunk_bytes : in_bytes,
		item_bytes ? item_bytes : 1, whole, 1, 0, 0, SL_RAW};

	if (in_bytes > s.chunk_bytes)
		s.n = sl_deflate_ceil_div(in_bytes, s.chunk_bytes);
	s.segments_per_stream = sl_chunk_segments(s.chunk_bytes, s.item_bytes);
	s.n_segments = (s.n - 1) * s.segments_per_stream +
	               sl_chunk_segments(sl_chunk_bytes(&s, s.n - 1), s.item_bytes);
	return s;
}

/* The division of a job. */
SL_HD struct sl_streams sl_streams_of(const struct sl_deflate_job *job)
{
	struct sl_streams s = sl_streams_make(
		job->in_bytes, job->chunk_bytes, job->item_bytes, job->whole_chunks);

	s.in = (const uint8_t *)job->in;
	s.wrapper = job->wrapper;
	return s;
}

/* Segment by its number in the whole job. */
SL_HD struct sl_segment sl_segment_of(const struct sl_streams *s, uint64_t number)
{
	struct sl_segment g = {number / s->segments_per_stream, 0, 0, 0, false};
	uint64_t k = number % s->segments_per_stream, bytes, section, per_section, left;

	if (g.stream > s->n - 1) /* cannot happen: no chunk has more segments */
		g.stream = s->n - 1;
	bytes = sl_chunk_bytes(s, g.stream);
	section = sl_section_bytes(bytes, s->item_bytes);
	per_section = sl_deflate_ceil_div(section, SL_SEGMENT);
	if (section == 0) {
		g.last = true;
		return g;
	}
	g.from = k / per_section * section + k % per_section * SL_SEGMENT;
	left = section - k % per_section * SL_SEGMENT;
	g.history = k % per_section > 0 ? (uint32_t)SL_HISTORY : 0;
	g.bytes = (uint32_t)(left < SL_SEGMENT ? left : (uint64_t)SL_SEGMENT);
	g.last = g.from + g.bytes == bytes;
	return g;
}

/*
 * Copies bytes from .. from + bytes - 1 of a chunk, in plane order, to data; called by each thread
 * with its number, 0 to threads - 1. Byte k of item i becomes byte i of plane k. Loads are issued
 * in groups before the first store, because global memory has a latency of hundreds of cycles.
 */
SL_HD void sl_chunk_load(const struct sl_streams *s, uint64_t stream, uint64_t from, uint64_t bytes,
	uint32_t thread, uint32_t threads, uint8_t *data)
{
	uint64_t chunk = stream * s->chunk_bytes, end = from + bytes;
	uint64_t items = sl_chunk_bytes(s, stream) / s->item_bytes;
	uint64_t available =
		(s->in_bytes - chunk) / s->item_bytes; /* items of the input; padding follows */

	for (uint64_t to; from < end; data += to - from, from = to) {
		uint64_t plane = from / items, first = from % items, n;
		const uint8_t *in = s->in + chunk + plane + first * s->item_bytes;

		to = (plane + 1) * items < end ? (plane + 1) * items : end;
		n = first > available ? 0 : available - first;
		n = n < to - from ? n : to - from;
		for (uint64_t i = thread; i < n; i += (uint64_t)SL_LOADS_IN_FLIGHT * threads) {
			uint8_t byte[SL_LOADS_IN_FLIGHT] = {0};

			for (uint32_t k = 0; k < SL_LOADS_IN_FLIGHT; k++)
				if (i + k * threads < n)
					byte[k] = in[(i + k * threads) * s->item_bytes];
			for (uint32_t k = 0; k < SL_LOADS_IN_FLIGHT; k++)
				if (i + k * threads < n)
					data[i + k * threads] = byte[k];
		}
		for (uint64_t i = n + thread; i < to - from; i += threads)
			data[i] = 0;
	}
}

#endif
