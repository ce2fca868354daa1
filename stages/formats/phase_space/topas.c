/*
 * topas.c - see phase_space.h.
 *
 * Binary records are read where they are. Text, and binary records between entries for empty
 * histories, become binary records in memory first, so that any particle can be read.
 */
#include "stages/formats/phase_space/phase_space.h"

#include <math.h>
#include <stdlib.h>

#include "primitives/device/device.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_record.h"

/* Columns that all files have, and the bytes of a record of these, without and with a time. */
enum { COLUMNS = 10, REALS = 7, FIXED_BYTES = 34, TIMED_BYTES = 38 };

/* The fewest bytes of a line of text, and the most; its numbers that are used. */
enum { LINE_LEAST = 2 * COLUMNS, LINE_MOST = 4096, NUMBERS_MOST = 64 };

static const struct {
	const char *type, *name;
} columns[COLUMNS] = {{"f4", "Position X [cm]"}, {"f4", "Position Y [cm]"},
	{"f4", "Position Z [cm]"}, {"f4", "Direction Cosine X"}, {"f4", "Direction Cosine Y"},
	{"f4", "Energy [MeV]"}, {"f4", "Weight"}, {"i4", "Particle Type (in PDG Format)"},
	{"b1", "Flag to tell if Third Direction Cosine is Negative"},
	{"b1", "Flag to tell if this is the First Scored Particle"}};

/* --- the header ------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Sets *value to the whole number after a key, at most `most`. */
static enum sl_status read_whole(const char *header, const char *key, double most, double *value)
{
	const char *at = strstr(header, key);
	char *end;

	if (!at)
		return sl_fail(SL_BAD_INPUT,
			"the header has no '%s', which a phase space of TOPAS needs; use the header that "
			"belongs to the file",
			key);
	at += strlen(key);
	*value = strtod(at, &end);
	if (end == at || !(*value >= 0 && *value <= most) || floor(*value) != *value)
		return sl_fail(SL_BAD_INPUT,
			"the header has no whole number from 0 to %.0f after '%s'; correct the header",
			most, key);
	return SL_OK;
}

/*
 * Checks the first columns, and finds the time: its offset in binary, else its number. The list may
 * be missing.
 */
static enum sl_status read_columns(const char *header, bool binary, struct sl_topas *t)
{
	const char *line = strstr(header, binary ? "Byte order of each record is as follows:"
						 : "Columns of data are as follows:");
	uint32_t offset = 0;

	line = line ? strchr(line, '\n') : NULL;
	for (uint32_t i = 0; line && i < NUMBERS_MOST; i++, line = strchr(line, '\n')) {
		const char *type = line + 1 + strspn(line + 1, " \t");
		const char *colon = (const char *)memchr(type, ':', strcspn(type, "\r\n"));
		const char *name = colon ? colon + 1 + strspn(colon + 1, " \t") : NULL;

		if (!colon)
			return SL_OK;
		if (i < COLUMNS && (!begins_with(name, columns[i].name) ||
					   (binary && !begins_with(type, columns[i].type))))
			return sl_fail(SL_BAD_INPUT,
				"column %u of the header is '%.*s', but in files of TOPAS it is '%s: %s'; "
				"write the file again with TOPAS",
				i + 1, (int)strcspn(type, "\r\n"), type, columns[i].type,
				columns[i].name);
		if (begins_with(name, "Time of Flight [ns]") &&
			(!binary || begins_with(type, "f4")))
			t->time_at = binary ? offset : i;
		offset += (uint32_t)(strtoul(type + 1, NULL, 10) & 0xff);
		line++;
	}
	return SL_OK;
}

/* --- records in memory ------------------------------------------------------------------------ */

/* Memory for the records that the header counts, at most as many as the file can have. */
static enum sl_status get_block(struct sl_topas *t, uint64_t most)
{
	if (t->particles > most)
		return sl_fail(SL_BAD_INPUT,
			"the header counts %llu particles, but the .phsp file has room for %llu: it was "
			"cut short, or belongs to another header; copy both files again",
			(unsigned long long)t->particles, (unsigned long long)most);
	/* one more for the entry that is read, which may be none */
	t->block_bytes = sl_size_mul((size_t)t->particles + 1, t->record_bytes);
	SL_TRY(sl_memory_get(SL_HOST, t->block_bytes, &t->block));
	t->records = (const uint8_t *)t->block;
	return SL_OK;
}

/*
 * Keeps the entry after n records, unless it stands for empty histories. False: there are too many.
 */
static bool keep(const struct sl_topas *t, uint64_t *n)
{
	float weight;

	memcpy(&weight, t->records + *n * t->record_bytes + (REALS - 1) * sizeof(float),
		sizeof(weight));
	if (weight < 0)
		return true;
	return ++*n <= t->particles;
}

static enum sl_status check_count(const struct sl_topas *t, uint64_t n)
{
	if (n == t->particles)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"the header counts %llu particles, but the .phsp file has %s: it was cut short, or "
		"belongs to another header; copy both files again",
		(unsigned long long)t->particles, n < t->particles ? "fewer" : "more");
}

static enum sl_status open_binary(
	const char *header, const uint8_t *file, size_t bytes, struct sl_topas *t)
{
	double length;
	uint64_t n = 0;

	SL_TRY(read_whole(header, "Number of Bytes per Particle:", 0x1p16, &length));
	t->record_bytes = (uint32_t)length;
	if (t->record_bytes < FIXED_BYTES || t->time_at + sizeof(float) > t->record_bytes ||
		bytes % t->record_bytes != 0)
		return sl_fail(SL_BAD_INPUT,
			"the header states %u bytes per particle, which does not agree with its columns or "
			"with the %zu bytes of the .phsp file; use the header that belongs to the file",
			t->record_bytes, bytes);
	t->records = file;
	if (t->particles == bytes / t->record_bytes)
		return SL_OK;
	SL_TRY(get_block(t, bytes / t->record_bytes));
	for (size_t at = 0; at < bytes && n <= t->particles; at += t->record_bytes) {
		memcpy((uint8_t *)t->block + n * t->record_bytes, file + at, t->record_bytes);
		if (!keep(t, &n))
			break;
	}
	return check_count(t, n);
}

/* Makes a record of the numbers of a line. */
static void put_record(const struct sl_topas *t, const double *number, uint8_t *to)
{
	int32_t code = (int32_t)number[REALS];
	float narrow;

	for (int k = 0; k < REALS; k++) {
		narrow = (float)number[k];
		memcpy(to + (size_t)k * sizeof(narrow), &narrow, sizeof(narrow));
	}
	memcpy(to + REALS * sizeof(float), &code, sizeof(code));
	to[FIXED_BYTES - 2] = number[REALS + 1] != 0;
	to[FIXED_BYTES - 1] = number[REALS + 2] != 0;
	narrow = t->time_at ? (float)number[t->time_at] : 0;
	if (t->record_bytes == TIMED_BYTES)
		memcpy(to + FIXED_BYTES, &narrow, sizeof(narrow));
}

/* Reads the numbers of a line up to the last one needed. */
static bool read_line(const struct sl_topas *t, const char *line, double number[NUMBERS_MOST])
{
	const uint32_t n = t->time_at ? t->time_at + 1 : (uint32_t)COLUMNS;
	char *end;

	for (uint32_t i = 0; i < n; i++, line = end) {
		number[i] = strtod(line, &end);
		if (end == line || sl_mcpl_is_beyond(number[i], 1, i + 1 == REALS))
			return false;
	}
	return number[REALS] >= INT32_MIN && number[REALS] <= INT32_MAX;
}

static enum sl_status open_text(const char *file, size_t bytes, struct sl_topas *t)
{
	double number[NUMBERS_MOST];
	char line[LINE_MOST];
	uint64_t n = 0, lines = 0;
	size_t length;

	t->record_bytes = t->time_at ? TIMED_BYTES : FIXED_BYTES;
	SL_TRY(get_block(t, bytes / LINE_LEAST + 1));
	for (size_t at = 0; at < bytes; at += length + 1) {
		const size_t left = bytes - at;
		const char *end = (const char *)memchr(file + at, '\n', left);

		length = end ? (size_t)(end - file) - at : left;
		lines++;
		if (length < LINE_MOST)
			memcpy(line, file + at, length);
		line[length < LINE_MOST ? length : 0] = '\0';
		if (line[strspn(line, " \t\r")] == '\0' && length < LINE_MOST)
			continue;
		if (!read_line(t, line, number))
			return sl_fail(SL_BAD_INPUT,
				"line %llu of the .phsp file does not begin with the numbers of a "
				"particle; copy both files again",
				(unsigned long long)lines);
		put_record(t, number, (uint8_t *)t->block + n * t->record_bytes);
		if (!keep(t, &n))
			break;
	}
	t->time_at = t->time_at ? FIXED_BYTES : 0;
	return check_count(t, n);
}

/* --- particles -------------------------------------------------------------------------------- */

enum sl_status sl_topas_open(
	const char *header, const void *file, size_t file_bytes, struct sl_topas *t)
{
	const bool binary = begins_with(header, "TOPAS Binary Phase Space");
	double particles;

	*t = (struct sl_topas){.particles = 0};
	if (!binary && !begins_with(header, "TOPAS ASCII Phase Space"))
		return sl_fail(SL_BAD_INPUT,
			"the header begins with '%.*s', not with TOPAS Binary Phase Space or TOPAS ASCII "
			"Phase Space; use a phase space of TOPAS",
			(int)(strcspn(header, "\r\n") & 0x3f), header);
	SL_TRY(read_whole(header, "Number of Original Histories:", 0x1p63, &t->histories));
	SL_TRY(read_whole(header, "Number of Scored Particles:", 0x1p48, &particles));
	t->particles = (uint64_t)particles;
	t->histories = t->histories > 0 ? t->histories : -1;
	SL_TRY(read_columns(header, binary, t));
	return binary ? open_binary(header, (const uint8_t *)file, file_bytes, t)
	              : open_text((const char *)file, file_bytes, t);
}

enum sl_status sl_topas_particle(const struct sl_topas *t, uint64_t i, struct sl_mcpl_particle *p)
{
	const uint8_t *at = t->records + (size_t)i * t->record_bytes;
	double value[REALS];

	*p = (struct sl_mcpl_particle){.flags = at[FIXED_BYTES - 1] != 0};
	for (int k = 0; k < REALS; k++)
		value[k] = sl_mcpl_number(true, at + (size_t)k * sizeof(float));
	memcpy(p->position, value, sizeof(p->position));
	sl_iaea_direction(value[3], value[4], at[FIXED_BYTES - 2] != 0, p->direction);
	p->energy = value[5];
	p->weight = value[6];
	memcpy(&p->pdg, at + REALS * sizeof(float), sizeof(p->pdg));
	if (t->time_at)
		p->time = sl_mcpl_number(true, at + t->time_at) / SL_MCPL_NS;
	if (!(p->weight < 0))
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"its weight is %.9g, which stands for histories without particles, but the header counts "
		"it as a particle; correct the number of particles in the header",
		p->weight);
}
