/* phase_space.c - recognises the formats and reads particles of each, see phase_space.h. */
#include "stages/formats/phase_space/phase_space.h"

#include <stdio.h>
#include <string.h>

#include "primitives/device/device.h"
#include "stages/formats/common/common.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/openpmd/openpmd.h"
#include "stages/formats/tables/tables.h"

/* The suffixes of the two files of the IAEA and of TOPAS. */
static const struct {
	const char *header, *records;
} suffixes[] = {{".IAEAheader", ".IAEAphsp"}, {".header", ".phsp"}};

/* Finds the suffix of a name, and that of the other file. False: it is the name of neither. */
static bool find_suffix(const char *path, const char **suffix, const char **others)
{
	for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
		const bool is_header = sl_path_ends_in(path, suffixes[k].header);

		*suffix = is_header ? suffixes[k].header : suffixes[k].records;
		*others = is_header ? suffixes[k].records : suffixes[k].header;
		if (sl_path_ends_in(path, *suffix))
			return true;
	}
	return false;
}

bool sl_phase_space_is_header(const char *path)
{
	return sl_phase_space_is_iaea(path) && sl_path_ends_in(path, "header");
}

bool sl_phase_space_is_iaea(const char *path)
{
	const char *suffix, *others;

	return find_suffix(path, &suffix, &others);
}

static bool begins_with(const struct sl_map *file, const char *bytes, size_t n)
{
	return file->bytes >= n && memcmp(file->at, bytes, n) == 0;
}

/* --- IAEA and TOPAS --------------------------------------------------------------------------- */

/*
 * The name of the other one of the two files, which differs in the suffix only; "" for other names.
 */
static void partner_of(const char *path, char other[SL_PATH_BYTES])
{
	const char *suffix, *others;

	other[0] = '\0';
	if (find_suffix(path, &suffix, &others))
		snprintf(other, SL_PATH_BYTES, "%.*s%s", (int)(strlen(path) - strlen(suffix)), path,
			others);
}

static enum sl_status topas_particle(
	const struct sl_phase_space *s, uint64_t i, struct sl_mcpl_particle *p)
{
	return sl_topas_particle(&s->topas, i, p);
}

/*
 * Files of TOPAS have the suffixes of IAEA files, so open_pair() opens both and sets the format by
 * the header.
 */
static const struct sl_phase_space_format topas = {
	"topas", "TOPAS phase space", NULL, NULL, topas_particle};

/* Numbers have 4 bytes; flags tell the first particle of a history. */
static enum sl_status open_topas(struct sl_phase_space *s, const char *header)
{
	s->format = &topas;
	SL_TRY(sl_topas_open(header, s->records.at, s->records.bytes, &s->topas));
	s->memory = s->topas.block_bytes;
	s->histories = s->topas.histories;
	s->fields = (struct sl_mcpl_header){
		.particles = s->topas.particles, .flags = true, .single = true};
	s->unread = "further columns of its records are not read, except the time of flight";
	return SL_OK;
}

/* Numbers have 4 bytes; weights are common if the records have none. */
static enum sl_status open_iaea(struct sl_phase_space *s, const char *header)
{
	SL_TRY(sl_iaea_open(header, s->records.bytes, &s->iaea));
	s->histories = s->iaea.histories;
	s->fields = (struct sl_mcpl_header){
		.particles = s->iaea.particles, .flags = true, .single = true};
	if (!s->iaea.stored[SL_IAEA_WEIGHT])
		s->fields.weight = (double)s->iaea.constant[SL_IAEA_WEIGHT];
	if (s->iaea.extra_floats + s->iaea.extra_longs > (s->iaea.latch_at != 0))
		s->unread = "extra values of its records are not read, except LATCH";
	return SL_OK;
}

/*
 * Opens both files. The header is copied: another process could change it between two reads of a
 * byte.
 */
static enum sl_status open_pair(struct sl_phase_space *s, const char *path)
{
	bool is_header = sl_phase_space_is_header(path);
	const struct sl_map *header = is_header ? &s->file : &s->partner;
	SL_CLOSED_BY(sl_host_give) void *copy = NULL;
	char other[SL_PATH_BYTES];

	partner_of(path, other); /* a name that is too long is cut, so it names no file */
	SL_TRY(sl_add_context(sl_map_file(other, &s->partner),
		"a phase space consists of two files, a header and records"));
	s->records = is_header ? s->partner : s->file;
	if (header->bytes > SL_IAEA_HEADER_MOST)
		return sl_fail(SL_BAD_INPUT,
			"the header file has %zu bytes, but at most %d are read; it is not the "
			"header of a phase space",
			header->bytes, SL_IAEA_HEADER_MOST);
	SL_TRY(sl_memory_get(SL_HOST, header->bytes + 1, &copy));
	if (header->bytes > 0)
		memcpy(copy, header->at, header->bytes);
	((char *)copy)[header->bytes] = '\0';
	return (begins_with(header, "TOPAS ", 6) ? open_topas : open_iaea)(s, (const char *)copy);
}

static enum sl_status iaea_particle(
	const struct sl_phase_space *s, uint64_t i, struct sl_mcpl_particle *p)
{
	const uint8_t *records = (const uint8_t *)s->records.at;

	return sl_iaea_particle(&s->iaea, records + (size_t)i * s->iaea.record_bytes, p);
}

/* --- OpenMC ----------------------------------------------------------------------------------- */

static enum sl_status open_openmc(struct sl_phase_space *s, const char *path)
{
	(void)path;
	SL_TRY(sl_openmc_open(s->file.at, s->file.bytes, &s->openmc));
	s->fields = (struct sl_mcpl_header){.particles = s->openmc.particles,
		.flags = (s->openmc.present >> SL_OPENMC_SURFACE & 1) != 0};
	s->unread = "its delayed groups are not read";
	return SL_OK;
}

static enum sl_status openmc_particle(
	const struct sl_phase_space *s, uint64_t i, struct sl_mcpl_particle *p)
{
	const uint8_t *items = (const uint8_t *)s->file.at + s->openmc.at;

	return sl_openmc_particle(&s->openmc, items + (size_t)i * s->openmc.item_bytes, p);
}

/* --- survivors of this program ---------------------------------------------------------------- */

enum { PHOTON = 22, NEEDED = SL_MCPL_NEEDED | SL_BIT(SL_COLUMN_energy) };

/* Fails with the columns that a particle needs and the file lacks. */
static enum sl_status check_columns(const struct sl_table *t)
{
	char names[128] = "";

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS((sl_column_set)NEEDED, c) && !sl_table_find(t, (enum sl_column)c)) {
			size_t used = strlen(names);

			snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
				sl_column_facts[c].name);
		}
	if (!*names)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"the file lacks columns that a list needs (%s); write them with output.columns, or "
		"convert the file to MCPL with sluice convert --set output.mcpl.energy=...",
		names);
}

/* Numbers have 4 bytes. What is constant in the file is common to all particles. */
static enum sl_status open_table(struct sl_phase_space *s, const char *path)
{
	const struct sl_particle *constant = &s->rows.constant;

	(void)path;
	SL_TRY(sl_format_load(
		s->format->read, s->file.at, s->file.bytes, &s->table, &s->block, &s->memory));
	SL_TRY(check_columns(&s->table));
	s->rows = sl_mcpl_rows_of(&s->table);
	if (!sl_table_find(&s->table, SL_COLUMN_pdg))
		s->rows.constant.pdg = PHOTON;
	s->fields = (struct sl_mcpl_header){.particles = s->table.n,
		.flags = sl_table_find(&s->table, SL_COLUMN_userflags) != NULL,
		.polarised = sl_table_find(&s->table, SL_COLUMN_pol_x) &&
	                     sl_table_find(&s->table, SL_COLUMN_pol_y) &&
	                     sl_table_find(&s->table, SL_COLUMN_pol_z),
		.single = true,
		.pdg = constant->pdg,
		.weight = (double)constant->weight};
	s->unread = "its other columns (such as id and fate) are not read";
	return SL_OK;
}

static enum sl_status table_particle(
	const struct sl_phase_space *s, uint64_t i, struct sl_mcpl_particle *to)
{
	const struct sl_particle p = sl_mcpl_row(&s->rows, i);

	*to = (struct sl_mcpl_particle){.position = {(double)p.x, (double)p.y, (double)p.z},
		.direction = {(double)p.u, (double)p.v, (double)p.w},
		.polarisation = {(double)p.pol_x, (double)p.pol_y, (double)p.pol_z},
		.energy = (double)p.energy / SL_MCPL_KEV,
		.time = (double)p.time / SL_MCPL_NS,
		.weight = (double)p.weight,
		.pdg = p.pdg,
		.flags = p.userflags};
	return SL_OK;
}

/* --- all formats ------------------------------------------------------------------------------ */

static const struct sl_phase_space_format iaea = {
	"iaea", "IAEA phase space", open_pair, NULL, iaea_particle};
static const struct sl_phase_space_format openmc = {
	"openmc", "OpenMC source", open_openmc, NULL, openmc_particle};
static const struct sl_phase_space_format openpmd = {
	"openpmd", "openPMD file of Sluice", open_table, sl_openpmd_read, table_particle};
static const struct sl_phase_space_format npz = {
	"npz", "npz file of Sluice", open_table, sl_npz_read, table_particle};
static const struct sl_phase_space_format csv = {
	"csv", "csv file of Sluice", open_table, sl_csv_read, table_particle};
static const struct sl_phase_space_format csv_gz = {
	"csv", "csv file of Sluice", open_table, sl_csv_gz_read, table_particle};
static const struct sl_phase_space_format any_npz = {
	"npz", "npz file", open_table, sl_npz_read_any, table_particle};
static const struct sl_phase_space_format any_csv = {
	"csv", "csv file", open_table, sl_csv_read_any, table_particle};

static const struct sl_phase_space_format *format_of(const char *path, const struct sl_map *file)
{
	static const char hdf5[] = "\x89HDF\r\n\x1a\n", zip[] = "PK\x03\x04",
			  trailer[] = "sluice-crc32 ";

	if (sl_phase_space_is_iaea(path))
		return &iaea;
	if (begins_with(file, hdf5, sizeof(hdf5) - 1))
		return file->bytes >= SL_CRC_TRAILER_BYTES &&
		                       memcmp((const char *)file->at + file->bytes -
						       SL_CRC_TRAILER_BYTES,
					       trailer, sizeof(trailer) - 1) == 0
		               ? &openpmd /* valid or not */
		               : &openmc;
	if (begins_with(file, zip, sizeof(zip) - 1))
		return sl_npz_is_any(file->at, file->bytes) ? &any_npz : &npz;
	if (!sl_path_ends_in(path, ".csv") && !sl_path_ends_in(path, ".csv.gz"))
		return NULL;
	if (sl_csv_is_any(file->at, file->bytes))
		return &any_csv;
	return sl_path_ends_in(path, ".gz") ? &csv_gz : &csv;
}

bool sl_phase_space_is_foreign(const char *path, const struct sl_map *file)
{
	const struct sl_phase_space_format *format = format_of(path, file);

	return format == &iaea || format == &openmc || format == &any_npz || format == &any_csv;
}

bool sl_phase_space_names_foreign(const char *path)
{
	static const char *const tables[] = {".h5", ".npz", ".csv", ".csv.gz"};
	SL_CLOSED_BY(sl_unmap) struct sl_map file = {.at = NULL};
	bool may_be = false;

	if (sl_phase_space_is_iaea(path))
		return true;
	for (size_t k = 0; !may_be && k < sizeof(tables) / sizeof(tables[0]); k++)
		may_be = sl_path_ends_in(path, tables[k]);
	return may_be && sl_map_file(path, &file) == SL_OK &&
	       sl_phase_space_is_foreign(path, &file);
}

enum sl_status sl_phase_space_open(
	const char *path, const struct sl_map *file, struct sl_phase_space **made)
{
	const struct sl_phase_space_format *format = format_of(path, file);
	struct sl_phase_space *s;

	*made = NULL;
	if (!format)
		return SL_OK;
	SL_TRY(sl_host_get(1, sizeof(*s), made));
	s = *made;
	*s = (struct sl_phase_space){.format = format, .file = *file, .histories = -1};
	SL_TRY(format->open(s, path));
	s->memory += sizeof(*s);
	s->fields.version = 3;
	s->fields.record_bytes = sl_mcpl_record_bytes(&s->fields);
	s->head_bytes = sl_phase_space_head(s, 0, s->head);
	return SL_OK;
}

void sl_phase_space_close(struct sl_phase_space **space)
{
	struct sl_phase_space *s = *space;

	if (!s)
		return;
	sl_unmap(&s->partner);
	sl_memory_give(SL_HOST, s->topas.block);
	sl_memory_give(SL_HOST, s->block);
	sl_memory_give(SL_HOST, s);
}

enum sl_status sl_phase_space_particle(
	const struct sl_phase_space *s, uint64_t i, struct sl_mcpl_particle *p)
{
	return sl_add_context(
		s->format->particle(s, i, p), "particle %llu (from 0)", (unsigned long long)i);
}

bool sl_phase_space_is_changed(const struct sl_phase_space *s, const char *path)
{
	char other[SL_PATH_BYTES];

	if (s->partner.bytes == 0)
		return false;
	partner_of(path, other);
	return sl_map_is_changed(&s->partner, other);
}
