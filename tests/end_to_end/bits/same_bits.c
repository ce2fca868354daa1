/*
 * same_bits.c - options that must not change any output bit: threads, batch size, CPU instruction
 * set, backends, format, and a repeated run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/report/tallies/run_results.h"
#include "pipeline/results/survivor_file.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "stages/formats/formats.h"

/* 24 batches of 2500 particles and one of 1009; with sanitizers 500 and 209. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PARTICLES "12209"
#define BATCH     "500"
#else
#define PARTICLES "61009"
#define BATCH     "2500"
#endif

static const char *const models[] = {
	"run: {name: t, seed: 7, particles: " PARTICLES ", batch: " BATCH "}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, n: 1.4, thickness: 0.5 cm}}\n"
	"keep: [transmitted, reflected]\n"
	"key: [fate:3, w:16]\n",
	"run: {name: t, seed: 7, particles: " PARTICLES ", batch: " BATCH "}\n"
	"model:\n"
	"  source_detector:\n"
	"    source: {type: disk, radius: 1 cm}\n"
	"    stop: {type: disk, distance: 1 cm, radius: 0.5 cm}\n"
	"    detector: {type: rectangle, distance: 2 cm, width: 4 cm, height: 4 cm, pixels: [32, "
	"32]}\n"
	"    energy: {type: exponential, mean: 1 MeV}\n"
	"keep: hit\n"
	"key: [pixel:10, energy:20:0 keV..20 MeV]\n",
};
enum { N_MODELS = sizeof(models) / sizeof(models[0]) };

/* The test folder holds c0.yaml, c1.yaml and the reference runs r0 and r1. */
static const char *config(int model)
{
	return model == 0 ? "c0.yaml" : "c1.yaml";
}

static const char *reference(int model)
{
	return model == 0 ? "r0" : "r1";
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	for (int m = 0; m < N_MODELS; m++) {
		write_text(&folder, config(m), models[m]);
		expect(&folder, SL_OK, "",
			WORDS("run", config(m), "--out", reference(m), "--threads", "2"));
	}
}

/* Runs with one more option and requires files identical to the reference. */
static void expect_same_files(
	int model, const char *const *env, const char *option, const char *value)
{
	const char *const *words = WORDS("run", config(model), "--out", "out", option, value);
	struct ending e;

	call(&folder, env, words, &e);
	expect_ending(&e, SL_OK, "", words);
	if (hash_run(&folder, "out") != hash_run(&folder, reference(model)))
		fail_msg("%s: other bytes with %s %s %s", models[model], option, value,
			env ? env[0] : "");
	remove_run(&folder, "out");
}

TEST(thread_count_does_not_change_files)
{
	static const char *const threads[] = {"1", "2", "3", "8"};

	for (int m = 0; m < N_MODELS; m++)
		for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
			expect_same_files(m, NULL, "--threads", threads[i]);
}

TEST(repeated_run_gives_the_same_files)
{
	for (int m = 0; m < N_MODELS; m++) {
		assert_true(folder_has(&folder, m == 0 ? "r0/t.xdmf" : "r1/t.xdmf"));
		expect_same_files(m, NULL, "--device", "cpu");
	}
}

TEST(instruction_set_does_not_change_files)
{
	static const char *const env[] = {"SL_LEVEL=baseline", NULL};

	for (int m = 0; m < N_MODELS; m++)
		expect_same_files(m, env, "--device", "auto");
}

TEST(compact_backend_does_not_change_files)
{
	for (int m = 0; m < N_MODELS; m++) {
		expect_same_files(m, NULL, "--compact", "cpu");
		expect_same_files(m, NULL, "--compact", "cpu_scan");
	}
}

/* Manifest lines are identical except for the file name. */
static void expect_same_content(int model)
{
	struct sl_manifest a, b;

	read_manifest(&folder, reference(model), &a);
	read_manifest(&folder, "out", &b);
	assert_int_equal(a.n, b.n);
	for (size_t i = 0; i < a.n; i++) {
		struct sl_manifest_line *lines[] = {&a.line[i], &b.line[i]};

		for (int k = 0; k < 2; k++) {
			memset(lines[k]->file, 0, sizeof(lines[k]->file));
			lines[k]->file_bytes = 0;
			lines[k]->file_crc = 0;
		}
		assert_memory_equal(&a.line[i], &b.line[i], sizeof(a.line[i]));
	}
	sl_manifest_free(&a);
	sl_manifest_free(&b);
}

TEST(deflate_backend_does_not_change_content)
{
	static const char *const names[] = {"zlib", "libdeflate", "cpu", "store"};
	uint64_t hash[4];

	for (int m = 0; m < N_MODELS; m++) {
		for (int i = 0; i < 4; i++) {
			expect(&folder, SL_OK, "",
				WORDS("run", config(m), "--out", "out", "--deflate", names[i]));
			expect_same_content(m);
			expect(&folder, SL_OK, "", WORDS("verify", "out"));
			hash[i] = hash_run(&folder, "out");
			remove_run(&folder, "out");
			for (int k = 0; k < i; k++)
				assert_int_not_equal(
					hash[k], hash[i]); /* the backends write different bytes */
		}
	}
}

TEST(format_does_not_change_columns)
{
	for (int m = 0; m < N_MODELS; m++) {
		expect(&folder, SL_OK, "",
			WORDS("run", config(m), "--out", "out", "--set", "output.format=csv.gz"));
		expect_same_content(m);
		expect(&folder, SL_OK, "", WORDS("verify", "out"));
		assert_true(folder_has(&folder, "out/t_000024.csv.gz"));
		assert_false(folder_has(&folder, "out/t.xdmf"));
		remove_run(&folder, "out");
	}
}

/* --- batch sizes --------------------------------------------------------------------------- */

struct content {
	struct sl_results results;
	uint64_t rows; /* order-independent sum over the survivors */
};

static uint64_t row_hash(const struct sl_table *t, uint32_t i)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		uint32_t bytes = sl_column_facts[c->column].bytes;
		const unsigned char *at =
			(const unsigned char *)c->data + (c->constant ? 0 : (size_t)i * bytes);

		for (uint32_t b = 0; b < bytes; b++)
			hash = (hash ^ at[b]) * 0x100000001b3u;
	}
	return hash;
}

static struct content read_content(const char *out)
{
	struct content content = {.rows = 0};
	struct sl_manifest m;

	read_manifest(&folder, out, &m);
	sl_results_make(&m, false, &content.results);
	for (size_t i = 0; i < m.n; i++) {
		struct sl_survivors s;
		char name[512];

		snprintf(name, sizeof(name), "%s/%s", out, m.line[i].file);
		assert_ok(sl_survivors_read_path(folder_path(&folder, name), &s));
		for (uint32_t k = 0; k < s.table.n; k++)
			content.rows += row_hash(&s.table, k);
		sl_survivors_free(&s);
	}
	sl_manifest_free(&m);
	return content;
}

TEST(batch_size_does_not_change_particles)
{
	static const char *const batches[] = {
		("run.batch=" PARTICLES), "run.batch=871", "run.batch=17000", "run.batch=1e6"};

	for (int m = 0; m < N_MODELS; m++) {
		struct content expected = read_content(reference(m));

		assert_true(expected.results.survivors > 1000);
		for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
			struct content found;

			expect(&folder, SL_OK, "",
				WORDS("run", config(m), "--out", "out", "--set", batches[i]));
			found = read_content("out");
			assert_int_equal(found.rows, expected.rows);
			assert_int_equal(found.results.survivors, expected.results.survivors);
			assert_int_equal(found.results.steps, expected.results.steps);
			assert_int_equal(found.results.collisions, expected.results.collisions);
			for (int f = 0; f < SL_FATE_COUNT; f++) {
				assert_int_equal(found.results.fate[f].count,
					expected.results.fate[f].count);
				assert_int_equal(found.results.fate[f].weight,
					expected.results.fate[f].weight);
			}
			remove_run(&folder, "out");
		}
	}
}

/* Another seed gives other bits: the comparisons of this test detect differences. */
TEST(other_seed_differs)
{
	for (int m = 0; m < N_MODELS; m++) {
		expect(&folder, SL_OK, "",
			WORDS("run", config(m), "--out", "out", "--set", "run.seed=8"));
		assert_int_not_equal(hash_run(&folder, "out"), hash_run(&folder, reference(m)));
		assert_int_not_equal(read_content("out").rows, read_content(reference(m)).rows);
		remove_run(&folder, "out");
	}
}

/* Many small batches with more threads than cores, repeatedly: no deadlock. */
TEST(many_threads_do_not_deadlock)
{
	const int times = is_quick() ? 5 : 20;
	const char *particles = is_quick() ? "run.particles=2e4" : "run.particles=1e5";
	const char *batch = is_quick() ? "run.batch=200" : "run.batch=1000";
	uint64_t first = 0;

	for (int i = 0; i < times; i++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c0.yaml", "--out", "out", "--threads", "8", "--set",
				particles, "--set", batch, "--quiet"));
		first = i == 0 ? hash_run(&folder, "out") : first;
		assert_int_equal(hash_run(&folder, "out"), first);
		remove_run(&folder, "out");
	}
}
