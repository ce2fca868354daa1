/* iaea_header.h - reads the header of an IAEA phase space, whose sections iaea.h describes. */
#ifndef SL_STAGES_FORMATS_PHASE_SPACE_IAEA_HEADER_H
#define SL_STAGES_FORMATS_PHASE_SPACE_IAEA_HEADER_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "primitives/base/status.h"

enum sl_iaea_variable {
	SL_IAEA_X,
	SL_IAEA_Y,
	SL_IAEA_Z,
	SL_IAEA_U,
	SL_IAEA_V,
	SL_IAEA_W,
	SL_IAEA_WEIGHT,
	SL_IAEA_VARIABLES
};

/* Limits: of a header in bytes, of the extra values of one kind in a record, of a title. */
enum { SL_IAEA_HEADER_MOST = 1 << 20, SL_IAEA_EXTRA_MOST = 64, SL_IAEA_TITLE_BYTES = 128 };

/* What a header says. */
struct sl_iaea {
	uint64_t particles;
	uint32_t record_bytes;
	bool big_endian;
	bool stored[SL_IAEA_VARIABLES];    /* of w: whether it follows from u, v and the sign */
	float constant[SL_IAEA_VARIABLES]; /* of those that are not stored */
	uint32_t extra_floats, extra_longs;
	uint32_t latch_at; /* offset of LATCH in a record; 0: there is none */
	double histories;  /* primary particles; -1: unknown */
	char title[SL_IAEA_TITLE_BYTES];
};

/*
 * Reads a header of so many bytes. It must be the caller's copy, because a mapped file can change while
 * it is read. records_bytes is the size of the .IAEAphsp file, which must be that of the particles.
 * SL_BAD_INPUT with the line if a value is missing or wrong.
 */
enum sl_status sl_iaea_open(
	const char *text, size_t bytes, uint64_t records_bytes, struct sl_iaea *h);

#endif
