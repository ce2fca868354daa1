/*
 * mcpl_records.c - MCPL to MCPL by a run: kept records are copied bit for bit, plain
 * and in gzip, as mcpltool --extract does. Lists of different layouts keep each number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/formats/mcpl/mcpl_record.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/commands_check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

/* --- records ---------------------------------------------------------------------------------- */

/* The records of a file, which the caller frees. */
static uint8_t *records_of(const char *name, struct sl_mcpl_header *h)
{
	size_t bytes, used = 0, n;
	char *file = folder_read(&folder, name, &bytes);
	struct sl_mcpl_stream s;
	const uint8_t *at;
	uint8_t *records;

	assert_ok(sl_mcpl_open(&s, file, bytes));
	assert_ok(sl_mcpl_skip_head(&s));
	*h = s.header;
	records = (uint8_t *)malloc(h->particles * h->record_bytes + 1);
	assert_non_null(records);
	for (;;) {
		assert_ok(sl_mcpl_raw(&s, &at, &n));
		if (n == 0)
			break;
		memcpy(records + used, at, n * h->record_bytes);
		used += n * h->record_bytes;
	}
	sl_mcpl_close(&s);
	free(file);
	return records;
}

/* Keeps the records whose PDG code, at this place of a record, is pdg. Returns their number. */
static uint64_t keep_type(
	uint8_t *records, const struct sl_mcpl_header *h, size_t place, int32_t pdg)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < h->particles; i++) {
		const uint8_t *record = records + i * h->record_bytes;
		int32_t code;

		memcpy(&code, record + place, sizeof(code));
		if (code == pdg)
			memmove(records + kept++ * h->record_bytes, record, h->record_bytes);
	}
	return kept;
}

/* Expects that the joined file out/t.SUFFIX has the layout of h and exactly these n records. */
static void expect_records(const char *out, const char *suffix, const struct sl_mcpl_header *h,
	const uint8_t *records, uint64_t n)
{
	struct sl_mcpl_header found;
	uint8_t *copies;
	char name[64];

	snprintf(name, sizeof(name), "%s/t.%s", out, suffix);
	copies = records_of(name, &found);
	assert_int_equal(found.particles, n);
	assert_int_equal(found.record_bytes, h->record_bytes);
	assert_int_equal(found.single, h->single);
	assert_memory_equal(&found.weight, &h->weight, sizeof(found.weight));
	assert_memory_equal(copies, records, n * h->record_bytes);
	free(copies);
}

/* Runs c.yaml to the folder out, as mcpl or mcpl.gz with a joined file, and verifies it. */
static void run_list(const char *suffix, const char *more)
{
	char set[128];

	remove_run(&folder, "out");
	snprintf(set, sizeof(set), "output={format: %s, joined: true%s}", suffix, more);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", set));
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
}

/* Both formats have these records. */
static void expect_in_both_formats(
	const struct sl_mcpl_header *h, const uint8_t *records, uint64_t n, const char *more)
{
	static const char *const suffixes[] = {"mcpl", "mcpl.gz"};

	for (int k = 0; k < 2; k++) {
		run_list(suffixes[k], more);
		expect_records("out", suffixes[k], h, records, n);
	}
}

/* --- one list --------------------------------------------------------------------------------- */

/* Files that the reference implementation wrote, with all combinations of flags. */
TEST(reference_records_are_copied)
{
	static const char *const names[] = {"reffile_1.mcpl", "reffile_2.mcpl", "reffile_4.mcpl",
		"reffile_5.mcpl", "reffile_7.mcpl", "miscphys.mcpl.gz",
		"difficult_unitvector.mcpl.gz"};

	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct sl_mcpl_header h;
		uint8_t *records;

		copy_reference_list(&folder, names[k]);
		records = records_of(names[k], &h);
		write_list_config(&folder, names[k], ", batch: 70", "listed", "");
		expect_in_both_formats(&h, records, h.particles, "");
		free(records);
	}
}

TEST(filters_copy_what_they_keep)
{
	struct sl_mcpl_header h;
	uint8_t *records;
	uint64_t n;

	copy_reference_list(&folder, "example.mcpl");
	records = records_of("example.mcpl", &h);
	n = keep_type(records, &h, h.record_bytes - sizeof(int32_t), 22);
	assert_int_equal(n, 239);
	write_list_config(&folder, "example.mcpl", ", batch: 300", "pdg == 22", "");
	expect_in_both_formats(&h, records, n, "");
	write_list_config(&folder, "example.mcpl", ", batch: 300", "ekin > 1e30 keV", "");
	expect_in_both_formats(&h, records, 0, "");
	free(records);
}

/* A key changes the order of the records, and user flags replaced by the id say from which to which. */
TEST(sorted_records_keep_their_bits)
{
	struct sl_mcpl_header h, found;
	uint8_t *records, *copies;
	uint32_t id, last, moved = 0;

	copy_reference_list(&folder, "miscphys.mcpl.gz");
	records = records_of("miscphys.mcpl.gz", &h);
	assert_true(h.flags);
	last = h.record_bytes - 4;
	write_list_config(&folder, "miscphys.mcpl.gz", "", "listed", "key: [ekin_log:16]\n");
	run_list("mcpl.gz", ", mcpl: {userflags: id}");
	copies = records_of("out/t.mcpl.gz", &found);
	assert_int_equal(found.particles, h.particles);
	for (uint64_t k = 0; k < h.particles; k++) {
		const uint8_t *copy = copies + k * h.record_bytes;

		memcpy(&id, copy + last, sizeof(id));
		assert_true(id < h.particles);
		assert_memory_equal(copy, records + id * (size_t)h.record_bytes, last);
		moved += id != k;
	}
	assert_true(moved > 0);
	free(copies);
	free(records);
}

/* --- several lists ---------------------------------------------------------------------------- */

enum { N = 300 };
static struct sl_mcpl_particle particle[N];

static int make_particles(void)
{
	uint32_t at = 5;

	for (int i = 0; i < N; i++) {
		struct sl_mcpl_particle *p = &particle[i];

		*p = (struct sl_mcpl_particle){.energy = next_random(&at) / 3,
			.time = next_random(&at) / 7,
			.weight = 0.123,
			.pdg = i % 3 ? 2112 : 22,
			.flags = (uint32_t)i};
		for (int k = 0; k < 3; k++) {
			p->position[k] = next_random(&at) / 3;
			p->direction[k] = next_random(&at) - 0.5;
		}
	}
	return 0;
}

/* A weight that all headers state keeps its double; others are in the records. */
TEST(common_weight_keeps_its_bits)
{
	const struct sl_mcpl_header a = {.version = 3,
					    .particles = N,
					    .single = true,
					    .weight = 0.123},
				    b = {.version = 3,
					    .single = true,
					    .weight = nextafter(0.123, 1)};
	struct sl_mcpl_header h;
	uint8_t *records;

	make_particles();
	make_list(&folder, "a.mcpl", &a, NULL, particle);
	make_list(&folder, "b.mcpl", &b, NULL, particle);
	records = records_of("a.mcpl", &h);
	write_list_config(&folder, "a.mcpl", ", batch: 200", "listed", "");
	expect_in_both_formats(&h, records, N, "");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "table", "--quiet", "--set", "output.format=npz"));
	expect(&folder, SL_OK, "", WORDS("convert", "table", "--to", "again.mcpl", "--quiet"));
	free(records);
	free(records_of("again.mcpl", &h));
	assert_true(h.weight == 0.123);
	write_list_config(&folder, "a.mcpl, b.mcpl", "", "listed", "");
	run_list("mcpl", "");
	free(records_of("out/t.mcpl", &h));
	assert_true(h.weight == 0 && h.record_bytes == a.record_bytes + 36);
}

/* Expects that all numbers of the particles are equal to the last bit. */
static void expect_same(const struct sl_mcpl_particle *a, const struct sl_mcpl_particle *b)
{
	assert_memory_equal(a->position, b->position, sizeof(a->position));
	assert_memory_equal(a->direction, b->direction, sizeof(a->direction));
	assert_memory_equal(a->polarisation, b->polarisation, sizeof(a->polarisation));
	assert_true(a->energy == b->energy && a->time == b->time && a->weight == b->weight);
	assert_true(a->pdg == b->pdg && a->flags == b->flags);
}

/* Doubles stay doubles when another list has single precision; each list keeps what its header states. */
TEST(layouts_are_united_without_rounding)
{
	const struct sl_mcpl_header lists[] = {{.version = 3, .particles = N, .flags = true},
		{.version = 3, .particles = N, .single = true, .pdg = 22, .weight = 0.123},
		{.version = 3, .particles = N, .single = true, .polarised = true}};
	static const char *const names[] = {"l0.mcpl", "l1.mcpl.gz", "l2.mcpl"};
	struct sl_mcpl_particle *expected[3], *found;
	struct sl_mcpl_header h;

	make_particles();
	for (int k = 0; k < 3; k++) {
		make_list(&folder, names[k], &lists[k], NULL, particle);
		expected[k] = particles_of(&folder, names[k], &h);
	}
	write_list_config(&folder, "l0.mcpl, l1.mcpl.gz, l2.mcpl", ", batch: 350", "listed", "");
	run_list("mcpl.gz", "");
	found = particles_of(&folder, "out/t.mcpl.gz", &h);
	assert_true(!h.single && h.flags && h.polarised && h.pdg == 0 && h.weight == 0);
	assert_int_equal(h.particles, 3 * N);
	for (int k = 0; k < 3 * N; k++)
		expect_same(&found[k], &expected[k / N][k % N]);
	free(found);
	expect(&folder, SL_OK, "", WORDS("convert", "out", "--to", "out.npz", "--quiet"));
	for (int k = 0; k < 3; k++)
		free(expected[k]);
}

/* With a given precision, each number is rounded once, from the number of the list. */
TEST(precision_can_be_chosen)
{
	const struct sl_mcpl_header wide = {.version = 3, .particles = N};
	struct sl_mcpl_header h;
	struct sl_mcpl_particle *found;

	make_particles();
	make_list(&folder, "w.mcpl", &wide, NULL, particle);
	write_list_config(&folder, "w.mcpl", "", "listed", "");
	run_list("mcpl", ", mcpl: {precision: single}");
	found = particles_of(&folder, "out/t.mcpl", &h);
	assert_true(h.single);
	for (int k = 0; k < N; k++)
		assert_true(found[k].energy == (double)(float)particle[k].energy &&
			    found[k].time == (double)(float)particle[k].time &&
			    found[k].position[0] == (double)(float)particle[k].position[0]);
	free(found);
}

/*
 * Directions of version 2 are packed again. A record of version 3 with these numbers is made from a
 * direction whose largest component is z.
 */
TEST(directions_of_version_2_are_packed_again)
{
	const struct sl_mcpl_header old = {.version = 2, .particles = N};
	struct sl_mcpl_particle *found, *expected;
	struct sl_mcpl_header h;

	make_particles();
	for (int i = 0; i < N; i++)
		particle[i].direction[2] = 1;
	make_list(&folder, "v2.mcpl", &old, NULL, particle);
	expected = particles_of(&folder, "v2.mcpl", &h);
	write_list_config(&folder, "v2.mcpl", "", "listed", "");
	run_list("mcpl", "");
	found = particles_of(&folder, "out/t.mcpl", &h);
	assert_true(h.version == 3 && !h.single);
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < 3; k++)
			assert_true(fabs(found[i].direction[k] - expected[i].direction[k]) < 1e-15);
		assert_true(found[i].energy == expected[i].energy);
	}
	free(found);
	free(expected);
}

/* --- empty lists ------------------------------------------------------------------------------ */

/* An empty list gives an empty list with its sums, and any other file; other lists may be empty too. */
TEST(empty_lists_succeed)
{
	static const char *const formats[] = {"openpmd", "npz", "csv.gz", "csv"};
	static const char *const strings[] = {"stat:sum:n:                     500"};
	const struct sl_mcpl_header empty = {
		.version = 3, .comments = 1, .single = true, .pdg = 22, .weight = 0.123};
	struct sl_mcpl_header h;

	make_list(&folder, "e.mcpl", &empty, strings, particle);
	write_list_config(&folder, "e.mcpl", "", "ekin > 1 keV",
		"key: [pdg:32]\ntallies: [pdg:32]\ncheck: {listed: 0.5}\n");
	expect_output("estimate    none: the lists have no particles", WORDS("plan", "c.yaml"));
	expect(&folder, SL_USAGE, "the lists have no particles", WORDS("compare", "c.yaml"));
	expect(&folder, SL_USAGE, "its lists are empty", WORDS("replay", "c.yaml", "--id", "0"));
	write_list_config(
		&folder, "e.mcpl", "", "ekin > 1 keV", "key: [pdg:32]\ntallies: [pdg:32]\n");
	run_list("mcpl.gz", "");
	free(records_of("out/t.mcpl.gz", &h));
	assert_true(h.particles == 0 && h.weight == 0.123);
	expect_output("stat:sum:n:                     500\n", WORDS("info", "out/t.mcpl.gz"));
	expect_output("stat:sum:sluice_generated:                       0\n",
		WORDS("info", "out/t.mcpl.gz"));
	for (size_t k = 0; k < sizeof(formats) / sizeof(*formats); k++) {
		char set[64];

		remove_run(&folder, "out");
		snprintf(set, sizeof(set), "output.format=%s", formats[k]);
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", set));
		expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
		expect_output("0 survivors", WORDS("info", "out"));
	}
}
