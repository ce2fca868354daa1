/*
 * readback.c - tests that other programs read the files: h5py, numpy, an XML parser. tests/scripts/readers.py lets
 * Python's gzip and csv read those of a run.
 *
 * Writes runs into a folder, each column also as raw bytes, and runs readback.py, which compares them.
 * The test is skipped without h5py.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/openpmd/xdmf.h"
#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"
#include "tests/support/formats/tables.h"
#include "tests/support/program/folder.h"
#include "tests/support/program/process.h"
#include "tests/support/program/python.h"

/* A batch of a run to be written. */
struct a_batch {
	const char *run;
	uint64_t number;
	uint32_t n;
	sl_column_set columns, constants;
	enum kind kind;
};

static const sl_column_set position =
	SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z);

/* Appends a batch to cases.txt, and its columns as files of raw bytes. */
static void write_expected(
	const struct folder *f, const struct a_batch *b, const struct sl_table *t, FILE *cases)
{
	char name[128];

	fprintf(cases, "%s %llu %u", b->run, (unsigned long long)b->number, t->n);
	for (uint32_t i = 0; i < t->n_columns; i++) {
		const struct sl_table_column *c = &t->column[i];
		const struct sl_column_facts *facts = &sl_column_facts[c->column];

		fprintf(cases, " %s:%d:%llu", facts->name, c->constant,
			(unsigned long long)c->digest);
		snprintf(name, sizeof(name), "%s_%llu_%s.raw", b->run,
			(unsigned long long)b->number, facts->name);
		folder_write(f, name, c->data, (c->constant ? 1 : (size_t)t->n) * facts->bytes);
	}
	fprintf(cases, "\n");
}

static void write_files(const struct folder *f, const struct a_batch *b, const struct sl_table *t)
{
	struct sl_file_facts run = run_facts(&sl_deflate_libdeflate, 1);
	struct sl_batch_facts batch = {.number = b->number, .first_id = 5, .generated = 1u << 20};

	run.run_name = b->run;
	run.rules_version = 7;
	run.config = "a: \"b\\c\"\n\t\xc3\xa4"; /* what JSON escapes */
	for (size_t i = 0; sl_formats[i]; i++) {
		char name[128], *file;
		size_t bytes;

		if (sl_format_is_mcpl(
			    sl_formats[i])) /* not of any columns; see property/tables.c */
			continue;
		file = file_of(sl_formats[i], &run, &batch, t, 0, &bytes);
		sl_file_name(name, sizeof(name), b->run, b->number, sl_formats[i]->suffix);
		folder_write(f, name, file, bytes);
		free(file);
	}
}

static void print_grid(const struct a_batch *b, const struct sl_table *t, FILE *xdmf)
{
	char name[128];

	sl_file_name(name, sizeof(name), b->run, b->number, ".h5");
	sl_xdmf_grid(name, "photons", b->number, t, xdmf);
}

static void write_batches(const struct folder *f, const struct a_batch *b, size_t n)
{
	FILE *xdmf = fopen(folder_path(f, "demo.xdmf"), "w");
	FILE *cases = fopen(folder_path(f, "cases.txt"), "w");

	assert_non_null(xdmf);
	assert_non_null(cases);
	sl_xdmf_begin("demo", xdmf);
	for (size_t i = 0; i < n; i++) {
		struct sl_table t = make_table(b[i].n, b[i].columns, b[i].constants, b[i].kind);

		write_expected(f, &b[i], &t, cases);
		write_files(f, &b[i], &t);
		if (strcmp(b[i].run, "demo") == 0)
			print_grid(&b[i], &t, xdmf);
		free_table(&t);
	}
	sl_xdmf_end(xdmf);
	assert_int_equal(fclose(xdmf), 0);
	assert_int_equal(fclose(cases), 0);
}

TEST(other_programs_read_the_same_values)
{
	static const struct a_batch batches[] = {
		{"demo", 0, 300000, position | SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_energy),
			SL_BIT(SL_COLUMN_energy), RANDOM},
		{"demo", 1, 0, position | SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_energy),
			SL_BIT(SL_COLUMN_energy), RANDOM},
		{"demo", 12345678, 1, position | SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_energy),
			SL_BIT(SL_COLUMN_energy), RANDOM},
		{"lines", 2, 300000, SL_BIT(SL_COLUMN_energy), 0, FEW},
		{"whole", 17, 1000, ALL_COLUMNS, 0, RANDOM},
		{"hard", 17, 1000, ALL_COLUMNS, 0, HARD},
		{"same", 17, 1000, ALL_COLUMNS, ALL_COLUMNS, SAME},
		{"none", 17, 0, ALL_COLUMNS, SL_BIT(SL_COLUMN_z) | SL_BIT(SL_COLUMN_weight), SAME},
		{"flat", 3, 5, position | SL_BIT(SL_COLUMN_u), SL_BIT(SL_COLUMN_z), SORTED},
		{"lost", 3, 50, SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_fate), 0, SORTED},
	};
	const char *source = getenv("SLUICE_SOURCE");
	char script[512];
	struct folder f;
	struct ending e;

	need_h5py();
	folder_make(&f);
	write_batches(&f, batches, sizeof(batches) / sizeof(*batches));
	snprintf(script, sizeof(script), "%s/tests/stages/formats/readback.py",
		source ? source : ".");
	const char *argv[] = {PYTHON, script, f.path, NULL};
	process_run(&(struct process){.argv = argv}, 50, &e);
	if (e.code != 0)
		fail_msg("readback.py: %d\n%s%s", e.code, e.out, e.err);
	process_free(&e);
	folder_remove(&f);
}

/* Characters of a file name that XML reserves are escaped. */
TEST(xdmf_escapes_names)
{
	struct sl_table t = make_table(10, position | SL_BIT(SL_COLUMN_w), 0, RANDOM);
	struct sl_table flat = make_table(10, position, SL_BIT(SL_COLUMN_y), RANDOM);
	char all[4096];
	FILE *out = fmemopen(all, sizeof(all), "w");

	assert_non_null(out);
	sl_xdmf_grid("a&b<\"c\">.h5", "photons", 1, &t, out);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(
		all, "a&amp;b&lt;&quot;c&quot;&gt;.h5:/data/1/particles/photons/position/x<"));
	assert_true(sl_xdmf_possible(&t));
	assert_false(sl_xdmf_possible(&flat));
	free_table(&flat);
	free_table(&t);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
