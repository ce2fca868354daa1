/* bits.c - see bits.h. */
#include "tests/support/bits/bits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/results/survivor_file.h"
#include "primitives/device/device.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/bits/bits_table.h"
#include "tests/support/configs/configs.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/formats/phase_space_files.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/ranks_check.h"
#include "tests/support/runs/same_run.h"

enum { WORDS_MAX = 60, WORDS_BYTES = 8192, STORY_BYTES = 1 << 15, NAMES_MAX = 12, RANKS_MOST = 4 };

/* --- chance ----------------------------------------------------------------------------------- */

static uint64_t chance;

/* Returns one of 0 .. n - 1 (splitmix64). */
static unsigned one_of(unsigned n)
{
	uint64_t z = chance += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) % n);
}

#define PICK(list) ((list)[one_of(sizeof(list) / sizeof((list)[0]))])

/* Returns the name of one of the backends, or auto. */
static const char *backend(enum sl_primitive primitive, enum sl_space space)
{
	const char *name[NAMES_MAX] = {"auto"};
	unsigned n = 1;
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL && n < NAMES_MAX; i++)
		if (b->primitive == primitive && b->space == space)
			name[n++] = b->name;
	return name[one_of(n)];
}

/* --- command lines ---------------------------------------------------------------------------- */

/* The words of a command line, and its environment. */
struct words {
	size_t n, used;
	const char *word[WORDS_MAX], *env[4];
	char text[WORDS_BYTES];
};

SL_PRINTF(2, 0) static const char *print(struct words *w, const char *format, va_list list)
{
	char *at = w->text + w->used;
	int n = vsnprintf(at, sizeof(w->text) - w->used, format, list);

	w->used += (size_t)n + 1;
	assert_true(w->used < sizeof(w->text) && w->n + 2 < WORDS_MAX);
	return at;
}

__attribute__((format(printf, 2, 3))) static void add(struct words *w, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	w->word[w->n++] = print(w, format, list);
	va_end(list);
	w->word[w->n] = NULL;
}

__attribute__((format(printf, 2, 3))) static void set(struct words *w, const char *format, ...)
{
	va_list list;

	add(w, "--set");
	va_start(list, format);
	w->word[w->n++] = print(w, format, list);
	va_end(list);
	w->word[w->n] = NULL;
}

__attribute__((format(printf, 2, 3))) static void set_env(struct words *w, const char *format, ...)
{
	size_t i = 0;
	va_list list;

	while (w->env[i])
		i++;
	assert_true(i < 3);
	va_start(list, format);
	w->env[i] = print(w, format, list);
	va_end(list);
}

/* --- a round ---------------------------------------------------------------------------------- */

/* What the files of a round are. */
static struct {
	const struct bits_job *job;
	const struct bits_line *line;
	const char *format, *deflate, *joined;
	const char *choice[BITS_CHOICES];
	unsigned particles, batch, batches;
	bool mcpl, table;
	char story[STORY_BYTES]; /* the commands so far, for the message of a failure */
	size_t told;
} r;

static bool on_gpu(void)
{
	return strcmp(r.job->device, "cuda") == 0;
}

static bool has(const char *flag)
{
	return bits_line_has(r.line, flag);
}

static void fail_round(const char *what)
{
	printf("%s%s\n", r.line->text, r.story); /* longer than messages of cmocka */
	fail_msg("%s\nto repeat it: sluice_tests FILE --seed %llu --line '%s'", what,
		(unsigned long long)r.job->seed, r.line->title);
}

static void tell(const struct words *w)
{
	const char *const *part[] = {w->env, w->word};

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; part[k][i] && r.told < STORY_BYTES - 300; i++) {
			const char *quote = strpbrk(part[k][i], " {[<>(*") ? "'" : "";

			r.told += (size_t)snprintf(r.story + r.told, STORY_BYTES - r.told,
				"%s%.200s%s ", quote, part[k][i], quote);
		}
	r.told += (size_t)snprintf(r.story + r.told, STORY_BYTES - r.told, "\n");
}

enum { ANY_FAILURE = -1 };

/* Runs a command, which must end with this code. */
static void step(const struct words *w, int code)
{
	struct ending e;

	tell(w);
	call(&folder, w->env, w->word, &e);
	if (e.timed_out || (code == ANY_FAILURE ? e.code == SL_OK : e.code != code)) {
		r.told += (size_t)snprintf(r.story + r.told, STORY_BYTES - r.told,
			"ended with %d, not %d: %.2000s%.2000s", e.code, code, e.out, e.err);
		fail_round("a command failed");
	}
	process_free(&e);
}

static void command(const char *name, const char *what, const char *to)
{
	struct words w = {.n = 0};

	add(&w, "sluice");
	add(&w, "%s", name);
	add(&w, "%s", what);
	if (to) {
		add(&w, "--out");
		add(&w, "%s", to);
	}
	add(&w, "--quiet");
	step(&w, SL_OK);
}

/* --- what the files are ----------------------------------------------------------------------- */

static bool is_compressed(void)
{
	return r.format && (strcmp(r.format, "openpmd") == 0 || strcmp(r.format, "npz") == 0 ||
				   strstr(r.format, ".gz"));
}

/* The compressors of a device have twins on the host, which write the same bytes. A joined file is made on the host. */
static bool has_device_deflate(void)
{
	return is_compressed() && !r.joined && !strstr(r.format, "csv") &&
	       strncmp(r.deflate, "cpu", 3) == 0;
}

static void choose_format(void)
{
	static const char *const tables[] = {"openpmd", "npz", "csv", "csv.gz"}, *const lists[] = {
											 "mcpl",
											 "mcpl.gz"};
	static const char *const joined[] = {NULL, NULL, "output.joined=true", "output.order=run"},
				 *const limited[] = {"output.limit=70", "output.sample=60"};

	r.mcpl = has("mcpl-only") ||
	         (!r.line->shipped && !has("no-mcpl") && !has("fixed") && one_of(3) == 0);
	r.format = has("fixed") ? NULL : r.mcpl ? PICK(lists) : PICK(tables);
	r.table = r.format && !r.mcpl;
	r.joined = r.format && !r.line->shipped ? PICK(joined) : NULL;
	if (r.joined && r.mcpl && one_of(2) == 0)
		r.joined = PICK(limited);
	r.deflate = backend(SL_DEFLATE, SL_HOST);
	if (strcmp(r.deflate, "auto") == 0 || one_of(2) == 0)
		r.deflate = "cpu";
	if (on_gpu() && !has("list")) {
		r.particles = 1000003;
		r.batch = 250007;
	} else {
		r.particles = r.line->particles;
		r.batch = r.line->batch;
	}
	if (!has("fixed") && !has("stop") && one_of(3) == 0)
		r.batch = 1 + r.particles / (1 + one_of(9));
	r.batches = (r.particles + r.batch - 1) / r.batch;
}

static void choose_round(void)
{
	r.told = 0;
	r.story[0] = '\0';
	for (size_t k = 0; k < BITS_CHOICES; k++)
		r.choice[k] =
			r.line->n[k] ? r.line->choice[k][one_of((unsigned)r.line->n[k])] : NULL;
	choose_format();
	for (size_t k = 0; k < BITS_CHOICES; k++) {
		unsigned n;

		if (!r.choice[k] || sscanf(r.choice[k], "one batch of %u", &n) != 1)
			continue;
		r.choice[k] = NULL;
		if (!on_gpu())
			r.particles = r.batch = n;
		r.batches = (r.particles + r.batch - 1) / r.batch;
	}
	if (!r.line->shipped)
		write_text(&folder, "c.yaml", r.line->text);
}

static void add_particles(struct words *w, unsigned particles, unsigned batch)
{
	bool lists = has("list");

	if (!lists)
		set(w, "run.particles=%u", particles);
	set(w, "run.batch=%u", batch);
}

/* Begins a run of the configuration of the round. */
static void begin(struct words *w, const char *out, unsigned particles, unsigned batch)
{
	*w = (struct words){.n = 0};
	add(w, "sluice");
	add(w, "run");
	add(w, "%s", r.line->shipped ? r.line->text : "c.yaml");
	add(w, "--out");
	add(w, "%s", out);
	add(w, "--quiet");
	add_particles(w, particles, batch);
	if (r.line->shipped)
		set(w, "check.sigma=1000"); /* so few particles may miss published values */
	if (r.format)
		set(w, "output.format=%s", r.format);
	if (r.mcpl) {
		set(w, "output.columns=[]");
		if (has("energy"))
			set(w, "output.mcpl.energy=2 eV");
	}
	if (r.joined)
		set(w, "%s", r.joined);
	for (size_t k = 0; k < BITS_CHOICES; k++)
		if (r.choice[k])
			set(w, "%s", r.choice[k]);
}

/* --- how they are computed -------------------------------------------------------------------- */

static bool allows(const char *setting)
{
	struct words w;
	struct ending e;
	bool allowed;

	begin(&w, "plan", r.particles, r.batch);
	w.word[1] = "plan";
	add(&w, "--device");
	add(&w, "%s", r.job->device);
	set(&w, "%s", setting);
	call(&folder, NULL, w.word, &e);
	allowed = e.code == SL_OK;
	process_free(&e);
	return allowed;
}

static bool allows_fused(void)
{
	return r.line->shipped ? allows("run.mode=fused") : !has("staged");
}

static void add_schedule(struct words *w)
{
	static const char *const schedules[] = {"schedule=rounds",
		"={schedule: rounds, steps_per_launch: 1, compact: every, finish: never}",
		"={schedule: rounds, steps_per_launch: 3, compact: every 2, finish: never}",
		"={schedule: rounds, compact: never, finish: alive < 30 %}",
		"={schedule: rounds, steps_per_launch: 2, sort: every 2, key: [w:8]}",
		"schedule=measure", "schedule=history"};
	const char *schedule = PICK(schedules);
	bool allowed = r.line->shipped ? allows("transport.schedule=rounds")
	                               : !has("history") && !has("list");

	for (size_t k = 0; k < BITS_CHOICES; k++)
		allowed &= !(r.choice[k] && strncmp(r.choice[k], "transport", 9) == 0);
	if (allowed && !(r.line->shipped && *schedule == '='))
		set(w, "transport%s%s", *schedule == '=' ? "" : ".", schedule);
}

static void compute_on_host(struct words *w)
{
	static const char *const threads[] = {"1", "2", "3", "8"},
				 *const level[] = {"SL_LEVEL=baseline", "SL_LEVEL="},
				 *const compact[] = {"auto", "cpu", "cpu_scan"};

	if (one_of(3) == 0)
		set_env(w, "%s", PICK(level));
	add(w, "--threads");
	add(w, "%s", PICK(threads));
	add(w, "--compact");
	add(w, "%s", PICK(compact));
	if (one_of(3) == 0)
		add_schedule(w);
	if (is_compressed()) {
		add(w, "--deflate");
		add(w, "%s", r.deflate);
	}
}

/* Backends of staged or fused mode. A scan that nothing uses has no effect. */
static void add_backends(struct words *w)
{
	static const char *const uses_scan[] = {"naive", "work_efficient"};
	bool fused = one_of(2) == 0 && allows_fused();

	add(w, "--mode");
	add(w, fused ? "fused" : "staged");
	if (fused && one_of(2) == 0) {
		add(w, "--sort");
		add(w, "%s", backend(SL_SORT, SL_DEVICE));
	} else if (!fused) {
		add(w, "--sort");
		add(w, "%s", one_of(2) == 0 ? PICK(uses_scan) : backend(SL_SORT, SL_DEVICE));
		add(w, "--compact");
		add(w, "%s", one_of(2) == 0 ? PICK(uses_scan) : backend(SL_COMPACT, SL_DEVICE));
		if (one_of(2) == 0)
			add_schedule(w);
	}
}

static void compute_on_device(struct words *w)
{
	static const char *const devices[] = {"emulated", "emulated", "emulated:2", "emulated:3"},
				 *const turns[] = {"", "blocks=4,seed=3", "blocks=3,start=last",
					 "queue=now", "device=turing", "peers=none"};

	if (!on_gpu() && one_of(2) == 0)
		set_env(w, "SL_EMULATOR=%s", PICK(turns));
	add(w, "--device");
	add(w, "%s", on_gpu() ? "cuda" : PICK(devices));
	if (one_of(2) == 0) {
		set(w, "run.slots=%u", 1 + one_of(4));
		set(w, "run.threads=%u", 1 + one_of(4));
	}
	add_backends(w);
	if (!is_compressed())
		return;
	add(w, "--deflate");
	if (has_device_deflate() && one_of(2) == 0)
		add(w, strcmp(r.deflate, "cpu") == 0 ? "device" : "device_fast");
	else
		add(w, "%s", r.deflate);
}

/* Adds who computes the run: mostly a device, of which there are more kinds. */
static void compute(struct words *w)
{
	if (one_of(3) == 0) {
		add(w, "--device");
		add(w, "cpu");
		compute_on_host(w);
	} else {
		compute_on_device(w);
	}
}

/* One thread of the host, without vector instructions; sizes for a GPU take all threads. */
static void compute_reference(void)
{
	struct words w;

	begin(&w, "whole", r.particles, r.batch);
	add(&w, "--device");
	add(&w, "cpu");
	if (!on_gpu()) {
		set_env(&w, "SL_LEVEL=baseline");
		add(&w, "--threads");
		add(&w, "1");
	}
	if (is_compressed()) {
		add(&w, "--deflate");
		add(&w, "%s", r.deflate);
	}
	step(&w, SL_OK);
	command("verify", "whole", NULL);
}

/* --- how they come to their end --------------------------------------------------------------- */

static void resume(void)
{
	struct words w;

	begin(&w, "out", r.particles, r.batch);
	compute(&w);
	add(&w, "--resume");
	step(&w, SL_OK);
}

static void at_once(void)
{
	struct words w;

	begin(&w, "out", r.particles, r.batch);
	compute(&w);
	step(&w, SL_OK);
}

/* The disk is full when the line of a batch is appended. */
static void after_full_disk(void)
{
	struct sl_manifest m;
	struct words w;

	read_manifest(&folder, "whole", &m);
	begin(&w, "out", r.particles, r.batch);
	compute(&w);
	set_env(&w, "SL_FAULT=file_append:%u:28", 1 + one_of((unsigned)m.n));
	sl_manifest_free(&m);
	step(&w, SL_DISK);
	resume();
}

/* Truncates, flips or removes a file of a batch, or one made of all batches. */
static void damage(const char *name)
{
	char path[300];
	size_t bytes;
	char *file;

	snprintf(path, sizeof(path), "out/%s", name);
	r.told += (size_t)snprintf(r.story + r.told, STORY_BYTES - r.told, "(damage %s)\n", path);
	file = folder_read(&folder, path, &bytes);
	switch (one_of(3)) {
	case 0:
		folder_write(&folder, path, file, bytes / 2);
		break;
	case 1:
		folder_flip(&folder, path, 1 + one_of(8), 10);
		break;
	default:
		assert_int_equal(remove(folder_path(&folder, path)), 0);
	}
	free(file);
}

static void after_damage(void)
{
	struct sl_manifest m;
	struct words w = {.n = 0};

	copy_run(&folder, "whole", "out");
	read_manifest(&folder, "out", &m);
	if (one_of(2) == 0 || !*m.line[0].file) {
		keep_batches(&folder, "out", one_of((unsigned)m.n));
		r.told += (size_t)snprintf(r.story + r.told, STORY_BYTES - r.told, "(batches)\n");
	} else {
		const struct sl_manifest_line *l = &m.line[one_of((unsigned)m.n)];

		damage(*l->order_file && one_of(3) == 0   ? l->order_file
			: *l->bins_file && one_of(3) == 0 ? l->bins_file
							  : l->file);
	}
	sl_manifest_free(&m);
	add(&w, "sluice");
	add(&w, "verify");
	add(&w, "out");
	step(&w, ANY_FAILURE);
	resume();
}

static void extended(void)
{
	struct words w;

	begin(&w, "out", 1 + one_of(r.particles - 1), r.batch);
	compute(&w);
	step(&w, SL_OK);
	resume();
}

/* Parts, each computed by another device, in any order. */
static void in_parts(void)
{
	unsigned most = r.batches < 5 ? r.batches : 5, of = 1 + one_of(most);
	unsigned first = one_of(of);

	for (unsigned i = 0; i < of; i++) {
		struct words w;

		begin(&w, "parts", r.particles, r.batch);
		compute(&w);
		add(&w, "--part");
		add(&w, "%u/%u", 1 + (first + i) % of, of);
		step(&w, SL_OK);
	}
	command("join", "parts", "out");
	remove_run(&folder, "parts");
}

static void as_ranks(void)
{
	struct ranks_command c;
	struct words w;

	begin(&w, "out", r.particles, r.batch);
	compute(&w);
	tell(&w);
	for (size_t i = 0; w.env[i]; i++)
		putenv((char *)(uintptr_t)w.env[i]);
	ranks_command(1 + one_of(RANKS_MOST), NULL, w.word, &c);
	expect_command(&c, SL_OK, "");
	unsetenv("SL_LEVEL");
	unsetenv("SL_EMULATOR");
}

/* --- other batches ---------------------------------------------------------------------------- */

/* Adds a sum over the rows of a table that does not depend on their order. */
static uint64_t hash_rows(const struct sl_table *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t hash = 0xcbf29ce484222325u;

		for (uint32_t k = 0; k < t->n_columns; k++) {
			const struct sl_table_column *c = &t->column[k];
			uint32_t bytes = sl_column_facts[c->column].bytes;
			const unsigned char *at = (const unsigned char *)c->data +
			                          (c->constant ? 0 : (size_t)i * bytes);

			for (uint32_t b = 0; b < bytes; b++)
				hash = (hash ^ at[b]) * 0x100000001b3u;
		}
		sum += hash;
	}
	return sum;
}

static uint64_t hash_survivors(const char *out)
{
	struct sl_manifest m;
	uint64_t sum = 0;

	read_manifest(&folder, out, &m);
	for (size_t i = 0; i < m.n && *m.line[i].file; i++) {
		struct sl_survivors s;
		char name[300];

		snprintf(name, sizeof(name), "%s/%s", out, m.line[i].file);
		assert_ok(sl_survivors_read_path(folder_path(&folder, name), &s));
		sum += hash_rows(&s.table);
		sl_survivors_free(&s);
	}
	sl_manifest_free(&m);
	return sum;
}

/* The same particles in batches of another size. */
static void expect_same_particles(void)
{
	char *is, *should;
	struct words w;

	begin(&w, "out", r.particles, 1 + r.particles / (1 + one_of(20)));
	compute(&w);
	step(&w, SL_OK);
	is = sums_of_run("out");
	should = sums_of_run("whole");
	if (strcmp(is, should) != 0)
		fail_round("the size of a batch changes sums");
	free(is);
	free(should);
	if (hash_survivors("out") != hash_survivors("whole"))
		fail_round("the size of a batch changes survivors");
	if (folder_has(&folder, "whole/t.png") && !is_same_file("out/t.png", "whole/t.png"))
		fail_round("the size of a batch changes the image");
	if (r.table && r.joined && strstr(r.joined, "order")) {
		char name[2][64];

		joined_name("out", r.format, name[0]);
		joined_name("whole", r.format, name[1]);
		if (!is_same_file(name[0], name[1]))
			fail_round("the size of a batch changes the joined file");
	}
}

/* --- all -------------------------------------------------------------------------------------- */

enum { OTHER_BATCHES = 5 };

static void run_variant(void)
{
	static void (*const ends[])(void) = {
		at_once, after_full_disk, after_damage, in_parts, extended, expect_same_particles};
	unsigned end = one_of(sizeof(ends) / sizeof(ends[0]));
	const char *difference;

	if ((end == 4 && (has("list") || r.particles < 2 || has("fixed"))) ||
		(end == OTHER_BATCHES && (has("stop") || has("fixed"))) ||
		(end > 0 && has("at-once")))
		end = 0;
	if (r.job->ranks)
		as_ranks();
	else
		ends[end]();
	if (end != OTHER_BATCHES || r.job->ranks) {
		difference = difference_of_runs("out", "whole");
		if (difference)
			fail_round(difference);
		if (end > 0 || r.job->ranks)
			command("verify", "out", NULL);
	}
	remove_run(&folder, "out");
}

static void run_line(const struct bits_line *line)
{
	r.line = line;
	chance = r.job->seed * 0x2545f4914f6cdd1du;
	for (const char *c = line->title; *c; c++)
		chance = chance * 31 + (unsigned char)*c;
	for (unsigned k = 0; k < r.job->rounds; k++) {
		struct sl_manifest m;
		uint64_t survivors = 0;

		choose_round();
		compute_reference();
		read_manifest(&folder, "whole", &m);
		for (size_t i = 0; i < m.n; i++)
			survivors += m.line[i].survivors;
		sl_manifest_free(&m);
		if (survivors == 0 && !has("empty") && !line->shipped)
			fail_round("no survivors, so nothing is compared");
		for (unsigned v = 0; v < r.job->variants; v++)
			run_variant();
		remove_run(&folder, "whole");
	}
}

static void make_inputs(void)
{
	static const char *const lists[] = {"example.mcpl", "miscphys.mcpl.gz", "reffile_5.mcpl",
		"ref_statsum.mcpl.gz", "reffile_2.mcpl", "reffile_6.mcpl"};
	enum { N = 300 };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		copy_reference_list(&folder, lists[i]);
	make_list(&folder, "none.mcpl",
		&(struct sl_mcpl_header){.version = 3, .single = true, .pdg = 22}, NULL, NULL);
	make_iaea(&folder, "a",
		&(struct iaea_facts){
			.n = N, .constant = {[2] = true}, .floats = 1, .longs = 2, .latch = true});
	make_iaea(&folder, "b",
		&(struct iaea_facts){.n = N, .big_endian = true, .constant = {[6] = true}});
	make_openmc(&folder, "s.h5", &(struct openmc_facts){.n = N});
	make_openmc(
		&folder, "c.h5", &(struct openmc_facts){.n = N, .coded = true, .no_time = true});
	write_text(&folder, "beam.yaml",
		"run: {name: beam, particles: 300, batch: 128}\n"
		"model: {source_detector: {detector: {type: disk, distance: 1 cm, radius: 1 cm}}}\n"
		"keep: hit or missed\noutput: {format: npz, columns: []}\n");
	expect(&folder, SL_OK, "", WORDS("run", "beam.yaml", "--out", "beam", "--quiet"));
}

void bits_run(const struct bits_job *asked)
{
	static struct bits_line line[BITS_LINES_MAX];
	struct bits_job job = *asked;
	double end = seconds_now() + job.seconds;
	struct sl_device device;
	struct folder root;
	char *table;
	size_t n, bytes;

	assert_ok(sl_formats_start());
	sl_device_emulate(strcmp(job.device, "cuda") != 0);
	assert_ok(sl_device_use(0, &device)); /* so that its backends are known */
	snprintf(root.path, sizeof(root.path), "%.255s", source_root());
	table = folder_read(&root, "tests/end_to_end/bits/bits.txt", &bytes);
	n = bits_table_read(table, line);
	make_inputs();
	r.job = &job;
	do {
		print_message("%zu configurations, %u rounds of %u runs, --seed %llu\n", n,
			job.rounds, job.variants, (unsigned long long)job.seed);
		for (size_t i = 0; i < n; i++)
			if (!job.only || strcmp(job.only, line[i].title) == 0)
				run_line(&line[i]);
		job.seed++;
	} while (job.seconds > 0 && seconds_now() < end);
	free(table);
}

static uint64_t share(void)
{
	const char *text = getenv("SLUICE_SHARE");

	return text ? strtoull(text, NULL, 10) : 0;
}

struct bits_job bits_job(const char *device)
{
	uint64_t one_in = sl_sampling_step(1);

	return (struct bits_job){.device = device,
		.rounds = one_in == 1 ? 12 : 1,
		.variants = one_in < 31 ? 4 : 1,
		.seed = share()};
}

bool bits_arguments(struct bits_job *job, int argc, char **argv)
{
	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--seed") == 0)
			job->seed = strtoull(value, NULL, 10);
		else if (strcmp(argv[i], "--budget") == 0)
			job->seconds = strtod(value, NULL);
		else if (strcmp(argv[i], "--line") == 0)
			job->only = value;
		else
			return fprintf(stderr, "usage: FILE [--seed N] [--budget SECONDS] [--line "
					       "TITLE]\n") < 0;
	}
	return true;
}
