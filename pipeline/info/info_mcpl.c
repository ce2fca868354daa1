/*
 * info_mcpl.c - the header of an MCPL file of any program and statistics of its particles. A list
 * of another format is converted to MCPL in memory first.
 *
 * The file is decoded as a stream, one particle at a time, so a compressed file needs little more
 * memory than its compressed size. All records are read, which also checks the file to its end.
 */
#include <stdio.h>
#include <string.h>

#include "pipeline/info/info.h"
#include "primitives/files/files.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/formats/phase_space/phase_space.h"

/* Texts of the header are cut to TEXT_BYTES. NUMBERS per particle; the last three: polarisation. */
enum { TEXT_BYTES = 256, NUMBERS = 14, WEIGHT = 8, PDG = 9, FLAGS = 10, POLARISATION = 11 };

/*
 * The numbers of a particle in units of the configuration; user flags and polarisation are
 * optional.
 */
static const struct {
	const char *name, *unit;
} facts[NUMBERS] = {{"x", "cm"}, {"y", "cm"}, {"z", "cm"}, {"u", ""}, {"v", ""}, {"w", ""},
	{"energy", "keV"}, {"time", "ns"}, {"weight", ""}, {"pdg", ""}, {"userflags", ""},
	{"pol_x", ""}, {"pol_y", ""}, {"pol_z", ""}};

/* What has been added up of the particles read so far. */
struct particle_sums {
	struct sl_weighted_stats stats[NUMBERS];
	struct sl_type_table types;
};

/* Has each particle of the file the number i? */
static bool has_number(const struct sl_mcpl_header *h, int i)
{
	return (i != FLAGS || h->flags) && (i < POLARISATION || h->polarised);
}

/* Sets the numbers of a particle, in the order of facts. */
static void set_numbers(const struct sl_mcpl_particle *p, double number[NUMBERS])
{
	const double from[NUMBERS] = {p->position[0], p->position[1], p->position[2],
		p->direction[0], p->direction[1], p->direction[2], p->energy * SL_MCPL_KEV,
		p->time * SL_MCPL_NS, p->weight, p->pdg, p->flags, p->polarisation[0],
		p->polarisation[1], p->polarisation[2]};

	memcpy(number, from, sizeof(from));
}

/* Adds a particle; only the weights themselves are not weighted. */
static void add(
	struct particle_sums *all, const struct sl_mcpl_particle *p, const double number[NUMBERS])
{
	for (int i = 0; i < NUMBERS; i++)
		sl_weighted_stats_add(&all->stats[i], number[i], i == WEIGHT ? 1 : p->weight);
	sl_type_table_add(&all->types, p->pdg, p->weight, p->energy * SL_MCPL_KEV);
}

/* Writes the numbers of a particle as an object. */
static void write_row(struct sl_json *j, const struct sl_mcpl_header *h, const double *number)
{
	sl_json_object(j, NULL);
	for (int i = 0; i < NUMBERS; i++)
		if (has_number(h, i))
			sl_json_real(j, facts[i].name, number[i]);
	sl_json_close(j);
}

/* Reads the next string of the header and writes it, cut to TEXT_BYTES. */
static enum sl_status write_next(struct sl_mcpl_stream *s, const char *key, struct sl_json *j)
{
	char text[TEXT_BYTES + 4];
	uint32_t length;

	SL_TRY(sl_mcpl_text(s, text, TEXT_BYTES, &length));
	if (length >= TEXT_BYTES)
		memcpy(text + strlen(text), "...", 4);
	sl_json_text(j, key, text);
	return SL_OK;
}

/*
 * Writes the strings of the header in their order in the file: all names of blobs, then all blobs.
 */
static enum sl_status write_strings(struct sl_mcpl_stream *s, struct sl_json *j)
{
	char text[TEXT_BYTES];
	uint32_t length;

	SL_TRY(write_next(s, "source", j));
	sl_json_array(j, "comments");
	for (uint32_t i = 0; i < s->header.comments; i++)
		SL_TRY(write_next(s, NULL, j));
	sl_json_add(j, "] blobs [");
	for (uint32_t i = 0; i < s->header.blobs; i++)
		SL_TRY(write_next(s, NULL, j));
	sl_json_add(j, "] blob_bytes [");
	for (uint32_t i = 0; i < s->header.blobs; i++) {
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
		sl_json_u64(j, NULL, length);
	}
	sl_json_close(j);
	return sl_mcpl_begin(s);
}

/* User flags and polarisation are written only if the file has them. */
static void write_numbers(struct sl_json *j, const struct sl_mcpl_header *h,
	const struct sl_weighted_stats stats[NUMBERS])
{
	sl_json_array(j, "columns");
	for (int i = 0; i < NUMBERS; i++) {
		if (!has_number(h, i))
			continue;
		sl_json_add(j, "{ name %s unit %s", facts[i].name, facts[i].unit);
		sl_weighted_stats_json(&stats[i], i == PDG || i == FLAGS, j);
		sl_json_close(j);
	}
	sl_json_close(j);
}

/* Reads all particles, writes the first head of them and adds up all. */
static enum sl_status read_particles(
	struct sl_mcpl_stream *s, uint64_t head, struct particle_sums *all, struct sl_json *j)
{
	double number[NUMBERS];
	struct sl_mcpl_particle p;

	sl_json_array(j, "head");
	for (uint64_t i = 0; i < s->header.particles; i++) {
		SL_TRY(sl_mcpl_next(s, &p));
		set_numbers(&p, number);
		add(all, &p, number);
		if (i < head)
			write_row(j, &s->header, number);
	}
	sl_json_close(j);
	return SL_OK;
}

/*
 * Writes the header, then reads all records. The number of particles in the header is checked by
 * sl_mcpl_next(), which fails at the end of the file; bytes after the last record are accepted.
 * converted: the file was made from a list of another format.
 */
static enum sl_status write_file(
	struct sl_mcpl_stream *s, bool converted, uint64_t head, struct sl_json *j)
{
	const struct sl_mcpl_header *h = &s->header;
	struct particle_sums all = {0};
	bool trailing;

	SL_TRY(write_strings(s, j));
	sl_json_add(j,
		"recovered %d particles %lu record_bytes %u converted %d precision %s one_pdg %d "
		"one_weight %d }",
		s->recovered, h->particles, h->record_bytes, converted,
		h->single ? "single" : "double", h->pdg != 0, h->weight != 0);
	SL_TRY(read_particles(s, head, &all, j));
	write_numbers(j, h, all.stats);
	sl_type_table_json(&all.types, j);
	return sl_mcpl_end(s, &trailing);
}

/*
 * An MCPL file in memory; what is stored has another format if what is not NULL. The header is read
 * twice: of a file whose header is wrong nothing is written.
 */
static enum sl_status write_list(const void *file, size_t bytes, const char *what, size_t stored,
	uint64_t head, struct sl_json *j)
{
	SL_CLOSED_BY(sl_mcpl_close) struct sl_mcpl_stream s = {.gzipped = false};
	char format[64];

	SL_TRY(sl_mcpl_head_check(file, bytes));
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	snprintf(
		format, sizeof(format), "MCPL %u%s", s.header.version, s.gzipped ? " in gzip" : "");
	sl_json_add(j, "list { format %s bytes %lu", what ? what : format, stored);
	return write_file(&s, what != NULL, head, j);
}

enum sl_status sl_info_mcpl(const char *path, uint64_t head, struct sl_json *j)
{
	SL_CLOSED_BY(sl_host_give) char *file = NULL;
	size_t bytes;

	SL_TRY(sl_path_read(path, SIZE_MAX, &file, &bytes));
	return sl_add_context(write_list(file, bytes, NULL, bytes, head, j), "%s", path);
}

static enum sl_status write_phase_space(
	const char *path, const struct sl_map *map, uint64_t head, struct sl_json *j)
{
	SL_CLOSED_BY(sl_phase_space_close) struct sl_phase_space *space = NULL;
	SL_CLOSED_BY(sl_host_give) void *file = NULL;
	size_t bytes;

	SL_TRY(sl_phase_space_open(path, map, &space));
	SL_TRY(sl_phase_space_to_mcpl(space, &file, &bytes));
	if (sl_map_is_changed(map, path) || sl_phase_space_is_changed(space, path))
		return sl_fail(SL_DISK,
			"the file changed while it was read; try again when no other program "
			"writes to it");
	SL_TRY(write_list(
		file, bytes, space->format->what, map->bytes + space->partner.bytes, head, j));
	sl_json_add(j, "unread? %s", space->unread);
	return SL_OK;
}

enum sl_status sl_info_phase_space(const char *path, uint64_t head, struct sl_json *j)
{
	SL_CLOSED_BY(sl_unmap) struct sl_map map = {.at = NULL};

	SL_TRY(sl_map_file(path, &map));
	return sl_add_context(write_phase_space(path, &map, head, j), "%s", path);
}
