/*
 * mcpl_record.h - makes an MCPL record of a survivor, with the same bits on host and device.
 *
 *	[polarisation] position, direction and energy, time, [weight] [PDG code] [user flags]
 *
 * Each number is computed in double precision by one operation that IEEE 754 defines exactly, and
 * is rounded once more if the file has single precision. A particle that was read from a list keeps
 * its record instead. Processors differ in the bits of a NaN that they convert, so NaNs are
 * converted as bit patterns, with the result of x86.
 */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_RECORD_H
#define SL_STAGES_FORMATS_MCPL_MCPL_RECORD_H

#include <stdbool.h>

#include "stages/particle/math.h"
#include "stages/particle/particle.h"

SL_C_BEGIN

/* Units of the file in internal units, keV and ns. */
#define SL_MCPL_KEV 1e3 /* MeV */
#define SL_MCPL_NS  1e6 /* ms */

/* Columns that can be user flags: integers, of which the lower 32 bits are stored. */
#define SL_MCPL_FLAG_COLUMNS(X) X(userflags) X(id) X(pixel) X(steps) X(collisions) X(fate)

/* The contents of the records of a file. */
struct sl_mcpl_record {
	uint32_t bytes; /* of each record, a multiple of 4; 0: the format has no records */
	bool single;    /* numbers of 4 bytes, not 8 */
	bool polarised, weighs, typed; /* has polarisation, a weight, a PDG code */
	enum sl_column flags;          /* the column of the user flags; SL_COLUMN_COUNT: none */
	double energy;                 /* of all particles, in MeV; NaN: it is a column */
};

/* The columns of a table by name, and the values of constant columns. */
struct sl_mcpl_rows {
	struct sl_columns at;
	sl_column_set set; /* of the columns in at */
	struct sl_particle constant;
	const uint32_t *source, *source_index; /* struct sl_table */
	uint64_t first_id;
};

/* Row i as a particle. */
SL_HD struct sl_particle sl_mcpl_row(const struct sl_mcpl_rows *rows, uint64_t i)
{
	struct sl_particle p = rows->constant;

#define COLUMN(name, type, unit, record, component, help) \
	if (SL_HAS(rows->set, SL_COLUMN_##name))          \
		p.name = rows->at.name[i];
#include "stages/particle/columns.def"
#undef COLUMN
	return p;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* A float as a double; a NaN becomes quiet and keeps its payload, as on x86. */
SL_HD double sl_mcpl_wide(float v)
{
	uint64_t bits = sl_bits(v), nan = UINT64_C(0x7ff8) << 48;
	double wide = (double)v;

	nan |= bits >> 31 << 63 | (bits & 0x3fffff) << 29;
	if (v != v)
		memcpy(&wide, &nan, sizeof(wide));
	return wide;
}

/* A double rounded to a float; a NaN becomes quiet and loses low bits of its payload. */
SL_HD float sl_mcpl_narrow(double v)
{
	uint64_t bits;
	uint32_t nan;

	memcpy(&bits, &v, sizeof(bits));
	nan = (uint32_t)(bits >> 63 << 31 | (bits >> 29 & 0x3fffff)) | SL_NAN_BITS;
	return v == v ? (float)v : sl_float(nan);
}

/* A value in a unit that is so many times as large. */
SL_HD double sl_mcpl_in(float v, double unit)
{
	double wide = sl_mcpl_wide(v);

	return v == v ? wide / unit : wide;
}

/*
 * Packs a direction as two numbers and a sign: the two smaller components, where z is stored as 1/z
 * if it is one of them, and the sign of the largest. (Adaptive projection packing; Kittelmann et
 * al. 2017, 2.2.) packed[2] is that sign, 1 or -1; a record stores it as the sign of the energy.
 */
SL_HD void sl_mcpl_pack(const double d[3], double packed[3])
{
	bool of_x = fabs(d[0]) >= fabs(d[1]);
	bool of_z = !(fabs(d[2]) < (of_x ? fabs(d[0]) : fabs(d[1])));
	double inverse = 1 / (d[2] == 0 ? 0 : d[2]); /* no branch, and 1/-0 is 1/0 */

	packed[0] = of_z || !of_x ? d[0] : inverse;
	packed[1] = of_z || of_x ? d[1] : inverse;
	packed[2] = copysign(1.0, of_z ? d[2] : of_x ? d[0] : d[1]);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Stores a number in the precision of the record; returns the next word. */
SL_HD uint32_t *sl_mcpl_put(const struct sl_mcpl_record *r, double number, uint32_t *to)
{
	if (r->single)
		*to = sl_bits(sl_mcpl_narrow(number));
	else
		memcpy(to, &number, sizeof(number));
	return to + (r->single ? 1 : 2);
}

/* The value of a column that can be user flags. */
SL_HD uint32_t sl_mcpl_flags_of(enum sl_column column, const struct sl_particle *p)
{
#define FLAGS(name)                     \
	if (column == SL_COLUMN_##name) \
		return (uint32_t)p->name;
	SL_MCPL_FLAG_COLUMNS(FLAGS)
#undef FLAGS
	return 0;
}

/* A particle in the units of the file: cm, MeV, ms. */
struct sl_mcpl_particle {
	double polarisation[3], position[3], direction[3];
	double energy, time, weight;
	int32_t pdg;
	uint32_t flags;
};

/* Stores the record of a particle in r->bytes / 4 words. */
SL_HD void sl_mcpl_encode(
	const struct sl_mcpl_record *r, const struct sl_mcpl_particle *p, uint32_t *to)
{
	double packed[3];

	sl_mcpl_pack(p->direction, packed);
	for (int k = 0; r->polarised && k < 3; k++)
		to = sl_mcpl_put(r, p->polarisation[k], to);
	for (int k = 0; k < 3; k++)
		to = sl_mcpl_put(r, p->position[k], to);
	to = sl_mcpl_put(r, packed[0], to);
	to = sl_mcpl_put(r, packed[1], to);
	to = sl_mcpl_put(r, copysign(p->energy, packed[2]), to);
	to = sl_mcpl_put(r, p->time, to);
	if (r->weighs)
		to = sl_mcpl_put(r, p->weight, to);
	if (r->typed)
		*to++ = (uint32_t)p->pdg;
	if (r->flags != SL_COLUMN_COUNT)
		*to = p->flags;
}

/* The same of a particle of the program. */
SL_HD void sl_mcpl_record_put(
	const struct sl_mcpl_record *r, const struct sl_particle *p, uint32_t *to)
{
	const struct sl_mcpl_particle wide = {
		{sl_mcpl_wide(p->pol_x), sl_mcpl_wide(p->pol_y), sl_mcpl_wide(p->pol_z)},
		{sl_mcpl_wide(p->x), sl_mcpl_wide(p->y), sl_mcpl_wide(p->z)},
		{sl_mcpl_wide(p->u), sl_mcpl_wide(p->v), sl_mcpl_wide(p->w)},
		r->energy == r->energy ? r->energy : sl_mcpl_in(p->energy, SL_MCPL_KEV),
		sl_mcpl_in(p->time, SL_MCPL_NS), sl_mcpl_wide(p->weight), p->pdg,
		sl_mcpl_flags_of(r->flags, p)};

	sl_mcpl_encode(r, &wide, to);
}

/* Whether the user flags of copied records are replaced by a column of the run. */
SL_HD bool sl_mcpl_replaces_flags(const struct sl_mcpl_record *r)
{
	return r->flags != SL_COLUMN_COUNT && r->flags != SL_COLUMN_userflags;
}

/*
 * Stores the record of row i: that of its particle, or a copy of the record that the particle was
 * read from. Then only user flags that the run replaces are new; they are the last word of a
 * record.
 */
SL_HD void sl_mcpl_record_of_row(
	const struct sl_mcpl_record *r, const struct sl_mcpl_rows *rows, uint64_t i, uint32_t *to)
{
	uint64_t words = r->bytes / sizeof(uint32_t);
	const uint32_t *from = rows->source;
	struct sl_particle p;

	if (!from) {
		p = sl_mcpl_row(rows, i);
		sl_mcpl_record_put(r, &p, to);
		return;
	}
	from += (rows->source_index ? rows->source_index[i] : rows->at.id[i] - rows->first_id) *
	        words;
	for (uint64_t k = 0; k < words; k++)
		to[k] = from[k];
	if (sl_mcpl_replaces_flags(r)) {
		p = sl_mcpl_row(rows, i);
		to[words - 1] = sl_mcpl_flags_of(r->flags, &p);
	}
}

SL_C_END

#endif
