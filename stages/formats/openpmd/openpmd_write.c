/*
 * openpmd_write.c - see openpmd.h.
 *
 * HDF5 makes the metadata in the image, in another process (hdf5.h). The packed chunks stay
 * where they are and become the middle of the file (hdf5.h). Order of pieces: head, chunks,
 * rest, checksum line.
 */
#include "stages/formats/openpmd/openpmd.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "stages/formats/common/common.h"
#include "stages/formats/hdf5/hdf5.h"

/* Size of buffers for names of files, groups and records. */
enum { NAME_BYTES = 512 };

/*
 * What the process that makes a file gets: this struct, the chunks, and the texts of struct
 * sl_file_facts that are in the file, each with its NUL.
 */
struct openpmd_facts {
	uint64_t seed;
	struct sl_batch_facts batch;
	struct sl_table table; /* its data pointers mean nothing */
	struct sl_openpmd_pieces pieces;
	const uint8_t *packed; /* address of the packed bytes in the process that has them */
};

/* State of a file that is written. */
struct openpmd_writing {
	struct sl_h5 *h;
	const struct openpmd_facts *facts;
	const char *run_name, *species_name, *software_version, *config, *merged;
	const struct sl_openpmd_chunk *next; /* the next chunk to add */
	hid_t species;
};

/*
 * Upper limit of what HDF5 adds to the chunks: 8 KiB for group, headers and attributes of a
 * component, 32 KiB for the rest except the configuration, and 128 bytes per chunk, whose entry of
 * 24 bytes is in a B-tree with nodes that are at least half full.
 */
size_t sl_openpmd_image_bytes(const struct sl_table *most, const struct sl_file_facts *run)
{
	size_t unpacked, bytes = strlen(run->config) + SL_CRC_TRAILER_BYTES + ((size_t)32 << 10) +
	                         most->n_columns * ((size_t)8 << 10);

	if (run->merged)
		bytes += strlen(run->merged) + ((size_t)2 << 10);
	return sl_size_add(bytes, sl_size_mul(sl_openpmd_count_chunks(most, &unpacked), 128));
}

/* --- records ------------------------------------------------------------------------------- */

/* The attributes that openPMD requires of each record: its dimension, and a time offset of 0. */
static void describe_record(struct openpmd_writing *w, hid_t record, enum sl_unit unit)
{
	const struct sl_dimension_facts *d = &sl_dimensions[sl_units[unit].dimension];
	double powers[7] = {d->length, d->mass, d->time};

	sl_h5_put_list(w->h, record, "unitDimension", H5T_IEEE_F64LE, 7, powers);
	sl_h5_put_f64(w->h, record, "timeOffset", 0);
}

/* The attribute that openPMD requires of each component: its unit in SI. */
static void describe_component(struct openpmd_writing *w, hid_t component, enum sl_unit unit)
{
	const struct sl_unit_facts *u = &sl_units[unit];

	sl_h5_put_f64(w->h, component, "unitSI", sl_dimensions[u->dimension].si * u->factor);
}

/* A component with one value for all rows. */
static hid_t write_constant(
	struct openpmd_writing *w, hid_t at, const char *name, hid_t type, const void *value)
{
	uint64_t n = w->facts->table.n;
	hid_t made = sl_h5_group(w->h, at, name);

	sl_h5_put(w->h, made, "value", type, value);
	sl_h5_put_list(w->h, made, "shape", H5T_STD_U64LE, 1, &n);
	return made;
}

/* A component with a value per row: its packed chunks are added unchanged. */
static hid_t write_chunks(
	struct openpmd_writing *w, hid_t at, const char *name, const struct sl_column_facts *f)
{
	uint32_t n = w->facts->table.n;
	uint32_t items = n ? sl_openpmd_chunk_items(n, f->bytes) : 0;
	hid_t made = sl_h5_dataset(
		w->h, at, name, sl_openpmd_type(f->type), n, items, sl_openpmd_shuffles(f));

	for (uint64_t first = 0; first < n && !w->h->failed; first += items, w->next++)
		sl_h5_chunk(w->h, made, (uint32_t)w->next->skipped, first,
			w->facts->packed + w->next->at, w->next->bytes);
	return made;
}

/* Writes column i as a component of a record, or as a scalar record. */
static void write_column(struct openpmd_writing *w, hid_t at, const char *name, uint32_t i)
{
	const struct sl_table_column *c = &w->facts->table.column[i];
	const struct sl_column_facts *f = &sl_column_facts[c->column];
	enum sl_unit unit = sl_table_unit(&w->facts->table, i);
	hid_t made = c->constant ? write_constant(w, at, name, sl_openpmd_type(f->type),
					   &w->facts->pieces.constant[i])
	                         : write_chunks(w, at, name, f);

	describe_component(w, made, unit);
	sl_h5_put_u64(w->h, made, "sluiceDigest", c->digest);
	if (sl_is_named_column((int)c->column)) {
		sl_h5_put_u32(
			w->h, made, SL_OPENPMD_NAMED, (uint32_t)(c->column - SL_COLUMN_derived_1));
		sl_h5_put_text(w->h, made, SL_OPENPMD_UNIT, sl_units[unit].text);
	}
	if (!*f->component)
		describe_record(w, made, unit);
	sl_h5_close(w->h, made);
}

/* The group of the vector record of column i: created for its first column, then opened. */
static hid_t record_group(struct openpmd_writing *w, uint32_t i)
{
	const struct sl_table *t = &w->facts->table;
	const struct sl_column_facts *f = &sl_column_facts[t->column[i].column];
	hid_t made;

	for (uint32_t k = 0; k < i && !w->h->failed; k++)
		if (strcmp(f->record, sl_column_facts[t->column[k].column].record) == 0)
			return sl_h5_id(w->h, H5Gopen2(w->species, f->record, H5P_DEFAULT));
	made = sl_h5_group(w->h, w->species, f->record);
	describe_record(w, made, f->unit);
	return made;
}

static void write_columns(struct openpmd_writing *w)
{
	const struct sl_table *t = &w->facts->table;

	for (uint32_t i = 0; i < t->n_columns; i++) {
		const char *component = sl_facts_of(&t->column[i])->component;
		hid_t at = *component ? record_group(w, i) : w->species;

		write_column(w, at,
			*component ? component : sl_openpmd_record(t, t->column[i].column), i);
		if (*component)
			sl_h5_close(w->h, at);
	}
}

/* --- records that openPMD requires in addition ------------------------------------------------ */

/* The columns of positions that the table has, as a set; those of sl_column_facts from x on. */
static sl_column_set axes(const struct sl_table *t)
{
	sl_column_set set = 0;

	for (uint32_t i = 0; i < t->n_columns; i++)
		if (strcmp(sl_column_facts[t->column[i].column].record, "position") == 0)
			set |= SL_BIT(t->column[i].column - SL_COLUMN_x);
	return set;
}

/*
 * The record position is required. Where no position was asked for, it is a constant NaN along x,
 * which says "unknown"; without a digest, as it is no column.
 */
static void write_no_position(struct openpmd_writing *w)
{
	const float unknown = NAN;
	hid_t record = sl_h5_group(w->h, w->species, "position");
	hid_t x = write_constant(w, record, "x", H5T_IEEE_F32LE, &unknown);

	describe_record(w, record, SL_UNIT_CM);
	describe_component(w, x, SL_UNIT_CM);
	sl_h5_put_text(w->h, x, "comment", "not recorded");
	sl_h5_close(w->h, x);
	sl_h5_close(w->h, record);
}

/*
 * Writes a vector record of positions: a value per axis, as that of all rows, or of the only patch.
 */
static void write_vector(struct openpmd_writing *w, hid_t at, const char *name, sl_column_set set,
	const double patch[3])
{
	hid_t record = sl_h5_group(w->h, at, name);
	const float zero = 0;

	describe_record(w, record, SL_UNIT_CM);
	for (uint32_t i = 0; i < 3; i++)
		if (SL_HAS(set, i)) {
			const char *axis = sl_column_facts[SL_COLUMN_x + i].component;
			hid_t made = patch ? sl_h5_values(w->h, record, axis, H5T_IEEE_F64LE, 1,
						     &patch[i])
			                   : write_constant(w, record, axis, H5T_IEEE_F32LE, &zero);

			describe_component(w, made, SL_UNIT_CM);
			sl_h5_close(w->h, made);
		}
	sl_h5_close(w->h, record);
}

static void write_patch_number(
	struct openpmd_writing *w, hid_t patches, const char *name, uint64_t value)
{
	hid_t made = sl_h5_values(w->h, patches, name, H5T_STD_U64LE, 1, &value);

	describe_record(w, made, SL_UNIT_NONE);
	describe_component(w, made, SL_UNIT_NONE);
	sl_h5_close(w->h, made);
}

/*
 * The extent of a patch that starts at lo and contains hi. The standard requires offset + extent to
 * be greater than every position. If the sum is rounded down to hi, one step up is enough.
 */
static double extent_of(double lo, double hi)
{
	double extent = (double)nextafterf((float)hi, INFINITY) - lo;

	return lo + extent > hi ? extent : nextafter(extent, INFINITY);
}

/* One patch: all survivors and their bounding box; without rows, an empty box at 0. */
static void write_patches(struct openpmd_writing *w, sl_column_set set)
{
	const struct sl_openpmd_pieces *pieces = &w->facts->pieces;
	hid_t patches = sl_h5_group(w->h, w->species, "particlePatches");
	double offset[3] = {0}, extent[3] = {0};

	for (int axis = 0; axis < 3; axis++)
		if (SL_HAS(set, axis) && pieces->lo[axis] <= pieces->hi[axis]) {
			offset[axis] = pieces->lo[axis];
			extent[axis] = extent_of(pieces->lo[axis], pieces->hi[axis]);
		}
	write_patch_number(w, patches, "numParticles", w->facts->table.n);
	write_patch_number(w, patches, "numParticlesOffset", 0);
	write_vector(w, patches, "offset", set, offset);
	write_vector(w, patches, "extent", set, extent);
	sl_h5_close(w->h, patches);
}

static void write_species(struct openpmd_writing *w)
{
	sl_column_set set = axes(&w->facts->table);

	write_columns(w);
	if (!set)
		write_no_position(w);
	/* required by the standard: position contains the full value, so it is 0 */
	write_vector(w, w->species, "positionOffset", set ? set : 1, NULL);
	if (set)
		write_patches(w, set);
}

/* --- the file ------------------------------------------------------------------------------ */

static void describe_file(struct openpmd_writing *w, hid_t file)
{
	bool whole = w->facts->batch.number == SL_WHOLE_RUN;
	char pattern[NAME_BYTES];

	/* of the names that sl_file_name() gives the files of a run */
	snprintf(pattern, sizeof(pattern), "%s_%%06T%s", w->run_name, sl_format_openpmd.suffix);
	sl_h5_put_text(w->h, file, "openPMD", "1.1.0");
	sl_h5_put_u32(w->h, file, "openPMDextension", 0);
	sl_h5_put_text(w->h, file, "basePath", "/data/%T/");
	sl_h5_put_text(w->h, file, "particlesPath", "particles/");
	sl_h5_put_text(w->h, file, "iterationEncoding", whole ? "groupBased" : "fileBased");
	sl_h5_put_text(w->h, file, "iterationFormat", whole ? "/data/%T/" : pattern);
	sl_h5_put_text(w->h, file, "software", "Sluice");
	sl_h5_put_text(w->h, file, "softwareVersion", w->software_version);
	sl_h5_put_u64(w->h, file, "sluiceSeed", w->facts->seed);
	if (!whole)
		sl_h5_put_u64(w->h, file, "sluiceBatch", w->facts->batch.number);
	sl_h5_put_u64(w->h, file, "sluiceFirstId", w->facts->batch.first_id);
	sl_h5_put_u64(w->h, file, "sluiceGenerated", w->facts->batch.generated);
	sl_h5_text(w->h, file, "sluiceConfig", w->config);
	if (w->merged[0])
		sl_h5_text(w->h, file, "sluiceMerged", w->merged);
}

static void write_file(struct openpmd_writing *w, hid_t file)
{
	char number[NAME_BYTES];
	hid_t data, iteration, particles;

	describe_file(w, file);
	snprintf(number, sizeof(number), "%" PRIu64,
		w->facts->batch.number == SL_WHOLE_RUN ? 0 : w->facts->batch.number);
	data = sl_h5_group(w->h, file, "data");
	iteration = sl_h5_group(w->h, data, number);
	/* openPMD requires a time of each iteration; batches have none, so it is 0 */
	sl_h5_put_f64(w->h, iteration, "time", 0);
	sl_h5_put_f64(w->h, iteration, "dt", 0);
	sl_h5_put_f64(w->h, iteration, "timeUnitSI", 1);
	particles = sl_h5_group(w->h, iteration, "particles");
	w->species = sl_h5_group(w->h, particles, w->species_name);
	write_species(w);
	sl_h5_close(w->h, w->species);
	sl_h5_close(w->h, particles);
	sl_h5_close(w->h, iteration);
	sl_h5_close(w->h, data);
}

/* Takes the next text from *at. */
static const char *next_text(const char **at)
{
	const char *text = *at;

	*at += strlen(text) + 1;
	return text;
}

/* Makes the image, in the other process. */
static size_t make_image(struct sl_h5 *h, const void *from)
{
	const struct openpmd_facts *facts = (const struct openpmd_facts *)from;
	struct openpmd_writing w = {
		.h = h, .facts = facts, .next = (const struct sl_openpmd_chunk *)(facts + 1)};
	size_t unpacked;
	const char *text =
		(const char *)(w.next + sl_openpmd_count_chunks(&facts->table, &unpacked));
	hid_t made;

	w.run_name = next_text(&text);
	w.species_name = next_text(&text);
	w.software_version = next_text(&text);
	w.config = next_text(&text);
	w.merged = next_text(&text);
	made = sl_h5_create_file(h);
	write_file(&w, made);
	return sl_h5_finish_file(h, made);
}

static struct sl_h5_part part_of_text(const char *text)
{
	return (struct sl_h5_part){text, strlen(text) + 1};
}

enum sl_status sl_openpmd_assemble(const struct sl_file_facts *run,
	const struct sl_batch_facts *batch, const struct sl_packed *p, void *image, size_t size,
	struct sl_pieces *file)
{
	const struct sl_openpmd_pieces *pieces = (const struct sl_openpmd_pieces *)p->pieces;
	const struct openpmd_facts facts = {run->seed, *batch, p->table, *pieces, p->bytes};
	size_t bytes, n_chunks = sl_openpmd_count_chunks(&p->table, &bytes);
	const struct sl_h5_part parts[] = {{&facts, sizeof(facts)},
		{pieces->chunk, n_chunks * sizeof(*pieces->chunk)}, part_of_text(run->run_name),
		part_of_text(run->species), part_of_text(run->software_version),
		part_of_text(run->config), part_of_text(run->merged ? run->merged : "")};
	uint8_t *rest = (uint8_t *)image;
	struct sl_h5 h = {.image = rest,
		.size = size - SL_CRC_TRAILER_BYTES,
		.data = p->bytes,
		.data_bytes = p->used};

	SL_TRY(sl_h5_writer_make(make_image, parts, sizeof(parts) / sizeof(*parts), &h, &bytes));
	bytes -= p->used;
	sl_pieces_add(file, rest, h.head);
	sl_format_add_packed(file, p);
	sl_pieces_add(file, rest + h.head, bytes - h.head);
	sl_crc_trailer_print(file->crc, (char *)rest + bytes);
	sl_pieces_add(file, rest + bytes, SL_CRC_TRAILER_BYTES);
	return SL_OK;
}
