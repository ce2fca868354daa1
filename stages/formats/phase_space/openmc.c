/*
 * openmc.c - see phase_space.h.
 *
 * HDF5 locates the items in a child process (hdf5_child.h); each number that it finds is checked
 * before the items are read.
 */
#include "stages/formats/phase_space/phase_space.h"

#include <string.h>

#include "stages/formats/hdf5/hdf5.h"

/* PDG codes of the numbers that OpenMC used before version 18.2 of its state points. */
static const int32_t codes[] = {2112, 22, 11, -11};

enum {
	CODES = sizeof(codes) / sizeof(codes[0]),
	CODED_MAJOR = 18, /* the first version of a state point whose particles are PDG codes */
	CODED_MINOR = 2,
	TEXT_BYTES = 256
};

/*
 * The members by name; component is "" for a number. Numbers have 64 bits: `to` is their place in
 * a particle, and unit that of the file in the unit of MCPL. Whole ones have 32 bits.
 */
static const struct {
	const char *name, *component;
	bool whole;
	size_t to;
	double unit;
} members[SL_OPENMC_MEMBERS] = {
#define TO(member) offsetof(struct sl_mcpl_particle, member)
	{"r", "x", false, TO(position[0]), 1}, {"r", "y", false, TO(position[1]), 1},
	{"r", "z", false, TO(position[2]), 1}, {"u", "x", false, TO(direction[0]), 1},
	{"u", "y", false, TO(direction[1]), 1}, {"u", "z", false, TO(direction[2]), 1},
	{"E", "", false, TO(energy), 1e-6 /* eV in MeV */},
	{"wgt", "", false, TO(weight), 1}, [SL_OPENMC_PARTICLE] = {"particle", "", true, 0, 0},
	[SL_OPENMC_TIME] = {"time", "", false, TO(time), 1e3 /* s in ms */},
	[SL_OPENMC_SURFACE] = {"surf_id", "", true, 0, 0}};
#undef TO

/* --- in the child ----------------------------------------------------------------------------- */

static enum sl_status refuse(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is not a source file of OpenMC (surface_source.h5) and not an intact "
		"openPMD file of this program; inspect it with h5dump -A",
		problem);
}

/* --- the type of an item ---------------------------------------------------------------------- */

/*
 * Opens the type of a member of a compound and adds its offset to *offset. A negative id if there
 * is no such member.
 */
static hid_t open_member(struct sl_h5 *h, hid_t type, const char *name, uint64_t *offset)
{
	int index = h->failed || type < 0 || H5Tget_class(type) != H5T_COMPOUND
	                    ? -1
	                    : H5Tget_member_index(type, name);

	if (index < 0)
		return H5I_INVALID_HID;
	*offset += H5Tget_member_offset(type, (unsigned)index);
	return sl_h5_id(h, H5Tget_member_type(type, (unsigned)index));
}

static enum sl_status locate_member(struct sl_h5 *h, hid_t item, int m, struct sl_openmc *o)
{
	hid_t whole = members[m].whole ? H5T_STD_I32LE : H5T_IEEE_F64LE;
	uint64_t offset = 0;
	hid_t outer = open_member(h, item, members[m].name, &offset), inner = outer;
	bool equal;

	if (*members[m].component)
		inner = open_member(h, outer, members[m].component, &offset);
	equal = inner >= 0 && H5Tequal(inner, whole) > 0;
	if (inner >= 0 && inner != outer)
		sl_h5_close(h, inner);
	sl_h5_close(h, outer);
	if (inner < 0 && m >= SL_OPENMC_TIME)
		return SL_OK;
	if (inner < 0 || !equal || offset > SL_OPENMC_ITEM_MOST)
		return sl_add_context(refuse("it is missing, or is not a little-endian number of "
					     "64 bits (32 bits for particle and surf_id)"),
			"source_bank has no member %s%s%s", members[m].name,
			*members[m].component ? "." : "", members[m].component);
	o->offset[m] = (uint32_t)offset;
	o->present |= 1u << m;
	return SL_OK;
}

static enum sl_status locate_members(struct sl_h5 *h, hid_t dataset, struct sl_openmc *o)
{
	hid_t item = sl_h5_id(h, H5Dget_type(dataset));
	enum sl_status s = SL_OK;
	size_t bytes = h->failed ? 0 : H5Tget_size(item);

	if (!h->failed && bytes > SL_OPENMC_ITEM_MOST)
		s = refuse("the items of source_bank are too large");
	o->item_bytes = (uint32_t)bytes;
	for (int m = 0; m < SL_OPENMC_MEMBERS && s == SL_OK && !h->failed; m++)
		s = locate_member(h, item, m, o);
	sl_h5_close(h, item);
	return s;
}

/* --- the dataset ------------------------------------------------------------------------------ */

/* The number of items, and the offset of the first one. An empty dataset has no offset. */
static enum sl_status locate_items(struct sl_h5 *h, hid_t dataset, struct sl_openmc *o)
{
	hid_t space = sl_h5_id(h, H5Dget_space(dataset));
	haddr_t at = H5Dget_offset(dataset);
	hsize_t n = 0;
	int dimensions = h->failed ? 0 : H5Sget_simple_extent_ndims(space);

	if (dimensions == 1)
		sl_h5_ok(h, H5Sget_simple_extent_dims(space, &n, NULL));
	sl_h5_close(h, space);
	if (!h->failed && dimensions != 1)
		return refuse("source_bank is not a list");
	if (n > 0 && at == HADDR_UNDEF)
		return sl_fail(SL_BAD_INPUT,
			"source_bank is stored in chunks or outside the file, but is only read in one "
			"piece; copy the file with h5repack -l source_bank:CONTI");
	o->particles = n;
	o->at = n > 0 ? at : 0;
	return SL_OK;
}

static enum sl_status locate_root(struct sl_h5 *h, hid_t file, void *found)
{
	struct sl_openmc *o = (struct sl_openmc *)found;
	int version[2] = {0, 0};
	char kind[TEXT_BYTES];
	hid_t dataset;
	enum sl_status s;

	sl_h5_get_text(h, file, "filetype", kind, sizeof(kind));
	if (!h->failed && strcmp(kind, "source") != 0 && strcmp(kind, "statepoint") != 0)
		return refuse("it has no attribute filetype that is source or statepoint");
	dataset = sl_h5_member(h, file, "source_bank");
	o->coded = sl_h5_get_integers(h, file, "version", 2, version) &&
	           (version[0] > CODED_MAJOR ||
			   (version[0] == CODED_MAJOR && version[1] >= CODED_MINOR));
	s = dataset >= 0 && H5Iget_type(dataset) == H5I_DATASET
	            ? locate_members(h, dataset, o)
	            : refuse("it has no dataset source_bank");
	if (s == SL_OK && !h->failed)
		s = locate_items(h, dataset, o);
	sl_h5_close(h, dataset);
	return s;
}

static enum sl_status locate(const void *file, size_t bytes, void *found, size_t size)
{
	(void)size;
	return sl_h5_read_root(file, bytes, locate_root, found);
}

/* --- in the caller's process ------------------------------------------------------------------ */

static bool has(const struct sl_openmc *o, int member)
{
	return (o->present >> member & 1) != 0;
}

/* Checks what the child found: all members in an item, all items in the file. */
static bool is_possible(const struct sl_openmc *o, size_t bytes)
{
	const uint32_t needed = (1u << SL_OPENMC_TIME) - 1;

	if (o->item_bytes == 0 || o->item_bytes > SL_OPENMC_ITEM_MOST ||
		(o->present & needed) != needed)
		return false;
	for (int m = 0; m < SL_OPENMC_MEMBERS; m++) {
		const uint32_t bytes_of = members[m].whole ? sizeof(int32_t) : sizeof(double);

		if (has(o, m) &&
			(o->offset[m] > o->item_bytes || bytes_of > o->item_bytes - o->offset[m]))
			return false;
	}
	return o->at <= bytes && o->particles <= (bytes - o->at) / o->item_bytes;
}

enum sl_status sl_openmc_open(const void *file, size_t bytes, struct sl_openmc *o)
{
	void *found;

	SL_TRY(sl_h5_in_child(locate, file, bytes, sizeof(*o), &found));
	*o = *(const struct sl_openmc *)found;
	sl_h5_child_free(found, sizeof(*o));
	if (is_possible(o, bytes))
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"source_bank ends after the end of the file, or its items have impossible members: the "
		"file is damaged or was cut short; make it again");
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
	*p = (struct sl_mcpl_particle){.pdg = o->coded ? kind : codes[kind],
		.flags = (uint32_t)whole(o, item, SL_OPENMC_SURFACE)};
	for (int m = 0; m < SL_OPENMC_MEMBERS; m++)
		if (!members[m].whole && has(o, m))
			*(double *)(void *)((char *)p + members[m].to) =
				sl_mcpl_number(false, item + o->offset[m]) * members[m].unit;
	return SL_OK;
}
