/* merges.c - see merges.h. */
#include "tests/support/runs/merges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/plan/joined_memory.h"
#include "pipeline/results/results.h"
#include "primitives/emulator/settings.h"
#include "tests/support/program/program.h"

enum { FIRST = 700, SEED = 5 };

/* --- runs ------------------------------------------------------------------------------------- */

struct sl_mcpl_particle listed[MANY];

/* Few energies, so that many keys are equal; weights of all sizes, of both signs, and 0. */
static void make_particles(void)
{
	uint32_t random = 1;

	for (uint32_t i = 0; i < MANY; i++) {
		double w = next_random(&random);

		listed[i] = (struct sl_mcpl_particle){.position = {next_random(&random), i, -1},
			.direction = {0, 0.6, 0.8},
			.energy = floor(20 * next_random(&random)) / 64,
			.time = i * 1e-3,
			.weight = i % 50 == 0 ? 0 : (i % 9 == 0 ? -1 : 1) * (float)(w * w * w * w),
			.pdg = 2112,
			.flags = i};
	}
}

static void make(const char *name, uint32_t from, uint32_t to, bool single, double weight)
{
	const struct sl_mcpl_header h = {.version = 3,
		.particles = to - from,
		.flags = true,
		.single = single,
		.weight = weight};

	make_list(&folder, name, &h, NULL, listed + from);
}

void merges_begin(void)
{
	const struct sl_emulator_settings settings = {.blocks = 1, .memory_bytes = 1 << 28};

	assert_int_equal(chdir(folder.path), 0); /* a plan looks for the lists here */
	make_particles();
	make("a.mcpl", 0, FIRST, false, 0);
	make("b.mcpl.gz", FIRST, FEW, true, 0);
	make("many.mcpl", FEW, MANY, true, 0);
	make("common.mcpl", 0, FEW, false, 0.123);
	sl_device_emulate(true);
	sl_emulator_set_settings(&settings);
}

struct list_run list_run_of(const char *format, unsigned key, uint32_t particles, uint32_t batches)
{
	return (struct list_run){.format = format,
		.key = key,
		.particles = particles,
		.batch = particles / batches,
		.high = particles / 4 * 3};
}

/* The signs of energy, x and number in the order of a key. */
static const struct key {
	const char *text;
	int energy, x, number;
} keys[KEYS] = {
	{"[energy:float]", 1, 0, 1},
	{"[x:float]", 0, 1, 1},
	{"[-energy:float, x:float]", -1, 1, 1},
	{"[-id:32]", 0, 0, -1},
	{"[]", 0, 0, 1},
};

static void add(char *text, const char *name, uint32_t value)
{
	if (value > 0)
		sprintf(text + strlen(text), ", %s: %u", name, value);
}

void make_list_run(const struct list_run *r, const char *on)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"run: {name: t, seed: %d, threads: 2, batch: %u, device: cpu}\n"
		"model: {list: {files: [%s]}}\n"
		"keep: %u <= userflags and userflags < %u\nkey: %s\noutput: {format: %s, %s",
		SEED, r->batch,
		r->common_weight       ? "common.mcpl"
		: r->particles == MANY ? "a.mcpl, b.mcpl.gz, many.mcpl"
				       : "a.mcpl, b.mcpl.gz",
		r->low, r->high, keys[r->key].text, r->format,
		r->by_batch ? "joined: true" : "order: run");
	add(text, "sample", r->sample);
	add(text, "limit", r->limit);
	strcat(strcat(text, r->more ? r->more : ""), "}\n");
	write_text(&folder, "c.yaml", text);
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--device", on));
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
}

size_t run_entries(void)
{
	struct folder out;

	snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
	return folder_count(&out);
}

/* --- the particles of a joined file ----------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

double keep_sample(uint64_t seed, uint64_t n, struct sl_mcpl_particle *kept, uint64_t *kept_n)
{
	static double priority[MANY], order[MANY];
	uint64_t sampled = 0;

	for (uint64_t i = 0; i < *kept_n; i++)
		order[i] = priority[i] =
			sl_sample_priority(seed, kept[i].flags, (float)kept[i].weight);
	qsort(order, *kept_n, sizeof(*order), descending);
	for (uint64_t i = 0; i < *kept_n; i++)
		if (priority[i] > order[n]) {
			kept[sampled] = kept[i];
			if (fabs(kept[sampled].weight) < order[n])
				kept[sampled].weight = copysign(order[n], kept[sampled].weight);
			sampled++;
		}
	*kept_n = sampled;
	return order[n];
}

static const struct list_run *ordering; /* the run whose particles are sorted */

static int in_order(const void *a, const void *b)
{
	const struct sl_mcpl_particle *p = (const struct sl_mcpl_particle *)a,
				      *q = (const struct sl_mcpl_particle *)b;
	const struct key *key = &keys[ordering->key];
	double of[4] = {ordering->by_batch ? (double)(p->flags / ordering->batch) -
						     (double)(q->flags / ordering->batch)
					   : 0,
		key->energy * (p->energy - q->energy), key->x * (p->position[0] - q->position[0]),
		key->number * ((double)p->flags - (double)q->flags)};

	for (int i = 0; i < 4; i++)
		if (of[i] != 0)
			return of[i] < 0 ? -1 : 1;
	return 0;
}

/* The particles of the joined file, by the documentation alone. Returns their number. */
static uint64_t expected_of(const struct list_run *r, struct sl_mcpl_particle *p)
{
	uint64_t n = r->high - r->low;
	double threshold = 0;

	memcpy(p, listed + r->low, n * sizeof(*p));
	for (uint64_t i = 0; r->common_weight && i < n; i++)
		p[i].weight = 0.123;
	if (r->sample > 0 && r->sample < n)
		threshold = keep_sample(SEED, r->sample, p, &n);
	if (r->sample > 0)
		assert_true(strtod(run_json(&folder, "out", "sample_weight"), NULL) == threshold);
	ordering = r;
	qsort(p, n, sizeof(*p), in_order);
	return r->limit > 0 && r->limit < n ? r->limit : n;
}

/* Numbers and weights of n rows of a table, whose weights have single precision. */
static struct sl_mcpl_particle *rows_of(const char *path, uint64_t n)
{
	struct sl_mcpl_particle *p = (struct sl_mcpl_particle *)calloc(n + 1, sizeof(*p));
	const struct sl_table_column *flags, *weight;
	struct sl_survivors s;

	assert_ok(sl_survivors_read_columns(path, NULL, &s));
	assert_int_equal(s.table.n, n);
	flags = sl_table_find(&s.table, SL_COLUMN_userflags);
	weight = sl_table_find(&s.table, SL_COLUMN_weight);
	assert_true(p && flags && weight);
	for (uint64_t i = 0; i < n; i++) {
		p[i].flags = ((const uint32_t *)flags->data)[flags->constant ? 0 : i];
		p[i].weight = (double)((const float *)weight->data)[weight->constant ? 0 : i];
	}
	sl_survivors_free(&s);
	return p;
}

char *expect_joined(const struct list_run *r, size_t *bytes)
{
	static struct sl_mcpl_particle expected[MANY];
	const bool is_list = strncmp(r->format, "mcpl", 4) == 0;
	uint64_t n = expected_of(r, expected);
	struct sl_mcpl_particle *found;
	struct sl_mcpl_header h = {.particles = n};
	char name[64];

	joined_name("out", r->format, name);
	found = is_list ? particles_of(&folder, name, &h) : rows_of(folder_path(&folder, name), n);
	assert_int_equal(h.particles, n);
	for (uint64_t i = 0; i < n; i++) {
		double weight = expected[i].weight;

		assert_int_equal(found[i].flags, expected[i].flags);
		if (found[i].weight != (is_list ? weight : (double)(float)weight))
			fail_msg("weight %.17g, not %.17g", found[i].weight, weight);
	}
	free(found);
	return folder_read(&folder, name, bytes);
}

/* --- merges ----------------------------------------------------------------------------------- */

char *merged;
static size_t merged_most;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum sl_status receive(void *context, uint64_t at, const void *bytes, size_t size)
{
	struct merge *m = (struct merge *)context;

	if (__atomic_add_fetch(&m->calls, 1, __ATOMIC_RELAXED) == m->fails)
		return sl_fail(SL_DISK, "call %u of the test fails", m->fails);
	pthread_mutex_lock(&lock);
	at = at == SL_NEXT ? m->bytes : at;
	if (at + size > merged_most) {
		merged_most = 2 * (at + size);
		merged = (char *)realloc(merged, merged_most);
	}
	if (size > 0)
		memcpy(merged + at, bytes, size);
	m->bytes += size;
	pthread_mutex_unlock(&lock);
	return SL_OK;
}

void merge_again(struct merge *m)
{
	struct sl_ordered_list l;
	struct opened o;

	m->files = m->files > 0 ? m->files : SL_MERGED_FILES_MOST;
	m->list = (struct sl_joined_list){.particles = 0};
	m->bytes = 0;
	m->calls = 0;
	open_run(&o, m->threads);
	m->planned = o.plan->memory.joined;
	if (m->before)
		m->before();
	l = (struct sl_ordered_list){o.plan, &o.dir, &o.dir, &o.m, m->files};
	m->status = sl_merged_list_send(&l, receive, m, &m->list);
	if (m->after)
		m->after();
	snprintf(m->message, sizeof(m->message), "%s", m->status ? sl_last_error() : "");
	close_run(&o);
}
