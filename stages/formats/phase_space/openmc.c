/* openmc.c - reads the items that openmc_locate.c has found, see phase_space.h. */
#include "stages/formats/phase_space/phase_space.h"

/* Units of the file in those of MCPL, MeV and ms. */
#define MEV_PER_EV 1e-6
#define MS_PER_S   1e3

/* PDG codes of the numbers that OpenMC used before version 18.2 of its state points. */
static const int32_t codes[] = {2112, 22, 11, -11};
enum { CODES = sizeof(codes) / sizeof(codes[0]) };

static bool has(const struct sl_openmc *o, int member)
{
	return (o->present >> member & 1) != 0;
}

/* Checks what the child found: all members in an item, all items in the file. */
static bool is_possible(const struct sl_openmc *o, size_t bytes)
{
	uint32_t needed = (1u << SL_OPENMC_TIME) - 1, bytes_of;

	if (o->item_bytes == 0 || o->item_bytes > SL_OPENMC_ITEM_MOST ||
		(o->present & needed) != needed)
		return false;
	for (int m = 0; m < SL_OPENMC_MEMBERS; m++) {
		bytes_of = m == SL_OPENMC_PARTICLE || m == SL_OPENMC_SURFACE ? sizeof(int32_t)
		                                                             : sizeof(double);
		if (has(o, m) &&
			(o->offset[m] > o->item_bytes || bytes_of > o->item_bytes - o->offset[m]))
			return false;
	}
	return o->at <= bytes && o->particles <= (bytes - o->at) / o->item_bytes;
}

enum sl_status sl_openmc_open(const void *file, size_t bytes, struct sl_openmc *o)
{
	void *found;

	SL_TRY(sl_h5_in_child(sl_openmc_locate, file, bytes, sizeof(*o), &found));
	*o = *(const struct sl_openmc *)found;
	sl_h5_child_free(found, sizeof(*o));
	if (is_possible(o, bytes))
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"source_bank ends after the end of the file, or its items have impossible members: the "
		"file is damaged or was cut short; make it again");
}

static double number(const struct sl_openmc *o, const uint8_t *item, int member)
{
	return has(o, member) ? sl_mcpl_number(false, item + o->offset[member]) : 0;
}

static int32_t whole(const struct sl_openmc *o, const uint8_t *item, int member)
{
	int32_t v = 0;

	if (has(o, member))
		memcpy(&v, item + o->offset[member], sizeof(v));
	return v;
}

enum sl_status sl_openmc_particle(
	const struct sl_openmc *o, const uint8_t *item, struct sl_mcpl_particle *p)
{
	int32_t kind = whole(o, item, SL_OPENMC_PARTICLE);

	if (!o->coded && (kind < 0 || kind >= CODES))
		return sl_fail(SL_BAD_INPUT,
			"the type of the particle is %d, but OpenMC defines 0 to 3, so the file is "
			"damaged; make it again",
			(int)kind);
	*p = (struct sl_mcpl_particle){.energy = number(o, item, SL_OPENMC_ENERGY) * MEV_PER_EV,
		.time = number(o, item, SL_OPENMC_TIME) * MS_PER_S,
		.weight = number(o, item, SL_OPENMC_WEIGHT),
		.pdg = o->coded ? kind : codes[kind],
		.flags = (uint32_t)whole(o, item, SL_OPENMC_SURFACE)};
	for (int i = 0; i < 3; i++) {
		p->position[i] = number(o, item, SL_OPENMC_X + i);
		p->direction[i] = number(o, item, SL_OPENMC_U + i);
	}
	return SL_OK;
}
