/*
 * openpmd_read.c - see openpmd_read.h.
 *
 * It reads only what this program writes: one batch, one species, the columns of columns.def, and a
 * valid checksum line. HDF5 locates the objects. Chunks are decompressed and unshuffled here,
 * directly from the file's bytes, so no size that a file states is ever allocated.
 */
#include "stages/formats/hdf5/openpmd_read.h"

#include <string.h>

#include "primitives/deflate/planes.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/common/inflate.h"
#include "stages/formats/hdf5/hdf5_inspect.h"
#include "stages/formats/hdf5/openpmd.h"
#include "stages/particle/digest.h"

/* State of a file that is read. */
struct openpmd_reading {
	struct sl_h5 h;
	const uint8_t *file;
	size_t bytes;
	hid_t species;
	bool any;                  /* the number of rows is known, from the first column */
	uint8_t *inflated, *whole; /* scratch: a decompressed chunk, an unshuffled chunk */
};

static enum sl_status damaged(const char *problem)
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

/* The object of a column, or none. */
static hid_t find_column(struct openpmd_reading *r, const struct sl_column_facts *f)
{
	hid_t record = sl_h5_member(&r->h, r->species, f->record);
	hid_t component;

	if (!*f->component)
		return record;
	component = sl_h5_member(&r->h, record, f->component);
	sl_h5_close(&r->h, record);
	return component;
}

/* --- reading columns ----------------------------------------------------------------------- */

/* Decompresses and unshuffles a chunk of so many items, and copies the first n to the column. */
static enum sl_status read_chunk(struct openpmd_reading *r, hid_t dataset,
	const struct sl_column_facts *f, hsize_t first, uint32_t items, uint32_t n, uint8_t *to)
{
	size_t bytes = (size_t)items * f->bytes;
	uint32_t deflate = sl_openpmd_deflate_skipped(f), shuffle = sl_openpmd_shuffle_skipped(f);
	unsigned skipped = 0;
	haddr_t at = HADDR_UNDEF;
	hsize_t stored = 0;
	const uint8_t *from = r->inflated;
	uint8_t *out = n == items ? to : r->whole;

	if (!sl_h5_ok(&r->h, H5Dget_chunk_info_by_coord(dataset, &first, &skipped, &at, &stored)) ||
		at >= r->bytes || stored > r->bytes - at)
		return damaged("a chunk is missing or lies beyond the end of the file");
	if ((skipped & ~(deflate | shuffle)) != 0 || ((skipped & deflate) && stored != bytes))
		return damaged("a chunk has other filters than this program uses");
	if (skipped & deflate)
		from = r->file + at;
	else
		SL_TRY(sl_inflate_whole(SL_ZLIB, r->file + at, (size_t)stored, r->inflated, bytes));
	if (skipped & shuffle)
		memcpy(out, from, bytes);
	else
		sl_from_planes(from, out, items, f->bytes);
	if (out != to)
		memcpy(to, out, (size_t)n * f->bytes);
	return SL_OK;
}

static enum sl_status read_chunks(struct openpmd_reading *r, hid_t dataset,
	const struct sl_column_facts *f, uint32_t n, uint8_t *to)
{
	uint32_t items = n ? sl_openpmd_chunk_items(n, f->bytes) : 0;

	if (n && !sl_h5_is_chunked(&r->h, dataset, items, sl_openpmd_shuffles(f)))
		return damaged("it is not in chunks as this program writes them");
	for (uint32_t first = 0, m; first < n; first += m) {
		m = n - first < items ? n - first : items;
		SL_TRY(read_chunk(r, dataset, f, first, items, m, to + (size_t)first * f->bytes));
	}
	return SL_OK;
}

/* All columns must have the same number of rows. */
static enum sl_status agree_on_rows(struct openpmd_reading *r, struct sl_table *t, uint64_t n)
{
	if (n > UINT32_MAX || (r->any && n != t->n))
		return damaged("its number of rows is too large or not that of the other columns");
	t->n = (uint32_t)n;
	r->any = true;
	return SL_OK;
}

static enum sl_status read_constant(struct openpmd_reading *r, hid_t object,
	const struct sl_column_facts *f, struct sl_arena *a, struct sl_table *t,
	struct sl_table_column *c)
{
	uint64_t n, value = 0;

	if (!sl_h5_get(&r->h, object, "shape", H5T_STD_U64LE, &n) ||
		!sl_h5_get(&r->h, object, "value", sl_openpmd_type(f->type), &value))
		return damaged("its value or shape is missing or of the wrong type");
	SL_TRY(agree_on_rows(r, t, n));
	c->constant = true;
	c->data = sl_cut(a, f->bytes);
	if (c->data)
		memcpy(c->data, &value, f->bytes);
	return SL_OK;
}

static enum sl_status read_dataset(struct openpmd_reading *r, hid_t object,
	const struct sl_column_facts *f, struct sl_arena *a, struct sl_table *t,
	struct sl_table_column *c)
{
	uint64_t n;

	if (!sl_h5_rows(&r->h, object, sl_openpmd_type(f->type), &n))
		return damaged("it has the wrong type or more dimensions than one");
	SL_TRY(agree_on_rows(r, t, n));
	if (n * f->bytes / SL_INFLATE_RATIO_MAX > r->bytes)
		return damaged("it claims more rows than the file can hold");
	c->data = sl_cut_items(a, n, f->bytes);
	return c->data ? read_chunks(r, object, f, t->n, (uint8_t *)c->data) : SL_OK;
}

/* Reads the object of a column and verifies its values with the digest in its attributes. */
static enum sl_status read_object(struct openpmd_reading *r, hid_t object, enum sl_column column,
	struct sl_arena *a, struct sl_table *t)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	struct sl_table_column c = {.column = column};
	uint64_t stated;
	bool has_digest = sl_h5_get(&r->h, object, "sluiceDigest", H5T_STD_U64LE, &stated);

	if (H5Iget_type(object) == H5I_DATASET)
		SL_TRY(read_dataset(r, object, f, a, t, &c));
	else
		SL_TRY(read_constant(r, object, f, a, t, &c));
	if (!has_digest && c.constant && column == SL_COLUMN_x)
		return SL_OK; /* a placeholder that openPMD requires if no position was recorded */
	if (!has_digest)
		return damaged("its digest is missing");
	if (c.data && sl_digest_column(&c, t->n) != stated)
		return damaged(
			"its values differ from its digest: they are not those that were written");
	t->column[t->n_columns++] = c;
	return SL_OK;
}

static enum sl_status read_columns(
	struct openpmd_reading *r, struct sl_arena *a, struct sl_table *t)
{
	enum sl_status status = SL_OK;

	for (int i = 0; i < SL_COLUMN_COUNT && status == SL_OK; i++) {
		hid_t object = find_column(r, &sl_column_facts[i]);

		if (object >= 0)
			status = sl_add_context(read_object(r, object, (enum sl_column)i, a, t),
				"column %s", sl_column_facts[i].name);
		sl_h5_close(&r->h, object);
	}
	return status;
}

/* --- the file ------------------------------------------------------------------------------ */

static enum sl_status read_file(struct openpmd_reading *r, struct sl_arena *a, struct sl_table *t)
{
	hid_t file = sl_h5_open_file(&r->h);
	enum sl_status status;

	r->species = find_species(&r->h, file);
	status = r->species < 0 ? damaged("there is no /data/N/particles/SPECIES")
	                        : read_columns(r, a, t);
	sl_h5_close(&r->h, r->species);
	sl_h5_close(&r->h, file);
	if (!r->h.failed)
		return status;
	return sl_fail(r->h.no_memory ? SL_HOST_MEMORY : SL_BAD_INPUT,
		"HDF5 cannot read the file (%s); %s", r->h.why,
		r->h.no_memory ? "free some memory"
			       : "this program did not write it; make it again");
}

enum sl_status sl_openpmd_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct openpmd_reading r = {.file = (const uint8_t *)file};
	void *chunks;
	enum sl_status status;

	if (!sl_crc_trailer_is_valid(file, bytes))
		return sl_fail(SL_BAD_INPUT,
			"its checksum line is missing or wrong: the file is damaged, cut short, or "
			"was written or changed by another program; make it again, or read it with "
			"h5py");
	r.bytes = bytes - SL_CRC_TRAILER_BYTES;
	SL_TRY(sl_memory_get(SL_HOST, 2 * (size_t)SL_OPENPMD_CHUNK_BYTES, &chunks));
	r.inflated = (uint8_t *)chunks;
	r.whole = r.inflated + SL_OPENPMD_CHUNK_BYTES;
	*t = (struct sl_table){0};
	sl_h5_begin(&r.h, (void *)(uintptr_t)file, r.bytes);
	status = read_file(&r, a, t);
	sl_memory_give(SL_HOST, chunks);
	return status == SL_OK ? sl_format_check_columns(a) : status;
}
