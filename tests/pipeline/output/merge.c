/*
 * merge.c - a joined file has the particles of its batches, sorted, sampled and limited; it is the same for any device,
 * threads, files that are merged at a time, devices that sort and ranks; and damage is reported as by one thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/output/source/splitters.h"
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

/* Devices sort the keys of lists that threads need not decompress. */
static uint32_t sorting(const struct list_run *r, const struct merge *m)
{
	const bool compressed = strcmp(r->format, "mcpl.gz") == 0 && m->threads > 1;

	return compressed || r->by_batch || r->key == NO_KEY || r->low == r->high ||
	                       r->batch >= r->particles
	               ? 0
	               : m->devices;
}

/* Only plain lists that are all of the run are made by several ranks. */
static bool is_shared(const struct list_run *r)
{
	return strcmp(r->format, "mcpl") == 0 && !r->by_batch && r->key != NO_KEY &&
	       r->sample == 0 && r->limit == 0 && r->low < r->high && r->batch < r->particles;
}

static struct merge any_merge(struct rnd *g, const struct list_run *r)
{
	static const uint32_t files[] = {SL_MERGED_FILES_MOST, 2, 3, 7, 18};
	struct merge m = {.threads = 1 + rnd_below(g, 7), .files = rnd_of(g, files)};

	m.devices = r->particles == MANY || rnd_one_in(g, 2) ? 0 : 1 + rnd_below(g, ORDER_DEVICES);
	if (is_shared(r) && rnd_one_in(g, 2)) {
		m.shares = 1 + rnd_below(g, rnd_one_in(g, 2) ? 3 : 50);
		m.files = SL_MERGED_FILES_MOST;
	}
	return m;
}

/* Damages one of the files of the batches, or repairs it. place: of the byte, up to 20. */
static void flip(const struct sl_manifest *m, uint32_t batch, bool order, uint32_t place)
{
	const struct sl_manifest_line *l = &m->line[batch % m->n];
	char name[300];

	snprintf(name, sizeof(name), "out/%s",
		order && l->order_bytes > 0 ? l->order_file : l->file);
	folder_flip(&folder, name, place, 20);
}

/* One or two files are damaged. Merges of as many files at a time report the same one. */
static void expect_damage(struct rnd *g, const struct list_run *r)
{
	struct merge first = any_merge(g, r);
	const size_t before = run_entries();
	struct sl_manifest manifest;

	read_manifest(&folder, "out", &manifest);
	for (uint32_t n = 1 + rnd_below(g, 2), i = 0; i < n; i++)
		flip(&manifest, rnd_below(g, 100), rnd_one_in(g, 2), 12 * i + rnd_below(g, 9));
	sl_manifest_free(&manifest);
	first.threads = 1;
	first.devices = first.shares = 0;
	merge_again(&first);
	for (int i = 0; i < 3; i++) {
		struct merge m = any_merge(g, r);

		m.files = first.files;
		m.shares = m.files == SL_MERGED_FILES_MOST ? m.shares : 0;
		merge_again(&m);
		assert_true(m.status == SL_CHECK_FAILED || m.status == SL_BAD_INPUT);
		assert_int_equal(run_entries(), before);
		if (m.shares > 0)
			continue;
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
		struct merge m = any_merge(g, &r);

		merge_again(&m);
		assert_int_equal(m.status, SL_OK);
		assert_int_equal(m.bytes, bytes);
		assert_memory_equal(merged, file, bytes);
		assert_string_equal(m.list.why, "");
		if (m.shares == 0)
			assert_int_equal(m.list.sorting_devices, sorting(&r, &m));
		assert_int_equal(run_entries(), before); /* no intermediate file is left */
	}
	expect_damage(g, &r);
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

/* Runs whose file is made by several ranks, some with few records. */
PROPERTY(shares_make_up_the_list, 35)
{
	static const uint32_t batches[] = {2, 5, 40};
	struct list_run r = list_run_of("mcpl", rnd_below(g, NO_KEY), FEW, rnd_of(g, batches));

	r.low = rnd_one_in(g, 3) ? r.high - 1 - rnd_below(g, 60) : rnd_below(g, r.high);
	check_run(g, r);
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

/* --- shares ----------------------------------------------------------------------------------- */

/* Rows that a batch does not have, other numbers of records than the share announces, and the loss of a rank. */
TEST(wrong_shares_are_refused)
{
	static const struct {
		uint64_t first, end, records;
		uint32_t devices;
		bool cancel;
		enum sl_status status;
		const char *why; /* the devices could not sort */
	} rows[] = {
		{0, 500, 500, 2, false, SL_OK, ""},
		{0, 500, 501, 0, false, SL_INTERNAL, ""},
		{0, 500, 501, 2, false, SL_INTERNAL, "do not have 501 records"},
		{0, 500, 499, 2, false, SL_OK, "do not have 499 records"},
		{0, 500, 1, 2, false, SL_OK, "do not have 1 records"},
		{0, 501, 501, 0, false, SL_CHECK_FAILED, ""},
		{501, 501, 0, 0, false, SL_CHECK_FAILED, ""},
		{3, 2, 0, 0, false, SL_CHECK_FAILED, ""},
		{0, UINT64_MAX, 500, 0, false, SL_CHECK_FAILED, ""},
		{UINT64_MAX - 1, UINT64_MAX, 1, 0, false, SL_CHECK_FAILED, ""},
		{0, 500, 500, 2, true, SL_PEER_LOST, ""},
	};
	const struct list_run r = list_run_of("mcpl", DISTINCT, FEW, 4);
	struct opened o;

	make_list_run(&r, "cpu");
	open_run(&o, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sl_record_range range[4] = {{.first = rows[i].first, .end = rows[i].end}};
		const atomic_bool cancel = rows[i].cancel;
		const struct sl_list_share share = {range, rows[i].records, true, &cancel};
		struct merge m = {.files = SL_MERGED_FILES_MOST, .devices = rows[i].devices};

		if (send_share(&o, &share, &m) != rows[i].status ||
			!strstr(m.list.why, rows[i].why))
			fail_msg("row %zu: %s; %s", i, sl_last_error(), m.list.why);
	}
	close_run(&o);
}

enum { SEQUENCES = 7, LONGEST = 60 };

static int ascending(const void *a, const void *b)
{
	const uint64_t *p = (const uint64_t *)a, *q = (const uint64_t *)b;

	return (*p > *q) - (*p < *q);
}

/* Of sorted sequences, at any address, each place is that of their merge. Of others, as in foreign files, the sum is. */
PROPERTY(places_in_sequences_are_found, 400)
{
	static const uint64_t extreme[] = {0, UINT64_MAX, 1, UINT64_MAX - 1, UINT64_C(1) << 63};
	static uint8_t bytes[SEQUENCES][1 + 8 * LONGEST];
	uint64_t key[SEQUENCES][LONGEST], at[SEQUENCES], middle[SEQUENCES], above[SEQUENCES];
	uint64_t total = 0, sum = 0;
	struct sl_splitters s = {at, middle, above};
	const uint32_t distinct = 1 + rnd_below(g, rnd_one_in(g, 2) ? 9 : 1000);
	const bool sorted = !rnd_one_in(g, 3);
	struct sl_sorted_keys keys[SEQUENCES];

	for (int i = 0; i < SEQUENCES; total += keys[i++].n) {
		uint32_t n = rnd_one_in(g, 4) ? 0 : rnd_below(g, LONGEST + 1), value;

		for (uint32_t k = 0; k < n; k++) {
			value = rnd_below(g, distinct);
			key[i][k] =
				value < 5 ? extreme[value] : value * UINT64_C(0x9e3779b97f4a7c15);
		}
		if (sorted)
			qsort(key[i], n, sizeof(key[i][0]), ascending);
		memcpy(bytes[i] + 1, key[i], n * sizeof(key[i][0]));
		keys[i] = (struct sl_sorted_keys){bytes[i] + 1, n};
	}
	for (uint64_t records = 0; records <= total + 1; records++, sum = 0) {
		sl_splitters_find(keys, SEQUENCES, records, &s);
		for (int i = 0; i < SEQUENCES; sum += at[i++])
			assert_true(at[i] <= keys[i].n);
		assert_int_equal(sum, records < total ? records : total);
		/* what is taken of sequence i comes before what is left of sequence k */
		for (int i = 0; i < SEQUENCES; i++)
			for (int k = 0; sorted && at[i] > 0 && k < SEQUENCES; k++)
				assert_true(at[k] == keys[k].n ||
					    key[i][at[i] - 1] < key[k][at[k]] ||
					    (key[i][at[i] - 1] == key[k][at[k]] && i <= k));
	}
}

PROPERTY_FILE()
