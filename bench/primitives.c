/*
 * primitives.c - every device backend of scan, compact and sort against a copy and against CUB.
 *
 * All that are in a table do the same job (tests/cases/contest.h): an answer that is not right is
 * not timed. The copy is of n words within the device's memory: 8 bytes an item, the speed that
 * none can pass. A backend's bytes are the least that any algorithm must move: input read once,
 * output written once.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "tests/cases/contest.h"

/* The jobs. Keys are sorted by all their bits, half of the particles are alive. */
static const struct {
	enum sl_primitive primitive;
	const char *type;
	struct sl_setting set;
} jobs[] = {
	{SL_SCAN, "u32", {.type = SL_U32, .input = SL_INPUT_RANDOM}},
	{SL_SCAN, "u64", {.type = SL_U64, .input = SL_INPUT_RANDOM}},
	{SL_COMPACT, "u32", {.alive = SL_ALIVE_HALF}},
	{SL_SORT, "u32", {.type = SL_U32, .input = SL_INPUT_RANDOM, .end_bit = 32}},
	{SL_SORT, "u64", {.type = SL_U64, .input = SL_INPUT_RANDOM, .end_bit = 64}},
};

/* A bench on its way. */
struct bench {
	const struct sl_asked *asked;
	const struct sl_table *table;
	struct sl_stopwatch stopwatch;
	struct sl_row row; /* what is measured now */
	bool wrong;        /* an answer was */
};

/*
 * More than any cache, and long enough for the host to queue a call of some dozen launches: a
 * quarter of a millisecond on the fastest memory. The emulated device has no cache.
 */
static size_t flush_bytes(void)
{
	return sl_device_is_emulated() ? 1 : (size_t)1 << 30;
}

/* --- copy ------------------------------------------------------------------------------------- */

struct copy {
	void *from, *to;
	size_t bytes;
};

static enum sl_status load_copy(void *of)
{
	const struct copy *c = (const struct copy *)of;

	return sl_fill(c->from, 1, c->bytes, NULL);
}

static enum sl_status run_copy(void *of)
{
	const struct copy *c = (const struct copy *)of;

	return sl_copy(c->to, c->from, c->bytes, NULL);
}

static enum sl_status time_copy(struct bench *b, uint32_t n)
{
	struct copy c = {.bytes = n * sizeof(uint32_t)};
	const struct sl_timed timed = {&c, load_copy, run_copy};
	enum sl_status s;

	b->row = (struct sl_row){.primitive = "copy",
		.backend = "device",
		.type = "u32",
		.n = n,
		.bytes = 2 * c.bytes};
	s = sl_memory_get(SL_DEVICE, c.bytes, &c.from);
	if (s == SL_OK)
		s = sl_memory_get(SL_DEVICE, c.bytes, &c.to);
	if (s == SL_OK)
		s = sl_time(&b->stopwatch, &timed, &b->row.ms);
	sl_memory_give(SL_DEVICE, c.from);
	sl_memory_give(SL_DEVICE, c.to);
	b->row.copy_gb_s = sl_gb_per_s(b->row.bytes, b->row.ms.median);
	if (s == SL_OK)
		sl_table_row(b->table, &b->row);
	return s;
}

/* --- a backend -------------------------------------------------------------------------------- */

static enum sl_status load_contest(void *of)
{
	return sl_contest_load((struct sl_contest *)of);
}

static enum sl_status run_contest(void *of)
{
	struct sl_contest *c = (struct sl_contest *)of;

	return c->of->run(&c->trial);
}

static enum sl_status check_and_time(struct bench *b, struct sl_contest *c,
	const struct sl_backend *backend, struct sl_tuning tuning)
{
	const struct sl_timed timed = {c, load_contest, run_contest};

	SL_TRY(sl_contest_enter(c, backend, tuning));
	SL_TRY(sl_contest_try(c));
	return sl_time(&b->stopwatch, &timed, &b->row.ms);
}

/* Nothing can be measured after a failure of the device; after others the next may do better. */
static enum sl_status measure(struct bench *b, struct sl_contest *c,
	const struct sl_backend *backend, struct sl_tuning tuning)
{
	const struct sl_tunable *own = &backend->tunable;
	enum sl_status s;

	b->row.backend = backend->name;
	b->row.ms = (struct sl_times){0};
	b->row.tuning.block = tuning.block ? tuning.block : own->block;
	b->row.tuning.items = tuning.items ? tuning.items : own->items;
	s = check_and_time(b, c, backend, tuning);
	if (s == SL_OK)
		sl_table_row(b->table, &b->row);
	else
		sl_table_gap(&b->row, sl_story());
	b->wrong = b->wrong || s == SL_CHECK_FAILED;
	return s == SL_DEVICE_FAILED ? s : SL_OK;
}

static bool is_asked_for(const struct sl_asked *asked, const struct sl_backend *backend)
{
	const char *primitive = sl_primitive_name(backend->primitive);
	size_t length = strlen(primitive);

	if (!asked->only)
		return true;
	if (strncmp(asked->only, primitive, length) != 0)
		return false;
	return asked->only[length] == '\0' ||
	       (asked->only[length] == '/' && strcmp(asked->only + length + 1, backend->name) == 0);
}

/* --- tunings ---------------------------------------------------------------------------------- */

/* Every number of items that b can have, with that block. */
static enum sl_status measure_items(
	struct bench *b, struct sl_contest *c, const struct sl_backend *backend, uint32_t block)
{
	const uint32_t *items = backend->tunable.items_can;
	enum sl_type type = c->trial.set.type;

	do {
		const struct sl_tuning tuning = {block, *items};

		if (sl_tuning_check(backend, tuning, type) == SL_OK)
			SL_TRY(measure(b, c, backend, tuning));
	} while (*items && *++items);
	return SL_OK;
}

/* Its own choice, then all that there are with the usual block sizes. */
static enum sl_status measure_tunings(
	struct bench *b, struct sl_contest *c, const struct sl_backend *backend)
{
	static const uint32_t blocks[] = {
		32, 64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024};

	SL_TRY(measure(b, c, backend, (struct sl_tuning){0}));
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		SL_TRY(measure_items(b, c, backend, blocks[i]));
	return SL_OK;
}

static enum sl_status measure_as_asked(
	struct bench *b, struct sl_contest *c, const struct sl_backend *backend)
{
	struct sl_tuning tuning = b->asked->tuning;

	if (b->asked->tunings)
		return measure_tunings(b, c, backend);
	if (sl_tuning_check(backend, tuning, c->trial.set.type) != SL_OK)
		tuning = (struct sl_tuning){0};
	return measure(b, c, backend, tuning);
}

/* --- all -------------------------------------------------------------------------------------- */

/* CUB first: all others are compared with it. */
static enum sl_status measure_cub(struct bench *b, struct sl_contest *c)
{
	b->row.cub_ms = 0;
#ifdef SL_WITH_CUDA
	if (!sl_device_is_emulated()) {
		const struct sl_backend *cub = &sl_bench_cub[c->of->primitive];

		b->row.tuning = (struct sl_tuning){0};
		SL_TRY(measure(b, c, cub, b->row.tuning));
		b->row.cub_ms = b->row.ms.median;
	}
#endif
	(void)c;
	return SL_OK;
}

static enum sl_status measure_backends(struct bench *b, struct sl_contest *c)
{
	const struct sl_backend *backend;

	b->row.bytes = c->of->bytes_moved(&c->trial);
	SL_TRY(measure_cub(b, c));
	for (size_t i = 0; (backend = sl_backend_at(i)) != NULL; i++)
		if (backend->primitive == c->of->primitive && backend->space == SL_DEVICE &&
			is_asked_for(b->asked, backend))
			SL_TRY(measure_as_asked(b, c, backend));
	return SL_OK;
}

/* Is there a backend to be measured in that job? */
static bool is_wanted(const struct sl_asked *asked, enum sl_primitive p)
{
	const struct sl_backend *backend;

	for (size_t i = 0; (backend = sl_backend_at(i)) != NULL; i++)
		if (backend->primitive == p && backend->space == SL_DEVICE &&
			is_asked_for(asked, backend))
			return true;
	return false;
}

static enum sl_status measure_job(struct bench *b, size_t job)
{
	struct sl_setting set = jobs[job].set;
	struct sl_contest c;
	enum sl_status s;

	if (!is_wanted(b->asked, jobs[job].primitive))
		return SL_OK;
	set.n = b->row.n;
	b->row.primitive = sl_primitive_name(jobs[job].primitive);
	b->row.type = jobs[job].type;
	SL_TRY(sl_contest_open(jobs[job].primitive, &set, &c));
	s = measure_backends(b, &c);
	sl_contest_close(&c);
	return s;
}

static enum sl_status measure_size(struct bench *b, uint32_t n)
{
	sl_table_heading();
	SL_TRY(time_copy(b, n));
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		SL_TRY(sl_while(measure_job(b, i), "%s of %u %s",
			sl_primitive_name(jobs[i].primitive), n, jobs[i].type));
	return SL_OK;
}

enum sl_status sl_bench_primitives(const struct sl_asked *asked, const struct sl_table *t)
{
	struct bench b = {.asked = asked, .table = t};
	enum sl_status s = SL_OK;

	SL_TRY(sl_stopwatch_open(flush_bytes(), &b.stopwatch));
	for (uint32_t i = 0; i < asked->sizes && s == SL_OK; i++)
		s = measure_size(&b, asked->n[i]);
	sl_stopwatch_close(&b.stopwatch);
	if (s == SL_OK && b.wrong)
		return sl_fail(SL_CHECK_FAILED, "an answer was wrong, see the table; its backend "
						"was not timed");
	return s;
}
