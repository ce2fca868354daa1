/*
 * wrong_use.c - tests that the checked calls of every backend refuse each kind of wrong argument
 * with its message, and do no work (wrong_use.def); and that sl_find() refuses unknown names.
 *
 * On the host and the emulated device, and again on CUDA's where there is one, which adds the
 * backends that cannot be emulated.
 */
#include <stdio.h>

#include "primitives/primitives.h"
#include "tests/support/basic/check.h"

#pragma GCC diagnostic ignored "-Wc++-compat" /* addresses of all types are void * here */

enum { N = 64, PIECE = 8 * N };

/*
 * Memory of one space: each piece has PIECE bytes and ends where the next begins; scratch is as
 * much as any backend needs.
 */
struct memory {
	void *block, *in, *out, *index, *index_out, *n_out, *keep, *to[2], *scratch;
};

/* A right call of one backend, which a line of wrong_use.def changes. */
struct call {
	const struct sl_backend *backend;
	struct sl_exec *exec;
	bool has_no_job;
	struct sl_exec x;
	struct sl_scan_job scan;
	struct sl_compact_job compact;
	struct sl_compact_column column[2];
	struct sl_sort_job sort;
	struct sl_expand_job expand;
	struct sl_deflate_job deflate;
};

static struct sl_backend elsewhere; /* a scan of the device in use by its space */

static void *after(void *p, size_t bytes)
{
	return (char *)p + bytes;
}

static size_t scratch_of(const struct sl_backend *b, uint32_t n_columns)
{
	return sl_scratch(b, &(struct sl_shape){.n = N,
				     .n_out = N,
				     .sum = b->sum != NULL,
				     .counts = true,
				     .type = SL_U64,
				     .n_columns = n_columns,
				     .in_bytes = N * sizeof(uint64_t),
				     .level = 9});
}

static void get_memory(enum sl_space space, struct memory *m)
{
	void **const pieces[] = {&m->in, &m->out, &m->index, &m->index_out, &m->n_out, &m->keep,
		&m->to[0], &m->to[1], &m->scratch};
	const struct sl_backend *b;
	size_t most = 0, n = sizeof(pieces) / sizeof(pieces[0]);

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (b->space == space && scratch_of(b, 2) > most)
			most = scratch_of(b, 2);
	assert_ok(sl_memory_get(space, n * PIECE + most + SL_ALIGN, &m->block));
	assert_ok(sl_fill(m->block, 0, n * PIECE + most + SL_ALIGN, NULL));
	assert_ok(sl_stream_wait(NULL));
	for (size_t i = 0; i < n; i++)
		*pieces[i] = after(m->block, i * PIECE);
}

static void make_right(const struct sl_backend *b, const struct memory *m, struct call *c)
{
	*c = (struct call){.backend = b,
		.x = {.space = b->space, .scratch = {m->scratch, 0, scratch_of(b, 0)}},
		.scan = {.in = m->in,
			.out = m->out,
			.n = N,
			.type = b->sum ? SL_F64 : SL_U64,
			.sum = b->sum ? m->n_out : NULL},
		.compact = {.keep = m->keep, .out = m->index, .n_out = m->n_out, .n = N},
		.sort = {.key = m->in, .index = m->index, .n = N, .type = SL_U64, .end_bit = 64},
		.expand = {.runs = m->in,
			.out = m->index,
			.n = N,
			.n_out = N,
			.type = SL_U64,
			.form = SL_RUN_COUNTS},
		.deflate = {.in = m->in,
			.in_bytes = N * sizeof(uint64_t),
			.out = m->out,
			.out_size = N * sizeof(uint64_t),
			.out_bytes = m->n_out,
			.level = 6,
			.wrapper = SL_ZLIB}};
	c->exec = &c->x;
}

/*
 * Half as many items in this many columns, of which the first two are valid; flags may be a column
 * too.
 */
static void with_columns(struct call *c, const struct memory *m, uint32_t n_columns)
{
	c->column[0] = (struct sl_compact_column){m->in, m->out, sizeof(uint64_t)};
	c->column[1] = (struct sl_compact_column){m->keep, m->to[0], 1};
	c->x.scratch.size = scratch_of(c->backend, 2);
	c->compact.n = N / 2;
	c->compact.n_columns = n_columns;
	c->compact.column = c->column;
	c->expand.n = c->expand.n_out = N / 2;
	c->expand.runs = m->to[1];
	c->expand.n_columns = n_columns;
	c->expand.column = c->column;
}

static struct sl_choice wide_scan(void)
{
	struct sl_choice scan = {.tuning = {.block = 4096}};

	assert_ok(sl_find(SL_SCAN, "naive", &scan.backend));
	return scan;
}

/*
 * Waits too: what should have been refused must not still be there when its memory is given back.
 */
static enum sl_status run(enum sl_primitive p, struct call *c)
{
	const bool job = !c->has_no_job;

	if (p == SL_SCAN)
		SL_TRY(sl_scan(c->backend, c->exec, job ? &c->scan : NULL));
	if (p == SL_COMPACT)
		SL_TRY(sl_compact(c->backend, c->exec, job ? &c->compact : NULL));
	if (p == SL_SORT)
		SL_TRY(sl_sort(c->backend, c->exec, job ? &c->sort : NULL));
	if (p == SL_EXPAND)
		SL_TRY(sl_expand(c->backend, c->exec, job ? &c->expand : NULL));
	if (p == SL_DEFLATE)
		SL_TRY(sl_deflate(c->backend, c->exec, job ? &c->deflate : NULL));
	return sl_stream_wait(NULL);
}

/* Conditions of wrong_use.def. */
#define IS_ANY            true
#define IS_LOOPS          (b->primitive != SL_DEFLATE)
#define IS_SCAN           (b->primitive == SL_SCAN)
#define IS_COMPACT        (b->primitive == SL_COMPACT)
#define IS_SORT           (b->primitive == SL_SORT)
#define IS_EXPAND         (b->primitive == SL_EXPAND)
#define IS_DEFLATE        (b->primitive == SL_DEFLATE)
#define ON_HOST           (b->space == SL_HOST)
#define ON_DEVICE         (b->space == SL_DEVICE)
#define HAS_SCRATCH       (c->x.scratch.size > 0)
#define USES_SCAN         (b->uses_scan)
#define CAN               (b->tunable)
#define TAKES_N           (ON_HOST || b->takes_n_on_device)
#define TUNABLE(property) (ON_DEVICE && b->tunable.property)

/*
 * Changes c as line i says. Returns false after the last line; *text is the message, NULL for none,
 * "" for no such line.
 */
static bool change_call(int i, const struct sl_backend *b, const struct memory *m, struct call *c,
	const char **text, const char **what)
{
	int line = 0;

	*text = "";
#define WRONG(primitive, when, change, says)    \
	if (i == line++) {                      \
		*what = #change;                \
		if (IS_##primitive && (when))   \
			*text = (change, says); \
		return true;                    \
	}
#define RIGHT(primitive, change) WRONG(primitive, true, change, NULL)
#include "tests/primitives/wrong_use.def"
#undef RIGHT
#undef WRONG
	return false;
}

static void check_line(
	const struct sl_backend *b, struct call *c, const char *text, const char *change)
{
	const char *primitive = sl_primitive_name(b->primitive);
	enum sl_status s = run(b->primitive, c);
	const bool is_named = text && strncmp(text, "%s", 2) == 0;
	char name[64], expected[256];

	snprintf(name, sizeof(name), "%s/%s", primitive, b->name);
	if (!text && s != SL_OK)
		fail_msg("%s: %s: %s", name, change, sl_last_error());
	if (!text)
		return;
	snprintf(expected, sizeof(expected), "%s%s", is_named ? name : "", text + 2 * is_named);
	if (s != SL_USAGE || !strstr(sl_last_error(), expected))
		fail_msg("%s: %s: %s: %s, expected: %s", name, change, sl_status_name(s),
			s ? sl_last_error() : "", expected);
}

static void every_line(enum sl_space space)
{
	const struct sl_backend *b;
	const char *text, *change;
	struct memory m;
	int calls = 0;

	get_memory(space, &m);
	for (size_t k = 0; (b = sl_backend_at(k)) != NULL; k++)
		for (int i = 0; b->space == space; i++) {
			struct call c;

			make_right(b, &m, &c);
			if (!change_call(i, b, &m, &c, &text, &change))
				break;
			if (text && !*text)
				continue;
			check_line(b, &c, text, change);
			make_right(b, &m, &c);
			assert_ok(run(b->primitive, &c)); /* nothing was harmed */
			calls++;
		}
	assert_true(calls > 100);
	sl_memory_give(space, m.block);
}

TEST(wrong_calls_on_host_memory)
{
	elsewhere = sl_scan_cpu;
	elsewhere.space = SL_DEVICE;
	every_line(SL_HOST);
}

TEST(wrong_calls_on_device_memory)
{
	every_line(SL_DEVICE);
}

/* sl_scratch() cannot report an unknown type; it returns the scratch of SL_U64. */
TEST(scratch_of_an_unknown_type)
{
	struct sl_shape wide = {.n = N, .type = SL_U64},
			unknown = {.n = N, .type = (enum sl_type)7};
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (b->primitive == SL_SCAN || b->primitive == SL_SORT)
			assert_int_equal(sl_scratch(b, &unknown), sl_scratch(b, &wide));
}

TEST(unknown_names)
{
	const struct sl_backend *found = &sl_scan_cpu;
	const bool emulated = sl_device_is_emulated();

	sl_device_emulate(false);
	assert_fails(sl_find(SL_COMPACT, "warp", &found), SL_USAGE,
		"there is no compact 'warp': no backend has that name; choose one of ");
	assert_true(found == NULL && sl_scratch(found, &(struct sl_shape){.n = N}) == 0);
	assert_fails(sl_find(SL_DEFLATE, "", &found), SL_USAGE, "choose one of store, zlib, isal");
	assert_fails(sl_find(SL_SORT, NULL, &found), SL_USAGE, "found is a null pointer");
	assert_fails(sl_find(SL_SORT, "CPU", &found), SL_USAGE, "there is no sort 'CPU'");
#ifndef SL_WITH_CUDA
	assert_fails(sl_find(SL_SCAN, "naive", &found), SL_USAGE,
		"there is no scan 'naive': it needs CUDA and this build has none; choose one of cpu");
#endif
	sl_device_emulate(emulated);
	assert_string_equal(sl_primitive_name(SL_PRIMITIVE_COUNT), "unknown primitive");
}

EMULATED_AND_DEVICE_FILE()
