/* iaea.c - reads the records of an IAEA phase space, see phase_space.h. */
#include "stages/formats/phase_space/phase_space.h"

#include <math.h>
#include <string.h>

/* PDG codes of the types 1 to 5. */
static const int32_t codes[] = {0, 22, 11, -11, 2112, 2212};
enum { TYPES = sizeof(codes) / sizeof(codes[0]) };

/* The word at that address, in the byte order of the file. */
static uint32_t word_at(const struct sl_iaea *h, const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return h->big_endian ? __builtin_bswap32(v) : v;
}

static double float_at(const struct sl_iaea *h, const uint8_t *at)
{
	uint32_t bits = word_at(h, at);
	float v;

	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

void sl_iaea_direction(double u, double v, bool down, double direction[3])
{
	double square = u * u + v * v;
	double length = square > 1 ? sqrt(square) : 1;
	double w = square > 1 ? 0 : sqrt(1 - square);

	direction[0] = u / length;
	direction[1] = v / length;
	direction[2] = down ? -w : w;
}

enum sl_status sl_iaea_particle(
	const struct sl_iaea *h, const uint8_t *record, struct sl_mcpl_particle *p)
{
	double value[SL_IAEA_VARIABLES], energy = float_at(h, record + 1);
	const uint8_t *at = record + 1 + sizeof(float);
	int signed_type = (int8_t)record[0], type = signed_type < 0 ? -signed_type : signed_type;

	if (type < 1 || type >= TYPES)
		return sl_fail(SL_BAD_INPUT,
			"the type of the particle is %d, but only 1 to 5 are defined, so the file is "
			"damaged or belongs to another header; copy both files again",
			signed_type);
	for (int i = 0; i < SL_IAEA_VARIABLES; i++) {
		value[i] = (double)h->constant[i];
		if (i == SL_IAEA_W || !h->stored[i])
			continue;
		value[i] = float_at(h, at);
		at += sizeof(float);
	}
	*p = (struct sl_mcpl_particle){
		.position = {value[SL_IAEA_X], value[SL_IAEA_Y], value[SL_IAEA_Z]},
		.energy = fabs(energy),
		.weight = value[SL_IAEA_WEIGHT],
		.pdg = codes[type],
		.flags = h->latch_at ? word_at(h, record + h->latch_at) : energy < 0};
	sl_iaea_direction(value[SL_IAEA_U], value[SL_IAEA_V], signed_type < 0, p->direction);
	if (!h->stored[SL_IAEA_W])
		p->direction[2] = value[SL_IAEA_W];
	return SL_OK;
}
