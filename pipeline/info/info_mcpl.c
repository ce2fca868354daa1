/*
 * info_mcpl.c - prints the header of an MCPL file of any program and statistics of its particles. A list
 * of another format is converted to MCPL in memory first.
 *
 * The file is decoded as a stream, one particle at a time, so a compressed file needs little more
 * memory than its compressed size. All records are read, which also checks the file to its end.
 */
#include <inttypes.h>
#include <string.h>

#include "pipeline/info/info_mcpl.h"
#include "pipeline/info/type_table.h"
#include "pipeline/info/weighted_stats.h"
#include "primitives/base/printable.h"
#include "primitives/files/read.h"
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_record.h"
#include "stages/formats/phase_space/phase_space_mcpl.h"

/* Texts of the header are cut to TEXT_BYTES. NUMBERS per particle; the last three: polarisation. */
enum { TEXT_BYTES = 256, NUMBERS = 14, WEIGHT = 8, PDG = 9, FLAGS = 10, POLARISATION = 11 };

/* The numbers of a particle in units of the configuration; user flags and polarisation are optional. */
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

/* Prints the names of the numbers of the file, or, if number is not NULL, the numbers of a particle. */
static void print_row(const struct sl_mcpl_header *h, const double *number, FILE *out)
{
	for (int i = 0; i < NUMBERS; i++)
		if (has_number(h, i) && number)
			fprintf(out, " %13.9g", number[i]);
		else if (has_number(h, i))
			fprintf(out, " %13s", facts[i].name);
	fputc('\n', out);
}

/* Reads the next string of the header and prints it on one line after `what`, cut to TEXT_BYTES. */
static enum sl_status print_next(struct sl_mcpl_stream *s, const char *what, FILE *out)
{
	char text[TEXT_BYTES], shown[4 * TEXT_BYTES];
	uint32_t length;

	SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	sl_printable(shown, sizeof(shown), text);
	fprintf(out, "%-12s %s%s\n", what, shown, length >= TEXT_BYTES ? "..." : "");
	return SL_OK;
}

/* Prints the strings of the header in their order in the file: all names of blobs, then all blobs. */
static enum sl_status print_strings(struct sl_mcpl_stream *s, FILE *out)
{
	char text[TEXT_BYTES];
	uint32_t length;

	SL_TRY(print_next(s, "source", out));
	for (uint32_t i = 0; i < s->header.comments; i++)
		SL_TRY(print_next(s, "comment", out));
	for (uint32_t i = 0; i < s->header.blobs; i++)
		SL_TRY(print_next(s, "blob", out));
	for (uint32_t i = 0; i < s->header.blobs; i++) {
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
		fprintf(out, "%-12s %" PRIu32 " bytes\n", "in it", length);
	}
	return sl_mcpl_begin(s);
}

/* Prints a line per number; user flags and polarisation only if the file has them. */
static void print_numbers(
	const struct sl_mcpl_header *h, const struct sl_weighted_stats stats[NUMBERS], FILE *out)
{
	fprintf(out, "%-12s %-4s", "number", "unit");
	sl_weighted_stats_print_names(out);
	fputc('\n', out);
	for (int i = 0; i < NUMBERS; i++) {
		if (!has_number(h, i))
			continue;
		fprintf(out, "%-12s %-4s", facts[i].name, facts[i].unit);
		sl_weighted_stats_print(&stats[i], i == PDG || i == FLAGS, out);
		fputc('\n', out);
	}
}

/* Reads all particles, prints the first head of them and adds up all. */
static enum sl_status read_particles(
	struct sl_mcpl_stream *s, uint64_t head, struct particle_sums *all, FILE *out)
{
	double number[NUMBERS];
	struct sl_mcpl_particle p;

	if (head > 0 && s->header.particles > 0)
		print_row(&s->header, NULL, out);
	for (uint64_t i = 0; i < s->header.particles; i++) {
		SL_TRY(sl_mcpl_next(s, &p));
		set_numbers(&p, number);
		add(all, &p, number);
		if (i < head)
			print_row(&s->header, number, out);
	}
	return SL_OK;
}

/*
 * Prints the header, then reads all records. The number of particles in the header is checked by
 * sl_mcpl_next(), which fails at the end of the file; bytes after the last record are accepted.
 * converted: the file was made from a list of another format.
 */
static enum sl_status print_file(struct sl_mcpl_stream *s, bool converted, uint64_t head, FILE *out)
{
	const struct sl_mcpl_header *h = &s->header;
	struct particle_sums all = {0};
	bool trailing;

	SL_TRY(print_strings(s, out));
	if (s->recovered)
		fprintf(out, "the program that wrote the file ended before it stored the number of "
			     "particles; complete records are counted\n");
	fprintf(out, "%" PRIu64 " particles of %" PRIu32 " bytes%s, %s precision%s%s\n",
		h->particles, h->record_bytes, converted ? " as MCPL" : "",
		h->single ? "single" : "double", h->pdg != 0 ? ", one PDG code" : "",
		h->weight != 0 ? ", one weight" : "");
	SL_TRY(read_particles(s, head, &all, out));
	print_numbers(h, all.stats, out);
	sl_type_table_print(&all.types, out);
	return sl_mcpl_end(s, &trailing);
}

/*
 * Prints an MCPL file in memory, after a line that says what is stored at path. The header is read
 * twice: a file whose header is wrong is refused before anything is printed.
 */
static enum sl_status print_list(const void *file, size_t bytes, const char *path, const char *what,
	size_t stored, uint64_t head, FILE *out)
{
	struct sl_mcpl_stream s;
	enum sl_status status;

	SL_TRY(sl_mcpl_head_check(file, bytes));
	SL_TRY(sl_mcpl_open(&s, file, bytes));
	if (what)
		fprintf(out, "%s: %s, %zu bytes\n", path, what, stored);
	else
		fprintf(out, "%s: MCPL %" PRIu32 "%s, %zu bytes\n", path, s.header.version,
			s.gzipped ? " in gzip" : "", stored);
	status = print_file(&s, what != NULL, head, out);
	sl_mcpl_close(&s);
	return status;
}

enum sl_status sl_info_mcpl(const char *path, uint64_t head, FILE *out)
{
	enum sl_status status;
	size_t bytes;
	char *file;

	SL_TRY(sl_path_read(path, SIZE_MAX, &file, &bytes));
	status = print_list(file, bytes, path, NULL, bytes, head, out);
	sl_memory_give(SL_HOST, file);
	return sl_add_context(status, "%s", path);
}

enum sl_status sl_info_phase_space(const char *path, uint64_t head, FILE *out)
{
	struct sl_phase_space *space;
	struct sl_map map;
	enum sl_status s;
	size_t bytes;
	void *file;

	SL_TRY(sl_map_file(path, &map));
	s = sl_phase_space_open(path, &map, &space);
	if (s == SL_OK)
		s = sl_phase_space_to_mcpl(space, &file, &bytes);
	if (s == SL_OK &&
		(sl_map_is_changed(&map, path) || sl_phase_space_is_changed(space, path))) {
		sl_memory_give(SL_HOST, file);
		s = sl_fail(SL_DISK,
			"the file changed while it was read; try again when no other program "
			"writes to it");
	}
	if (s == SL_OK) {
		s = print_list(file, bytes, path, space->format->what,
			map.bytes + space->partner.bytes, head, out);
		sl_memory_give(SL_HOST, file);
	}
	if (s == SL_OK && space->unread)
		fprintf(out, "%s\n", space->unread);
	sl_phase_space_close(space);
	sl_unmap(&map);
	return sl_add_context(s, "%s", path);
}
