/* info_mcpl.c - prints the header of an MCPL file of any program and statistics of its particles. */
#include <inttypes.h>
#include <string.h>

#include "pipeline/info/info_mcpl.h"
#include "primitives/files/read.h"
#include "stages/formats/mcpl/mcpl_head.h"

enum { TEXT_BYTES = 256, NUMBERS = 14 };

/* Statistics of the particles read so far. */
struct particle_sums {
	uint64_t n;
	double least[NUMBERS], most[NUMBERS], sum[NUMBERS];
};

/* The numbers of a particle with the units of MCPL; user flags and polarisation are optional. */
static const struct {
	const char *name, *unit;
} facts[NUMBERS] = {{"x", "cm"}, {"y", "cm"}, {"z", "cm"}, {"u", ""}, {"v", ""}, {"w", ""},
	{"energy", "MeV"}, {"time", "ms"}, {"weight", ""}, {"pdg", ""}, {"userflags", ""},
	{"pol_x", ""}, {"pol_y", ""}, {"pol_z", ""}};

static void add(struct particle_sums *sum, const struct sl_mcpl_particle *p)
{
	const double number[NUMBERS] = {p->position[0], p->position[1], p->position[2],
		p->direction[0], p->direction[1], p->direction[2], p->energy, p->time, p->weight,
		p->pdg, p->flags, p->polarisation[0], p->polarisation[1], p->polarisation[2]};

	for (int i = 0; i < NUMBERS; i++) {
		sum->least[i] =
			sum->n == 0 || number[i] < sum->least[i] ? number[i] : sum->least[i];
		sum->most[i] = sum->n == 0 || number[i] > sum->most[i] ? number[i] : sum->most[i];
		sum->sum[i] += number[i];
	}
	sum->n++;
}

/* Prints text from a file; control characters become '?', because a terminal would obey them. */
static void print_text(const char *what, const char *text, uint32_t length, FILE *out)
{
	fprintf(out, "%-12s ", what);
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
	fprintf(out, "%s\n", length >= TEXT_BYTES ? "..." : "");
}

static enum sl_status print_strings(struct sl_mcpl_stream *s, FILE *out)
{
	char text[TEXT_BYTES];
	uint32_t length;

	SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	print_text("source", text, length, out);
	for (uint32_t i = 0; i < s->header.comments; i++) {
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
		print_text("comment", text, length, out);
	}
	for (uint32_t i = 0; i < s->header.blobs; i++) {
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
		print_text("blob", text, length, out);
	}
	for (uint32_t i = 0; i < s->header.blobs; i++) {
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
		fprintf(out, "%-12s %" PRIu32 " bytes\n", "in it", length);
	}
	return sl_mcpl_begin(s);
}

static void print_numbers(
	const struct sl_mcpl_header *h, const struct particle_sums *sum, FILE *out)
{
	fprintf(out, "%-12s %-4s %14s %14s %14s\n", "number", "unit", "least", "mean", "largest");
	for (int i = 0; i < NUMBERS; i++) {
		bool flags = strcmp(facts[i].name, "userflags") == 0;

		if ((flags && !h->flags) || (i >= NUMBERS - 3 && !h->polarised))
			continue;
		fprintf(out, "%-12s %-4s %14.8g %14.8g %14.8g\n", facts[i].name, facts[i].unit,
			sum->least[i], sum->n > 0 ? sum->sum[i] / (double)sum->n : 0, sum->most[i]);
	}
}

static enum sl_status print_file(struct sl_mcpl_stream *s, FILE *out)
{
	const struct sl_mcpl_header *h = &s->header;
	struct particle_sums sum = {0};
	struct sl_mcpl_particle p;
	bool trailing;

	SL_TRY(print_strings(s, out));
	if (s->recovered)
		fprintf(out, "its writer did not come to its end: whole records were counted\n");
	fprintf(out, "%" PRIu64 " particles of %" PRIu32 " bytes, %s precision%s%s\n", h->particles,
		h->record_bytes, h->single ? "single" : "double",
		h->pdg != 0 ? ", one PDG code" : "", h->weight != 0 ? ", one weight" : "");
	for (uint64_t i = 0; i < h->particles; i++) {
		SL_TRY(sl_mcpl_next(s, &p));
		add(&sum, &p);
	}
	print_numbers(h, &sum, out);
	return sl_mcpl_end(s, &trailing);
}

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
