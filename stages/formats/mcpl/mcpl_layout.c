/* mcpl_layout.c - see mcpl_layout.h. */
#include "stages/formats/mcpl/mcpl_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/mcpl/mcpl_record.h"

enum { VALUE_BYTES = SL_MCPL_VALUE_BYTES };

/* --- the fixed part --------------------------------------------------------------------------- */

void sl_mcpl_write(struct sl_mcpl_buffer *w, const void *from, size_t bytes)
{
	if (w->at)
		memcpy(w->at + w->used, from, bytes);
	w->used += bytes;
}

void sl_mcpl_write_u32(struct sl_mcpl_buffer *w, uint32_t value)
{
	sl_mcpl_write(w, &value, sizeof(value));
}

void sl_mcpl_write_text(struct sl_mcpl_buffer *w, const char *text)
{
	sl_mcpl_write_u32(w, (uint32_t)strlen(text));
	sl_mcpl_write(w, text, strlen(text));
}

size_t sl_mcpl_put_fixed(uint8_t *at, const struct sl_mcpl_header *h)
{
	struct sl_mcpl_buffer w = {at, 0};
	const uint32_t words[] = {h->comments, h->blobs, h->flags, h->polarised, h->single,
		(uint32_t)h->pdg, h->record_bytes, h->weight != 0};

	sl_mcpl_write(&w, h->version == 2 ? "MCPL002L" : "MCPL003L", 8);
	sl_mcpl_write(&w, &h->particles, sizeof(h->particles));
	sl_mcpl_write(&w, words, sizeof(words));
	if (h->weight != 0)
		sl_mcpl_write(&w, &h->weight, sizeof(h->weight));
	return w.used;
}

/* --- strings ---------------------------------------------------------------------------------- */

uint64_t sl_mcpl_count_strings(const struct sl_mcpl_header *h)
{
	return 1 + (uint64_t)h->comments + 2 * (uint64_t)h->blobs;
}

struct sl_mcpl_string sl_mcpl_next_string(const uint8_t **at)
{
	struct sl_mcpl_string s;

	memcpy(&s.length, *at, sizeof(s.length));
	s.at = *at + sizeof(s.length);
	*at = s.at + s.length;
	return s;
}

bool sl_mcpl_is_sum(const struct sl_mcpl_string *s, size_t *value_at, double *value)
{
	static const char begin[] = "stat:sum:", digits[] = " 0123456789.-+eE";
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	enum { BEGIN = sizeof(begin) - 1, KEY_MOST = 64 };
	char text[BEGIN + KEY_MOST + 1 + VALUE_BYTES + 1], *end;
	size_t key;

	if (s->length >= sizeof(text))
		return false;
	memcpy(text, s->at, s->length);
	text[s->length] = '\0';
	if (strlen(text) != s->length || strncmp(text, begin, BEGIN) != 0)
		return false;
	key = strspn(text + BEGIN, letters);
	*value_at = BEGIN + key + 1;
	if (key == 0 || text[BEGIN + key] != ':' || s->length - *value_at != VALUE_BYTES ||
		strspn(text + *value_at, digits) != VALUE_BYTES)
		return false;
	*value = strtod(text + *value_at, &end);
	return end[strspn(end, " ")] == '\0' && end > text + *value_at && isfinite(*value) &&
	       (*value >= 0 || *value == -1);
}

void sl_mcpl_print_value(double value, char text[VALUE_BYTES + 1])
{
	snprintf(text, VALUE_BYTES + 1, "%*.15g", VALUE_BYTES, value);
	if (strtod(text, NULL) != value)
		snprintf(text, VALUE_BYTES + 1, "%*.17g", VALUE_BYTES, value);
}

bool sl_mcpl_is_same(const struct sl_mcpl_string *a, const struct sl_mcpl_string *b)
{
	return a->length == b->length && sl_mcpl_order(a, b, "") == 0;
}

bool sl_mcpl_begins_with(const struct sl_mcpl_string *s, const char *text)
{
	return s->length >= strlen(text) && memcmp(s->at, text, strlen(text)) == 0;
}

/* Compares n and m bytes; a prefix comes first. An empty string can have the address NULL. */
static int order_bytes(const void *a, size_t n, const void *b, size_t m)
{
	size_t least = n < m ? n : m;
	int order = least > 0 ? memcmp(a, b, least) : 0;

	return order ? order : (n > m) - (n < m);
}

int sl_mcpl_order(
	const struct sl_mcpl_string *a, const struct sl_mcpl_string *b, const char *suffix)
{
	uint32_t n = a->length < b->length ? a->length : b->length;
	int order = order_bytes(a->at, n, b->at, b->length);

	return order ? order : order_bytes(a->at + n, a->length - n, suffix, strlen(suffix));
}

/* --- directions ------------------------------------------------------------------------------- */

/* The third component of a unit vector. */
static double third(double sign, double a, double b)
{
	return copysign(sqrt(fmax(0, 1 - (a * a + b * b))), sign);
}

void sl_mcpl_unpack(const double packed[3], double d[3])
{
	d[0] = packed[0];
	d[1] = packed[1];
	if (fabs(packed[0]) > 1) {
		d[2] = 1 / packed[0];
		d[0] = third(packed[2], d[1], d[2]);
	} else if (fabs(packed[1]) > 1) {
		d[2] = 1 / packed[1];
		d[1] = third(packed[2], d[0], d[2]);
	} else {
		d[2] = third(packed[2], d[0], d[1]);
	}
}

void sl_mcpl_unpack_octahedron(const double packed[3], double d[3])
{
	double length;

	d[0] = packed[0];
	d[1] = packed[1];
	d[2] = 1 - fabs(packed[0]) - fabs(packed[1]);
	if (d[2] < 0) {
		d[0] = copysign(1 - fabs(packed[1]), packed[0] >= 0 ? 1 : -1);
		d[1] = copysign(1 - fabs(packed[0]), packed[1] >= 0 ? 1 : -1);
	}
	length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
	for (int i = 0; i < 3; i++)
		d[i] /= length;
}

/* --- records ---------------------------------------------------------------------------------- */

bool sl_mcpl_has_same_layout(const struct sl_mcpl_header *a, const struct sl_mcpl_header *b)
{
	return a->version == b->version && a->flags == b->flags && a->polarised == b->polarised &&
	       a->single == b->single && (a->pdg != 0) == (b->pdg != 0) &&
	       (a->weight != 0) == (b->weight != 0);
}

/* Copies a number, converted to the precision of the output. */
static void recode_number(
	struct sl_mcpl_buffer *w, bool from_single, const void *at, bool to_single)
{
	const double number = sl_mcpl_number(from_single, (const uint8_t *)at);
	const float narrow = sl_mcpl_narrow(number);

	if (from_single == to_single)
		sl_mcpl_write(w, at, from_single ? sizeof(narrow) : sizeof(number));
	else if (to_single)
		sl_mcpl_write(w, &narrow, sizeof(narrow));
	else
		sl_mcpl_write(w, &number, sizeof(number));
}

/* Packs the direction of version 2, and the energy after it, as in version 3. */
static void repack(const struct sl_mcpl_header *from, const uint8_t *at, double packed[3])
{
	double number[3], direction[3];

	for (int k = 0; k < 3; k++, at += from->single ? sizeof(float) : sizeof(double))
		number[k] = sl_mcpl_number(from->single, at);
	sl_mcpl_unpack_octahedron(number, direction);
	sl_mcpl_pack(direction, packed);
	packed[2] = copysign(number[2], packed[2]);
}

static void recode(const struct sl_mcpl_header *from, const uint8_t *record,
	const struct sl_mcpl_header *to, uint8_t *out)
{
	const size_t bytes = from->single ? sizeof(float) : sizeof(double);
	/* those of a record that are not copied from it, in double precision */
	double other[SL_MCPL_WEIGHT + 1] = {[SL_MCPL_WEIGHT] = from->weight};
	uint32_t pdg = (uint32_t)from->pdg, flags = 0;
	struct sl_mcpl_buffer w = {out, 0};

	for (int k = 0; k <= SL_MCPL_WEIGHT; k++) {
		const bool has = sl_mcpl_has_number(from, k),
			   is_direction = k >= SL_MCPL_DIRECTION && k < SL_MCPL_TIME,
			   is_copied = has && !(from->version == 2 && is_direction);

		if (from->version == 2 && k == SL_MCPL_DIRECTION)
			repack(from, record, &other[k]);
		if (sl_mcpl_has_number(to, k))
			recode_number(&w, is_copied && from->single,
				is_copied ? (const void *)record : &other[k], to->single);
		record += has ? bytes : 0;
	}
	if (from->pdg == 0) {
		memcpy(&pdg, record, sizeof(pdg));
		record += sizeof(pdg);
	}
	if (from->flags)
		memcpy(&flags, record, sizeof(flags));
	if (to->pdg == 0)
		sl_mcpl_write_u32(&w, pdg);
	if (to->flags)
		sl_mcpl_write_u32(&w, flags);
}

void sl_mcpl_recode_records(const struct sl_mcpl_header *from, const uint8_t *records, uint32_t n,
	const struct sl_mcpl_header *to, uint8_t *out)
{
	if (sl_mcpl_has_same_layout(from, to)) {
		memcpy(out, records, (size_t)n * from->record_bytes);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		recode(from, records + (size_t)i * from->record_bytes, to,
			out + (size_t)i * to->record_bytes);
}
