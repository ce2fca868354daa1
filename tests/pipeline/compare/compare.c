/*
 * compare.c - sluice compare from the command line: every backend has a row, and the text, JSON and
 * CSV output contain the same rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/catalog.h"
#include "primitives/emulator/access.h"
#include "pipeline/text/yaml.h"
#include "stages/host/host_pipeline.h"
#include "tests/cases/sampling.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { ROWS_MOST = 64 };

static const char text[] =
	"run: {name: t, seed: 7, particles: 700, batch: 200, threads: 2}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
	"keep: transmitted\n"
	"key: [w:9]\n"; /* two passes over digits of 8 bits; nine in the slowest sort */

BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
	folder_remember();
}

/* --- JSON ------------------------------------------------------------------------------------- */

struct row {
	char where[16], mode[16], scan[64], compact[64], sort[64], schedule[64], answer[16];
};

static struct sl_yaml *tree;
static struct row rows[ROWS_MOST];
static size_t n_rows;

static const char *text_of(sl_node of, const char *key)
{
	return sl_yaml_text(tree, sl_yaml_get(tree, of, key), NULL);
}

static double number_of(sl_node of, const char *key)
{
	const char *word = text_of(of, key);
	char *end;
	double value = strtod(word, &end);

	if (*word == '\0' || *end != '\0')
		fail_msg("%s: '%s' is no number", key, word);
	return value;
}

static void parse(const char *json)
{
	struct sl_yaml_problem problem;

	sl_yaml_free(tree);
	tree = NULL;
	assert_ok(sl_yaml_parse(json, strlen(json), &tree, &problem));
}

static void check_quartiles_in_order(sl_node times)
{
	double median = number_of(times, "median_ms");

	assert_true(number_of(times, "samples") >= 1);
	assert_true(number_of(times, "least_ms") >= 0);
	assert_true(number_of(times, "lower_quartile_ms") >= number_of(times, "least_ms"));
	assert_true(median >= number_of(times, "lower_quartile_ms"));
	assert_true(number_of(times, "upper_quartile_ms") >= median);
	assert_true(number_of(times, "most_ms") >= number_of(times, "upper_quartile_ms"));
}

static enum sl_mode mode_of(const char *name)
{
	return strcmp(name, "fused") == 0 ? SL_MODE_fused : SL_MODE_staged;
}

/*
 * The emulated device has no times. A batch is written and read at least once; a fused batch is
 * never stored before its survivors are chosen.
 */
static void check_accesses_of_row(sl_node row)
{
	sl_node accesses = sl_yaml_get(tree, row, "accesses_per_particle");

	assert_int_equal(sl_yaml_get(tree, row, "stages"), 0);
	assert_int_equal((int)number_of(sl_yaml_get(tree, row, "without_output"), "samples"), 0);
	if (!sl_access_is_counted())
		return;
	assert_true(number_of(accesses, "loads") > 1);
	assert_true(number_of(accesses, "stores") > 1);
	assert_true(number_of(accesses, "sectors") > 0.1);
	assert_true(number_of(accesses, "shared") > 0);
	assert_true(number_of(accesses, "conflicts") >= 0);
	assert_true(number_of(accesses, "atomics") > 0);
	assert_true(number_of(accesses, "barriers") > 0);
}

/* The figures of a row of the host are complete and consistent. */
static void check_figures_of_row(sl_node row)
{
	sl_node stages = sl_yaml_get(tree, row, "stages");
	double sum = 0;

	for (int s = 0; s < SL_STAGE_COUNT; s++) {
		sl_node stage = sl_yaml_get(tree, stages, sl_stages[s].name);

		assert_int_equal(stage != 0, sl_stage_is_run(mode_of(text_of(row, "mode")), s));
		if (stage == 0)
			continue;
		check_quartiles_in_order(stage);
		if (s != SL_STAGE_sort || strcmp(text_of(row, "sort"), "-") != 0) {
			assert_true(number_of(stage, "bytes") > 0);
			assert_true(number_of(stage, "gb_per_s") > 0);
			assert_true(number_of(stage, "share_of_copy") > 0);
		}
		sum += number_of(stage, "least_ms");
	}
	assert_int_equal(sl_yaml_get(tree, row, "copied_home"), 0);
	assert_int_equal(sl_yaml_get(tree, row, "slots"), 0);
	check_quartiles_in_order(sl_yaml_get(tree, row, "together"));
	assert_true(number_of(sl_yaml_get(tree, row, "together"), "most_ms") >= sum);
	check_quartiles_in_order(sl_yaml_get(tree, row, "without_output"));
	check_quartiles_in_order(sl_yaml_get(tree, row, "with_output"));
	assert_true(number_of(sl_yaml_get(tree, row, "without_output"), "particles_per_s") > 0);
	assert_true(number_of(sl_yaml_get(tree, row, "with_output"), "particles_per_s") > 0);
	assert_true(number_of(row, "threads") >= 1);
}

static void add_row(sl_node node)
{
	struct row *row = &rows[n_rows++];

	snprintf(row->where, sizeof(row->where), "%s", text_of(node, "where"));
	snprintf(row->mode, sizeof(row->mode), "%s", text_of(node, "mode"));
	snprintf(row->scan, sizeof(row->scan), "%s", text_of(node, "scan"));
	snprintf(row->compact, sizeof(row->compact), "%s", text_of(node, "compact"));
	snprintf(row->sort, sizeof(row->sort), "%s", text_of(node, "sort"));
	snprintf(row->schedule, sizeof(row->schedule), "%s", text_of(node, "schedule"));
	snprintf(row->answer, sizeof(row->answer), "%s", text_of(node, "answer"));
	if (strcmp(row->answer, "same") == 0 && strcmp(row->where, "device") == 0)
		check_accesses_of_row(node);
	else if (strcmp(row->answer, "same") == 0)
		check_figures_of_row(node);
}

/* Parses the JSON of a comparison into rows. */
static void read_rows(const char *json)
{
	sl_node list;

	parse(json);
	list = sl_yaml_get(tree, sl_yaml_root(tree), "rows");
	assert_true(sl_yaml_size(tree, list) <= ROWS_MOST);
	for (n_rows = 0; n_rows < sl_yaml_size(tree, list);)
		add_row(sl_yaml_item(tree, list, n_rows, NULL));
}

static void compare_json(const char *const *words)
{
	char *json = output_of(&folder, words);

	read_rows(json);
	free(json);
}

/* --- output ----------------------------------------------------------------------------------- */

static const char *backend_in_row(const struct row *row, enum sl_primitive p)
{
	return p == SL_SCAN ? row->scan : p == SL_COMPACT ? row->compact : row->sort;
}

static bool has_row(const char *where, enum sl_primitive p, const char *name)
{
	for (size_t i = 0; i < n_rows; i++)
		if (strcmp(rows[i].where, where) == 0 &&
			strcmp(backend_in_row(&rows[i], p), name) == 0)
			return true;
	return false;
}

/* Each backend of the emulated device and of the host has a row. */
static void check_every_backend_has_a_row(void)
{
	for (const struct sl_catalog_entry *l = sl_catalog; l->name; l++) {
		const char *where = l->runs_on == SL_RUNS_ON_HOST ? "host" : "device";

		if (l->primitive != SL_DEFLATE && l->runs_on != SL_RUNS_ON_CUDA &&
			!has_row(where, l->primitive, l->name))
			fail_msg("no row on the %s has %s %s", where,
				sl_primitive_name(l->primitive), l->name);
	}
}

static size_t count_rows(const char *where)
{
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++)
		n += strcmp(rows[i].where, where) == 0;
	return n;
}

/* Rounds on the device and on the host have rows, as well as histories in both modes. */
static void check_every_schedule_has_a_row(const char *where)
{
	static const char *const schedules[] = {
		"history", "never", "every", "alive < 0.5", "sort every 4"};

	for (size_t k = 0; k < sizeof(schedules) / sizeof(schedules[0]); k++) {
		size_t found = 0;

		for (size_t i = 0; i < n_rows; i++)
			found += strcmp(rows[i].where, where) == 0 &&
			         strcmp(rows[i].schedule, schedules[k]) == 0;
		if (k == 0 ? found == 0 : found != 1)
			fail_msg("%zu rows on the %s have %s", found, where, schedules[k]);
	}
}

static void check_header(void)
{
	static const char *const members[] = {"version", "date", "config", "name", "model",
		"format", "deflate", "machine", "command", "batches", "rules_version"};
	sl_node root = sl_yaml_root(tree);

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		assert_true(sl_yaml_get(tree, root, members[i]) != 0);
	assert_int_equal((int)number_of(root, "particles"), 700);
	assert_int_equal((int)number_of(root, "batches"), 4);
	assert_int_equal((int)number_of(root, "batch"), 200);
	assert_true(number_of(root, "host_copy_gb_per_s") > 0);
}

TEST(all_rows_have_the_same_survivors)
{
	compare_json(WORDS("compare", "c.yaml", "--device", "emulated", "--json"));
	check_header();
	assert_int_equal(sl_yaml_get(tree, sl_yaml_root(tree), "device_copy_gb_per_s"), 0);
	check_every_backend_has_a_row();
	check_every_schedule_has_a_row("host");
	check_every_schedule_has_a_row("device");
	for (size_t i = 0; i < n_rows; i++)
		assert_string_equal(rows[i].answer, "same");
	for (size_t i = 0; i < n_rows; i++) /* no row is repeated */
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(memcmp(&rows[i], &rows[k], sizeof(rows[i])), 0);
	expect_untouched();
}

static bool has_combination(const char *scan, const char *compact, const char *sort)
{
	for (size_t i = 0; i < n_rows; i++)
		if (strcmp(rows[i].where, "device") == 0 && strcmp(rows[i].scan, scan) == 0 &&
			strcmp(rows[i].compact, compact) == 0 && strcmp(rows[i].sort, sort) == 0)
			return true;
	return false;
}

static bool has_fused(const char *sort)
{
	for (size_t i = 0; i < n_rows; i++)
		if (strcmp(rows[i].mode, "fused") == 0 && strcmp(rows[i].where, "device") == 0 &&
			strcmp(rows[i].compact, "fused") == 0 && strcmp(rows[i].sort, sort) == 0)
			return true;
	return false;
}

TEST(text_lists_the_rows_of_json)
{
	char *out = output_of(&folder, WORDS("compare", "c.yaml", "--device", "emulated", "--set",
					       "stop=rel_error(transmitted) < 0.9"));

	assert_int_equal(times_in(out, "\nAll batches run: a comparison ignores stop.when"), 1);
	assert_int_equal(times_in(out, "the reference\n"), 1);
	assert_int_equal(times_in(out, "the same\n"), n_rows - 1);
	/* a row has a line in each table: of times, GB/s and rates, or of rates and accesses */
	assert_int_equal(times_in(out, "\nhost  "), 1 + 3 * count_rows("host"));
	assert_int_equal(times_in(out, "\ndevice"), 1 + 2 * count_rows("device"));
	for (const char *line = out; *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > 180)
			fail_msg("a line is wider than 180: %s", line);
	free(out);
	out = output_of(&folder, WORDS("compare", "c.yaml", "--device", "emulated", "--quiet"));
	assert_string_equal(out, "");
	free(out);
	expect_untouched();
}

/* CSV lines are the rows of JSON, one line for each stage of a row, one for a row of the device. */
TEST(csv_lists_the_rows_of_json)
{
	char *out = output_of(&folder, WORDS("compare", "c.yaml", "--device", "emulated", "--csv"));
	char *line = strtok(out, "\n"), names[512];
	size_t lines = 0, expected = 0, commas = times_in(line, ",");

	for (size_t i = 0; i < n_rows; i++) {
		bool on_device = strcmp(rows[i].where, "device") == 0;

		snprintf(names, sizeof(names), ",%s,%s,%s,%s,%s,", rows[i].mode, rows[i].scan,
			rows[i].compact, rows[i].sort, rows[i].schedule);
		expected += on_device;
		for (int s = 0; !on_device && s < SL_STAGE_COUNT; s++)
			expected += sl_stage_is_run(mode_of(rows[i].mode), s);
		for (; lines < expected; lines++) {
			line = strtok(NULL, "\n");
			assert_non_null(line);
			assert_int_equal(times_in(line, ","), commas);
			assert_int_equal(strncmp(line, rows[i].where, strlen(rows[i].where)), 0);
			assert_non_null(strstr(line, names));
			assert_non_null(strstr(line, ",same"));
		}
	}
	assert_null(strtok(NULL, "\n"));
	free(out);
	expect_untouched();
}

/* --- options ---------------------------------------------------------------------------------- */

/* Each backend has a row in which only this choice differs from the selected backends. */
TEST(rows_vary_one_backend_each)
{
	compare_json(WORDS("compare", "c.yaml", "--device", "emulated", "--json", "--scan", "naive",
		"--compact", "naive", "--sort", "naive"));
	for (const struct sl_catalog_entry *l = sl_catalog; l->name; l++) {
		bool found = true;

		if (l->runs_on != SL_RUNS_ON_DEVICE)
			continue;
		if (l->primitive == SL_COMPACT)
			found = has_combination("naive", l->name, "naive");
		if (l->primitive == SL_SORT)
			found = has_combination("naive", "naive", l->name) && has_fused(l->name);
		if (!found)
			fail_msg(
				"no row has %s %s alone", sl_primitive_name(l->primitive), l->name);
	}
}

/* Fused mode has no scores along histories, so no row is fused. */
TEST(scores_are_compared_staged)
{
	compare_json(WORDS("compare", "c.yaml", "--device", "emulated", "--json", "--set",
		"tallies=[[deposit, z:5]]", "--sort", "naive"));
	assert_true(n_rows > 0);
	assert_false(has_fused("naive"));
}

TEST(without_a_device_only_host_backends_are_compared)
{
	compare_json(WORDS("compare", "c.yaml", "--device", "cpu", "--json"));
	assert_int_equal(n_rows, 2 + 4);
	check_every_schedule_has_a_row("host");
	for (size_t i = 0; i < n_rows; i++) {
		assert_string_equal(rows[i].where, "host");
		assert_string_equal(rows[i].answer, "same");
	}
	assert_int_equal(sl_yaml_get(tree, sl_yaml_root(tree), "device_copy_gb_per_s"), 0);
	expect_untouched();
}

TEST(set_options_apply_to_all_rows)
{
	/* without a GPU auto selects the emulated device; a GPU has the same backends */
	compare_json(WORDS("compare", "c.yaml", "--device", "auto", "--json", "--compact",
		"naive:block=64", "--scan", "naive:block=32"));
	assert_true(has_row("device", SL_COMPACT, "naive:block=64"));
	assert_true(has_row("device", SL_COMPACT, "naive"));
	assert_true(has_row("device", SL_SCAN, "naive:block=32"));
	compare_json(
		WORDS("compare", "c.yaml", "--device", "emulated", "--json", "--set", "key=[]"));
	for (size_t i = 0; i < n_rows; i++)
		assert_string_equal(rows[i].sort, "-");
	expect_untouched();
}

/*
 * On the emulated device only the first 20000 particles are compared, unless --full is given; on
 * the host all. Sanitizer builds test the host only, because the emulated device is slow there.
 */
TEST(emulated_device_compares_at_most_20000_particles)
{
	static const char many[] = "run.particles=21000", one[] = "run.batch=21000",
			  key[] = "key=[w:3]";

	compare_json(WORDS(
		"compare", "c.yaml", "--device", "cpu", "--json", "--set", many, "--set", one));
	assert_int_equal((int)number_of(sl_yaml_root(tree), "particles"), 21000);
	if (is_quick() || !sl_sampling_selects())
		return;
	compare_json(WORDS("compare", "c.yaml", "--device", "emulated", "--json", "--set", many,
		"--set", one, "--set", key));
	assert_int_equal((int)number_of(sl_yaml_root(tree), "particles"), 20000);
	assert_int_equal((int)number_of(sl_yaml_root(tree), "particles_configured"), 21000);
	compare_json(WORDS("compare", "c.yaml", "--device", "emulated", "--json", "--set", many,
		"--set", one, "--set", key, "--full"));
	assert_int_equal((int)number_of(sl_yaml_root(tree), "particles"), 21000);
	expect_untouched();
}

TEST(invalid_requests_are_refused)
{
	expect(&folder, SL_USAGE, "--resume has no effect", WORDS("compare", "c.yaml", "--resume"));
	expect(&folder, SL_USAGE, "is not compared",
		WORDS("compare", "c.yaml", "--device", "emulated", "--deflate", "device"));
	expect(&folder, SL_USAGE, "--force has no effect", WORDS("compare", "c.yaml", "--force"));
	expect(&folder, SL_USAGE, "--print-config has no effect",
		WORDS("compare", "c.yaml", "--print-config"));
	expect(&folder, SL_USAGE, "--csv has no effect", WORDS("run", "c.yaml", "--csv"));
	expect(&folder, SL_USAGE, "compare needs CONFIG", WORDS("compare"));
	expect(&folder, SL_USAGE, "it does not exist", WORDS("compare", "nothing.yaml"));
	expect(&folder, SL_USAGE, "is not a backend of sort",
		WORDS("compare", "c.yaml", "--sort", "bubble"));
	expect(&folder, SL_HOST_MEMORY, "needs",
		WORDS("compare", "c.yaml", "--device", "cpu", "--set", "run.particles=4e9", "--set",
			"run.batch=2e9", "--threads", "16"));
	expect_untouched();
}
