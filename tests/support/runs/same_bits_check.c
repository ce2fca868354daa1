/* same_bits_check.c - compares runs made through the library, see same_bits_check.h. */
#include "tests/support/runs/same_bits_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/config/reader/read_config.h"
#include "pipeline/plan/memory.h"
#include "pipeline/resolve/execution/mode.h"
#include "pipeline/run/run.h"
#include "pipeline/batch_file/batch_file.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/program.h"

enum { SETS_MAX = 12, SET_BYTES = 96 };

/* A run: its settings and results. */
struct run_record {
	char path[CONFIG_PATH_BYTES];
	char set[SETS_MAX][SET_BYTES]; /* "key=value" */
	size_t n_sets;
	struct sl_manifest_line *line; /* of each batch */
	uint64_t n, seen;              /* batches of the plan; batches that were committed */
	bool allows_fused;
};

static void set(struct run_record *k, const char *key, const char *value)
{
	assert_true(k->n_sets < SETS_MAX);
	snprintf(k->set[k->n_sets++], SET_BYTES, "%s=%s", key, value);
}

static void set_number(struct run_record *k, const char *key, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	set(k, key, text);
}

/* Sets the settings of a run of b on this device. */
static void begin(struct run_record *k, const struct bits *b, const char *device)
{
	memset(k, 0, sizeof(*k));
	config_path(b->config, k->path);
	set(k, "run.particles", b->particles);
	set(k, "run.batch", b->batch);
	set(k, "run.device", device);
}

/* Returns the settings as text for error messages, valid until the next call. */
static const char *settings_text(const struct run_record *k)
{
	static char text[CONFIG_PATH_BYTES + SETS_MAX * (SET_BYTES + 1)];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s", k->path);

	for (size_t i = 0; i < k->n_sets; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", k->set[i]);
	return text;
}

static void require_ok(const struct run_record *k, enum sl_status s)
{
	if (s != SL_OK)
		fail_msg("%s: %s: %s", settings_text(k), sl_status_name(s), sl_last_error());
}

/* --- one run ---------------------------------------------------------------------------------- */

static enum sl_status keep_line(void *ctx, struct sl_host_slot *slot)
{
	struct run_record *k = (struct run_record *)ctx;

	if (slot->batch.number < k->n)
		sl_batch_file_line(&slot->batch, &k->line[slot->batch.number]);
	k->seen++;
	return SL_OK;
}

static enum sl_status resolve(
	const struct run_record *k, struct sl_config *config, struct sl_choices *choices)
{
	const char *sets[SETS_MAX];
	struct sl_reader *reader = NULL;
	enum sl_status s;

	for (size_t i = 0; i < k->n_sets; i++)
		sets[i] = k->set[i];
	s = sl_config_open(k->path, sets, k->n_sets, config, &reader);
	if (s == SL_OK)
		s = sl_resolve(config, reader, choices);
	if (s != SL_OK && reader && sl_config_problems(reader) > 0)
		print_error("%s", sl_config_report(reader));
	sl_config_close(reader);
	return s;
}

static void run(struct run_record *k)
{
	static struct sl_config config;
	static struct sl_choices choices;
	struct sl_control control = {.batch = keep_line, .ctx = k, .discard = true};
	const struct sl_manifest none = {0};
	struct sl_session session;
	struct sl_workspace *w;
	struct sl_plan *plan;

	require_ok(k, resolve(k, &config, &choices));
	require_ok(k, sl_plan_make(&config, &choices, &plan));
	require_ok(k, sl_memory_plan_check(plan));
	require_ok(k, sl_workspace_open(plan, &w));
	require_ok(k, sl_workspace_allocate(w));
	k->n = plan->recipe.n_batches;
	k->allows_fused = sl_mode_allows_fused(&choices);
	k->line = (struct sl_manifest_line *)calloc(k->n, sizeof(*k->line));
	assert_non_null(k->line);
	require_ok(k, sl_run(w, NULL, &none, &control, &session));
	sl_workspace_close(w);
	sl_plan_free(plan);
	assert_int_equal(k->seen, k->n);
}

static void end(struct run_record *k)
{
	free(k->line);
}

/* --- comparison of two runs ------------------------------------------------------------------- */

static void expect_same_line(const struct run_record *k, const struct sl_manifest_line *a,
	const struct sl_manifest_line *b)
{
	if (a->survivors != b->survivors)
		fail_msg("%s: batch %llu: %llu survivors, expected %llu", settings_text(k),
			(unsigned long long)a->batch, (unsigned long long)b->survivors,
			(unsigned long long)a->survivors);
	if (memcmp(&a->tally, &b->tally, sizeof(a->tally)) != 0)
		fail_msg("%s: batch %llu: the tally differs", settings_text(k),
			(unsigned long long)a->batch);
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (a->digest[c] != b->digest[c])
			fail_msg("%s: batch %llu: column %s differs", settings_text(k),
				(unsigned long long)a->batch, sl_column_facts[c].name);
	assert_memory_equal(a, b, sizeof(*a));
}

/* Runs k and expects the results of the CPU run. */
static void expect_same(struct run_record *k, const struct run_record *cpu)
{
	uint64_t survivors = 0;

	run(k);
	assert_int_equal(k->n, cpu->n);
	for (uint64_t i = 0; i < k->n; i++) {
		expect_same_line(k, &cpu->line[i], &k->line[i]);
		survivors += k->line[i].survivors;
	}
	if (survivors == 0)
		fail_msg("%s: no survivors, so nothing was compared", settings_text(k));
	end(k);
}

enum { STAGED, FUSED, N_MODES };
static const char *const modes[] = {[STAGED] = "staged", [FUSED] = "fused"};

/* A list of settings, which ends with a key NULL. */
struct setting {
	const char *key, *value;
};

static void set_all(struct run_record *k, const struct setting *more)
{
	for (; more->key; more++)
		set(k, more->key, more->value);
}

/* Compares both modes with the CPU, with more settings. */
static void check_settings(const struct bits *b, const struct setting *more)
{
	struct run_record cpu, k;

	begin(&cpu, b, "cpu");
	set_all(&cpu, more);
	run(&cpu);
	for (int m = 0; m < N_MODES; m++) {
		if (m == FUSED && !cpu.allows_fused)
			continue;
		begin(&k, b, b->device);
		set(&k, "run.mode", modes[m]);
		set_all(&k, more);
		expect_same(&k, &cpu);
	}
	end(&cpu);
}

/* The same with one more setting if key is not NULL. */
static void check_with(const struct bits *b, const char *key, const char *value)
{
	check_settings(b, (const struct setting[]){{key, value}, {NULL, NULL}});
}

void same_bits_check(const struct bits *b)
{
	check_with(b, NULL, NULL);
}

void same_bits_check_keys(const struct bits *b)
{
	check_with(b, "key", "[]");
	check_with(b, "key", "[u:8, id:40]");
	check_with(b, "key", "[-u:8, -id:40]");
	check_with(b, "key", "-x:float");
	check_with(b, "key", "[y:float, -z_log:20]");
}

void same_bits_check_conditions(const struct bits *b)
{
	check_with(b, "keep", "(x^2 + y**2)^2 > 1e-9 cm^4 and -1 < 1/w^3 <= 1.7 or u^-2 < 3");
	check_with(b, "keep", "id & 0x5 == 4 or fate & 3 and not 0 < w < 0.3 or id in [1, 2, 3]");
}

void same_bits_check_derived(const struct bits *b)
{
	static const struct setting in_key[] = {{"columns", "{a: \"pow(abs(w), r/(r + 1 cm))\"}"},
		{"keep", "a > 0.1"}, {"key", "[a:float, -phi:7:-4..4]"}, {NULL, NULL}};
	static const struct setting in_files[] = {
		{"columns", "{a: \"log(min(r, rho)/(1 cm)) + theta\"}"}, {"key", "[rho_log:16]"},
		{"tallies", "[a:9:-9..1, r:5:0..2]"},
		{"output.columns", "[theta, id, phi, x, rho]"}, {NULL, NULL}};

	check_settings(b, in_key);
	check_settings(b, in_files);
}

bool same_bits_allow_fused(const struct bits *b)
{
	static struct sl_config config;
	static struct sl_choices choices;
	struct run_record k;

	begin(&k, b, "cpu");
	require_ok(&k, resolve(&k, &config, &choices));
	return sl_mode_allows_fused(&choices);
}

void same_bits_check_configs(const struct bits *b)
{
	static struct configs all;

	configs_list(&all);
	for (size_t i = 0; i < all.n; i += is_quick() ? 3 : 1) {
		struct bits one = *b;

		one.config = all.name[i];
		same_bits_check(&one);
	}
}

/* --- every backend, every number of slots ----------------------------------------------------- */

/* Returns the i-th device backend of a primitive, or NULL after the last. */
static const struct sl_backend *backend_at(enum sl_primitive p, size_t i)
{
	const struct sl_backend *b;

	for (size_t k = 0; (b = sl_backend_at(k)) != NULL; k++)
		if (b->primitive == p && b->space == SL_DEVICE && i-- == 0)
			return b;
	return NULL;
}

static void begin_with_slots(
	struct run_record *k, const struct bits *b, unsigned slots, unsigned threads)
{
	begin(k, b, b->device);
	set_number(k, "run.slots", slots);
	set_number(k, "run.threads", threads);
}

/* Fused mode with each sort; a sort that uses a scan, with each scan. */
static void check_fused(
	const struct bits *b, unsigned slots, unsigned threads, const struct run_record *cpu)
{
	const struct sl_backend *scan, *sort;
	struct run_record k;

	for (size_t o = 0; (sort = backend_at(SL_SORT, o)) != NULL; o++)
		for (size_t s = 0; (scan = backend_at(SL_SCAN, s)) != NULL; s++) {
			begin_with_slots(&k, b, slots, threads);
			set(&k, "run.mode", "fused");
			set(&k, "primitives.sort", sort->name);
			if (sort->uses_scan)
				set(&k, "primitives.scan", scan->name);
			expect_same(&k, cpu);
			if (!sort->uses_scan)
				break;
		}
}

/* Also tests scans that neither the compact nor the sort uses: such a setting must have no effect. */
void same_bits_check_backends(const struct bits *b, unsigned slots, unsigned threads)
{
	const struct sl_backend *scan, *compact, *sort;
	struct run_record cpu, k;
	unsigned choices = 0;

	begin(&cpu, b, "cpu");
	run(&cpu);
	begin(&k, b, b->device);
	expect_same(&k, &cpu); /* selects the device, so that backend_at() returns its backends */
	for (size_t s = 0; (scan = backend_at(SL_SCAN, s)) != NULL; s++)
		for (size_t c = 0; (compact = backend_at(SL_COMPACT, c)) != NULL; c++)
			for (size_t o = 0; (sort = backend_at(SL_SORT, o)) != NULL; o++) {
				choices++;
				if (!sl_sampling_selects())
					continue;
				begin_with_slots(&k, b, slots, threads);
				set(&k, "primitives.scan", scan->name);
				set(&k, "primitives.compact", compact->name);
				set(&k, "primitives.sort", sort->name);
				expect_same(&k, &cpu);
			}
	check_fused(b, slots, threads, &cpu);
	end(&cpu);
	assert_true(choices > 1);
}

void same_bits_check_slots(const struct bits *b)
{
	enum { MOST = 4 };
	struct run_record cpu, k;

	begin(&cpu, b, "cpu");
	run(&cpu);
	for (unsigned slots = 1; slots <= MOST; slots++)
		for (unsigned threads = 1; threads <= MOST; threads++)
			for (int m = 0; m < N_MODES; m++) {
				if (is_quick() && (slots + 2 * threads + (unsigned)m) % 3 > 0)
					continue;
				begin_with_slots(&k, b, slots, threads);
				set(&k, "run.mode", modes[m]);
				expect_same(&k, &cpu);
			}
	end(&cpu);
}
