/*
 * mcpl_survey.c - checks each number of each record of an MCPL file.
 *
 * Records are checked as stored: unpacked directions are at most 1, so only the stored numbers can
 * overflow. NaN and infinity are allowed except as weights: they are the same in single
 * precision, and a condition in keep can remove such particles.
 */
#include "stages/inputs/mcpl_survey.h"

#include <math.h>
#include <string.h>

#include "primitives/files/crc32.h"
#include "stages/formats/mcpl/mcpl_record.h"

enum { NUMBERS_MOST = 11, ENERGY = 5, TIME = 6, WEIGHT = 7 };

/* The numbers of a record: their names, and the factors that convert them to internal units. */
struct record_numbers {
	int n, weight; /* how many; the index of the weight, n if there is none */
	const char *name[NUMBERS_MOST];
	double factor[NUMBERS_MOST];
};

/* The numbers of a record of a file with the given header. */
static struct record_numbers numbers_of(const struct sl_mcpl_header *h)
{
	static const char *const names[] = {
		"x", "y", "z", "direction", "direction", "energy", "time", "weight"};
	int before = h->polarised ? 3 : 0, n = h->weight == 0 ? WEIGHT + 1 : WEIGHT;
	struct record_numbers all = {.n = before + n, .weight = before + WEIGHT};

	for (int i = 0; i < all.n; i++) {
		int k = i - before;

		all.name[i] = k < 0 ? "polarisation" : names[k];
		all.factor[i] = k == ENERGY ? SL_MCPL_KEV : k == TIME ? SL_MCPL_NS : 1;
	}
	return all;
}

/* Fails with the particle and the number that a run cannot represent. */
static enum sl_status refuse(uint64_t particle, const char *name, double value, const char *why)
{
	return sl_fail(SL_BAD_INPUT,
		"particle %llu (from 0): its %s is %.9g, but %s; remove the particle from the list",
		(unsigned long long)particle, name, value, why);
}

/*
 * Checks a number in the unit of the file: finite in single precision and internal units unless it is
 * NaN or infinite in the file, which a weight must not be.
 */
static enum sl_status check_number(
	uint64_t particle, const char *name, double value, double factor, bool is_weight)
{
	if (isinf((float)(value * factor)) && !isinf(value))
		return refuse(particle, name, value, "a run computes in single precision");
	if (is_weight && !isfinite(value))
		return refuse(particle, name, value, "weights are summed");
	return SL_OK;
}

/*
 * Checks one record and adds the absolute value of its weight: the scale of the fixed-point sums follows
 * from the sum of these over all files.
 */
static enum sl_status check_record(const struct sl_mcpl_header *h, const struct record_numbers *all,
	const uint8_t *record, uint64_t particle, double *weights)
{
	size_t number_bytes = h->single ? sizeof(float) : sizeof(double);

	for (int i = 0; i < all->n; i++) {
		double value;

		if (h->single && all->factor[i] == 1 && i != all->weight)
			continue; /* it has the precision and the unit of a column */
		value = sl_mcpl_number(h->single, record + (size_t)i * number_bytes);
		SL_TRY(check_number(
			particle, all->name[i], value, all->factor[i], i == all->weight));
		if (i == all->weight)
			*weights += fabs(value);
	}
	return SL_OK;
}

/* Adds the bytes of the file that were read since the last call to the checksum, while they are cached. */
static void add_to_crc(const struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass)
{
	const uint8_t *end = s->gzipped ? s->z.in : s->at;

	pass->crc = sl_crc32_update(pass->crc, pass->summed, (size_t)(end - pass->summed));
	pass->summed = end;
}

enum sl_status sl_check_mcpl_particles(struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass)
{
	const struct sl_mcpl_header *h = &s->header;
	const struct record_numbers all = numbers_of(h);
	const uint8_t *records;
	bool trailing;
	size_t n;

	SL_TRY(sl_mcpl_check_weight(h));
	pass->weights += fabs(h->weight) * (double)h->particles;
	for (;;) {
		uint64_t first = s->read;

		SL_TRY(sl_mcpl_raw(s, &records, &n));
		add_to_crc(s, pass);
		if (pass->keep && n > 0)
			memcpy(pass->keep + first * h->record_bytes, records, n * h->record_bytes);
		for (size_t i = 0; i < n; i++)
			SL_TRY(check_record(
				h, &all, records + i * h->record_bytes, first + i, &pass->weights));
		if (n == 0)
			return sl_mcpl_end(s, &trailing);
	}
}

/* The same numbers of a decoded particle; a common weight counts only once. */
static enum sl_status check_particle(
	uint64_t i, const struct sl_mcpl_particle *p, bool weighs, double *weights)
{
	static const char *const axes[] = {"x", "y", "z"};

	for (int k = 0; k < 3; k++) {
		SL_TRY(check_number(i, axes[k], p->position[k], 1, false));
		SL_TRY(check_number(i, "direction", p->direction[k], 1, false));
		SL_TRY(check_number(i, "polarisation", p->polarisation[k], 1, false));
	}
	SL_TRY(check_number(i, "energy", p->energy, SL_MCPL_KEV, false));
	SL_TRY(check_number(i, "time", p->time, SL_MCPL_NS, false));
	if (!weighs)
		return SL_OK;
	SL_TRY(check_number(i, "weight", p->weight, 1, true));
	*weights += fabs(p->weight);
	return SL_OK;
}

enum sl_status sl_check_phase_space(const struct sl_phase_space *s, double *weights)
{
	const struct sl_mcpl_header *h = &s->fields;

	SL_TRY(sl_mcpl_check_weight(h));
	*weights += fabs(h->weight) * (double)h->particles;
	for (uint64_t i = 0; i < h->particles; i++) {
		struct sl_mcpl_particle p;

		SL_TRY(sl_phase_space_particle(s, i, &p));
		SL_TRY(check_particle(i, &p, h->weight == 0, weights));
	}
	return SL_OK;
}
