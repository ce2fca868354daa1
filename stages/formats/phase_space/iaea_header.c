/* iaea_header.c - see phase_space.h. */
#include "stages/formats/phase_space/phase_space.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "stages/formats/mcpl/mcpl.h"

enum { LINE_BYTES = 256, LITTLE_ENDIAN_ORDER = 1234, BIG_ENDIAN_ORDER = 4321, LATCH = 2 };

/* More particles than a run can have, or a number that a double cannot hold exactly, are damage. */
#define PARTICLES_MOST 0x1p48

static const char blanks[] = " \t\r";

/* A place in the header: the next line of a section. */
struct section {
	const char *key, *at;
	unsigned line; /* number of the line at `at`, from 1 */
};

/* --- lines ------------------------------------------------------------------------------------ */

/* The line after the one at `at`, or the end of the text. */
static const char *line_after(const char *at)
{
	at = strchrnul(at, '\n');
	return at + (*at == '\n');
}

/*
 * Whether the line at `at` is "$KEY:"; keys of other programs are in lower case, or have no colon.
 * If a number follows, *value is its place, else NULL. Like the reference implementation, this
 * ignores the rest.
 */
static bool is_section(const char *at, const char *key, const char **value)
{
	at += strspn(at, blanks);
	if (*at != '$' || strncasecmp(at + 1, key, strlen(key)) != 0)
		return false;
	at += 1 + strlen(key);
	if (!strchr(": \t\r\n", *at)) /* the end of the text is found, too */
		return false;
	at += strspn(at, blanks);
	at += *at == ':';
	at += strspn(at, blanks);
	*value = *at && strchr("+-.0123456789", *at) ? at : NULL;
	return true;
}

/* Finds a section, of several the first. */
static bool find(const char *text, const char *key, struct section *s)
{
	const char *value;

	*s = (struct section){.key = key, .at = text, .line = 1};
	while (*s->at && !is_section(s->at, key, &value)) {
		s->at = line_after(s->at);
		s->line++;
	}
	if (!*s->at)
		return false;
	s->line += !value;
	s->at = value ? value : line_after(s->at);
	return true;
}

/*
 * Copies the next line of a section that is not empty and not a comment, without blanks at its
 * ends. False at the end of the section. A longer line than LINE_BYTES is cut. *line is its number.
 */
static bool next_line(struct section *s, char text[LINE_BYTES], unsigned *line)
{
	while (*s->at) {
		const char *at = s->at + strspn(s->at, blanks);
		size_t n = strcspn(at, "\n");

		if (*at == '$')
			return false;
		*line = s->line++;
		s->at = line_after(at);
		while (n > 0 && strchr(blanks, at[n - 1]))
			n--;
		if (n == 0 || strncmp(at, "//", 2) == 0)
			continue;
		snprintf(text, LINE_BYTES, "%.*s", (int)n, at);
		return true;
	}
	return false;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static enum sl_status missing(const char *key, const char *what)
{
	return sl_fail(SL_BAD_INPUT,
		"the header has no %s in a section $%s:, which an IAEA phase space needs; use the "
		"header that belongs to the records",
		what, key);
}

/* Sets *value to the number at the beginning of a line; a comment may follow it. */
static enum sl_status read_number(
	struct section *s, const char *what, double *value, unsigned *line)
{
	char text[LINE_BYTES], *end;

	if (!next_line(s, text, line))
		return missing(s->key, what);
	*value = strtod(text, &end);
	if (end == text || !isfinite(*value) || (*end && !strchr(" \t/", *end)))
		return sl_fail(SL_BAD_INPUT,
			"header, line %u: %s in $%s: is '%.40s', not a number; correct the header",
			*line, what, s->key, text);
	return SL_OK;
}

/* The same for a whole number from 0 to most. */
static enum sl_status read_whole(struct section *s, const char *what, double most, double *value)
{
	unsigned line;

	SL_TRY(read_number(s, what, value, &line));
	if (*value >= 0 && *value <= most && floor(*value) == *value)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"header, line %u: %s in $%s: is %.17g, not a whole number from 0 to %.0f; "
		"correct the header",
		line, what, s->key, *value, most);
}

/* The whole number that a section consists of; `otherwise` if it is missing, or NAN: it must not. */
static enum sl_status read_only(
	const char *text, const char *key, double most, double otherwise, double *value)
{
	struct section s;

	*value = otherwise;
	if (find(text, key, &s))
		return read_whole(&s, "value", most, value);
	return isnan(otherwise) ? missing(key, "value") : SL_OK;
}

/* --- sections --------------------------------------------------------------------------------- */

static const char *const variables[SL_IAEA_VARIABLES] = {"X", "Y", "Z", "U", "V", "W", "Weight"};

/* The bytes of a record up to its extra values. */
static uint32_t fixed_bytes(const struct sl_iaea *h)
{
	uint32_t floats = 1; /* the energy */

	for (int i = 0; i < SL_IAEA_VARIABLES; i++)
		floats += i != SL_IAEA_W && h->stored[i];
	return 1 + floats * (uint32_t)sizeof(float);
}

/*
 * Finds LATCH among the extra longs. Their types follow those of the extra floats; types at the end
 * of the section may be missing.
 */
static enum sl_status find_latch(struct section *s, struct sl_iaea *h)
{
	for (uint32_t i = 0; i < h->extra_floats + h->extra_longs; i++) {
		struct section before = *s;
		char text[LINE_BYTES];
		unsigned line;
		double type;

		if (!next_line(s, text, &line))
			return SL_OK;
		*s = before;
		SL_TRY(read_whole(s, "type of an extra value", 0x1p31, &type));
		if (i >= h->extra_floats && type == LATCH && h->latch_at == 0)
			h->latch_at = fixed_bytes(h) + i * (uint32_t)sizeof(float);
	}
	return SL_OK;
}

static enum sl_status read_contents(const char *text, struct sl_iaea *h)
{
	struct section s;
	double value;

	if (!find(text, "RECORD_CONTENTS", &s))
		return missing("RECORD_CONTENTS", "list of stored variables");
	for (int i = 0; i < SL_IAEA_VARIABLES; i++) {
		SL_TRY(read_whole(&s, variables[i], 1, &value));
		h->stored[i] = value != 0;
	}
	SL_TRY(read_whole(&s, "number of extra floats", SL_IAEA_EXTRA_MOST, &value));
	h->extra_floats = (uint32_t)value;
	SL_TRY(read_whole(&s, "number of extra longs", SL_IAEA_EXTRA_MOST, &value));
	h->extra_longs = (uint32_t)value;
	return find_latch(&s, h);
}

/* The section may be missing if all variables are stored. */
static enum sl_status read_constants(const char *text, struct sl_iaea *h)
{
	struct section s;
	bool found = find(text, "RECORD_CONSTANT", &s);
	unsigned line;
	double value;

	for (int i = 0; i < SL_IAEA_VARIABLES; i++) {
		if (h->stored[i])
			continue;
		if (!found)
			return missing("RECORD_CONSTANT", variables[i]);
		SL_TRY(read_number(&s, variables[i], &value, &line));
		if (sl_mcpl_is_beyond(value, 1, i == SL_IAEA_WEIGHT))
			return sl_fail(SL_BAD_INPUT,
				"header, line %u: %s in $%s: is %.9g, but columns are in single "
				"precision (%.2g to %.2g); %s",
				line, variables[i], s.key, value, (double)FLT_TRUE_MIN,
				(double)FLT_MAX,
				i == SL_IAEA_WEIGHT ? "scale the weight" : "correct the header");
		h->constant[i] = (float)value;
	}
	return SL_OK;
}

/* Record length and byte order; the length must follow from the contents. */
static enum sl_status read_layout(const char *text, struct sl_iaea *h)
{
	double length, order;

	h->record_bytes =
		fixed_bytes(h) + (h->extra_floats + h->extra_longs) * (uint32_t)sizeof(float);
	SL_TRY(read_only(text, "RECORD_LENGTH", 0x1p31, NAN, &length));
	if (length != h->record_bytes)
		return sl_fail(SL_BAD_INPUT,
			"the header states records of %.0f bytes, but its $RECORD_CONTENTS: add up to "
			"%u; use the header that belongs to the records",
			length, h->record_bytes);
	SL_TRY(read_only(text, "BYTE_ORDER", 9999, LITTLE_ENDIAN_ORDER, &order));
	if (order != LITTLE_ENDIAN_ORDER && order != BIG_ENDIAN_ORDER)
		return sl_fail(SL_BAD_INPUT,
			"the header states the byte order %.0f, but only 1234 and 4321 are read; "
			"convert the file on a machine of its kind",
			order);
	h->big_endian = order == BIG_ENDIAN_ORDER;
	return SL_OK;
}

/*
 * The number of records, which must be that of the file. Both numbers are below 2^53, so the
 * product of doubles is only compared where it is exact.
 */
static enum sl_status read_counts(const char *text, uint64_t records_bytes, struct sl_iaea *h)
{
	double particles, checksum, all;

	SL_TRY(read_only(text, "PARTICLES", PARTICLES_MOST, NAN, &particles));
	h->particles = (uint64_t)particles;
	all = particles * h->record_bytes;
	if (h->particles != records_bytes / h->record_bytes || records_bytes % h->record_bytes != 0)
		return sl_fail(SL_BAD_INPUT,
			"the header counts %.0f particles of %u bytes, together %.0f bytes, but the "
			"file of records has %llu bytes: it is damaged, was cut short, or belongs to "
			"another header; copy both files again",
			particles, h->record_bytes, all, (unsigned long long)records_bytes);
	SL_TRY(read_only(text, "CHECKSUM", 0x1p63, all, &checksum));
	if (checksum != all)
		return sl_fail(SL_BAD_INPUT,
			"the $CHECKSUM: of the header is %.0f, but the file of records has %llu bytes; "
			"use the header that belongs to the records, or correct this value",
			checksum, (unsigned long long)records_bytes);
	return SL_OK;
}

enum sl_status sl_iaea_open(const char *text, uint64_t records_bytes, struct sl_iaea *h)
{
	char title[LINE_BYTES];
	struct section s;
	unsigned line;
	double type;

	*h = (struct sl_iaea){.histories = -1};
	SL_TRY(read_only(text, "FILE_TYPE", 0x1p31, 0, &type));
	if (type != 0)
		return sl_fail(SL_BAD_INPUT,
			"the header states the file type %.0f (an event generator), which has no "
			"list of particles; use a phase space file (type 0)",
			type);
	SL_TRY(read_contents(text, h));
	SL_TRY(read_constants(text, h));
	SL_TRY(read_layout(text, h));
	SL_TRY(read_counts(text, records_bytes, h));
	/* programs that do not know the number of histories write 0 or the largest unsigned number */
	SL_TRY(read_only(text, "ORIG_HISTORIES", 0x1p64, -1, &h->histories));
	if (h->histories == 0 || h->histories >= 0x1p63)
		h->histories = -1;
	if (find(text, "TITLE", &s) && next_line(&s, title, &line))
		memcpy(h->title, title, strnlen(title, sizeof(h->title) - 1));
	return SL_OK;
}
