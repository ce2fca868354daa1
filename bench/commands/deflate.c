/*
 * deflate.c - primitives --only deflate: times the compression of the columns of the batch on the
 * device, each column alone and then all of them in one job, as a run does with small batches.
 *
 * Each chunk of 1 MiB is split into byte planes and becomes one zlib stream. Before the timing all
 * streams are copied to the host and inflated, and must give the column again. GB/s count the bytes
 * of the input.
 */
#include "bench/commands/commands.h"

#include <string.h>

#include "bench/cells/cells.h"
#include "bench/contenders/contenders.h"
#include "primitives/deflate/encoder/streams.h"
#include "stages/formats/common/common.h"

enum { CHUNK_BYTES = 1 << 20, N_DEFAULT = 1 << 25, N_EMULATED = 1 << 12 };

/* One column or all columns of a table. */
struct pack {
	const struct sl_backend *backend;
	uint32_t n, first, count; /* rows; columns */
	const struct sl_table *table;
	struct sl_deflate_part part[SL_COLUMN_COUNT];
	void *in[SL_COLUMN_COUNT]; /* of the parts; on the device, as are the next two */
	uint8_t *out;
	size_t *sizes; /* used bytes of out; then the bytes of each stream, column by column */
	struct sl_arena scratch;
	size_t out_size; /* of all columns */
	size_t streams;  /* of a column */
};

static size_t column_bytes(const struct pack *p)
{
	return (size_t)p->n * sizeof(uint32_t);
}

static enum sl_status clear(void *ctx)
{
	const struct pack *p = (const struct pack *)ctx;

	return sl_fill(p->sizes, 0, sizeof(*p->sizes), NULL);
}

static struct sl_deflate_job job_of(const struct pack *p, uint32_t column)
{
	return (struct sl_deflate_job){.in = p->in[column],
		.in_bytes = column_bytes(p),
		.out = p->out,
		.out_size = p->out_size,
		.out_bytes = p->sizes + 1 + column * p->streams,
		.level = 6,
		.wrapper = SL_ZLIB,
		.chunk_bytes = CHUNK_BYTES,
		.item_bytes = sizeof(uint32_t),
		.out_used = p->sizes};
}

static enum sl_status pack(void *ctx)
{
	const struct pack *p = (const struct pack *)ctx;

	struct sl_exec x = {.space = SL_DEVICE, .scratch = p->scratch};
	struct sl_deflate_job job = job_of(p, p->first);

	job.part = p->part + p->first;
	job.n_parts = p->count;
	return sl_deflate(p->backend, &x, &job);
}

/* --- the check -------------------------------------------------------------------------------- */

/* Checks the streams of a column, which start at *at, and moves *at past them. */
static enum sl_status check_column(
	const struct pack *p, uint32_t column, const uint8_t *out, const size_t *sizes, size_t *at)
{
	static uint8_t want[CHUNK_BYTES], back[CHUNK_BYTES];
	struct sl_deflate_job job = job_of(p, column);
	struct sl_streams s;

	job.in = p->table->column[column].data;
	s = sl_streams_of(&job);
	for (uint64_t k = 0; k < s.n; k++) {
		size_t bytes = (size_t)sl_chunk_bytes(&s, k);

		sl_chunk_load(&s, k, 0, bytes, 0, 1, want);
		SL_TRY(sl_inflate_whole(SL_ZLIB, out + *at, sizes[k], back, bytes));
		if (memcmp(want, back, bytes) != 0)
			return sl_fail(SL_CHECK_FAILED,
				"stream %lu of %s does not inflate to its chunk", k,
				sl_column_facts[p->table->column[column].column].name);
		*at += sizes[k];
	}
	return SL_OK;
}

/* Compresses, copies to the host and inflates; *used: bytes of all streams. */
static enum sl_status check(struct pack *p, size_t *used)
{
	const size_t n_sizes = 1 + p->table->n_columns * p->streams;
	SL_CLOSED_BY(sl_host_give) size_t *sizes = NULL;
	uint8_t *out;
	size_t at = 0;

	SL_TRY(sl_host_get(1, n_sizes * sizeof(*sizes) + p->out_size, &sizes));
	out = (uint8_t *)(sizes + n_sizes);
	SL_TRY(clear(p));
	SL_TRY(pack(p));
	SL_TRY(sl_copy(sizes, p->sizes, n_sizes * sizeof(*sizes), NULL));
	SL_TRY(sl_stream_wait(NULL));
	*used = sizes[0];
	SL_TRY(sl_copy(out, p->out, *used, NULL));
	SL_TRY(sl_stream_wait(NULL));
	for (uint32_t k = p->first; k < p->first + p->count; k++)
		SL_TRY(check_column(p, k, out, sizes + 1 + k * p->streams, &at));
	return at == *used
	               ? SL_OK
	               : sl_fail(SL_CHECK_FAILED,
				 "the streams have %zu bytes, the device reports %zu", at, *used);
}

/* --- rows ------------------------------------------------------------------------------------- */

#define NAME "deflate   {backend:-10} {column:-10} {n:10.0f} {bytes/1e6:10.1f} {ratio:9.3f} "

static const struct sl_line time_lines[] = {
	{"", NULL, NAME SL_TIMES " {gb_per_s:8.1f}"}, {NULL, NULL, NULL}};
static const struct sl_line access_lines[] = {{"", NULL, NAME SL_ACCESSES}, {NULL, NULL, NULL}};

static enum sl_status measure(
	struct sl_bench *b, struct pack *p, uint32_t first, uint32_t count, const char *name)
{
	const struct sl_timed_call timed = {p, clear, pack};
	const size_t bytes = column_bytes(p) * count;
	struct sl_call_times t = sl_no_times;
	struct sl_access_counts accesses = {0};
	struct sl_json *j;
	size_t used;

	p->first = first;
	p->count = count;
	SL_TRY(check(p, &used));
	if (sl_device_is_emulated())
		SL_TRY(sl_accesses_count(&timed, &accesses));
	else
		SL_TRY(sl_stopwatch_time(&b->watch, &timed, &t));
	j = sl_bench_row_begin(b->table);
	sl_json_add(j, "primitive %s backend %s column %s n %u bytes %lu", "deflate",
		p->backend->name, name, p->n, bytes);
	sl_spread_put(j, &t.ms);
	sl_json_add(j, "gb_per_s %g ratio %g", (double)bytes / (1e6 * t.ms.median),
		(double)bytes / (double)used);
	sl_accesses_put(j, sl_device_is_emulated() ? &accesses : NULL, (double)bytes);
	sl_bench_row_end(b->table, sl_device_is_emulated() ? access_lines : time_lines, true);
	return SL_OK;
}

static enum sl_status measure_all(struct sl_bench *b, struct pack *p)
{
	for (uint32_t k = 0; k < p->table->n_columns; k++)
		SL_TRY(measure(b, p, k, 1, sl_column_facts[p->table->column[k].column].name));
	return measure(b, p, 0, p->table->n_columns, "all");
}

/* --- a batch ---------------------------------------------------------------------------------- */

static void lay_out(struct sl_arena *a, struct pack *p)
{
	const uint32_t columns = p->table->n_columns;
	const struct sl_shape shape = {.part = p->part, .n_parts = columns, .level = 6};

	p->streams = sl_deflate_streams(column_bytes(p), CHUNK_BYTES);
	p->out_size = columns * sl_deflate_most(column_bytes(p), CHUNK_BYTES, sizeof(uint32_t));
	for (uint32_t k = 0; k < columns; k++) {
		p->in[k] = sl_cut(a, column_bytes(p));
		p->part[k] = (struct sl_deflate_part){
			p->in[k], column_bytes(p), CHUNK_BYTES, sizeof(uint32_t)};
	}
	p->out = (uint8_t *)sl_cut(a, p->out_size);
	p->sizes = (size_t *)sl_cut_items(a, 1 + columns * p->streams, sizeof(*p->sizes));
	p->scratch.size = sl_scratch(p->backend, &shape);
	p->scratch.base = sl_cut(a, p->scratch.size);
}

static enum sl_status run(struct sl_bench *b, struct pack *p)
{
	struct sl_arena a = {0};
	void *base = NULL;
	enum sl_status s;

	lay_out(&a, p);
	a.size = a.used;
	a.used = 0;
	s = sl_memory_get(SL_DEVICE, a.size, &base);
	a.base = base;
	lay_out(&a, p);
	for (uint32_t k = 0; s == SL_OK && k < p->table->n_columns; k++)
		s = sl_copy(p->in[k], p->table->column[k].data, column_bytes(p), NULL);
	if (s == SL_OK)
		s = measure_all(b, p);
	sl_memory_give(SL_DEVICE, base);
	return s;
}

/* Runs the batch on the device to get the columns of its survivors. */
static enum sl_status run_batch(
	struct sl_bench *b, const struct sl_backend *backend, const struct sl_recipe *r)
{
	SL_CLOSED_BY(sl_contender_close) struct sl_contender c;
	struct pack p = {.backend = backend};
	struct sl_contender_times times;

	SL_TRY(sl_contender_open(&sl_sluice_contender, r, &c));
	SL_TRY(sl_sluice_contender.run(&c, &times));
	p.table = &c.on_host.table;
	p.n = c.on_host.n_survivors;
	return run(b, &p);
}

enum sl_status sl_bench_deflate(struct sl_bench *b)
{
	const struct sl_number_list *sizes = &b->options->sizes;
	uint32_t usual = sl_device_is_emulated() ? N_EMULATED : N_DEFAULT;
	const struct sl_backend *backend;

	printf("\n%-9s %-10s %-10s %10s %10s %9s %s\n", "", "backend", "column", "n", "MB", "ratio",
		sl_device_is_emulated() ? SL_ACCESSES_HEADING "byte"
					: SL_TIMES_HEADING "     GB/s");
	for (uint32_t i = 0; i < (sizes->n ? sizes->n : 1); i++)
		for (size_t k = 0; (backend = sl_job_backend(b->options, SL_DEFLATE, k)); k++) {
			SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;

			SL_TRY(sl_batch_plan_make(b, sizes->n ? sizes->at[i] : usual, NULL, &plan));
			SL_TRY(run_batch(b, backend, &plan->recipe));
		}
	return SL_OK;
}
