/*
 * info_mcpl.c - prints the header of an MCPL file of any program and statistics of its particles.
 *
 * The file is decoded as a stream, one particle at a time, so a compressed file needs little more
 * memory than its compressed size. All records are read, which also checks the file to its end.
 */
#include <inttypes.h>
#include <string.h>

#include "pipeline/info/info_mcpl.h"
#include "pipeline/info/value_range.h"
#include "primitives/files/read.h"
#include "stages/formats/mcpl/mcpl_head.h"

/* Texts of the header are cut to TEXT_BYTES. NUMBERS per particle; the last three: polarisation. */
enum { TEXT_BYTES = 256, NUMBERS = 14 };

/* The numbers of a particle with the units of MCPL; user flags and polarisation are optional. */
static const struct {
	const char *name, *unit;
} facts[NUMBERS] = {{"x", "cm"}, {"y", "cm"}, {"z", "cm"}, {"u", ""}, {"v", ""}, {"w", ""},
	{"energy", "MeV"}, {"time", "ms"}, {"weight", ""}, {"pdg", ""}, {"userflags", ""},
	{"pol_x", ""}, {"pol_y", ""}, {"pol_z", ""}};

/* Adds the numbers of a particle to their ranges, in the order of facts. */
static void add(struct sl_value_range range[NUMBERS], const struct sl_mcpl_particle *p)
{
	const double number[NUMBERS] = {p->position[0], p->position[1], p->position[2],
		p->direction[0], p->direction[1], p->direction[2], p->energy, p->time, p->weight,
		p->pdg, p->flags, p->polarisation[0], p->polarisation[1], p->polarisation[2]};

	for (int i = 0; i < NUMBERS; i++)
		sl_value_range_add(&range[i], number[i]);
}

/*
 * Reads the next string of the header and prints it after `what`, cut to TEXT_BYTES. Control
 * characters become '?', because a terminal would obey them.
 */
static enum sl_status print_next(struct sl_mcpl_stream *s, const char *what, FILE *out)
{
	char text[TEXT_BYTES];
	uint32_t length;

	SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	fprintf(out, "%-12s ", what);
	for (const char *at = text; *at; at++)
		fputc((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at, out);
	fprintf(out, "%s\n", length >= TEXT_BYTES ? "..." : "");
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
	const struct sl_mcpl_header *h, const struct sl_value_range range[NUMBERS], FILE *out)
{
	fprintf(out, "%-12s %-4s %14s %14s %14s\n", "number", "unit", "least", "mean", "largest");
	for (int i = 0; i < NUMBERS; i++) {
		bool flags = strcmp(facts[i].name, "userflags") == 0;

		if ((flags && !h->flags) || (i >= NUMBERS - 3 && !h->polarised))
			continue;
		fprintf(out, "%-12s %-4s ", facts[i].name, facts[i].unit);
		sl_value_range_print(&range[i], out);
		fputc('\n', out);
	}
}

/*
 * Prints the header, then reads all records. The number of particles in the header is checked by
 * sl_mcpl_next(), which fails at the end of the file; bytes after the last record are accepted.
 */
static enum sl_status print_file(struct sl_mcpl_stream *s, FILE *out)
{
	const struct sl_mcpl_header *h = &s->header;
	struct sl_value_range range[NUMBERS] = {0};
	struct sl_mcpl_particle p;
	bool trailing;

	SL_TRY(print_strings(s, out));
	if (s->recovered)
		fprintf(out, "the program that wrote the file ended before it stored the number of "
			     "particles; complete records are counted\n");
	fprintf(out, "%" PRIu64 " particles of %" PRIu32 " bytes, %s precision%s%s\n", h->particles,
		h->record_bytes, h->single ? "single" : "double",
		h->pdg != 0 ? ", one PDG code" : "", h->weight != 0 ? ", one weight" : "");
	for (uint64_t i = 0; i < h->particles; i++) {
		SL_TRY(sl_mcpl_next(s, &p));
		add(range, &p);
	}
	print_numbers(h, range, out);
	return sl_mcpl_end(s, &trailing);
}

/* The header is read twice: a file whose header is wrong is refused before anything is printed. */
enum sl_status sl_info_mcpl(const char *path, FILE *out)
{
	struct sl_mcpl_stream s;
	enum sl_status status;
	size_t bytes;
	char *file;

	SL_TRY(sl_path_read(path, SIZE_MAX, &file, &bytes));
	status = sl_mcpl_head_check(file, bytes);
	if (status == SL_OK)
		status = sl_mcpl_open(&s, file, bytes);
	if (status == SL_OK) {
		fprintf(out, "%s: MCPL %" PRIu32 "%s, %zu bytes\n", path, s.header.version,
			s.gzipped ? " in gzip" : "", bytes);
		status = print_file(&s, out);
		sl_mcpl_close(&s);
	}
	sl_memory_give(SL_HOST, file);
	return sl_add_context(status, "%s", path);
}
