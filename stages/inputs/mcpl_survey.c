/*
 * mcpl_survey.c - checks each number of each record of an MCPL file.
 *
 * Records are checked as stored: unpacked directions are at most 1, so only the stored numbers can
 * overflow. NaN and infinity are allowed except as weights: they are the same in single
 * precision, and a condition in keep can remove such particles.
 */
#include "stages/inputs/inputs.h"

#include <math.h>
#include <string.h>

#include "primitives/device/device.h"
#include "stages/formats/mcpl/mcpl_record.h"

/*
 * The numbers of a record, in their order, and the factors that convert them to internal units. A
 * record without polarisation begins with the position, and one without a weight ends before it.
 */
static const struct {
	const char *name;
	double factor;
} numbers[SL_MCPL_WEIGHT + 1] = {{"polarisation", 1}, {"polarisation", 1}, {"polarisation", 1},
	{"x", 1}, {"y", 1}, {"z", 1}, {"direction", 1}, {"direction", 1}, {"energy", SL_MCPL_KEV},
	{"time", SL_MCPL_NS}, {"weight", 1}};

/* Fails because a weight, which is summed, is NaN or infinite in the file. */
static enum sl_status check_weight(uint64_t particle, double weight)
{
	if (isfinite(weight))
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"particle %llu (from 0): its weight is %.9g, but weights are summed; " SL_MCPL_REMOVE_PARTICLE,
		(unsigned long long)particle, weight);
}

/* Records as stored. */
struct stored_records {
	const struct sl_mcpl_header *h;
	const uint8_t *at;
	size_t n;
	uint64_t first; /* the number of the first record in the file */
};

static double number_at(const struct stored_records *r, size_t record, int number)
{
	return sl_mcpl_number(r->h->single,
		r->at + record * r->h->record_bytes + sl_mcpl_number_at(r->h, number));
}

/* Whether records have a number that needs a check: not one of the precision and unit of a column. */
static bool is_checked(const struct sl_mcpl_header *h, int number)
{
	return sl_mcpl_has_number(h, number) &&
	       (!h->single || numbers[number].factor != 1 || number == SL_MCPL_WEIGHT);
}

/*
 * Whether this number of some record is one that check_record() refuses; no branches, as such a
 * number is rare.
 */
static bool is_refused(const struct stored_records *r, int number)
{
	const bool is_weight = number == SL_MCPL_WEIGHT;
	const double factor = numbers[number].factor;
	bool refused = false;

	for (size_t i = 0; i < r->n; i++) {
		double value = number_at(r, i, number);

		refused |= sl_mcpl_is_beyond(value, factor, is_weight) |
		           (is_weight & !isfinite(value));
	}
	return refused;
}

/* The same for all numbers. */
static bool has_refused(const struct stored_records *r)
{
	bool refused = false;

	for (int k = 0; k <= SL_MCPL_WEIGHT; k++)
		refused |= is_checked(r->h, k) && is_refused(r, k);
	return refused;
}

bool sl_is_damaged_record(const struct sl_mcpl_header *h, const uint8_t *record)
{
	const struct stored_records r = {.h = h, .at = record, .n = 1};

	return has_refused(&r);
}

/* Fails with the first number of a record that a run cannot have. */
static enum sl_status check_record(const struct stored_records *r, size_t i)
{
	for (int k = 0; k <= SL_MCPL_WEIGHT; k++)
		if (is_checked(r->h, k))
			SL_TRY(sl_mcpl_check_number(r->first + i, numbers[k].name,
				number_at(r, i, k), numbers[k].factor, k == SL_MCPL_WEIGHT));
	return r->h->weight == 0 ? check_weight(r->first + i, number_at(r, i, SL_MCPL_WEIGHT))
	                         : SL_OK;
}

/* Counts the damaged records, and adds the weights of the others. */
static enum sl_status count_damaged(const struct stored_records *r, struct sl_mcpl_pass *pass)
{
	for (size_t i = 0; i < r->n; i++) {
		double weight = r->h->weight == 0 ? number_at(r, i, SL_MCPL_WEIGHT) : 0;

		if (sl_is_damaged_record(r->h, r->at + i * r->h->record_bytes) || !isfinite(weight))
			pass->damaged++;
		else
			pass->weights += fabs(weight);
	}
	return SL_OK;
}

/*
 * Checks records and adds the absolute values of their weights: the scale of the fixed-point sums
 * follows from the sum of these over all files.
 */
static enum sl_status check_records(const struct stored_records *r, struct sl_mcpl_pass *pass)
{
	const bool refused = has_refused(r);

	if (refused && pass->drops)
		return count_damaged(r, pass);
	for (size_t i = 0; refused && i < r->n; i++)
		SL_TRY(check_record(r, i));
	for (size_t i = 0; r->h->weight == 0 && i < r->n; i++) {
		double weight = number_at(r, i, SL_MCPL_WEIGHT);

		/* again, because a file that changes can have another weight now */
		SL_TRY(sl_mcpl_check_number(r->first + i, "weight", weight, 1, true));
		SL_TRY(check_weight(r->first + i, weight));
		pass->weights += fabs(weight);
	}
	return SL_OK;
}

enum sl_status sl_check_mcpl_weight(const struct sl_mcpl_header *h, double *weights)
{
	SL_TRY(sl_mcpl_check_weight(h));
	*weights += fabs(h->weight) * (double)h->particles;
	return SL_OK;
}

enum sl_status sl_check_mcpl_records(struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass)
{
	const struct sl_mcpl_header *h = &s->header;
	struct stored_records r = {.h = h};
	const uint8_t *end;
	bool trailing;

	for (;;) {
		const uint64_t read = s->read;

		r.first = pass->first + read;
		SL_TRY(sl_mcpl_raw(s, SL_MCPL_RAW_BYTES, &r.at, &r.n));
		/* while the bytes that were read are cached */
		end = s->gzipped ? s->z.in : s->at;
		pass->crc = sl_crc32_update(pass->crc, pass->summed, (size_t)(end - pass->summed));
		pass->summed = end;
		if (pass->keep && r.n > 0)
			memcpy(pass->keep + read * h->record_bytes, r.at, r.n * h->record_bytes);
		SL_TRY(check_records(&r, pass));
		if (r.n == 0)
			return sl_mcpl_end(s, &trailing);
	}
}

/* --- parts ------------------------------------------------------------------------------------ */

/* The survey of a file in parts. */
struct survey_parts {
	const struct sl_mcpl_stream *file; /* at its first record */
	uint64_t each;                     /* records of a part, but for the last one */
	uint32_t n;
	struct sl_mcpl_pass *part;
};

/*
 * Task: checks the records of a part. The last part comes first: if the file is larger than the
 * memory for cached pages, its beginning, which the batches read next, is cached then.
 */
static enum sl_status check_part(void *context, uint32_t worker, uint32_t task)
{
	const struct survey_parts *all = (const struct survey_parts *)context;
	const uint64_t first = (all->n - 1 - task) * all->each,
		       left = all->file->header.particles - first;
	struct sl_mcpl_pass *part = &all->part[all->n - 1 - task];
	struct sl_mcpl_stream s = *all->file;

	(void)worker;
	s.at += (size_t)first * s.header.record_bytes;
	s.header.particles = left < all->each ? left : all->each;
	s.left = (size_t)s.header.particles * s.header.record_bytes;
	part->first = first;
	part->summed = s.at;
	return sl_check_mcpl_records(&s, part);
}

/* Joins the results of the parts, in the order of the file. */
static void add_parts(const struct survey_parts *all, struct sl_mcpl_pass *pass)
{
	const uint8_t *at = all->file->at;

	pass->crc = sl_crc32_update(pass->crc, pass->summed, (size_t)(at - pass->summed));
	for (uint32_t i = 0; i < all->n; i++) {
		const struct sl_mcpl_pass *part = &all->part[i];

		pass->crc = sl_crc32_combine(pass->crc, part->crc, (size_t)(part->summed - at));
		pass->damaged += part->damaged;
		pass->weights += part->weights;
		pass->summed = at = part->summed;
	}
}

/* After a failure in any part, the whole file is checked, which finds the first one. */
enum sl_status sl_survey_plain(
	struct sl_job_pool *pool, const struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass)
{
	struct survey_parts all = {
		.file = s, .each = SL_SURVEY_PART_BYTES / s->header.record_bytes};
	SL_CLOSED_BY(sl_host_give) void *memory = NULL;
	struct sl_mcpl_stream whole = *s;

	all.n = (uint32_t)sl_ceil_div(s->header.particles, all.each);
	if (all.n > 1) {
		SL_TRY(sl_memory_get(SL_HOST, all.n * sizeof(*all.part), &memory));
		all.part = (struct sl_mcpl_pass *)memory;
		for (uint32_t i = 0; i < all.n; i++)
			all.part[i] = (struct sl_mcpl_pass){.drops = pass->drops};
		if (sl_tasks_run(pool, pool->n, all.n, check_part, &all) == SL_OK) {
			add_parts(&all, pass);
			return SL_OK;
		}
	}
	return sl_check_mcpl_records(&whole, pass);
}

/* --- lists of other formats ------------------------------------------------------------------- */

bool sl_is_damaged_particle(const struct sl_mcpl_header *h, const struct sl_mcpl_particle *p)
{
	return sl_mcpl_check_particle(0, p) != SL_OK || (h->weight == 0 && !isfinite(p->weight));
}

enum sl_status sl_check_phase_space(const struct sl_phase_space *s, struct sl_mcpl_pass *pass)
{
	const struct sl_mcpl_header *h = &s->fields;

	SL_TRY(sl_check_mcpl_weight(h, &pass->weights));
	for (uint64_t i = 0; i < h->particles; i++) {
		struct sl_mcpl_particle p;

		SL_TRY(sl_phase_space_particle(s, i, &p));
		if (pass->drops && sl_is_damaged_particle(h, &p)) {
			pass->damaged++;
			continue;
		}
		SL_TRY(sl_mcpl_check_particle(i, &p));
		if (h->weight != 0)
			continue; /* it counts only once */
		SL_TRY(check_weight(i, p.weight));
		pass->weights += fabs(p.weight);
	}
	return SL_OK;
}
