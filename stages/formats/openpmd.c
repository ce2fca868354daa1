/*
 * openpmd.c - openPMD 1.1.0 in HDF5: columns become chunks, shuffled and deflated.
 *
 * This file packs, which is the long part and runs on many threads; HDF5 itself, which serves one
 * thread at a time, only sees finished chunks (openpmd_write.c).
 */
#include "stages/formats/openpmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/formats/shuffle.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "chunks are handed over as they lie in memory, and the file's types are little-endian"
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

size_t sl_openpmd_path(
	char *path, size_t size, uint64_t number, const char *species, enum sl_column column)
{
	const struct sl_column_facts *f = &sl_column_facts[column];

	return (size_t)snprintf(path, size, "/data/%" PRIu64 "/particles/%s/%s%s%s", number,
		species, f->record, *f->component ? "/" : "", f->component);
}

/* --- layout -------------------------------------------------------------------------------- */

static const struct sl_column_facts *facts(const struct sl_table_column *c)
{
	return &sl_column_facts[c->column];
}

/* Chunks of a table in all, and their bytes when none gets smaller. */
static size_t count_chunks(const struct sl_table *t, size_t *bytes)
{
	size_t n = 0;

	*bytes = 0;
	for (uint32_t i = 0; i < t->n_columns; i++) {
		uint32_t item = facts(&t->column[i])->bytes;
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
	size_t n = count_chunks(most, &bytes);
	struct sl_openpmd_pieces *pieces =
		(struct sl_openpmd_pieces *)sl_cut_items(a, 1, sizeof(*pieces));
	struct sl_openpmd_chunk *chunk =
		(struct sl_openpmd_chunk *)sl_cut_items(a, n, sizeof(*chunk));

	(void)run;
	if (pieces)
		*pieces = (struct sl_openpmd_pieces){.chunk = chunk, .n_chunks = n};
	*p = (struct sl_packed){
		.pieces = pieces, .bytes = (uint8_t *)sl_cut(a, bytes), .size = bytes};
}

/* Where a chunk is shuffled, and what deflate asks for. */
static size_t scratch(const struct sl_table *most, const struct sl_file_facts *run)
{
	struct sl_shape shape = {.in_bytes = SL_OPENPMD_CHUNK_BYTES, .level = run->level};

	(void)most;
	return sl_size_add(
		SL_OPENPMD_CHUNK_BYTES, sl_round_up(sl_scratch(run->deflate, &shape), SL_ALIGN));
}

/* --- packing ------------------------------------------------------------------------------- */

/* A batch being packed. */
struct packing {
	struct sl_exec x; /* with what is left of the scratch */
	const struct sl_file_facts *run;
	struct sl_packed *p;
	struct sl_openpmd_chunk *next;
	uint8_t *shuffled; /* a chunk */
};

/* Items first .. first+n-1 of a column as a chunk of room items, shuffled, the rest zeros. */
static void shuffle_chunk(
	uint8_t *to, const struct sl_table_column *c, uint32_t first, uint32_t n, uint32_t room)
{
	size_t item = facts(c)->bytes;
	const uint8_t *from = (const uint8_t *)c->data + first * item;

	if (n == room) {
		sl_shuffle(from, to, n, item);
		return;
	}
	memset(to, 0, room * item);
	for (size_t plane = 0; plane < item; plane++)
		for (size_t i = 0; i < n; i++)
			to[plane * room + i] = from[i * item + plane];
}

/* Deflates the shuffled chunk to the end of the packed bytes, or stores it when that is no gain. */
static enum sl_status deflate_chunk(struct packing *w, size_t bytes, uint32_t skipped)
{
	struct sl_packed *p = w->p;
	size_t got = 0;
	struct sl_deflate_job job = {
		.in = w->shuffled,
		.in_bytes = bytes,
		.out = p->bytes + p->used,
		.out_size = bytes - 1,
		.out_bytes = &got,
		.level = w->run->level,
		.wrapper = SL_ZLIB,
	};

	SL_TRY(sl_deflate(w->run->deflate, &w->x, &job));
	if (got == 0)
		memcpy(p->bytes + p->used, w->shuffled, bytes);
	*w->next++ = (struct sl_openpmd_chunk){
		.at = p->used, .bytes = got ? got : bytes, .skipped = got ? 0 : skipped};
	p->used += got ? got : bytes;
	return SL_OK;
}

static enum sl_status pack_column(struct packing *w, const struct sl_table_column *c, uint32_t n)
{
	const struct sl_column_facts *f = facts(c);
	uint32_t items = n ? sl_openpmd_chunk_items(n, f->bytes) : 0;

	for (uint32_t first = 0, m; first < n; first += m) {
		m = n - first < items ? n - first : items;
		shuffle_chunk(w->shuffled, c, first, m, items);
		SL_TRY(deflate_chunk(w, (size_t)items * f->bytes, sl_openpmd_deflate_skipped(f)));
	}
	return SL_OK;
}

/* The least and the greatest of a column of positions; NaNs, and so a table of no rows, give none.
 */
static void bound(const struct sl_table_column *c, uint32_t n, double *lo, double *hi)
{
	const float *v = (const float *)c->data;
	float least = INFINITY, greatest = -INFINITY;

	for (uint32_t i = 0; i < (c->constant && n ? 1 : n); i++) {
		least = v[i] < least ? v[i] : least;
		greatest = v[i] > greatest ? v[i] : greatest;
	}
	*lo = (double)least;
	*hi = (double)greatest;
}

/* Takes over what must outlive the table's columns: constants and the box. */
static void keep_facts(struct sl_packed *p)
{
	struct sl_openpmd_pieces *pieces = (struct sl_openpmd_pieces *)p->pieces;

	for (uint32_t i = 0; i < p->table.n_columns; i++) {
		struct sl_table_column *c = &p->table.column[i];
		int axis = (int)c->column - (int)SL_COLUMN_x;

		if (axis >= 0 && axis < 3)
			bound(c, p->table.n, &pieces->lo[axis], &pieces->hi[axis]);
		if (c->constant)
			memcpy(&pieces->constant[i], c->data, facts(c)->bytes);
		c->data = c->constant ? &pieces->constant[i] : NULL;
	}
}

static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, struct sl_packed *p)
{
	struct sl_openpmd_pieces *pieces = (struct sl_openpmd_pieces *)p->pieces;
	struct packing w = {.x = *x, .run = run, .p = p, .next = pieces->chunk};
	size_t bytes;
	size_t n = count_chunks(t, &bytes);

	if (n > pieces->n_chunks || bytes > p->size)
		return sl_fail(SL_USAGE,
			"%zu bytes of columns are to be packed, there is room for %zu: more rows "
			"or columns than the packing was laid out for; lay it out for more",
			bytes, p->size);
	w.shuffled = (uint8_t *)sl_cut(&w.x.scratch, SL_OPENPMD_CHUNK_BYTES);
	if (!w.shuffled)
		return sl_fail(SL_USAGE,
			"scratch of openpmd has %zu bytes, %zu are needed: give it at least "
			"scratch() bytes",
			x->scratch.size, scratch(t, run));
	p->table = *t;
	p->used = 0;
	for (uint32_t i = 0; i < t->n_columns; i++)
		if (!t->column[i].constant)
			SL_TRY(sl_while(pack_column(&w, &t->column[i], t->n), "column %s",
				facts(&t->column[i])->name));
	keep_facts(p);
	return SL_OK;
}

const struct sl_format sl_format_openpmd = {
	.name = "openpmd",
	.suffix = ".h5",
	.help = "openPMD 1.1.0 in HDF5: for Python (h5py, openPMD-viewer) and, by its side-car, "
		"ParaView",
	.lay_out = lay_out,
	.scratch = scratch,
	.pack = pack,
	.uses_image = true,
	.image_bytes = sl_openpmd_image_bytes,
	.assemble = sl_openpmd_assemble,
	.read = sl_openpmd_read,
};
