/*
 * openpmd_read.c - see openpmd.h.
 *
 * HDF5 locates the columns in a child process (openpmd.h). Chunks are decompressed and unshuffled
 * here, directly from the file's bytes. No size that a file states is allocated before it is
 * compared with the size of the file.
 */
#include "stages/formats/openpmd/openpmd.h"

#include <string.h>

#include "primitives/deflate/planes.h"
#include "primitives/files/files.h"
#include "stages/formats/common/common.h"
#include "stages/particle/digest.h"

/* State of a file that is read. */
struct openpmd_reading {
	const uint8_t *file;
	size_t bytes;
	const struct sl_openpmd_found *found;
	size_t n_chunks;           /* chunks of found that were read, or skipped when measuring */
	size_t most_chunks;        /* chunks that found has */
	uint8_t *inflated, *whole; /* scratch: a decompressed chunk, an unshuffled chunk */
};

/* --- columns ------------------------------------------------------------------------------- */

/* Decompresses and unshuffles a chunk of so many items, and copies the first n to the column. */
static enum sl_status read_chunk(struct openpmd_reading *r, const struct sl_openpmd_chunk *c,
	const struct sl_column_facts *f, uint32_t items, uint32_t n, uint8_t *to)
{
	size_t bytes = (size_t)items * f->bytes;
	uint32_t deflate = sl_openpmd_deflate_skipped(f), shuffle = sl_openpmd_shuffle_skipped(f);
	const uint8_t *from = r->inflated;
	uint8_t *out = n == items ? to : r->whole;

	if (c->at >= r->bytes || c->bytes > r->bytes - c->at)
		return sl_openpmd_damaged("a chunk lies beyond the end of the file");
	if ((c->skipped & ~(uint64_t)(deflate | shuffle)) != 0 ||
		((c->skipped & deflate) && c->bytes != bytes))
		return sl_openpmd_damaged("a chunk has other filters than this program uses");
	if (c->skipped & deflate)
		from = r->file + c->at;
	else
		SL_TRY(sl_inflate_whole(
			SL_ZLIB, r->file + c->at, (size_t)c->bytes, r->inflated, bytes));
	if (c->skipped & shuffle)
		memcpy(out, from, bytes);
	else
		sl_from_planes(from, out, items, f->bytes);
	if (out != to)
		memcpy(to, out, (size_t)n * f->bytes);
	return SL_OK;
}

/* Reads the chunks of a column of n rows; to is NULL when measuring. */
static enum sl_status read_chunks(
	struct openpmd_reading *r, const struct sl_column_facts *f, uint32_t n, uint8_t *to)
{
	const struct sl_openpmd_chunk *c = &r->found->chunk[r->n_chunks];
	uint32_t items = n ? sl_openpmd_chunk_items(n, f->bytes) : 0;
	size_t chunks = sl_openpmd_chunks(n, f->bytes);

	if (chunks > r->most_chunks - r->n_chunks)
		return sl_openpmd_damaged("it claims more rows than the file can hold");
	r->n_chunks += chunks;
	for (uint32_t first = 0, m; to && first < n; first += m, c++) {
		m = n - first < items ? n - first : items;
		SL_TRY(read_chunk(r, c, f, items, m, to + (size_t)first * f->bytes));
	}
	return SL_OK;
}

/* Reads a column; its digest is the one that the file states. */
static enum sl_status read_column(
	struct openpmd_reading *r, enum sl_column column, struct sl_arena *a, struct sl_table *t)
{
	const struct sl_column_facts *f = &sl_column_facts[column];
	const struct sl_openpmd_column *in = &r->found->column[column];
	struct sl_table_column c = {
		.column = column, .constant = in->constant != 0, .digest = in->digest};
	bool wanted;

	if (c.constant && !in->has_digest && column == SL_COLUMN_x)
		return SL_OK; /* openPMD requires x; without a digest it has no positions of particles */
	if (!in->has_digest)
		return sl_openpmd_damaged("its digest is missing");
	if (!c.constant && (uint64_t)t->n * f->bytes / SL_INFLATE_RATIO_MAX > r->bytes)
		return sl_openpmd_damaged("it claims more rows than the file can hold");
	wanted = sl_table_wants(t, sl_label_name(t->label, column));
	c.data = wanted ? sl_cut_items(a, c.constant ? 1 : t->n, f->bytes) : NULL;
	if (c.constant && c.data)
		memcpy(c.data, &in->value, f->bytes);
	if (!c.constant)
		SL_TRY(read_chunks(r, f, t->n, (uint8_t *)c.data));
	if (wanted)
		t->column[t->n_columns++] = c;
	return SL_OK;
}

/* Takes the name and the unit of each named column, which are whatever the child left. */
static enum sl_status read_labels(const struct sl_openpmd_found *found, struct sl_table *t)
{
	for (int i = 0; i < SL_NAMED_COLUMNS_MAX; i++) {
		char unit[SL_OPENPMD_UNIT_BYTES];

		if (!found->column[SL_COLUMN_derived_1 + i].exists)
			continue;
		memcpy(unit, found->unit[i], sizeof(unit));
		unit[sizeof(unit) - 1] = '\0';
		if (!sl_label_set_name(&t->label[i], found->name[i],
			    strnlen(found->name[i], SL_COLUMN_NAME_BYTES)))
			return sl_openpmd_damaged("a column has a name that is not possible");
		t->label[i].unit = sl_stored_unit(unit);
		if (t->label[i].unit == SL_UNIT_COUNT)
			return sl_openpmd_damaged("a column has an unknown unit");
	}
	return SL_OK;
}

/* Verifies the values of each column with the digest that the file states. */
static enum sl_status check_digests(const struct sl_table *t)
{
	uint64_t digest[SL_COLUMN_COUNT];

	sl_digest_columns(t, digest);
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (digest[k] != t->column[k].digest)
			return sl_add_context(
				sl_openpmd_damaged(
					"its values differ from its digest: they are not "
					"those that were written"),
				"column %s", sl_table_name(t, k));
	return SL_OK;
}

static enum sl_status read_columns(
	struct openpmd_reading *r, struct sl_arena *a, struct sl_table *t)
{
	SL_CLOSED_BY(sl_host_give) void *chunks = NULL;

	if (r->found->n > UINT32_MAX)
		return sl_openpmd_damaged("its number of rows is too large");
	t->n = (uint32_t)r->found->n;
	SL_TRY(read_labels(r->found, t));
	SL_TRY(sl_memory_get(SL_HOST, 2 * (size_t)SL_OPENPMD_CHUNK_BYTES, &chunks));
	r->inflated = (uint8_t *)chunks;
	r->whole = r->inflated + SL_OPENPMD_CHUNK_BYTES;
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (r->found->column[i].exists)
			SL_TRY(sl_add_context(read_column(r, (enum sl_column)i, a, t), "column %s",
				sl_label_name(t->label, (enum sl_column)i)));
	SL_TRY(sl_format_check_columns(a));
	return a->base ? check_digests(t) : SL_OK;
}

/* --- the file ------------------------------------------------------------------------------ */

/*
 * The block has room for the chunks of all columns that a file of so many bytes can hold: each
 * column expands at most SL_INFLATE_RATIO_MAX times, which limits its rows and so its chunks.
 */
enum sl_status sl_openpmd_read(
	const void *file, size_t bytes, struct sl_arena *a, struct sl_table *t)
{
	struct openpmd_reading r = {.file = (const uint8_t *)file};
	size_t size;
	void *found;
	enum sl_status status;

	if (!sl_crc_trailer_is_valid(file, bytes))
		return sl_fail(SL_BAD_INPUT,
			"its checksum line is missing or wrong: the file is damaged, cut short, or "
			"was written or changed by another program; make it again, or read it with "
			"h5py");
	r.bytes = bytes - SL_CRC_TRAILER_BYTES;
	size = sl_size_mul(r.bytes, SL_INFLATE_RATIO_MAX) / SL_OPENPMD_CHUNK_BYTES + 2;
	size = sl_size_add(sizeof(struct sl_openpmd_found),
		sl_size_mul(sl_size_mul(size, SL_COLUMN_COUNT), sizeof(struct sl_openpmd_chunk)));
	sl_read_begin(t);
	SL_TRY(sl_h5_in_child(sl_openpmd_locate, file, r.bytes, size, &found));
	r.found = (const struct sl_openpmd_found *)found;
	r.most_chunks = sl_openpmd_chunk_room(size);
	status = read_columns(&r, a, t);
	sl_h5_child_free(found, size);
	return status;
}
