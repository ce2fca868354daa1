/*
 * openpmd.c - the format openpmd: compresses columns to chunks, shuffled and deflated.
 *
 * Compression takes most of the time and runs on many threads. HDF5, which serves one thread at a
 * time, only receives finished chunks (openpmd_write.c).
 */
#include "stages/formats/openpmd/openpmd.h"

#include <inttypes.h>
#include <string.h>

#include "stages/formats/common/common.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "chunks are copied from memory, and the file's types are little-endian"
#endif

hid_t sl_openpmd_type(enum sl_column_type type)
{
	const hid_t types[] = {[SL_TYPE_F32] = H5T_IEEE_F32LE,
		[SL_TYPE_U32] = H5T_STD_U32LE,
		[SL_TYPE_U64] = H5T_STD_U64LE,
		[SL_TYPE_U8] = H5T_STD_U8LE,
		[SL_TYPE_I32] = H5T_STD_I32LE};

	return types[type];
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

/*
 * The chunks, and the scratch of the compressor. A device provides the chunks as streams; then the
 * scratch is one decompressed chunk.
 */
static struct sl_format_sizes sizes(const struct sl_table *most, const struct sl_file_facts *run)
{
	const bool packs = run->form != SL_AS_STREAMS;
	size_t bytes, n = sl_openpmd_count_chunks(most, &bytes);

	return (struct sl_format_sizes){.pieces = sl_size_add(sizeof(struct sl_openpmd_pieces),
						sl_size_mul(n, sizeof(struct sl_openpmd_chunk))),
		.packed = packs ? bytes : 0,
		.scratch = packs ? sl_openpmd_chunk_scratch(run) : SL_OPENPMD_CHUNK_BYTES,
		.image = sl_openpmd_image_bytes(most, run)};
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

/* --- packed on a device ----------------------------------------------------------------------- */

/*
 * Adds the streams of the chunks of a column. *from is at or after the final place in p->bytes, so
 * moving a stream down is safe. If it is not shorter than the chunk, the chunk is stored instead, as
 * pack() does.
 */
static enum sl_status take_column(struct openpmd_packing *w, const struct sl_column_facts *f,
	uint32_t n, const uint8_t **from, const size_t **stream)
{
	const uint32_t items = sl_openpmd_chunk_items(n, f->bytes);
	const size_t bytes = (size_t)items * f->bytes;
	struct sl_packed *p = w->p;

	for (uint32_t first = 0; first < n; first += items, *from += *(*stream)++) {
		const bool gains = **stream < bytes;
		uint8_t *to = p->bytes + p->used, *inflated = (uint8_t *)w->x.scratch.base;

		if (gains && to != *from)
			memmove(to, *from, **stream);
		if (!gains) {
			p->has_crc = false;
			SL_TRY(sl_inflate_whole(SL_ZLIB, *from, **stream, inflated, bytes));
			memcpy(to, inflated, bytes);
		}
		*w->next = (struct sl_openpmd_chunk){.at = p->used,
			.bytes = gains ? **stream : bytes,
			.skipped = gains ? 0 : sl_openpmd_deflate_skipped(f)};
		sl_packed_add(p, w->next++->bytes, n - first < items ? n - first : items);
	}
	return SL_OK;
}

/* --- all columns ------------------------------------------------------------------------------ */

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	const uint8_t *from = device_packed ? device_packed->bytes : NULL;
	const size_t *stream = device_packed ? device_packed->stream : NULL;
	struct sl_openpmd_pieces *pieces = (struct sl_openpmd_pieces *)p->pieces;
	struct openpmd_packing w = {.x = *x, .run = run, .p = p};

	w.next = (struct sl_openpmd_chunk *)(pieces + 1);
	*pieces = (struct sl_openpmd_pieces){.chunk = w.next,
		.n_chunks = (p->pieces_bytes - sizeof(*pieces)) / sizeof(*pieces->chunk)};
	sl_packed_begin(p, t, 0);
	if (device_packed)
		sl_packed_take(p, device_packed);
	for (uint32_t i = 0; i < t->n_columns; i++) {
		const struct sl_table_column *c = &t->column[i];

		if (c->constant)
			continue;
		p->written.columns++;
		SL_TRY(sl_add_context(
			device_packed ? take_column(&w, sl_facts_of(c), t->n, &from, &stream)
				      : pack_column(&w, c, t->n),
			"column %s", sl_table_name(t, i)));
	}
	keep_facts(p, device_packed);
	return SL_OK;
}

const struct sl_format sl_format_openpmd = {
	.name = "openpmd",
	.suffix = ".h5",
	.help = "openPMD 1.1.0 in HDF5: for Python (h5py, openPMD-viewer) and, by an XDMF side file, "
		"ParaView",
	.sizes = sizes,
	.pack = pack,
	.starts_processes = true,
	.packing = {.chunk_bytes = SL_OPENPMD_CHUNK_BYTES, .wrapper = SL_ZLIB, .planes = true},
	.assemble = sl_openpmd_assemble,
	.read = sl_openpmd_read,
	.join = &sl_openpmd_join,
};
