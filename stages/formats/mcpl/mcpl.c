/*
 * mcpl.c - the formats mcpl and mcpl.gz: a particle list for other Monte Carlo codes.
 *
 * Each row becomes one record, in key order. Positions and weights are stored exactly. Energy and
 * time are stored in other units and a direction as two of its components, so these come back with
 * a rounding error; a record of a list that was read is copied instead. The gzip form compresses
 * the records in members of at most 1 MiB. Its header is a separate gzip member, stored without
 * compression: it is short, and assemble has no compressor.
 */
#include "stages/formats/mcpl/mcpl.h"

#include "primitives/base/record_copy.h"
#include "stages/formats/common/common.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are copied from memory, and the file states that they are little-endian"
#endif

enum { MEMBER_BYTES = SL_MCPL_MEMBER_BYTES };

/* --- packing ---------------------------------------------------------------------------------- */

/* Bytes of the records of a table, with a weight in each: sizes() cannot know better. */
static size_t records_bytes(const struct sl_table *t, const struct sl_file_facts *run)
{
	struct sl_mcpl_header h = sl_mcpl_header_of(t, &run->mcpl, 0);

	return sl_size_mul(t->n, h.record_bytes);
}

/*
 * Upper limit of these records in gzip members. Every member but the last contains more than half
 * of MEMBER_BYTES.
 */
static size_t members_bytes(const struct sl_table *t, const struct sl_file_facts *run)
{
	size_t bytes = records_bytes(t, run);
	size_t members = bytes / (MEMBER_BYTES / 2) + 1;

	return sl_size_add(bytes,
		sl_size_mul(members, sl_deflate_most(MEMBER_BYTES, 0, 1) - (size_t)MEMBER_BYTES));
}

size_t sl_mcpl_member_scratch(const struct sl_file_facts *run)
{
	struct sl_shape shape = {.in_bytes = MEMBER_BYTES, .level = run->level, .most_room = true};

	return sl_round_up(sl_scratch(run->deflate, &shape), SL_ALIGN);
}

/*
 * Without device packing, the host makes the records in memory of the slot. sl_packed.pieces points
 * to the common weight of the particles, which is needed after the columns are reused; 0: each has
 * its own. The image is the header. The largest of the files of a run is the one with a common
 * weight.
 */
static struct sl_format_sizes sizes(const struct sl_table *most, const struct sl_file_facts *run)
{
	return (struct sl_format_sizes){.pieces = sizeof(double),
		.packed = run->form == SL_AS_COLUMNS ? records_bytes(most, run) : 0,
		.image = sl_mcpl_put_header(NULL, run, most, 1, most->n, NULL)};
}

/*
 * The host compresses unless the device made streams. Records of the device are compressed from the
 * buffer that they were copied to, so they need no second one. The header is made at the end of the
 * image and stored in a gzip member at its beginning.
 */
static struct sl_format_sizes sizes_gz(const struct sl_table *most, const struct sl_file_facts *run)
{
	struct sl_format_sizes s = sizes(most, run);

	s.image = sl_size_add(sl_gzip_stored_bytes(s.image), s.image);
	if (run->form == SL_AS_STREAMS)
		return s;
	s.packed = members_bytes(most, run);
	s.scratch = sl_size_add(
		run->form == SL_AS_COLUMNS ? MEMBER_BYTES : 0, sl_mcpl_member_scratch(run));
	return s;
}

/* The first step of each way to pack: copies what is needed later. */
static void begin(const struct sl_file_facts *run, const struct sl_table *t, struct sl_packed *p)
{
	*(double *)p->pieces = sl_mcpl_common_weight(t, &run->mcpl);
	sl_packed_begin(p, t, 1);
}

/*
 * Rows between a record that is copied and the one that is prefetched. In key order, source records
 * are at random places in memory: a copy takes a few nanoseconds, the wait for memory about 100.
 */
enum { PREFETCHED = 32 };

/* Copies the source records of rows from .. to - 1. */
static void copy_sources(const struct sl_mcpl_record *r, const struct sl_mcpl_rows *rows,
	uint32_t from, uint32_t to, char *at)
{
	const char *source = (const char *)rows->source;

	for (uint32_t i = from; i < to; i++, at += r->bytes) {
		const char *record = source + (size_t)rows->source_index[i] * r->bytes;

		if (i + PREFETCHED < to) {
			const char *next =
				source + (size_t)rows->source_index[i + PREFETCHED] * r->bytes;

			__builtin_prefetch(next);
			__builtin_prefetch(next + r->bytes - 1); /* it can be in two cache lines */
		}
		sl_record_copy(at, record, r->bytes);
	}
}

/* Makes the records of rows from .. to - 1. */
static void put_rows(const struct sl_mcpl_record *r, const struct sl_mcpl_rows *rows, uint32_t from,
	uint32_t to, void *words)
{
	uint32_t *at = (uint32_t *)words;

	if (rows->source && rows->source_index && !sl_mcpl_replaces_flags(r)) {
		copy_sources(r, rows, from, to, (char *)words);
		return;
	}
	for (uint32_t i = from; i < to; i++, at += r->bytes / sizeof(*at))
		sl_mcpl_record_of_row(r, rows, i, at);
}

/* Takes what the device made: records, or gzip members of records. */
static enum sl_status take(
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	sl_packed_take(p, device_packed);
	sl_packed_add(p, device_packed->used, t->n);
	return SL_OK;
}

/* Makes the records of a table in memory; no compression. */
static enum sl_status pack(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	struct sl_mcpl_rows rows = sl_mcpl_rows_of(t);
	struct sl_mcpl_record r;

	(void)x;
	begin(run, t, p);
	if (device_packed)
		return take(t, device_packed, p);
	SL_TRY(sl_mcpl_record_of(t, &run->mcpl, &r));
	put_rows(&r, &rows, 0, t->n, p->bytes);
	sl_packed_add(p, (size_t)t->n * r.bytes, t->n);
	return SL_OK;
}

/*
 * Compresses the records of the device in members, or makes and compresses those of the table, one
 * member at a time: scratch holds one member only.
 */
static enum sl_status pack_gz(struct sl_exec *x, const struct sl_file_facts *run,
	const struct sl_table *t, const struct sl_device_packed *device_packed, struct sl_packed *p)
{
	const uint8_t *records = device_packed ? device_packed->bytes : NULL;
	struct sl_exec rest = *x;
	void *buffer = records ? NULL : sl_cut(&rest.scratch, MEMBER_BYTES);
	struct sl_mcpl_rows rows = sl_mcpl_rows_of(t);
	struct sl_mcpl_record r;

	begin(run, t, p);
	if (device_packed && run->form == SL_AS_STREAMS)
		return take(t, device_packed, p);
	SL_TRY(sl_mcpl_record_of(t, &run->mcpl, &r));
	for (uint32_t from = 0, n, most = MEMBER_BYTES / r.bytes; from < t->n; from += n) {
		size_t used;

		n = t->n - from < most ? t->n - from : most;
		if (!records)
			put_rows(&r, &rows, from, from + n, buffer);
		SL_TRY(sl_format_deflate(&rest, run, SL_GZIP,
			records ? records + (size_t)from * r.bytes : buffer, (size_t)n * r.bytes,
			p->bytes + p->used, &used));
		sl_packed_add(p, used, n);
	}
	return SL_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Writes the header of the table that p was packed from; its columns can be reused by then. */
static size_t put_header(uint8_t *at, const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p)
{
	return sl_mcpl_put_header(
		at, run, &p->table, *(const double *)p->pieces, p->table.n, batch);
}

/* Lists the pieces of a file: the header in the image, the packed records where they are. */
static enum sl_status assemble(const struct sl_file_facts *run, const struct sl_batch_facts *batch,
	const struct sl_packed *p, void *image, size_t size, struct sl_pieces *file)
{
	(void)size;
	sl_pieces_add(file, image, put_header((uint8_t *)image, run, batch, p));
	sl_format_add_packed(file, p);
	return SL_OK;
}

static enum sl_status assemble_gz(const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p, void *image, size_t size,
	struct sl_pieces *file)
{
	uint8_t *at = (uint8_t *)image, *header = at + size - sizes(&p->table, run).image;

	sl_pieces_add(file, at, sl_gzip_store(header, put_header(header, run, batch, p), at));
	sl_format_add_packed(file, p);
	return SL_OK;
}

/* --- the formats ------------------------------------------------------------------------------ */

const struct sl_format sl_format_mcpl = {
	.name = "mcpl",
	.suffix = ".mcpl",
	.help = "MCPL 3, a list of particles: for McStas, OpenMC, Geant4, MCNP, PHITS",
	.sizes = sizes,
	.pack = pack,
	.packing = {.records = true},
	.no_streams = "is not compressed",
	.assemble = assemble,
	.read = sl_mcpl_read,
	.record_of = sl_mcpl_record_of,
};

const struct sl_format sl_format_mcpl_gz = {
	.name = "mcpl.gz",
	.suffix = ".mcpl.gz",
	.help = "mcpl in gzip: read directly by the same programs, except by mcpltool of Debian 12",
	.sizes = sizes_gz,
	.pack = pack_gz,
	.packing = {.records = true, .chunk_bytes = MEMBER_BYTES, .wrapper = SL_GZIP},
	.assemble = assemble_gz,
	.read = sl_mcpl_read,
	.record_of = sl_mcpl_record_of,
};
