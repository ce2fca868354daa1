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

enum { TEXT_BYTES = 256 }; /* texts of the header are cut to so many */

/* The columns of the particles, without data; user flags and polarisation are optional. */
static struct sl_table columns_of(const struct sl_mcpl_header *h)
{
	struct sl_table t = {0};

	for (int i = 0; i < SL_LISTED_COLUMNS; i++) {
		enum sl_column c = sl_listed_columns[i];

		if ((c != SL_COLUMN_userflags || h->flags) &&
			(!SL_HAS(SL_MCPL_POLARISATION, c) || h->polarised))
			t.column[t.n_columns++].column = c;
	}
	return t;
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

/* Reads all particles. */
static enum sl_status read_particles(struct sl_mcpl_stream *s, const struct sl_table *t,
	struct sl_row_sums *all, struct sl_json *j)
{
	struct sl_mcpl_particle p;

	sl_json_array(j, "head");
	for (uint64_t i = 0; i < s->header.particles; i++) {
		SL_TRY(sl_mcpl_next(s, &p));
		sl_row_sums_add(all, t,
			(const double[SL_COLUMN_COUNT]){
				[SL_COLUMN_x] = p.position[0],
				[SL_COLUMN_y] = p.position[1],
				[SL_COLUMN_z] = p.position[2],
				[SL_COLUMN_u] = p.direction[0],
				[SL_COLUMN_v] = p.direction[1],
				[SL_COLUMN_w] = p.direction[2],
				[SL_COLUMN_energy] = p.energy * SL_MCPL_KEV,
				[SL_COLUMN_time] = p.time * SL_MCPL_NS,
				[SL_COLUMN_weight] = p.weight,
				[SL_COLUMN_pdg] = p.pdg,
				[SL_COLUMN_userflags] = p.flags,
				[SL_COLUMN_pol_x] = p.polarisation[0],
				[SL_COLUMN_pol_y] = p.polarisation[1],
				[SL_COLUMN_pol_z] = p.polarisation[2],
			},
			j);
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
	const struct sl_table t = columns_of(h);
	struct sl_row_sums all = {.head = head};
	bool trailing;

	SL_TRY(write_strings(s, j));
	sl_json_add(j,
		"recovered %d particles %lu record_bytes %u converted %d precision %s one_pdg %d "
		"one_weight %d }",
		s->recovered, h->particles, h->record_bytes, converted,
		h->single ? "single" : "double", h->pdg != 0, h->weight != 0);
	SL_TRY(read_particles(s, &t, &all, j));
	sl_row_sums_json(&all, &t, false, false, j);
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

	SL_TRY(sl_mcpl_head_check(file, bytes));
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	sl_json_add(j, "list { format %s bytes %lu",
		what ? what : sl_said("MCPL %u%s", s.header.version, s.gzipped ? " in gzip" : ""),
		stored);
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
