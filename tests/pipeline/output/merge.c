/*
 * merge.c - a joined file has the particles of its batches, sorted, sampled and limited; it is the
 * same for any device, threads, and with an intermediate file; and damage is reported as by one
 * thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/plan/joined_memory.h"
#include "tests/support/program/program.h"
#include "tests/support/property/property.h"
#include "tests/support/runs/merges.h"

BEFORE_TESTS()
{
	merges_begin();
}

/* --- joined files ----------------------------------------------------------------------------- */

static struct list_run any_run(struct rnd *g)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz", "npz", "csv", "csv.gz", "openpmd"},
				 *const more[] = {"", ", columns: [weight, userflags]",
					 "}\nprimitives: {deflate: zlib",
					 "}\nprimitives: {deflate: store"};
	static const uint32_t batches[] = {1, 2, 5, 40}, limits[] = {0, 0, 1, 69, 1000, FEW};
	const char *format = rnd_of(g, formats);
	const bool is_list = strncmp(format, "mcpl", 4) == 0;
	struct list_run r = list_run_of(format, rnd_below(g, KEYS),
		is_list && rnd_one_in(g, 10) ? MANY : FEW, rnd_of(g, batches));

	r.low = rnd_one_in(g, 2) ? 0 : rnd_below(g, r.high + 1);
	r.sample = rnd_one_in(g, 2) ? 0 : 1 + rnd_below(g, rnd_one_in(g, 4) ? r.particles : 600);
	r.limit = rnd_of(g, limits);
	r.by_batch = rnd_one_in(g, 5);
	r.common_weight = r.particles == FEW && rnd_one_in(g, 5);
	r.more = is_list ? strcmp(format, "mcpl") == 0 ? "" : more[rnd_below(g, 2) * 2]
	                 : rnd_of(g, more);
	return r;
}

static struct merge any_merge(struct rnd *g)
{
	static const uint32_t files[] = {SL_MERGED_FILES_MOST, 2, 18};

	return (struct merge){.threads = 1 + rnd_below(g, 7), .files = rnd_of(g, files)};
}

/* Damages one of the files of the batches, or repairs it. place: of the byte, up to 20. */
static void flip(const struct sl_manifest *m, uint32_t batch, bool order, uint32_t place)
{
	const struct sl_manifest_line *l = &m->line[batch % m->n];
	char name[300];

	snprintf(name, sizeof(name), "out/%s",
		order && l->order.bytes > 0 ? l->order.name : l->file.name);
	folder_flip(&folder, name, place, 20);
}

/* One or two files are damaged. Merges of as many files at a time report the same one. */
static void expect_damage(struct rnd *g)
{
	struct merge first = any_merge(g);
	const size_t before = run_entries();
	struct sl_manifest manifest;

	read_manifest(&folder, "out", &manifest);
	for (uint32_t n = 1 + rnd_below(g, 2), i = 0; i < n; i++)
		flip(&manifest, rnd_below(g, 100), rnd_one_in(g, 2), 12 * i + rnd_below(g, 9));
	sl_manifest_free(&manifest);
	first.threads = 1;
	merge_again(&first);
	for (int i = 0; i < 3; i++) {
		struct merge m = any_merge(g);

		m.files = first.files;
		merge_again(&m);
		assert_true(m.status == SL_CHECK_FAILED || m.status == SL_BAD_INPUT);
		assert_int_equal(run_entries(), before);
		assert_int_equal(m.status, first.status);
		assert_string_equal(m.message, first.message);
		assert_non_null(strstr(m.message, "out/t_0"));
	}
}

/* Makes the run, merges it in other ways, and damages it. A table has no trace of its batches. */
static void check_run(struct rnd *g, struct list_run r)
{
	static const char *const devices[] = {"cpu", "cpu", "emulated", "emulated:3"};
	const char *device = rnd_of(g, devices);
	const bool packed = *device == 'e' && strstr("npz openpmd", r.format) && rnd_one_in(g, 2);
	size_t bytes, before, other_bytes;
	char *file, *other;

	if (packed) /* by the device, which then has no column of the key */
		r.more = ", columns: [weight, userflags]}\nprimitives: {deflate: device";
	make_list_run(&r, device);
	file = expect_joined(&r, &bytes);
	before = run_entries();
	for (int i = 0; i < 3; i++) {
		struct merge m = any_merge(g);

		merge_again(&m);
		assert_int_equal(m.status, SL_OK);
		assert_int_equal(m.bytes, bytes);
		assert_memory_equal(merged, file, bytes);
		assert_int_equal(run_entries(), before); /* no intermediate file is left */
	}
	expect_damage(g);
	if (strncmp(r.format, "mcpl", 4) != 0 && !r.by_batch) {
		r.batch = 1 + r.batch / 2;
		make_list_run(&r, packed ? device : rnd_of(g, devices));
		other = expect_joined(&r, &other_bytes);
		assert_int_equal(other_bytes, bytes);
		assert_memory_equal(other, file, bytes);
		free(other);
	}
	free(file);
}

PROPERTY(joined_files_are_sorted, 126)
{
	check_run(g, any_run(g));
}

/* The mean over many seeds of a sum of sampled weights is the sum over all particles. */
TEST(sums_of_a_sample_have_the_right_mean)
{
	enum { SEEDS = 4000, SAMPLE = 30 };
	static struct sl_mcpl_particle kept[FEW];
	double all = 0, sum = 0, squares = 0, mean;

	for (uint32_t i = 0; i < FEW; i++)
		all += listed[i].position[0] * listed[i].weight;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		double estimate = 0;
		uint64_t n = FEW;

		memcpy(kept, listed, sizeof(kept));
		keep_sample(seed, SAMPLE, kept, &n);
		assert_int_equal(n, SAMPLE);
		for (uint64_t i = 0; i < n; i++)
			estimate += kept[i].position[0] * kept[i].weight;
		sum += estimate;
		squares += estimate * estimate;
	}
	mean = sum / SEEDS;
	assert_true(fabs(mean - all) < 4 * sqrt((squares / SEEDS - mean * mean) / SEEDS));
	assert_true(fabs(mean - all) < 0.05 * all); /* and the test can see a factor */
}

PROPERTY_FILE()
