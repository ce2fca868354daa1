/* openmc_locate.c - see phase_space.h and phase_space.h. */
#include "stages/formats/phase_space/phase_space.h"

#include <string.h>

#include "stages/formats/hdf5/hdf5.h"

/* The first version of a state point in which particle is a PDG code. */
enum { CODED_MAJOR = 18, CODED_MINOR = 2, TEXT_BYTES = 256 };

/* The members by name; component is NULL for a number. */
static const struct {
	const char *name, *component;
	bool whole; /* i32, not f64 */
} members[SL_OPENMC_MEMBERS] = {[SL_OPENMC_X] = {"r", "x", false},
	[SL_OPENMC_Y] = {"r", "y", false},
	[SL_OPENMC_Z] = {"r", "z", false},
	[SL_OPENMC_U] = {"u", "x", false},
	[SL_OPENMC_V] = {"u", "y", false},
	[SL_OPENMC_W] = {"u", "z", false},
	[SL_OPENMC_ENERGY] = {"E", NULL, false},
	[SL_OPENMC_WEIGHT] = {"wgt", NULL, false},
	[SL_OPENMC_PARTICLE] = {"particle", NULL, true},
	[SL_OPENMC_TIME] = {"time", NULL, false},
	[SL_OPENMC_SURFACE] = {"surf_id", NULL, true}};

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

static enum sl_status locate_member(
	struct sl_h5 *h, hid_t item, enum sl_openmc_member m, struct sl_openmc *o)
{
	hid_t whole = members[m].whole ? H5T_STD_I32LE : H5T_IEEE_F64LE;
	uint64_t offset = 0;
	hid_t outer = open_member(h, item, members[m].name, &offset), inner = outer;
	bool equal;

	if (members[m].component)
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
			members[m].component ? "." : "",
			members[m].component ? members[m].component : "");
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
		s = locate_member(h, item, (enum sl_openmc_member)m, o);
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

static enum sl_status locate(struct sl_h5 *h, hid_t file, void *found)
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

enum sl_status sl_openmc_locate(const void *file, size_t bytes, void *found, size_t size)
{
	(void)size;
	return sl_h5_read_root(file, bytes, locate, found);
}
