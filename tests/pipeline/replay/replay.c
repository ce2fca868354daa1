/*
 * replay.c - sluice replay: histories end as in the rows of the run's files and as recomputed
 * particles; printed numbers read back to the same bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/replay/replay.h"
#include "stages/host/host_pipeline.h"
#include "pipeline/results/survivor_file.h"
#include "pipeline/text/yaml.h"
#include "stages/particle/random.h"
#include "stages/formats/formats.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { SETS_MAX = 10, SET_BYTES = 256, ROWS_PER_BATCH = 4 };

/* --- runs that keep all particles ------------------------------------------------------------- */

struct replayed_run {
	size_t n;
	char set[SETS_MAX][SET_BYTES];
	struct sl_plan *plan;
	char path[CONFIG_PATH_BYTES];
};

static enum sl_status plan_of(
	const char *path, const char *const *sets, size_t n, struct replayed_run *k)
{
	static struct sl_config c;
	static struct sl_choices choices;
	struct sl_reader *reader;
	enum sl_status s = sl_config_open(path, sets, n, &c, &reader);

	k->plan = NULL;
	sl_replay_use_cpu(&c);
	if (s == SL_OK)
		s = sl_resolve(&c, reader, &choices);
	if (s == SL_USAGE)
		fputs(sl_config_report(reader), stderr);
	sl_config_close(reader);
	return s == SL_OK ? sl_plan_make(&c, &choices, &k->plan) : s;
}

static void add(struct replayed_run *k, const char *key, const char *value)
{
	snprintf(k->set[k->n++], SET_BYTES, "%s=%s", key, value);
}

/* Makes a configuration that writes every particle of three batches with every column. */
static void add_keep(struct replayed_run *k, const struct sl_recipe *r)
{
	const struct sl_model *m = sl_models[r->model];
	const sl_fate_set all = m->fates & sl_fates_of(r); /* without dropped */
	char fates[SET_BYTES] = "[";
	size_t used = 1;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (SL_HAS(all, f) && f != SL_FATE_alive)
			used += (size_t)snprintf(fates + used, sizeof(fates) - used, "%s%s",
				used > 1 ? ", " : "", sl_fate_facts[f].name);
	snprintf(fates + used, sizeof(fates) - used, "]");
	add(k, "keep", fates);
	if (m->steps)
		add(k, "transport.max_steps", "60");
}

static void make_run(struct replayed_run *k, const char *name, bool text)
{
	const char *sets[SETS_MAX];

	memset(k, 0, sizeof(*k));
	config_path(name, k->path);
	assert_ok(plan_of(k->path, NULL, 0, k));
	add(k, "output", text ? "{to: out, format: csv.gz}" : "{to: out}");
	add(k, "check", "{}");
	add(k, "tallies", "[]"); /* which may name fates that are kept now, and use columns */
	add(k, "columns", "{}");
	add(k, "run.name", "t");
	add(k, "run.particles", "250");
	add(k, "run.batch", "100");
	add_keep(k, &k->plan->recipe);
	sl_plan_free(k->plan);
	for (size_t i = 0; i < k->n; i++)
		sets[i] = k->set[i];
	assert_ok(plan_of(k->path, sets, k->n, k));
}

static void start_run(const struct replayed_run *k)
{
	const char *words[5 + 2 * SETS_MAX] = {"sluice", "run", k->path, "--quiet"};
	size_t n = 4;

	for (size_t i = 0; i < k->n; i++) {
		words[n++] = "--set";
		words[n++] = k->set[i];
	}
	words[n] = NULL;
	expect(&folder, SL_OK, "", words);
}

/* --- printed histories ------------------------------------------------------------------------ */

static char *replayed(struct sl_plan *plan, uint64_t id, bool json)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_ok(sl_replay(plan, "c.yaml", id, json, out));
	fclose(out);
	return text;
}

/* A parsed JSON history. */
struct replay_output {
	struct sl_yaml *tree;
	sl_node root, history;
};

static const char *text_at(const struct replay_output *t, sl_node parent, const char *key)
{
	sl_node at = sl_yaml_get(t->tree, parent, key);

	if (!at)
		fail_msg("no %s is printed", key);
	return sl_yaml_text(t->tree, at, NULL);
}

static uint64_t number_at(const struct replay_output *t, sl_node parent, const char *key)
{
	uint64_t value = 0;

	assert_true(sl_yaml_u64(t->tree, sl_yaml_get(t->tree, parent, key), &value));
	return value;
}

static void run_replay(struct replay_output *t, struct sl_plan *plan, uint64_t id)
{
	char *json = replayed(plan, id, true);
	struct sl_yaml_problem problem;

	assert_ok(sl_yaml_parse(json, strlen(json), &t->tree, &problem));
	free(json);
	t->root = sl_yaml_root(t->tree);
	t->history = sl_yaml_get(t->tree, t->root, "history");
	assert_true(t->history && number_at(t, t->root, "id") == id);
}

/* The bits of a column in a printed step. */
static uint64_t printed_bits(const struct replay_output *t, sl_node step, int column)
{
	const struct sl_column_facts *facts = &sl_column_facts[column];
	const char *text =
		column == SL_COLUMN_id ? text_at(t, t->root, "id") : text_at(t, step, facts->name);
	uint64_t bits = 0;

	if (column == SL_COLUMN_fate) {
		bits = sl_fate_find(text);
	} else if (facts->type == SL_TYPE_F32) {
		float value = (float)strtod(text, NULL);

		memcpy(&bits, &value, sizeof(value));
	} else {
		bits = strtoull(text, NULL, 10);
	}
	return bits;
}

static uint64_t bits_at(const void *data, uint32_t bytes)
{
	uint64_t bits = 0;

	memcpy(&bits, data, bytes);
	return bits;
}

/* Checks the four random words of a block and their uniform numbers against the generator. */
static void check_draw(
	const struct replay_output *t, const struct sl_recipe *r, uint64_t id, sl_node draw)
{
	struct sl_words words = sl_draw(r->seed, id, number_at(t, draw, "block"));
	sl_node hex = sl_yaml_get(t->tree, draw, "words");
	sl_node uniforms = sl_yaml_get(t->tree, draw, "uniforms");

	assert_true(sl_yaml_size(t->tree, hex) == 4 && sl_yaml_size(t->tree, uniforms) == 4);
	for (size_t i = 0; i < 4; i++) {
		const char *word = sl_yaml_text(t->tree, sl_yaml_item(t->tree, hex, i, NULL), NULL);
		const char *uniform =
			sl_yaml_text(t->tree, sl_yaml_item(t->tree, uniforms, i, NULL), NULL);

		assert_int_equal(strlen(word), 8);
		assert_true(strtoul(word, NULL, 16) == words.at[i]);
		assert_true((float)strtod(uniform, NULL) == sl_uniform(words.at[i]));
	}
}

/* Checks the random numbers of all steps and returns how many there are. */
static size_t check_steps(const struct replay_output *t, const struct sl_recipe *r, uint64_t id)
{
	size_t n = sl_yaml_size(t->tree, t->history), draws = 0;

	for (size_t i = 0; i < n; i++) {
		sl_node step = sl_yaml_item(t->tree, t->history, i, NULL);
		sl_node drawn = sl_yaml_get(t->tree, step, "draws");

		assert_int_equal(number_at(t, step, "step"), i);
		assert_true(
			(strcmp(text_at(t, step, "fate"), "alive") == 0) == (i + 1 < n) || i == 0);
		for (size_t k = 0; k < sl_yaml_size(t->tree, drawn); k++, draws++)
			check_draw(t, r, id, sl_yaml_item(t->tree, drawn, k, NULL));
	}
	assert_int_equal(number_at(t, t->root, "steps"), n - 1);
	return draws;
}

/* --- rows of files ---------------------------------------------------------------------------- */

/*
 * Compares the last step of a history with a row of a file and with the recomputed particle;
 * returns its key.
 */
static uint64_t check_row(struct sl_plan *plan, const struct sl_table *table, uint32_t row)
{
	const struct sl_recipe *r = &plan->recipe;
	uint64_t id = ((const uint64_t *)table->column[0].data)[row];
	struct sl_particle p = sl_compute_particle(r, id);
	struct replay_output t;
	uint64_t key = 0;
	sl_node last;

	assert_int_equal(table->column[0].column, SL_COLUMN_id);
	run_replay(&t, plan, id);
	assert_true(check_steps(&t, r, id) > 0);
	last = sl_yaml_item(t.tree, t.history, sl_yaml_size(t.tree, t.history) - 1, NULL);
	for (uint32_t k = 0; k < table->n_columns; k++) {
		const struct sl_table_column *c = &table->column[k];
		const struct sl_column_facts *facts = &sl_column_facts[c->column];
		uint64_t printed = printed_bits(&t, last, (int)c->column);
		const char *at =
			(const char *)c->data + (c->constant ? 0 : (size_t)row * facts->bytes);

		if (printed != bits_at(at, facts->bytes) ||
			printed != bits_at((const char *)&p + facts->in_particle, facts->bytes))
			fail_msg(
				"%s of particle %llu differs", facts->name, (unsigned long long)id);
	}
	assert_string_equal(text_at(&t, t.root, "fate"), text_at(&t, last, "fate"));
	assert_string_equal(text_at(&t, t.root, "survives"), "true");
	assert_int_equal(number_at(&t, t.root, "batch"), id / 100);
	assert_int_equal(number_at(&t, t.root, "index"), id % 100);
	if (r->n_fields > 0)
		key = strtoull(text_at(&t, t.root, "key"), NULL, 16);
	sl_yaml_free(t.tree);
	return key;
}

static void check_file(struct sl_plan *plan, const char *name)
{
	struct sl_survivors s;
	uint64_t last = 0;
	char path[SL_TEXT_BYTES];

	snprintf(path, sizeof(path), "out/%s", name);
	assert_ok(sl_survivors_read_path(folder_path(&folder, path), &s));
	assert_true(s.table.n >= 50);
	for (uint32_t k = 0; k < ROWS_PER_BATCH; k++) {
		uint64_t key =
			check_row(plan, &s.table, (s.table.n - 1) * k / (ROWS_PER_BATCH - 1));

		assert_true(key >= last);
		last = key;
	}
	sl_survivors_free(&s);
}

/* --- tests ------------------------------------------------------------------------------------ */

TEST(replay_ends_with_the_values_of_the_files)
{
	struct sl_manifest m;
	struct configs configs;

	configs_list(&configs);
	for (size_t i = 0; i < configs.n; i += is_quick() ? 3 : 1) {
		struct replayed_run k;

		make_run(&k, configs.name[i], i % 2 != 0);
		start_run(&k);
		read_manifest(&folder, "out", &m);
		assert_int_equal(m.n, 3);
		for (size_t b = 0; b < m.n; b++)
			check_file(k.plan, m.line[b].file);
		sl_manifest_free(&m);
		sl_plan_free(k.plan);
		remove_run(&folder, "out");
	}
}

/* A particle that is not kept has no key, and no particle has one in a run without a key. */
TEST(only_survivors_have_a_key)
{
	const char *const sets[] = {"key=[]"};
	struct replayed_run k, other;
	struct replay_output t;
	size_t n[2] = {0};

	config_path("vandehulst", k.path);
	assert_ok(plan_of(k.path, NULL, 0, &k));
	assert_ok(plan_of(k.path, sets, 1, &other));
	for (uint64_t id = 0; id < 40; id++) {
		bool survives =
			sl_compute_particle(&k.plan->recipe, id).fate == SL_FATE_transmitted;

		run_replay(&t, k.plan, id);
		assert_string_equal(text_at(&t, t.root, "survives"), survives ? "true" : "false");
		assert_true((sl_yaml_get(t.tree, t.root, "key") != 0) == survives);
		sl_yaml_free(t.tree);
		run_replay(&t, other.plan, id);
		assert_int_equal(sl_yaml_get(t.tree, t.root, "key"), 0);
		sl_yaml_free(t.tree);
		n[survives]++;
	}
	assert_true(n[0] > 0 && n[1] > 0);
	sl_plan_free(k.plan);
	sl_plan_free(other.plan);
}

/* docs/checking.md shows the history that is printed with the default batch size. */
TEST(output_is_that_of_the_manual)
{
	const char *const words[] = {"sluice", "replay", "data/configs/vandehulst.yaml", "--id",
		"18", "--set", "output.to=nowhere", NULL};
	struct folder root;
	char *manual, *text, *line, *rest;
	size_t bytes;

	snprintf(root.path, sizeof(root.path), "%s", source_root());
	manual = folder_read(&root, "docs/checking.md", &bytes);
	text = output_of(&root, words);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char shown[512];

		snprintf(shown, sizeof(shown), "\n%s\n", line);
		if (!strstr(manual, shown))
			fail_msg("docs/checking.md does not show:%s", shown);
	}
	free(text);
	free(manual);
}

/* A refractive index of 10: total reflection keeps most particles inside the slab. */
static const char endless[] = "run: {name: t, particles: 10}\n"
			      "model: {slab: {mu_a: 0 /cm, mu_s: 1 /cm, n: 10, thickness: inf}}\n"
			      "keep: [reflected, max_steps]\n";

/* The number of lines that have the word at this column. */
static size_t count_lines(const char *text, size_t at, const char *word)
{
	size_t n = 0;

	for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1)
		n += (size_t)(end - text) > at && strncmp(text + at, word, strlen(word)) == 0;
	return n;
}

/* The id of the first particle that ends at the maximum number of steps. */
static uint64_t first_with_max_steps(struct sl_plan *plan)
{
	uint64_t id = 0;

	while (sl_compute_particle(&plan->recipe, id).fate != SL_FATE_max_steps)
		assert_true(++id < plan->recipe.particles);
	return id;
}

TEST(long_history_is_printed_completely)
{
	struct replayed_run k;
	char *text;

	write_text(&folder, "endless.yaml", endless);
	assert_ok(plan_of(folder_path(&folder, "endless.yaml"), NULL, 0, &k));
	text = replayed(k.plan, first_with_max_steps(k.plan), false);
	assert_int_equal(count_lines(text, 6, "block "), 10001);
	assert_int_equal(count_lines(text, 6, "start "), 1);
	assert_true(count_lines(text, 6, "collision ") > 9000);
	assert_true(count_lines(text, 6, "surface ") > 0);
	assert_int_equal(
		count_lines(text, 6, "collision ") + count_lines(text, 6, "surface "), 9999);
	assert_non_null(strstr(text, "\n10000 max_steps "));
	assert_non_null(strstr(text, "\nfate        max_steps: survives\nsteps       10000\n"));
	free(text);
	sl_plan_free(k.plan);
}

/* Write function of a file that accepts no bytes; counts its calls. */
static ssize_t refuse_write(void *parent, const char *bytes, size_t n)
{
	(void)bytes;
	(void)n;
	++*(unsigned *)parent;
	return 0;
}

/* After a failed write, replay makes few further writes. */
TEST(full_output_device_is_reported)
{
	struct replayed_run k;

	assert_ok(plan_of(folder_path(&folder, "endless.yaml"), NULL, 0, &k));
	for (int json = 0; json < 2; json++) {
		unsigned writes = 0;
		FILE *out =
			fopencookie(&writes, "w", (cookie_io_functions_t){.write = refuse_write});

		assert_non_null(out);
		assert_ok(sl_replay(k.plan, "c.yaml", first_with_max_steps(k.plan), json, out));
		assert_true(ferror(out) && writes > 0 && writes < 10);
		fclose(out);
	}
	sl_plan_free(k.plan);
}

TEST(missing_particle_is_refused)
{
	struct replayed_run k;

	assert_ok(plan_of(folder_path(&folder, "endless.yaml"), NULL, 0, &k));
	assert_fails(sl_replay(k.plan, "c.yaml", 10, false, stdout), SL_USAGE, "from 0 to 9");
	free(replayed(k.plan, 9, false));
	sl_plan_free(k.plan);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
