/* merged_again.c - see merged_again.h. */
#include "tests/support/runs/merged_again.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

const char ties[] = "[energy:float]", distinct[] = "[x:float]";

void make_sorted_run(
	unsigned particles, unsigned batches, const char *key, const char *format, const char *more)
{
	bool is_list = strncmp(format, "mcpl", 4) == 0;
	char config[1024];

	snprintf(config, sizeof(config),
		"run: {name: t, seed: 3, threads: 1, particles: %u, batch: %u}\n"
		"model:\n"
		"  source_detector:\n"
		"    source: {type: disk, radius: 0.4 cm}\n"
		"    detector: {type: disk, distance: 4 cm, radius: 9 cm}\n"
		"    energy: {type: lines, lines: [26 keV, 59 keV], intensities: [2, 35]}\n"
		"keep: id < %u\nkey: %s\n"
		"output: {format: %s, columns: [%s], order: run%s}\n",
		particles, particles / batches, particles / 4 * 3, key, format,
		is_list ? "" : "x, energy, weight, id", more);
	write_text(&folder, "c.yaml", config);
	remove_run(&folder, "out");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet"));
}

void open_run(struct opened *o, uint32_t threads)
{
	char set[64];
	const char *const sets[] = {set};

	snprintf(set, sizeof(set), "run.threads=%u", threads);
	*o = (struct opened){.plan = NULL};
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &o->dir));
	assert_ok(sl_existing_run_read(&o->dir, &o->existing));
	assert_ok(sl_existing_run_plan(&o->existing, sets, threads > 0, &o->plan));
	assert_ok(sl_manifest_read(&o->dir, &o->m));
}

void close_run(struct opened *o)
{
	sl_plan_free(o->plan);
	sl_existing_run_free(&o->existing);
	sl_manifest_free(&o->m);
	sl_dir_close(&o->dir);
}

static enum sl_status receive(void *context, const void *bytes, size_t size)
{
	struct sent *s = (struct sent *)context;

	if (++s->calls == s->fails)
		return sl_fail(SL_DISK, "call %u of the test fails", s->calls);
	if (s->used + size > s->most) {
		s->most = 2 * (s->used + size);
		s->bytes = (char *)realloc(s->bytes, s->most);
	}
	if (size > 0)
		memcpy(s->bytes + s->used, bytes, size);
	s->used += size;
	return SL_OK;
}

void merge_again(const struct opened *o, uint32_t most, void (*before)(void), void (*after)(void),
	struct sent *s)
{
	const struct sl_format_merge *format = o->plan->choices.format->merge;
	const struct sl_ordered_list from = {
		o->plan, &o->dir, &o->dir, &o->m, most, NULL, s->devices};
	char name[300], *batch;
	void *sum = NULL;
	size_t bytes;

	for (size_t i = 0; format && i < o->m.n; i++) {
		snprintf(name, sizeof(name), "out/%s", o->m.line[i].file);
		batch = folder_read(&folder, name, &bytes);
		assert_ok(format->add(batch, bytes, &sum));
		free(batch);
	}
	if (before)
		before();
	s->status = sl_ordered_list_send(&from, sum, receive, s, &s->list);
	if (s->status != SL_OK)
		snprintf(s->message, sizeof(s->message), "%s", sl_last_error());
	if (format)
		format->drop(sum);
	if (after)
		after();
}

struct sent merged_by(uint32_t threads, uint32_t most)
{
	struct sent s = {.bytes = NULL};
	struct opened o;

	open_run(&o, threads);
	assert_true(o.plan->threads == threads || o.plan->threads == o.m.n);
	merge_again(&o, most, NULL, NULL, &s);
	close_run(&o);
	return s;
}

const uint32_t threads_of[THREAD_COUNTS] = {1, 2, 3, 7};

char *joined_file(const char *format, size_t *bytes)
{
	char name[64];

	snprintf(name, sizeof(name), "out/t.%s", strcmp(format, "openpmd") == 0 ? "h5" : format);
	return folder_read(&folder, name, bytes);
}

void expect_sent(struct sent *s, const char *file, size_t bytes)
{
	assert_int_equal(s->status, SL_OK);
	assert_int_equal(s->used, bytes);
	assert_memory_equal(s->bytes, file, bytes);
	free(s->bytes);
}

void expect_same_bytes(const char *format, uint32_t most)
{
	size_t bytes;
	char *file = joined_file(format, &bytes);

	for (int t = 0; t < THREAD_COUNTS; t++) {
		struct sent s = merged_by(threads_of[t], most);

		expect_sent(&s, file, bytes);
	}
	free(file);
}
