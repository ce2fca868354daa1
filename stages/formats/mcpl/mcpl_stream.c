/* mcpl_stream.c - see mcpl_stream.h. */
#include "stages/formats/mcpl/mcpl_stream.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are read as they lie in the file, which is little-endian"
#endif

enum { WINDOW_BYTES = SL_MCPL_RAW_BYTES, FIXED_BYTES = 48 };

static enum sl_status refuse(const char *problem, const char *remedy)
{
	return sl_fail(SL_BAD_INPUT, "%s; %s", problem, remedy);
}

/* Fails because the file ends too early; only a plain file can be repaired by mcpltool. */
static enum sl_status cut_short(const struct sl_mcpl_stream *s)
{
	return refuse("it ends before the end of the content that its header states (it is damaged "
		      "or was cut short)",
		s->gzipped
			? "make it again"
			: "make it again, or use mcpltool --repair on a copy: it changes the file, and keeps complete records");
}

enum sl_status sl_mcpl_check_weight(const struct sl_mcpl_header *h)
{
	double weight = fabs(h->weight);

	if (weight == 0 || (weight >= (double)FLT_MIN && isfinite((float)weight)))
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"the common weight of its particles is %.9g, but a weight is stored in single "
		"precision (%.3g to %.3g); scale the weights of the list",
		h->weight, (double)FLT_MIN, (double)FLT_MAX);
}

/* --- bytes ------------------------------------------------------------------------------------ */

/*
 * Decompresses to the end of the window until it has so many bytes, or the file ends. Damage after
 * those bytes is reported by a later call, because sl_inflate_next() then fails again.
 */
static enum sl_status refill(struct sl_mcpl_stream *s, size_t bytes)
{
	enum sl_status status = SL_OK;
	size_t got = 1;

	if (s->left > 0)
		memmove(s->window, s->at, s->left);
	s->at = s->window;
	while (s->left < bytes && got > 0 && status == SL_OK) {
		status = sl_inflate_next(&s->z, s->window + s->left, WINDOW_BYTES - s->left, &got);
		s->left += got;
	}
	return s->left < bytes ? status : SL_OK;
}

/* Takes the next bytes of the file, at most WINDOW_BYTES. */
static enum sl_status take(struct sl_mcpl_stream *s, size_t bytes, const uint8_t **taken)
{
	if (s->left < bytes && s->gzipped)
		SL_TRY(refill(s, bytes));
	*taken = s->at;
	if (s->left < bytes)
		return cut_short(s);
	s->at += bytes;
	s->left -= bytes;
	return SL_OK;
}

/* Whether bytes follow what was read. */
static enum sl_status has_more(struct sl_mcpl_stream *s, bool *more)
{
	if (s->left == 0 && s->gzipped)
		SL_TRY(refill(s, 1));
	*more = s->left > 0;
	return SL_OK;
}

enum sl_status sl_mcpl_end(struct sl_mcpl_stream *s, bool *trailing)
{
	bool more;

	SL_TRY(has_more(s, trailing));
	for (more = *trailing; more;) {
		s->left = 0;
		SL_TRY(has_more(s, &more));
	}
	return SL_OK;
}

/* --- header ----------------------------------------------------------------------------------- */

/* Numbers of a file have any alignment, so they are copied. */
static uint32_t u32_at(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* The first 8 bytes: the format, its version and the byte order. */
static enum sl_status check_magic(struct sl_mcpl_header *h, const uint8_t *at)
{
	if (memcmp(at, "MCPL00", 6) != 0 || (at[6] != '2' && at[6] != '3'))
		return refuse(
			"it does not begin with MCPL002L or MCPL003L, so it is not an MCPL file of "
			"version 2 or 3",
			"use a file of that format");
	if (at[7] != 'L')
		return refuse("its numbers have the greatest byte first (it is from a big-endian "
			      "machine)",
			"run mcpltool on that machine to write it as text");
	h->version = at[6] - '0';
	return SL_OK;
}

/*
 * Checks the number of strings at once, before any of them is read: each takes at least the 4 bytes
 * of its length.
 */
static enum sl_status check_strings(struct sl_mcpl_stream *s)
{
	uint64_t n = sl_mcpl_count_strings(&s->header);

	s->string_bytes = SL_MCPL_STRING_BYTES_MOST;
	if (!s->gzipped && n > s->left / sizeof(uint32_t))
		return cut_short(s);
	if (n > SL_MCPL_STRINGS_MOST)
		return sl_fail(SL_BAD_INPUT,
			"its header has %llu strings (comments and blobs), but at most %d are read; "
			"if it is not damaged, remove comments",
			(unsigned long long)n, SL_MCPL_STRINGS_MOST);
	return SL_OK;
}

/*
 * Reads the fixed part of the header. The stored size of a record must follow from the flags, so
 * that records are never read with a size that the file invents.
 */
static enum sl_status read_fixed(struct sl_mcpl_stream *s)
{
	struct sl_mcpl_header *h = &s->header;
	uint8_t at[FIXED_BYTES]; /* a mapped file can change between two reads of a byte */
	const uint8_t *taken;
	bool weighs;

	if (s->left < 8 && !s->gzipped)
		return refuse("it is too short for an MCPL header", "use another file");
	SL_TRY(take(s, FIXED_BYTES, &taken));
	memcpy(at, taken, FIXED_BYTES);
	SL_TRY(check_magic(h, at));
	memcpy(&h->particles, at + 8, sizeof(h->particles));
	h->comments = u32_at(at + 16);
	h->blobs = u32_at(at + 20);
	h->flags = u32_at(at + 24) != 0;
	h->polarised = u32_at(at + 28) != 0;
	h->single = u32_at(at + 32) != 0;
	h->pdg = (int32_t)u32_at(at + 36);
	h->record_bytes = u32_at(at + 40);
	weighs = u32_at(at + 44) != 0;
	if (weighs) {
		SL_TRY(take(s, sizeof(h->weight), &taken));
		h->weight = sl_mcpl_number(false, taken);
	}
	if (weighs && (!isfinite(h->weight) || h->weight == 0))
		return refuse(
			"the common weight in its header is 0, infinite or NaN", "make it again");
	if (h->record_bytes != sl_mcpl_record_bytes(h))
		return refuse(
			"its header states a record size that does not follow from its flags (it is "
			"damaged)",
			"make it again");
	return check_strings(s);
}

enum sl_status sl_mcpl_open(struct sl_mcpl_stream *s, const void *file, size_t bytes)
{
	enum sl_status status = SL_OK;
	void *window = NULL;

	*s = (struct sl_mcpl_stream){.gzipped = sl_is_gzip(file, bytes)}; /* whatever its name */
	if (s->gzipped)
		status = sl_memory_get(SL_HOST, WINDOW_BYTES, &window);
	s->window = (uint8_t *)window;
	if (status == SL_OK && s->gzipped)
		status = sl_inflate_begin(&s->z, SL_GZIP, file, bytes);
	s->z.members = true;
	if (status == SL_OK)
		status = sl_mcpl_rewind(s, file, bytes);
	if (status != SL_OK)
		sl_mcpl_close(s);
	return status;
}

/* The compressed bytes stay in the file. */
enum sl_status sl_mcpl_rewind(struct sl_mcpl_stream *s, const void *file, size_t bytes)
{
	s->header = (struct sl_mcpl_header){0};
	s->read = 0;
	s->at = (const uint8_t *)file;
	s->left = bytes;
	if (s->gzipped) {
		sl_inflate_again(&s->z, file, bytes);
		s->left = 0;
	}
	return read_fixed(s);
}

void sl_mcpl_close(struct sl_mcpl_stream *s)
{
	sl_inflate_end(&s->z);
	sl_memory_give(SL_HOST, s->window);
	s->window = NULL;
}

enum sl_status sl_mcpl_string_length(struct sl_mcpl_stream *s, uint32_t *length)
{
	const uint8_t *at;
	size_t bytes;

	SL_TRY(take(s, sizeof(*length), &at));
	*length = u32_at(at);
	bytes = sizeof(*length) + (size_t)*length;
	if (!s->gzipped && *length > s->left)
		return cut_short(s);
	if (bytes > s->string_bytes)
		return sl_fail(SL_BAD_INPUT,
			"the comments and blobs of its header have more than %d MiB, which is the "
			"limit; if it is not damaged, remove the largest blobs",
			SL_MCPL_STRING_BYTES_MOST >> 20);
	s->string_bytes -= bytes;
	return SL_OK;
}

enum sl_status sl_mcpl_string_bytes(
	struct sl_mcpl_stream *s, uint32_t length, void *to, size_t size)
{
	const uint8_t *at;

	for (size_t left = length, n; left > 0; left -= n) {
		size_t copied;

		n = left < WINDOW_BYTES ? left : WINDOW_BYTES;
		SL_TRY(take(s, n, &at));
		copied = n < size ? n : size;
		if (copied == 0) /* to may be NULL */
			continue;
		memcpy(to, at, copied);
		to = (uint8_t *)to + copied;
		size -= copied;
	}
	return SL_OK;
}

enum sl_status sl_mcpl_text(struct sl_mcpl_stream *s, char *text, size_t size, uint32_t *length)
{
	SL_TRY(sl_mcpl_string_length(s, length));
	text[*length < size - 1 ? *length : size - 1] = '\0';
	return sl_mcpl_string_bytes(s, *length, text, size - 1);
}

enum sl_status sl_mcpl_skip_head(struct sl_mcpl_stream *s)
{
	char nothing[1];
	uint32_t length;

	for (uint64_t i = 0; i < sl_mcpl_count_strings(&s->header); i++)
		SL_TRY(sl_mcpl_text(s, nothing, sizeof(nothing), &length));
	return sl_mcpl_begin(s);
}

/* --- particles -------------------------------------------------------------------------------- */

/* The size of a plain file is known; of a gzip file, only whether any bytes follow. */
enum sl_status sl_mcpl_begin(struct sl_mcpl_stream *s)
{
	struct sl_mcpl_header *h = &s->header;
	uint64_t whole = s->left / h->record_bytes;
	bool more;

	if (h->particles == 0) {
		SL_TRY(has_more(s, &more));
		if (more && s->gzipped)
			return refuse("its header counts no particles, but some follow (the writer "
				      "did not finish)",
				"run gunzip and read the plain file");
		s->recovered = more && whole > 0;
		h->particles = whole;
	}
	return s->gzipped || h->particles <= whole ? SL_OK : cut_short(s);
}

/* In a gzip file, damaged or missing records are detected only here. */
static enum sl_status take_records(struct sl_mcpl_stream *s, size_t bytes, const uint8_t **records)
{
	enum sl_status status = take(s, bytes, records);

	if (status == SL_BAD_INPUT)
		sl_add_context(status,
			"particle %llu of %llu, from 0 on (gunzip -c and then mcpltool --repair "
			"keep the particles before it)",
			(unsigned long long)(s->read + s->left / s->header.record_bytes),
			(unsigned long long)s->header.particles);
	return status;
}

/* Reads n numbers of a record as doubles; returns the byte after them. */
static const uint8_t *get_numbers(
	const struct sl_mcpl_header *h, const uint8_t *at, double *number, int n)
{
	for (int i = 0; i < n; i++) {
		number[i] = sl_mcpl_number(h->single, at);
		at += h->single ? sizeof(float) : sizeof(double);
	}
	return at;
}

void sl_mcpl_decode(const struct sl_mcpl_header *h, const uint8_t *at, struct sl_mcpl_particle *p)
{
	double packed[3];

	*p = (struct sl_mcpl_particle){.weight = h->weight, .pdg = h->pdg};
	if (h->polarised)
		at = get_numbers(h, at, p->polarisation, 3);
	at = get_numbers(h, at, p->position, 3);
	at = get_numbers(h, at, packed, 3);
	/* the sign of the packed energy is that of the missing component */
	(h->version == 2 ? sl_mcpl_unpack_octahedron : sl_mcpl_unpack)(packed, p->direction);
	p->energy = fabs(packed[2]);
	at = get_numbers(h, at, &p->time, 1);
	if (h->weight == 0)
		at = get_numbers(h, at, &p->weight, 1);
	if (h->pdg == 0) {
		p->pdg = (int32_t)u32_at(at);
		at += sizeof(p->pdg);
	}
	if (h->flags)
		p->flags = u32_at(at);
}

enum sl_status sl_mcpl_next(struct sl_mcpl_stream *s, struct sl_mcpl_particle *p)
{
	const uint8_t *record;

	SL_TRY(take_records(s, s->header.record_bytes, &record));
	s->read++;
	sl_mcpl_decode(&s->header, record, p);
	return SL_OK;
}

struct sl_particle sl_mcpl_to_particle(const struct sl_mcpl_particle *p)
{
	struct sl_particle to = {.x = (float)p->position[0],
		.y = (float)p->position[1],
		.z = (float)p->position[2],
		.u = (float)p->direction[0],
		.v = (float)p->direction[1],
		.w = (float)p->direction[2],
		.energy = (float)(p->energy * SL_MCPL_KEV),
		.weight = (float)p->weight,
		.time = (float)(p->time * SL_MCPL_NS),
		.pdg = p->pdg,
		.pol_x = (float)p->polarisation[0],
		.pol_y = (float)p->polarisation[1],
		.pol_z = (float)p->polarisation[2]};

	to.userflags = to.pixel = to.steps = to.collisions = p->flags;
	to.id = p->flags;
	to.fate = (uint8_t)p->flags;
	return to;
}

enum sl_status sl_mcpl_raw(
	struct sl_mcpl_stream *s, size_t bytes, const uint8_t **records, size_t *n)
{
	uint64_t left = s->header.particles - s->read;
	size_t limit = s->gzipped && bytes > SL_MCPL_RAW_BYTES ? SL_MCPL_RAW_BYTES : bytes;
	size_t most = limit / s->header.record_bytes;

	*n = left < most ? (size_t)left : most;
	SL_TRY(take_records(s, *n * s->header.record_bytes, records));
	s->read += *n;
	return SL_OK;
}
