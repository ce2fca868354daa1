/*
 * openpmd.c - the format openpmd: compresses columns to chunks, shuffled and deflated.
 *
 * Compression takes most of the time and runs on many threads. HDF5, which serves one thread at a
 * time, only receives finished chunks (openpmd_write.c).
 */
#include "stages/formats/openpmd/openpmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stages/formats/common/common.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "chunks are copied from memory, and the file's types are little-endian"
#endif

hid_t sl_openpmd_type(enum sl_column_type type)
{
	switch (type) {
	case SL_TYPE_F32:
		return H5T_IEEE_F32LE;
	case SL_TYPE_U32:
		return H5T_STD_U32LE;
	case SL_TYPE_U64:
		return H5T_STD_U64LE;
	case SL_TYPE_U8:
		return H5T_STD_U8LE;
	case SL_TYPE_I32:
		return H5T_STD_I32LE;
	}
	return H5I_INVALID_HID;
}

const char *sl_openpmd_record(const struct sl_table *t, enum sl_column column)
{
	return sl_is_named_column((int)column) ? sl_label_name(t->label, column)
	                                       : sl_column_facts[column].record;
}

size_t sl_openpmd_path(char *path, size_t size, uint64_t number, const char *species,
	const struct sl_table *t, uint32_t k)
{
	const struct sl_column_facts *f = sl_facts_of(&t->column[k]);

	return (size_t)snprintf(path, size, "/data/%" PRIu64 "/particles/%s/%s%s%s", number,
		species, sl_openpmd_record(t, t->column[k].column), *f->component ? "/" : "",
		f->component);
}

/* --- layout -------------------------------------------------------------------------------- */

size_t sl_openpmd_count_chunks(const struct sl_table *t, size_t *bytes)
{
	size_t n = 0;

	*bytes = 0;
	for (uint32_t i = 0; i < t->n_columns; i++) {
		uint32_t item = sl_facts_of(&t->column[i])->bytes;
		size_t chunks = t->column[i].constant ? 0 : sl_openpmd_chunks(t->n, item);

		n += chunks;
		if (chunks)
			*bytes += chunks * sl_openpmd_chunk_items(t->n, item) * item;
	}
	return n;
}

static void lay_out(struct sl_arena *a, const struct sl_table *most,
	const struct sl_file_facts *run, struct sl_packed *p)
{
	size_t bytes;
	size_t n = sl_openpmd_count_chunks(most, &bytes),
	       size = run->form == SL_AS_STREAMS ? 0 : bytes;
	size_t pieces_bytes = sl_size_add(
		sizeof(struct sl_openpmd_pieces), sl_size_mul(n, sizeof(struct sl_openpmd_chunk)));
	void *pieces = sl_cut(a, pieces_bytes);

	*p = (struct sl_packed){.pieces = pieces,
		.pieces_bytes = pieces_bytes,
		.bytes = (uint8_t *)sl_cut(a, size),
		.size = size};
}

/* The scratch of the compressor; for streams from a device, one decompressed chunk. */
static size_t scratch(const struct sl_table *most, const struct sl_file_facts *run)
{
	(void)most;
	return run->form == SL_AS_STREAMS ? SL_OPENPMD_CHUNK_BYTES : sl_openpmd_chunk_scratch(run);
}

/* --- packing ------------------------------------------------------------------------------- */

/* A batch being packed. */
struct openpmd_packing {
	struct sl_exec x;
	const struct sl_file_facts *run;
	struct sl_packed *p;
	struct sl_openpmd_chunk *next;
};

static enum sl_status pack_column(
	struct openpmd_packing *w, const struct sl_table_column *c, uint32_t n)
{
	uint32_t items = n ? sl_openpmd_chunk_items(n, sl_facts_of(c)->bytes) : 0;
	struct sl_openpmd_stretch s = {c, 0, items, true};
	struct sl_packed *p = w->p;

	if (n)
		SL_TRY(sl_openpmd_choose_planes(&w->x, w->run, &s));
	for (uint32_t m; s.first < n; s.first += m) {
		s.n = m = n - s.first < items ? n - s.first : items;
		SL_TRY(sl_openpmd_pack_chunk(
			&w->x, w->run, &s, items, p->bytes + p->used, w->next));
		w->next->at = p->used;
		sl_packed_add(p, w->next++->bytes, m);
	}
	return SL_OK;
}

/*
 * Copies what is needed after the columns are reused: constants and the bounding box. If a device
 * packed the columns, it computed the box.
 */
static void keep_facts(struct sl_packed *p, const struct sl_device_packed *device_packed)
{
	struct sl_openpmd_pieces *pieces = (struct sl_openpmd_pieces *)p->pieces;

	for (uint32_t i = 0; i < p->table.n_columns; i++) {
		struct sl_table_column *c = &p->table.column[i];
		int axis = (int)c->column - (int)SL_COLUMN_x;

		if (axis >= 0 && axis < 3 && device_packed && !c->constant) {
			pieces->lo[axis] = (double)device_packed->lo[axis];
			pieces->hi[axis] = (double)device_packed->hi[axis];
		} else if (axis >= 0 && axis < 3) {
			sl_openpmd_bound(c, p->table.n, &pieces->lo[axis], &pieces->hi[axis]);
		}
		if (c->constant)
			memcpy(&pieces->constant[i], c->data, sl_facts_of(c)->bytes);
		c->data = c->constant ? &pieces->constant[i] : NULL;
	}
}

/* The first step of both ways to pack: checks the sizes of p and of the scratch. */
static enum sl_status begin(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p, struct openpmd_packing *w)
{
	struct sl_openpmd_pieces *pieces = (struct sl_openpmd_pieces *)p->pieces;
	uint32_t columns = 0;
	size_t bytes;
	size_t n = sl_openpmd_count_chunks(t, &bytes);

	*pieces = (struct sl_openpmd_pieces){.chunk = (struct sl_openpmd_chunk *)(pieces + 1),
		.n_chunks = (p->pieces_bytes - sizeof(*pieces)) / sizeof(*pieces->chunk)};
	*w = (struct openpmd_packing){.x = *x, .run = run, .p = p, .next = pieces->chunk};
	/*
	 * the entries of the chunks are in separate memory, which the check of bytes does not cover
	 */
	if (n > pieces->n_chunks)
		return sl_fail(SL_USAGE,
			"the table has %zu chunks, the packing was laid out for %zu: lay it out for "
			"more rows or columns",
			n, pieces->n_chunks);
	SL_TRY(sl_format_check_memory("openpmd", bytes, p->size, x, scratch(t, run)));
	for (uint32_t i = 0; i < t->n_columns; i++)
		columns += !t->column[i].constant;
	sl_packed_begin(p, t, columns);
	return SL_OK;
}

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p)
{
	struct openpmd_packing w;

	SL_TRY(begin(x, run, t, p, &w));
	for (uint32_t i = 0; i < t->n_columns; i++)
		if (!t->column[i].constant)
			SL_TRY(sl_add_context(pack_column(&w, &t->column[i], t->n), "column %s",
				sl_table_name(t, i)));
	keep_facts(p, NULL);
	return SL_OK;
}

/* --- packed on a device ----------------------------------------------------------------------- */

/*
 * Adds the stream of one chunk of so many rows. from is at or after its final place in p->bytes,
 * so moving it down is safe. If the stream is not shorter than the chunk, the chunk is stored
 * instead, as pack() does.
 */
static enum sl_status take_stream(struct openpmd_packing *w, const uint8_t *from, size_t got,
	size_t bytes, uint32_t skipped, uint32_t rows)
{
	struct sl_packed *p = w->p;
	uint8_t *to = p->bytes + p->used;
	uint8_t *inflated = (uint8_t *)w->x.scratch.base;
	bool gains = got < bytes;

	if (gains && to != from)
		memmove(to, from, got);
	if (!gains) {
		p->has_crc = false;
		SL_TRY(sl_inflate_whole(SL_ZLIB, from, got, inflated, bytes));
		memcpy(to, inflated, bytes);
	}
	*w->next++ = (struct sl_openpmd_chunk){
		.at = p->used, .bytes = gains ? got : bytes, .skipped = gains ? 0 : skipped};
	sl_packed_add(p, gains ? got : bytes, rows);
	return SL_OK;
}

static enum sl_status take_column(struct openpmd_packing *w, const struct sl_column_facts *f,
	uint32_t n, const uint8_t **from, const size_t **stream)
{
	uint32_t items = n ? sl_openpmd_chunk_items(n, f->bytes) : 0;

	for (uint32_t first = 0, rows; first < n; first += rows) {
		rows = n - first < items ? n - first : items;
		SL_TRY(take_stream(w, *from, **stream, (size_t)items * f->bytes,
			sl_openpmd_deflate_skipped(f), rows));
		*from += *(*stream)++;
	}
	return SL_OK;
}

static enum sl_status take(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	const uint8_t *from = device_packed->bytes;
	const size_t *stream = device_packed->stream;
	struct openpmd_packing w;

	p->bytes = device_packed->bytes;
	p->size = device_packed->most;
	p->has_crc = device_packed->has_crc;
	p->crc = device_packed->crc;
	SL_TRY(begin(x, run, t, p, &w));
	for (uint32_t i = 0; i < t->n_columns; i++)
		if (!t->column[i].constant)
			SL_TRY(sl_add_context(
				take_column(&w, sl_facts_of(&t->column[i]), t->n, &from, &stream),
				"column %s", sl_table_name(t, i)));
	keep_facts(p, device_packed);
	return SL_OK;
}

const struct sl_format sl_format_openpmd = {
	.name = "openpmd",
	.suffix = ".h5",
	.help = "openPMD 1.1.0 in HDF5: for Python (h5py, openPMD-viewer) and, by an XDMF side file, "
		"ParaView",
	.lay_out = lay_out,
	.scratch = scratch,
	.pack = pack,
	.starts_processes = true,
	.packing = {.chunk_bytes = SL_OPENPMD_CHUNK_BYTES, .wrapper = SL_ZLIB, .planes = true},
	.take = take,
	.image_bytes = sl_openpmd_image_bytes,
	.assemble = sl_openpmd_assemble,
	.read = sl_openpmd_read,
	.join = &sl_openpmd_join,
};
