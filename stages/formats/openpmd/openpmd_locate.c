/*
 * openpmd_locate.c - see openpmd.h.
 *
 * It looks only for what this program writes: one batch, one species, the columns of columns.def.
 */
#include "stages/formats/openpmd/openpmd.h"

#include <string.h>

#include "stages/formats/hdf5/hdf5.h"

/* No name that this program writes is as long. */
enum { NAME_BYTES = 256 };

/* State of a file that is searched. */
struct openpmd_search {
	struct sl_h5 *h;
	hid_t species;
	bool any; /* the number of rows is known, from the first column */
	struct sl_openpmd_found *found;
	size_t n_chunks, most_chunks; /* chunks found, and room for them */
};

enum sl_status sl_openpmd_damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is damaged, or is not an openPMD file of this program; inspect it "
		"with h5ls, or make it again",
		problem);
}

/* --- finding ------------------------------------------------------------------------------- */

/* The group of the species, at /data/N/particles/NAME. */
static hid_t find_species(struct sl_h5 *h, hid_t file)
{
	hid_t data = sl_h5_member(h, file, "data");
	hid_t iteration = sl_h5_only_group(h, data);
	hid_t particles = sl_h5_member(h, iteration, "particles");
	hid_t species = sl_h5_only_group(h, particles);

	sl_h5_close(h, particles);
	sl_h5_close(h, iteration);
	sl_h5_close(h, data);
	return species;
}

/*
 * Reads which named column an object is, and its unit. False if the object says so in a wrong way.
 */
static bool get_named(struct openpmd_search *r, hid_t object, const char *name)
{
	uint32_t number;

	if (!sl_h5_get(r->h, object, SL_OPENPMD_NAMED, H5T_STD_U32LE, &number))
		return true; /* another program has added it */
	if (number >= SL_NAMED_COLUMNS_MAX || r->found->name[number][0] ||
		strlen(name) >= SL_COLUMN_NAME_BYTES ||
		!sl_h5_get_text(r->h, object, SL_OPENPMD_UNIT, r->found->unit[number],
			SL_OPENPMD_UNIT_BYTES))
		return false;
	strcpy(r->found->name[number], name);
	return true;
}

/* Is there a record of that name in columns.def, or is it one that openPMD requires? */
static bool is_record(const char *name)
{
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (!sl_is_named_column(i) && strcmp(sl_column_facts[i].record, name) == 0)
			return true;
	return strcmp(name, "positionOffset") == 0 || strcmp(name, "particlePatches") == 0;
}

/* Finds the named columns among the other members of the species. */
static enum sl_status find_named(struct openpmd_search *r)
{
	char name[NAME_BYTES];
	H5G_info_t info;
	bool named = true;

	if (!sl_h5_ok(r->h, H5Gget_info(r->species, &info)))
		return SL_OK; /* sl_openpmd_locate() reports it */
	for (uint64_t i = 0; named && i < info.nlinks; i++) {
		hid_t object;

		if (!sl_h5_name(r->h, r->species, i, name, sizeof(name)))
			return SL_OK;
		if (is_record(name))
			continue;
		object = sl_h5_member(r->h, r->species, name);
		named = object >= 0 && get_named(r, object, name);
		sl_h5_close(r->h, object);
	}
	return named ? SL_OK
	             : sl_add_context(sl_openpmd_damaged("its number or its unit is wrong"),
			       "column %.64s", name);
}

/* The object of a column, or none. */
static hid_t find_column(struct openpmd_search *r, enum sl_column column)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	const char *name = sl_is_named_column((int)column)
	                           ? r->found->name[column - SL_COLUMN_derived_1]
	                           : f->record;
	hid_t record = *name ? sl_h5_member(r->h, r->species, name) : H5I_INVALID_HID;
	hid_t component;

	if (!*f->component)
		return record;
	component = sl_h5_member(r->h, record, f->component);
	sl_h5_close(r->h, record);
	return component;
}

/* --- columns ------------------------------------------------------------------------------- */

/* All columns must have the same number of rows. */
static enum sl_status agree_on_rows(struct openpmd_search *r, uint64_t n)
{
	if (n > UINT32_MAX || (r->any && n != r->found->n))
		return sl_openpmd_damaged(
			"its number of rows is too large or not that of the other columns");
	r->found->n = n;
	r->any = true;
	return SL_OK;
}

static enum sl_status locate_constant(struct openpmd_search *r, hid_t object,
	const struct sl_column_facts *f, struct sl_openpmd_column *c)
{
	uint64_t n;

	if (!sl_h5_get(r->h, object, "shape", H5T_STD_U64LE, &n) ||
		!sl_h5_get(r->h, object, "value", sl_openpmd_type(f->type), &c->value))
		return sl_openpmd_damaged("its value or shape is missing or of the wrong type");
	c->constant = true;
	return agree_on_rows(r, n);
}

static enum sl_status locate_chunks(
	struct openpmd_search *r, hid_t dataset, const struct sl_column_facts *f, uint32_t n)
{
	uint32_t items;

	if (n == 0)
		return SL_OK;
	items = sl_openpmd_chunk_items(n, f->bytes);
	if (!sl_h5_is_chunked(r->h, dataset, items, sl_openpmd_shuffles(f)))
		return sl_openpmd_damaged("it is not in chunks as this program writes them");
	if (sl_openpmd_chunks(n, f->bytes) > r->most_chunks - r->n_chunks)
		return sl_openpmd_damaged("it claims more rows than the file can hold");
	for (hsize_t first = 0; first < n; first += items) {
		unsigned skipped = 0;
		haddr_t at = HADDR_UNDEF;
		hsize_t stored = 0;

		if (!sl_h5_ok(r->h,
			    H5Dget_chunk_info_by_coord(dataset, &first, &skipped, &at, &stored)) ||
			at == HADDR_UNDEF)
			return sl_openpmd_damaged("a chunk is missing");
		r->found->chunk[r->n_chunks++] =
			(struct sl_openpmd_chunk){.at = at, .bytes = stored, .skipped = skipped};
	}
	return SL_OK;
}

static enum sl_status locate_dataset(
	struct openpmd_search *r, hid_t object, const struct sl_column_facts *f)
{
	uint64_t n;

	if (!sl_h5_rows(r->h, object, sl_openpmd_type(f->type), &n))
		return sl_openpmd_damaged("it has the wrong type or more dimensions than one");
	SL_TRY(agree_on_rows(r, n));
	return locate_chunks(r, object, f, (uint32_t)n);
}

static enum sl_status locate_column(struct openpmd_search *r, enum sl_column column)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	struct sl_openpmd_column *c = &r->found->column[column];
	hid_t object = find_column(r, column);
	enum sl_status status;

	if (object < 0)
		return SL_OK;
	c->exists = true;
	c->has_digest = sl_h5_get(r->h, object, "sluiceDigest", H5T_STD_U64LE, &c->digest);
	status = H5Iget_type(object) == H5I_DATASET ? locate_dataset(r, object, f)
	                                            : locate_constant(r, object, f, c);
	sl_h5_close(r->h, object);
	return sl_add_context(status, "column %s", f->name);
}

static enum sl_status locate_columns(struct openpmd_search *r)
{
	if (r->species < 0)
		return sl_openpmd_damaged("there is no /data/N/particles/SPECIES");
	SL_TRY(find_named(r));
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		SL_TRY(locate_column(r, (enum sl_column)i));
	return SL_OK;
}

static enum sl_status locate_all(struct sl_h5 *h, hid_t root, void *search)
{
	struct openpmd_search *r = (struct openpmd_search *)search;
	enum sl_status status;

	r->h = h;
	r->species = find_species(h, root);
	status = locate_columns(r);
	sl_h5_close(h, r->species);
	return status;
}

enum sl_status sl_openpmd_locate(const void *file, size_t bytes, void *found, size_t size)
{
	struct openpmd_search r = {.found = (struct sl_openpmd_found *)found,
		.most_chunks = sl_openpmd_chunk_room(size)};

	return sl_h5_read_root(file, bytes, locate_all, &r);
}
