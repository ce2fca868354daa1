/*
 * list_order.c - the joined file of a run in each format: sorted over the run, sampled, limited. The expected
 * order and the expected sample are computed here.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/results/survivor_file.h"
#include "pipeline/batch_file/order_file.h"
#include "tests/cases/sampling.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/formats/listed_runs.h"

/* --- the order ---------------------------------------------------------------------------------- */

/* The keys of particles, descending; for qsort(). */
static int by_energy(const void *a, const void *b)
{
	const struct sl_mcpl_particle *p = (const struct sl_mcpl_particle *)a;
	const struct sl_mcpl_particle *q = (const struct sl_mcpl_particle *)b;

	if (p->energy != q->energy)
		return p->energy < q->energy ? 1 : -1;
	return (p->flags > q->flags) - (p->flags < q->flags);
}

/* The particles that are kept, in the order of the run. Returns their number. */
static uint64_t expected_order(struct sl_mcpl_particle kept[LISTED])
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < LISTED; i++)
		if (listed[i].position[1] > 9)
			kept[n++] = listed[i];
	qsort(kept, n, sizeof(*kept), by_energy);
	return n;
}

static const char *const formats[] = {"mcpl", "mcpl.gz", "npz", "csv", "csv.gz", "openpmd"};
enum { FORMATS = sizeof(formats) / sizeof(*formats), LISTS = 2 };

/* The name of the joined file of a format. */
static const char *joined_name(const char *format)
{
	static char name[64];

	snprintf(name, sizeof(name), "out/t.%s", strcmp(format, "openpmd") == 0 ? "h5" : format);
	return name;
}

/*
 * The numbers and weights of the n particles that a joined file must have. A table has single precision: a
 * sampled weight is rounded.
 */
static void read_table(const char *format, uint64_t n, struct sl_mcpl_particle *found)
{
	const struct sl_table_column *flags, *weight;
	struct sl_survivors s;

	assert_ok(sl_survivors_read_path(folder_path(&folder, joined_name(format)), &s));
	assert_int_equal(s.table.n, n);
	flags = sl_table_find(&s.table, SL_COLUMN_userflags);
	weight = sl_table_find(&s.table, SL_COLUMN_weight);
	assert_true(flags && weight && !flags->constant && !weight->constant);
	for (uint64_t i = 0; i < n; i++) {
		found[i].flags = ((const uint32_t *)flags->data)[i];
		found[i].weight = (double)((const float *)weight->data)[i];
	}
	sl_survivors_free(&s);
}

/* Expects that the joined file of a format has the first n of the particles, with these weights. */
static void expect_list(const char *format, const struct sl_mcpl_particle *expected, uint64_t n)
{
	static struct sl_mcpl_particle rows[LISTED];
	bool is_list = strncmp(format, "mcpl", 4) == 0;
	struct sl_mcpl_particle *found = rows;
	struct sl_mcpl_header h;

	if (is_list) {
		found = particles_of(&folder, joined_name(format), &h);
		assert_int_equal(h.particles, n);
	} else {
		read_table(format, n, rows);
	}
	for (uint64_t i = 0; i < n; i++) {
		double weight = expected[i].weight;

		assert_int_equal(found[i].flags, expected[i].flags);
		assert_true(found[i].weight == (is_list ? weight : (double)(float)weight));
	}
	if (is_list)
		free(found);
}

/* Expects that the joined file has the same bytes as in the earlier calls with this format. */
static void expect_same_bytes(int f)
{
	static char *first[FORMATS];
	static size_t first_bytes[FORMATS];
	size_t bytes;
	char *file = folder_read(&folder, joined_name(formats[f]), &bytes);

	if (!first[f]) {
		first[f] = file;
		first_bytes[f] = bytes;
		return;
	}
	assert_int_equal(bytes, first_bytes[f]);
	assert_memory_equal(file, first[f], bytes);
	free(file);
}

TEST(the_order_is_that_of_the_run)
{
	static const char *const devices[] = {"cpu", "emulated"};
	static const unsigned batches[] = {70, 500, LISTED};
	static struct sl_mcpl_particle expected[LISTED];
	uint64_t n = expected_order(expected);
	char more[128];

	for (int f = 0; f < FORMATS; f++)
		for (int d = 0; d < 2; d++)
			for (int b = 0; b < 3; b++) {
				if (!sl_sampling_selects())
					continue;
				snprintf(more, sizeof(more), "%soutput: {format: %s, order: run}\n",
					listed_key, formats[f]);
				listed_run(devices[d], batches[b], more);
				expect_list(formats[f], expected, n);
				if (f >= LISTS)
					expect_same_bytes(f);
			}
	/* without a key, the order of a run is that of its ids */
	listed_run("cpu", 70, "output: {format: mcpl, order: run}\n");
	assert_false(folder_has(&folder, "out/t_000000.order"));
	for (uint64_t i = 0, k = 0; i < LISTED; i++)
		if (listed[i].position[1] > 9)
			expected[k++] = listed[i];
	expect_list("mcpl", expected, n);
	listed_run("cpu", 70, "output: {format: npz, joined: true}\n");
	expect_list("npz", expected, n);
}

/* The columns that decide need not be in the files; what is compressed on a device has no such column. */
TEST(files_need_not_have_the_columns_of_the_key)
{
	static const char *const more_of[] = {"", "primitives: {deflate: device}\n"};
	static struct sl_mcpl_particle expected[LISTED];
	uint64_t n = expected_order(expected);
	struct sl_survivors s;
	char more[256];

	for (int f = LISTS; f < FORMATS; f++)
		for (int d = 0; d < (f == LISTS || f == FORMATS - 1 ? 2 : 1); d++) {
			snprintf(more, sizeof(more),
				"%soutput: {format: %s, order: run, columns: [weight, userflags]}\n%s",
				listed_key, formats[f], more_of[d]);
			listed_run(d ? "emulated" : "cpu", 70, more);
			expect_list(formats[f], expected, n);
			assert_ok(sl_survivors_read_path(
				folder_path(&folder, joined_name(formats[f])), &s));
			assert_int_equal(s.table.n_columns, 2);
			sl_survivors_free(&s);
		}
}

/* --- the sample --------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Keeps a sample of n of the kept particles, with their new weights. Returns the threshold. */
static double keep_sample(struct sl_mcpl_particle *kept, uint64_t *kept_n, uint64_t n)
{
	static double priority[LISTED], order[LISTED];
	uint64_t sampled = 0;

	for (uint64_t i = 0; i < *kept_n; i++)
		order[i] = priority[i] =
			sl_sample_priority(5, kept[i].flags, (float)kept[i].weight);
	qsort(order, *kept_n, sizeof(*order), descending);
	for (uint64_t i = 0; i < *kept_n; i++)
		if (priority[i] > order[n]) {
			kept[sampled] = kept[i];
			if (fabs(kept[sampled].weight) < order[n])
				kept[sampled].weight = copysign(order[n], kept[sampled].weight);
			sampled++;
		}
	assert_int_equal(sampled, n);
	*kept_n = n;
	return order[n];
}

TEST(a_sample_is_the_same_for_every_batch_and_device)
{
	static const unsigned batches[] = {70, 500, LISTED};
	static struct sl_mcpl_particle expected[LISTED];
	uint64_t n = expected_order(expected);
	double threshold = keep_sample(expected, &n, 600), least;
	char more[128];

	for (int b = 0; b < 6 * FORMATS; b++) {
		const char *format = formats[b / 6];
		char set[256];

		if (!sl_sampling_selects())
			continue;
		snprintf(more, sizeof(more), "%soutput: {format: %s, order: run, sample: 600}\n",
			listed_key, format);
		snprintf(set, sizeof(set), "%s", more);
		write_list_config(&folder, "a.mcpl, b.mcpl.gz", "", "listed and y > 9 cm", set);
		remove_run(&folder, "out");
		snprintf(set, sizeof(set), "run={name: t, seed: 5, batch: %u}", batches[b % 3]);
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", set, "--device",
				b % 6 < 3 ? "cpu" : "emulated"));
		expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
		expect_list(format, expected, n);
		least = strtod(run_json(&folder, "out", "sample_weight"), NULL);
		assert_true(least == threshold);
	}
}

/* The mean over many seeds of a sum of sampled weights is the sum over all particles. */
TEST(sums_of_a_sample_have_the_right_mean)
{
	enum { SEEDS = 4000, SAMPLE = 30 };
	double all = 0, sum = 0, squares = 0, mean;
	static double priority[LISTED], order[LISTED];

	for (uint32_t i = 0; i < LISTED; i++)
		all += listed[i].position[0] * listed[i].weight;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		double estimate = 0;

		for (uint32_t i = 0; i < LISTED; i++)
			order[i] = priority[i] =
				sl_sample_priority(seed, i, (float)listed[i].weight);
		qsort(order, LISTED, sizeof(*order), descending);
		for (uint32_t i = 0; i < LISTED; i++)
			if (priority[i] > order[SAMPLE])
				estimate += listed[i].position[0] *
				            copysign(fmax(fabs(listed[i].weight), order[SAMPLE]),
						    listed[i].weight);
		sum += estimate;
		squares += estimate * estimate;
	}
	mean = sum / SEEDS;
	assert_true(fabs(mean - all) < 4 * sqrt((squares / SEEDS - mean * mean) / SEEDS));
	assert_true(fabs(mean - all) < 0.05 * all); /* and the test can see a factor */
}

/* If all particles share a weight, so does their sample: the header states it. */
TEST(a_common_weight_stays_in_the_header)
{
	const struct sl_mcpl_header common = {
		.version = 3, .particles = 400, .flags = true, .weight = 0.123};
	struct sl_mcpl_particle *found;
	struct sl_mcpl_header h;
	double sum;

	make_list(&folder, "common.mcpl", &common, NULL, listed);
	write_list_config(&folder, "common.mcpl", ", batch: 90", "listed",
		"output: {format: mcpl.gz, sample: 50}\n");
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	found = particles_of(&folder, "out/t.mcpl.gz", &h);
	assert_int_equal(h.particles, 50);
	sum = 50 * h.weight;
	assert_true(fabs(sum - 400 * 0.123) < 0.5 * 400 * 0.123);
	assert_true(h.weight == strtod(run_json(&folder, "out", "sample_weight"), NULL));
	for (uint32_t i = 1; i < 50; i++)
		assert_true(found[i].flags > found[i - 1].flags);
	free(found);
	/* a sample of more than there are keeps all, unchanged */
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "output.sample=400"));
	free(particles_of(&folder, "out/t.mcpl.gz", &h));
	assert_int_equal(h.particles, 400);
	assert_true(h.weight == 0.123);
	assert_string_equal(run_json(&folder, "out", "sample_weight"), "0");
}

/*
 * 10 of 400 particles with a weight of 3e38 count as 1.2e40 each, which only a record with numbers of 8
 * bytes can have. No joined file is left.
 */
TEST(weights_of_a_sample_must_be_finite)
{
	static const char *const outputs[] = {"format: mcpl", "format: npz", "format: mcpl.gz"};
	struct sl_mcpl_particle *heavy = (struct sl_mcpl_particle *)calloc(400, sizeof(*heavy)),
				*found;
	struct sl_mcpl_header h = {.version = 3, .particles = 400, .flags = true};
	char more[128];

	memcpy(heavy, listed, 400 * sizeof(*heavy));
	for (int i = 0; i < 400; i++)
		heavy[i].weight = 3e38;
	for (int i = 0; i < 4;
		i++) { /* single precision; a table; a common weight; double precision */
		h.single = i == 0;
		h.weight = i == 2 ? 3e38 : 0;
		make_list(&folder, "heavy.mcpl", &h, NULL, heavy);
		snprintf(more, sizeof(more), "output: {%s, sample: 10}\n", outputs[i % 3]);
		write_list_config(&folder, "heavy.mcpl", ", batch: 90", "listed", more);
		remove_run(&folder, "out");
		if (i < 3) {
			expect(&folder, SL_BAD_INPUT,
				"output.sample: with 10 particles each one has a weight of 1.",
				WORDS("run", "c.yaml", "--out", "out", "--quiet"));
			assert_false(folder_has(&folder, "out/t.mcpl"));
			assert_false(folder_has(&folder, "out/t.npz"));
			assert_false(folder_has(&folder, "out/t.mcpl.gz"));
			continue;
		}
		expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet"));
		found = particles_of(&folder, "out/t.mcpl", &h);
		assert_true(
			h.particles == 10 && found[0].weight > 3.5e38 && found[9].weight < 1e41);
		free(found);
	}
	free(heavy);
}

TEST(a_limit_keeps_the_first_particles)
{
	static const unsigned limits[] = {1, 69, LISTED};
	static struct sl_mcpl_particle expected[LISTED];
	uint64_t n = expected_order(expected);
	char more[128];

	for (int i = 0; i < 3; i++) {
		snprintf(more, sizeof(more), "%soutput: {format: mcpl, order: run, limit: %u}\n",
			listed_key, limits[i]);
		listed_run("cpu", 70, more);
		expect_list("mcpl", expected, limits[i] < n ? limits[i] : n);
	}
	snprintf(more, sizeof(more), "%soutput: {format: mcpl, limit: 5}\n", listed_key);
	listed_run("cpu", LISTED, more);
	expect_list("mcpl", expected, 5);
	for (int f = LISTS; f < FORMATS; f++) {
		snprintf(more, sizeof(more), "%soutput: {format: %s, order: run, limit: 69}\n",
			listed_key, formats[f]);
		listed_run("cpu", 70, more);
		expect_list(formats[f], expected, 69);
	}
}

/* A run without survivors has a file without rows, and all particles can have the same values. */
TEST(empty_and_constant_columns_are_joined)
{
	static const char *const columns[] = {"[]", "[weight, fate]"};
	struct sl_survivors s;
	char set[128];

	write_list_config(&folder, "a.mcpl", ", batch: 90", "listed and y > 1 km", listed_key);
	for (int f = LISTS; f < FORMATS; f++)
		for (int k = 0; k < 2; k++) {
			snprintf(set, sizeof(set), "output={format: %s, order: run, columns: %s}",
				formats[f], columns[k]);
			remove_run(&folder, "out");
			expect(&folder, SL_OK, "",
				WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", set));
			expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
			assert_ok(sl_survivors_read_path(
				folder_path(&folder, joined_name(formats[f])), &s));
			assert_int_equal(s.table.n, 0);
			assert_true(sl_table_find(&s.table, SL_COLUMN_weight));
			sl_survivors_free(&s);
		}
}

/* verify makes the file again with the compressor of the run. */
TEST(the_file_is_verified_with_the_compressor_of_the_run)
{
	static const char *const compressors[] = {"zlib", "libdeflate", "cpu", "store"};
	char more[160];

	for (int f = 1; f < FORMATS; f++)
		for (int c = 0; c < 4; c++) {
			snprintf(more, sizeof(more),
				"%soutput: {format: %s, order: run}\nprimitives: {deflate: %s}\n",
				listed_key, formats[f], compressors[c]);
			if (strcmp(formats[f], "csv") != 0 && sl_sampling_selects())
				listed_run("cpu", 300, more);
		}
}

BEFORE_TESTS()
{
	listed_lists();
}
